package storetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

func listChecks() []check {
	return []check{
		{"list/an empty storage", listEmpty},
		{"list/what is told of a conversation", listInfo},
		{"list/what is told follows the log", listFollows},
		{"list/since when it is in its state", listSince},
		{"list/a log that begins otherwise", listOdd},
		{"list/by state", listStates},
		{"list/by label", listLabels},
		{"list/by time", listTimes},
		{"list/far times", listFarTimes},
		{"list/by owner", listIdle},
		{"list/by open questions", listAsking},
		{"list/in the order of ids", listOrder},
		{"list/after an id", listAfter},
		{"list/at most so many", listLimit},
		{"list/at most so many of each value", listEach},
		{"list/all conditions hold at once", listTogether},
		{"list/in pages", listPages},
		{"list/stops with the loop", listBreak},
		{"list/stops with its context", listCanceled},
		{"list/the loop may use the store", listReentrant},
		{"list/beside writers", listCrowd},
	}
}

// describe returns the Info that List should yield for a log.
func describe(id, owner string, log []flow.Event) store.Info {
	info := store.Info{ID: id, Owner: owner}
	for i := range log {
		info.Add(&log[i])
	}
	return info
}

// oneLine returns an Info as one line. An instant is the same in every time zone.
func oneLine(info store.Info) string {
	keys := make([]string, 0, len(info.Labels))
	for key, value := range info.Labels {
		keys = append(keys, fmt.Sprintf("%q=%q", key, value))
	}
	slices.Sort(keys)
	return fmt.Sprintf("%q state %q, topic %q, labels [%s], round %d, spent %s, copied %s, limit %s, seq %d, started %s, last %s, owner %q",
		info.ID, info.State, info.Topic, strings.Join(keys, " "), info.Round,
		info.Beside(info.Spent), info.CopiedUnsettled.Beside(info.Copied), info.Limit, info.Seq,
		info.StartedAt.UTC().Format(time.RFC3339Nano), info.LastAt.UTC().Format(time.RFC3339Nano), info.Owner)
}

// infos requires that List yields exactly these Infos.
func (x *exam) infos(s store.Store, filter store.Filter, want ...store.Info) {
	x.Helper()
	var got, wanted []string
	for _, info := range x.list(s, filter) {
		got = append(got, oneLine(info))
	}
	for _, info := range want {
		wanted = append(wanted, oneLine(info))
	}
	if what := unlike(got, wanted); what != "" {
		x.Errorf("List tells something else: %s", what)
	}
}

func listEmpty(x *exam) {
	s := x.open()
	x.listed("nothing is there", s, store.Filter{})
	x.listed("nothing is there", s, store.Filter{Text: "a", Limit: 3, Newest: true, After: "z"})
}

func listInfo(x *exam) {
	handles := x.handles(2)
	settings := flow.Settings{
		Topic: "Cars \"in\" cities?\n", Labels: map[string]string{tenant: "green", "trace": "", "x.y": "z", "ключ": "значение"},
		Budget: &flow.Budget{Hard: 2 * flow.USD / 3},
	}
	log := after(0,
		started(settings), moved(flow.StateInitializing), moved(arguing),
		flow.Event{Body: &flow.Round{N: 1, Of: 3}}, said("text"),
		flow.Event{Body: &flow.Round{N: 2, Of: 3}}, said("text"),
		moved(flow.StatePaused), flow.Event{Body: &flow.RetriedNow{}},
	)
	log[8].At = log[8].At.In(time.FixedZone("", 3600))
	parent := &flow.Parent{ID: "b", Seq: 3, Spent: flow.Account{
		Cost: flow.USD / 9, Unsettled: flow.Unsettled{AtMost: flow.USD / 11, Unreported: 2},
	}}
	log[0].Body.(*flow.Start).Parent = parent //nolint:forcetypeassert // started makes one
	x.append(handles[0], "a", 0, "w", log)
	x.lease(handles[0], "a", "me", time.Hour)
	want := store.Info{
		ID: "a", Format: "a <shape>", Spent: 3 * flow.USD / 7, Unsettled: unsettled, Copied: flow.USD / 9,
		CopiedUnsettled: parent.Spent.Unsettled, Limit: 2 * flow.USD / 3, Result: "Зоя \"Z\"",
		State: flow.StatePaused, Topic: settings.Topic, Labels: maps.Clone(settings.Labels), Round: 2, Seq: 9,
		StartedAt: moment(1), LastAt: moment(9), Owner: "me",
	}
	for _, s := range append(handles, x.open()) {
		x.infos(s, store.Filter{}, want)
	}
	// The caller owns what List yields.
	for _, info := range x.list(handles[0], store.Filter{}) {
		if _, ok := info.Labels[tenant]; ok {
			info.Labels[tenant] = "spoiled"
		}
	}
	x.infos(handles[0], store.Filter{}, want)
}

// listSince: a store that does not know since when may say nothing.
func listSince(x *exam) {
	handles := x.handles(2)
	since := func(want time.Time) {
		x.Helper()
		for _, s := range handles {
			for _, info := range x.list(s, store.Filter{}) {
				if !info.Since.IsZero() && !info.Since.Equal(want) {
					x.Errorf("List tells that the conversation is in its state since %v, want %v", info.Since, want)
				}
			}
		}
	}
	x.append(handles[0], "a", 0, "w", debateOf("topic", nil, arguing, "text"))
	since(moment(2))
	x.append(handles[1], "a", 3, "w", after(3, said("text"), changed(arguing, arguing)))
	since(moment(2))
	x.append(handles[0], "a", 5, "w", after(5, changed(arguing, flow.StatePaused), said("text")))
	since(moment(6))
	x.append(handles[1], "a", 7, "w", after(7, changed(flow.StatePaused, arguing), changed(arguing, flow.StatePaused)))
	since(moment(9))
}

// listFollows appends one event at a time. The last of them says anew what the conversation is about.
func listFollows(x *exam) {
	handles := x.handles(2)
	log := debateOf("topic", map[string]string{"k": "v"}, flow.StateRunning, "text")
	log = append(log, after(4,
		flow.Event{Body: &flow.Round{N: 1}}, moved(flow.StatePaused), said("more"),
		flow.Event{Body: &flow.Round{N: 2}}, moved(flow.StateCompleted),
		started(flow.Settings{Topic: "another", Labels: map[string]string{"k": "w", "l": "v"}}),
	)...)
	for i := range log {
		log[i].Seq, log[i].At = int64(i)+1, moment(int64(i)+1)
	}
	for i := range log {
		x.append(handles[i%2], "a", int64(i), "w", log[i:i+1])
		x.infos(handles[0], store.Filter{}, describe("a", "", log[:i+1]))
		x.infos(handles[1], store.Filter{}, describe("a", "", log[:i+1]))
	}
	x.listed("the label is another", handles[0], store.Filter{Labels: map[string]string{"k": "v"}})
	x.listed("the labels are these", handles[1], store.Filter{Labels: map[string]string{"k": "w", "l": "v"}}, "a")
	x.conflict("the log ends before", handles[0], 20, "w", after(20, started(flow.Settings{Topic: "late"})))
	x.infos(handles[1], store.Filter{}, describe("a", "", log))
}

// listOdd stores logs of a host program or of another flow.
func listOdd(x *exam) {
	s := x.open()
	acks := after(0, flow.Event{Body: &flow.RetriedNow{}}, flow.Event{Body: &flow.RetriedNow{}})
	x.append(s, "acks", 0, "w", acks)
	late := after(0, flow.Event{Body: &flow.RetriedNow{}}, moved(flow.StatePaused), started(flow.Settings{Topic: "late"}))
	x.append(s, "late", 0, "w", late)
	empty := after(0, flow.Event{Body: &flow.Start{}}, flow.Event{Body: &flow.Turn{}})
	x.append(s, "void", 0, "w", empty)
	x.infos(x.open(), store.Filter{}, describe("acks", "", acks), describe("late", "", late), describe("void", "", empty))
	x.listed("it has no state", s, store.Filter{States: []flow.State{""}}, "acks", "void")
}

func listBreak(x *exam) {
	s := x.open()
	for _, id := range []string{"a", "b", "c"} {
		x.append(s, id, 0, "w", some(0, 1, id))
	}
	for most := 1; most <= 3; most++ {
		n := 0
		for _, err := range s.List(x.Context(), store.Filter{}) {
			if err != nil {
				x.Fatalf("List failed: %v", err)
			}
			if n++; n == most {
				break
			}
		}
	}
	x.append(s, "a", 1, "w", some(1, 1, "a"))
	x.listed("after loops that were left", s, store.Filter{}, "a", "b", "c")
}

func listCanceled(x *exam) {
	const debates = 100
	s := x.open()
	for i := range debates {
		x.append(s, fmt.Sprint("d", i), 0, "w", some(0, 1, "w"))
	}
	if _, err := collect(s.List(canceled(x.Context()), store.Filter{})); err == nil {
		x.Errorf("List went on although its context was over before")
	}
	ctx, cancel := context.WithCancel(x.Context())
	defer cancel()
	n := 0
	var failed error
	for _, err := range s.List(ctx, store.Filter{}) {
		if failed = err; err != nil {
			break
		}
		n++
		cancel()
	}
	if failed == nil {
		x.Errorf("List yielded all %d conversations although its context was over after the first", n)
	}
	if n := len(x.list(s, store.Filter{})); n != debates {
		x.Errorf("after that List yields %d of %d conversations", n, debates)
	}
}

func listReentrant(x *exam) {
	s := x.open()
	for _, id := range []string{"a", "b", "c"} {
		x.append(s, id, 0, "w", some(0, 1, id))
	}
	n, ctx := 0, x.Context()
	x.within("a loop over List that uses the store", func() error {
		for info, err := range s.List(ctx, store.Filter{}) {
			n++
			if err == nil {
				err = s.Lease(ctx, info.ID, "me", time.Hour)
			}
			if err == nil {
				err = s.Append(ctx, info.ID, info.Seq, "w", some(info.Seq, 1, info.ID))
			}
			if err == nil {
				_, err = collect(s.Read(ctx, info.ID, 0))
			}
			if err == nil {
				_, err = collect(s.List(ctx, store.Filter{Text: "x"}))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if n != 3 {
		x.Errorf("List yielded %d of 3 conversations while they grew", n)
	}
	for _, id := range []string{"a", "b", "c"} {
		x.log(s, id, 0, some(0, 2, id))
	}
}

// listCrowd lists while conversations are started. Those that existed before must be listed, in order.
func listCrowd(x *exam) {
	const writers, each = 4, 15
	handles := x.handles(2)
	x.append(handles[0], "d-first", 0, "w", debateOf("topic", nil, flow.StatePaused))
	x.crowd(writers+2, func(i int) {
		s := handles[i%2]
		for n := range each {
			if i < writers {
				id := fmt.Sprintf("d%02d-%d", n, i)
				if err := s.Append(x.Context(), id, 0, "w", debateOf("topic", nil, flow.StatePaused)); err != nil {
					x.Errorf("Append beside others failed: %v", err)
				}
				if ids, err := listNames(x, s); err != nil || !slices.Contains(ids, id) {
					x.Errorf("a conversation that was just begun is not listed (%v)", err)
				}
				continue
			}
			ids, err := listNames(x, s)
			if err != nil || !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) || !slices.Contains(ids, "d-first") {
				x.Errorf("List beside writers is wrong: %q, %v", ids, err)
			}
		}
	})
	if n := len(x.list(handles[0], store.Filter{})); n != writers*each+1 {
		x.Errorf("List yields %d conversations, want %d", n, writers*each+1)
	}
}

func listNames(x *exam, s store.Store) ([]string, error) {
	infos, err := collect(s.List(x.Context(), store.Filter{}))
	for i := range infos {
		if infos[i].State != flow.StatePaused || infos[i].Seq != 2 || infos[i].Topic != "topic" {
			return nil, fmt.Errorf("a conversation is told of as half begun: %s", oneLine(infos[i]))
		}
	}
	return names(infos), err
}
