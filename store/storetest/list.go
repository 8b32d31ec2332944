package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
)

func listChecks() []check {
	return []check{
		{"list/an empty storage", listEmpty},
		{"list/what is told of a debate", listInfo},
		{"list/what is told follows the log", listFollows},
		{"list/a log that begins otherwise", listOdd},
		{"list/by state", listStates},
		{"list/by label", listLabels},
		{"list/by time", listTimes},
		{"list/far times", listFarTimes},
		{"list/by owner", listIdle},
		{"list/in the order of ids", listOrder},
		{"list/after an id", listAfter},
		{"list/at most so many", listLimit},
		{"list/all conditions hold at once", listTogether},
		{"list/in pages", listPages},
		{"list/stops with the loop", listBreak},
		{"list/stops with its context", listCanceled},
		{"list/the loop may use the store", listReentrant},
		{"list/beside writers", listCrowd},
	}
}

// describe is what List has to tell of a log.
func describe(id, owner string, log []debate.Event) debate.Info {
	info := debate.Info{ID: id, Owner: owner}
	for i := range log {
		info.Note(&log[i])
	}
	return info
}

// told yields what is told of a debate as one line; an instant is the same in every zone.
func told(info debate.Info) string {
	keys := make([]string, 0, len(info.Labels))
	for key, value := range info.Labels {
		keys = append(keys, fmt.Sprintf("%q=%q", key, value))
	}
	slices.Sort(keys)
	return fmt.Sprintf("%q state %q, topic %q, labels [%s], round %d, seq %d, started %s, last %s, owner %q",
		info.ID, info.State, info.Topic, strings.Join(keys, " "), info.Round, info.Seq,
		info.StartedAt.UTC().Format(time.RFC3339Nano), info.LastAt.UTC().Format(time.RFC3339Nano), info.Owner)
}

// tells wants List to tell exactly this.
func (x *exam) tells(store debate.Store, filter debate.Filter, want ...debate.Info) {
	x.Helper()
	var got, wanted []string
	for _, info := range x.list(store, filter) {
		got = append(got, told(info))
	}
	for _, info := range want {
		wanted = append(wanted, told(info))
	}
	if what := unlike(got, wanted); what != "" {
		x.Errorf("List tells something else: %s", what)
	}
}

func listEmpty(x *exam) {
	store := x.open()
	x.listed("nothing is there", store, debate.Filter{})
	x.listed("nothing is there", store, debate.Filter{Text: "a", Limit: 3, Newest: true, After: "z"})
}

func listInfo(x *exam) {
	handles := x.handles(2)
	config := debate.Config{
		Topic: "Cars \"in\" cities?\n", Labels: map[string]string{tenant: "green", "trace": "", "x.y": "z", "ключ": "значение"},
	}
	log := after(0,
		started(config), moved(debate.StateInitializing), moved(arguing),
		debate.Event{Body: &debate.Round{N: 1, Of: 3}}, said("text"),
		debate.Event{Body: &debate.Round{N: 2, Of: 3}}, said("text"),
		moved(debate.StatePaused), debate.Event{Body: &debate.Acknowledge{}},
	)
	log[8].At = log[8].At.In(time.FixedZone("", 3600))
	x.append(handles[0], "a", 0, "w", log)
	x.lease(handles[0], "a", "me", time.Hour)
	want := debate.Info{
		ID: "a", State: debate.StatePaused, Topic: config.Topic, Labels: config.Labels, Round: 2, Seq: 9,
		StartedAt: moment(1), LastAt: moment(9), Owner: "me",
	}
	for _, store := range append(handles, x.open()) {
		x.tells(store, debate.Filter{}, want)
	}
	// What List yields is the caller's.
	for _, info := range x.list(handles[0], debate.Filter{}) {
		if _, ok := info.Labels[tenant]; ok {
			info.Labels[tenant] = "spoiled"
		}
	}
	x.tells(handles[0], debate.Filter{}, want)
}

// listFollows appends one event at a time.
func listFollows(x *exam) {
	handles := x.handles(2)
	log := debateOf("topic", map[string]string{"k": "v"}, debate.StateRunning, "text")
	log = append(log, after(4,
		debate.Event{Body: &debate.Round{N: 1}}, moved(debate.StatePaused), said("more"),
		debate.Event{Body: &debate.Round{N: 2}}, moved(debate.StateCompleted),
	)...)
	log = slices.Delete(log, 3, 3)
	for i := range log {
		log[i].Seq, log[i].At = int64(i)+1, moment(int64(i)+1)
	}
	for i := range log {
		x.append(handles[i%2], "a", int64(i), "w", log[i:i+1])
		x.tells(handles[0], debate.Filter{}, describe("a", "", log[:i+1]))
		x.tells(handles[1], debate.Filter{}, describe("a", "", log[:i+1]))
	}
}

// listOdd is a log of a host's or of another flow's.
func listOdd(x *exam) {
	store := x.open()
	acks := after(0, debate.Event{Body: &debate.Acknowledge{}}, debate.Event{Body: &debate.Acknowledge{}})
	x.append(store, "acks", 0, "w", acks)
	late := after(0, debate.Event{Body: &debate.Acknowledge{}}, moved(debate.StatePaused), started(debate.Config{Topic: "late"}))
	x.append(store, "late", 0, "w", late)
	empty := after(0, debate.Event{Body: &debate.Start{}}, debate.Event{Body: &debate.Turn{}})
	x.append(store, "void", 0, "w", empty)
	x.tells(x.open(), debate.Filter{}, describe("acks", "", acks), describe("late", "", late), describe("void", "", empty))
	x.listed("it has no state", store, debate.Filter{States: []debate.State{""}}, "acks", "void")
}

func listStates(x *exam) {
	store := x.open()
	for id, state := range map[string]debate.State{
		"a": debate.StateInitializing, "b": debate.StateRunning, "c": arguing, "d": debate.StatePaused, "e": debate.StateAwaitingInput,
		"f": debate.StateCompleting, "g": debate.StateCompleted, "h": debate.StateCanceled, "i": debate.StateError, "j": "Arguing",
	} {
		x.append(store, id, 0, "w", debateOf("topic", nil, state))
	}
	states := func(want string, states ...debate.State) {
		x.Helper()
		x.listed(fmt.Sprintf("in one of the states %q", states), store, debate.Filter{States: states}, strings.Fields(want)...)
	}
	states("a b c d e f g h i j")
	states("c", arguing)
	states("d", debate.StatePaused)
	states("d g i", debate.StateError, debate.StatePaused, debate.StateCompleted)
	states("d", debate.StatePaused, debate.StatePaused, "none")
	states("", "none")
	states("", "argu%", "' OR 1=1 --")
	x.listed("not over", store, debate.Filter{Unfinished: true}, "a", "b", "c", "d", "e", "f", "i", "j")
	x.listed("at work", store, debate.Filter{Working: true}, "a", "b", "c", "f", "j")
	x.listed("at work", store, debate.Filter{Working: true, Unfinished: true}, "a", "b", "c", "f", "j")
	x.listed("at work and paused", store, debate.Filter{Working: true, States: []debate.State{debate.StatePaused}})
	x.listed("not over, in two states", store, debate.Filter{
		Unfinished: true, States: []debate.State{debate.StatePaused, debate.StateCompleted},
	}, "d")
	x.append(store, "d", 2, "w", after(2, moved(arguing)))
	states("c d", arguing)
	states("", debate.StatePaused)
}

func listLabels(x *exam) {
	store := x.open()
	for id, labels := range map[string]map[string]string{
		"a": {tenant: blue, "trace": "1"},
		"b": {tenant: "Blue"},
		"c": {tenant: ""},
		"d": nil,
		"e": {"Tenant": blue},
		"f": {"a.b": "1", "a": "2"},
		"g": {`q"u'o\te`: `v"a'l\ue`, "100%": "_", "": "empty key"},
		"h": {"ключ 🙂": "значение\n\t", "$": "$.a", "a[0]": "x", "\u2028": "\x00"},
		"i": {tenant: "blue ", "other": blue},
	} {
		x.append(store, id, 0, "w", debateOf("topic", labels, debate.StatePaused))
	}
	for _, c := range []struct {
		labels map[string]string
		want   string
	}{
		{map[string]string{}, "a b c d e f g h i"},
		{map[string]string{tenant: blue}, "a"},
		{map[string]string{tenant: blue, "trace": "1"}, "a"},
		{map[string]string{tenant: blue, "trace": "2"}, ""},
		{map[string]string{tenant: blue, "none": ""}, ""},
		{map[string]string{tenant: ""}, "c"},
		{map[string]string{"none": ""}, ""},
		{map[string]string{tenant: "b%"}, ""},
		{map[string]string{tenant: "blu_"}, ""},
		{map[string]string{tenant: "*"}, ""},
		{map[string]string{"TENANT": blue}, ""},
		{map[string]string{"Tenant": blue}, "e"},
		{map[string]string{"a.b": "1"}, "f"},
		{map[string]string{"a": "2"}, "f"},
		{map[string]string{"a.b": "1", "a": "2"}, "f"},
		{map[string]string{"a": "1"}, ""},
		{map[string]string{`q"u'o\te`: `v"a'l\ue`}, "g"},
		{map[string]string{"100%": "_"}, "g"},
		{map[string]string{"": "empty key"}, "g"},
		{map[string]string{"": ""}, ""},
		{map[string]string{"ключ 🙂": "значение\n\t"}, "h"},
		{map[string]string{"$": "$.a", "a[0]": "x"}, "h"},
		{map[string]string{"\u2028": "\x00"}, "h"},
		{map[string]string{tenant: "blue "}, "i"},
		{map[string]string{"' OR '1'='1": "' OR '1'='1"}, ""},
	} {
		x.listed(fmt.Sprintf("with the labels %q", c.labels), store, debate.Filter{Labels: c.labels}, strings.Fields(c.want)...)
	}
}

// listTimes has debates one nanosecond apart.
func listTimes(x *exam) {
	store := x.open()
	begin := time.Date(2026, time.May, 1, 12, 0, 0, 999_999_998, time.UTC)
	for i, id := range []string{"a", "b", "c", "d", "e"} {
		log := debateOf("topic", nil, debate.StatePaused)
		log[0].At = begin.Add(time.Duration(i))
		log[1].At = begin.Add(time.Hour) // when it was started counts
		x.append(store, id, 0, "w", log)
	}
	span := func(why string, from, until time.Time, want string) {
		x.Helper()
		x.listed(why, store, debate.Filter{From: from, Until: until}, strings.Fields(want)...)
	}
	var open time.Time
	at := func(n int) time.Time { return begin.Add(time.Duration(n)) }
	span("from the second on", at(1), open, "b c d e")
	span("until before the second", open, at(1), "a")
	span("from the second until before the fourth", at(1), at(3), "b c")
	span("nothing begins in no time", at(2), at(2), "")
	span("the other way round", at(3), at(1), "")
	span("before all", open, at(0), "")
	span("after all", at(5), open, "")
	span("long before", at(0).AddDate(-3000, 0, 0), at(0).AddDate(4000, 0, 0), "a b c d e")
	zone := time.FixedZone("", -7*3600)
	span("in another zone", at(1).In(zone), at(3).In(zone), "b c")
}

func listFarTimes(x *exam) {
	store := x.open()
	all := times()
	var want []debate.Info
	for i, at := range all {
		log := debateOf("topic", nil, debate.StatePaused)
		log[0].At, log[1].At = at, at
		id := fmt.Sprintf("t%02d", i)
		x.append(store, id, 0, "w", log)
		want = append(want, describe(id, "", log))
	}
	x.tells(x.open(), debate.Filter{}, want...)
	for _, bound := range all {
		if bound.IsZero() {
			continue // no bound
		}
		var from, until []string
		for i := range want {
			if want[i].StartedAt.Before(bound) {
				until = append(until, want[i].ID)
			} else {
				from = append(from, want[i].ID)
			}
		}
		x.listed(fmt.Sprintf("from %v on", bound), store, debate.Filter{From: bound}, from...)
		x.listed(fmt.Sprintf("until before %v", bound), store, debate.Filter{Until: bound}, until...)
	}
}

func listIdle(x *exam) {
	handles := x.handles(2)
	for _, id := range []string{"a", "b", "c"} {
		x.append(handles[0], id, 0, "w", debateOf("topic", nil, arguing))
	}
	x.lease(handles[0], "b", "me", time.Hour)
	x.lease(handles[1], "c", "you", time.Hour)
	x.release(handles[1], "c", "you")
	for _, store := range handles {
		x.listed("whoever holds them", store, debate.Filter{}, "a", "b", "c")
		x.listed("nobody holds them", store, debate.Filter{Idle: true}, "a", "c")
		x.listed("a worker's next", store, debate.Filter{Idle: true, Working: true, Limit: 1}, "a")
		x.listed("a worker's next", store, debate.Filter{Idle: true, Working: true, Limit: 1, After: "a"}, "c")
	}
}

// mixed are ids that other orders than that of bytes mix up.
func mixed() []string {
	return []string{"-", "0", "1", "10", "2", "A", "B", "Z", "_", "a", "a-", "a-b", "a.c", "a0", "aB", "a_b", "aa", "ab", "b"}
}

func listOrder(x *exam) {
	store := x.open()
	ids := mixed()
	for i := range ids {
		id := ids[(7*i+3)%len(ids)]
		x.append(store, id, 0, "w", some(0, 1, id))
	}
	x.listed("in the order of bytes", store, debate.Filter{}, ids...)
	slices.Reverse(ids)
	x.listed("the other way round", store, debate.Filter{Newest: true}, ids...)
}

func listAfter(x *exam) {
	store := x.open()
	ids := mixed()
	for _, id := range ids {
		x.append(store, id, 0, "w", some(0, 1, id))
	}
	cursors := append(mixed(), "!", "+", "/", "5", "C", "a-a", "a/", "zz", "~", "é", "\xff", "a' OR '1'='1", "%", "a\x00")
	for _, cursor := range append(cursors, strings.Repeat("a", 1000)) {
		var before, behind []string
		for _, id := range ids {
			switch {
			case id < cursor:
				before = append(before, id)
			case id > cursor:
				behind = append(behind, id)
			}
		}
		slices.Reverse(before)
		why := "after " + brief(cursor)
		x.listed(why, store, debate.Filter{After: cursor}, behind...)
		x.listed(why+", newest first", store, debate.Filter{After: cursor, Newest: true}, before...)
		x.listed(why+", two", store, debate.Filter{After: cursor, Limit: 2}, behind[:min(2, len(behind))]...)
	}
}

func listLimit(x *exam) {
	store := x.open()
	ids := []string{"a", "b", "c", "d", "e"}
	for i, id := range ids {
		state := debate.StatePaused
		if i%2 == 1 {
			state = debate.StateCompleted
		}
		x.append(store, id, 0, "w", debateOf("topic "+id, nil, state, "text"))
	}
	for limit := 1; limit < 7; limit++ {
		x.listed(fmt.Sprint("at most ", limit), store, debate.Filter{Limit: limit}, ids[:min(limit, 5)]...)
	}
	x.listed("at most none is all", store, debate.Filter{Limit: 0}, ids...)
	x.listed("the newest two", store, debate.Filter{Newest: true, Limit: 2}, "e", "d")
	x.listed("what does not match does not count", store, debate.Filter{Limit: 2, States: []debate.State{debate.StateCompleted}}, "b", "d")
	x.listed("what has not the text does not count", store, debate.Filter{Limit: 1, Text: "topic d"}, "d")
	x.listed("all have the text", store, debate.Filter{Limit: 2, Text: "text"}, "a", "b")
	x.listed("more than there are", store, debate.Filter{Limit: 1 << 30}, ids...)
}

// listTogether has debates that each lack one condition.
func listTogether(x *exam) {
	store := x.open()
	const word = "a word"
	labels := map[string]string{tenant: blue}
	begin := moment(1)
	for i, c := range []struct {
		id     string
		labels map[string]string
		state  debate.State
		text   string
		day    int
		held   bool
	}{
		{"a", labels, arguing, word, 0, false},
		{"b", nil, arguing, word, 0, false},
		{"c", labels, "rebutting", word, 0, false},
		{"d", labels, debate.StatePaused, word, 0, false},
		{"e", labels, arguing, "another", 0, false},
		{"f", labels, arguing, word, -1, false},
		{"g", labels, arguing, word, 1, false},
		{"h", labels, arguing, word, 0, true},
		{"i", labels, arguing, word, 0, false},
		{"j", labels, arguing, word, 0, false},
	} {
		log := debateOf("topic", c.labels, c.state, c.text)
		for n := range log {
			log[n].At = begin.AddDate(0, 0, c.day).Add(time.Duration(i))
		}
		x.append(store, c.id, 0, "w", log)
		if c.held {
			x.lease(store, c.id, "me", time.Hour)
		}
	}
	filter := debate.Filter{
		States: []debate.State{arguing, debate.StatePaused}, Labels: labels, Unfinished: true, Working: true, Idle: true,
		From: begin, Until: begin.AddDate(0, 0, 1), Text: "WORD",
	}
	x.listed("all conditions", store, filter, "a", "i", "j")
	filter.Limit = 2
	x.listed("all conditions, two", store, filter, "a", "i")
	filter.After = "a"
	x.listed("all conditions, behind a", store, filter, "i", "j")
	filter.Newest, filter.After = true, "j"
	x.listed("all conditions, newest first behind j", store, filter, "i", "a")
}

func listPages(x *exam) {
	debates, writers := crowdOfDebates(), 20
	handles := x.handles(2)
	states := []debate.State{debate.StatePaused, arguing, debate.StateCompleted}
	var want []string
	for i := range debates {
		want = append(want, fmt.Sprintf("d%d-%03d", i%7, i))
	}
	x.crowd(writers, func(w int) {
		for i := w; i < debates; i += writers {
			log := debateOf(fmt.Sprint("topic ", i%10), nil, states[i%3])
			if err := handles[w%2].Append(x.Context(), want[i], 0, "w", log); err != nil {
				x.Errorf("Append to one of many failed: %v", err)
				return
			}
		}
	})
	paused := func() (ids []string) {
		for i, id := range want {
			if i%3 == 0 {
				ids = append(ids, id)
			}
		}
		return ids
	}()
	tenth := func() (ids []string) {
		for i, id := range want {
			if i%10 == 7 {
				ids = append(ids, id)
			}
		}
		return ids
	}()
	slices.Sort(want)
	slices.Sort(paused)
	slices.Sort(tenth)
	x.listed("all at once", handles[1], debate.Filter{}, want...)
	pages(x, handles, debate.Filter{Limit: 7}, want)
	pages(x, handles, debate.Filter{Limit: 100}, want)
	pages(x, handles, debate.Filter{Limit: 60, States: states[:1]}, paused)
	pages(x, handles, debate.Filter{Limit: 30, Text: "Topic 7"}, tenth)
	for _, ids := range [][]string{want, paused} {
		slices.Reverse(ids)
	}
	pages(x, handles, debate.Filter{Limit: 100, Newest: true}, want)
	pages(x, handles, debate.Filter{Limit: 1000, Newest: true}, want)
	pages(x, handles, debate.Filter{Limit: 60, Newest: true, States: states[:1]}, paused)
}

// pages reads a list page by page.
func pages(x *exam, handles []debate.Store, filter debate.Filter, want []string) {
	x.Helper()
	var got []string
	for page := 0; page <= len(want); page++ {
		ids := names(x.list(handles[page%len(handles)], filter))
		if len(ids) > filter.Limit {
			x.Fatalf("a page of %d has %d debates", filter.Limit, len(ids))
		}
		got = append(got, ids...)
		if len(ids) < filter.Limit {
			break
		}
		filter.After = ids[len(ids)-1]
	}
	if what := unlike(got, want); what != "" {
		x.Errorf("pages of %d do not add up to the list: %s", filter.Limit, what)
	}
}

func listBreak(x *exam) {
	store := x.open()
	for _, id := range []string{"a", "b", "c"} {
		x.append(store, id, 0, "w", some(0, 1, id))
	}
	for most := 1; most <= 3; most++ {
		n := 0
		for _, err := range store.List(x.Context(), debate.Filter{}) {
			if err != nil {
				x.Fatalf("List failed: %v", err)
			}
			if n++; n == most {
				break
			}
		}
	}
	x.append(store, "a", 1, "w", some(1, 1, "a"))
	x.listed("after loops that were left", store, debate.Filter{}, "a", "b", "c")
}

func listCanceled(x *exam) {
	const debates = 100
	store := x.open()
	for i := range debates {
		x.append(store, fmt.Sprint("d", i), 0, "w", some(0, 1, "w"))
	}
	if _, err := collect(store.List(canceled(x.Context()), debate.Filter{})); err == nil {
		x.Errorf("List went on although its context was over before")
	}
	ctx, cancel := context.WithCancel(x.Context())
	defer cancel()
	n := 0
	var failed error
	for _, err := range store.List(ctx, debate.Filter{}) {
		if failed = err; err != nil {
			break
		}
		n++
		cancel()
	}
	if failed == nil {
		x.Errorf("List yielded all %d debates although its context was over after the first", n)
	}
	if n := len(x.list(store, debate.Filter{})); n != debates {
		x.Errorf("after that List yields %d of %d debates", n, debates)
	}
}

func listReentrant(x *exam) {
	store := x.open()
	for _, id := range []string{"a", "b", "c"} {
		x.append(store, id, 0, "w", some(0, 1, id))
	}
	n, ctx := 0, x.Context()
	x.within("a loop over List that uses the store", func() error {
		for info, err := range store.List(ctx, debate.Filter{}) {
			n++
			if err == nil {
				err = store.Lease(ctx, info.ID, "me", time.Hour)
			}
			if err == nil {
				err = store.Append(ctx, info.ID, info.Seq, "w", some(info.Seq, 1, info.ID))
			}
			if err == nil {
				_, err = collect(store.Read(ctx, info.ID, 0))
			}
			if err == nil {
				_, err = collect(store.List(ctx, debate.Filter{Text: "x"}))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if n != 3 {
		x.Errorf("List yielded %d of 3 debates while they grew", n)
	}
	for _, id := range []string{"a", "b", "c"} {
		x.log(store, id, 0, some(0, 2, id))
	}
}

// listCrowd lists while debates are begun: those that were there before are there, and in order.
func listCrowd(x *exam) {
	const writers, each = 4, 15
	handles := x.handles(2)
	x.append(handles[0], "d-first", 0, "w", debateOf("topic", nil, debate.StatePaused))
	x.crowd(writers+2, func(i int) {
		store := handles[i%2]
		for n := range each {
			if i < writers {
				id := fmt.Sprintf("d%02d-%d", n, i)
				if err := store.Append(x.Context(), id, 0, "w", debateOf("topic", nil, debate.StatePaused)); err != nil {
					x.Errorf("Append beside others failed: %v", err)
				}
				if ids, err := listNames(x, store); err != nil || !slices.Contains(ids, id) {
					x.Errorf("a debate that was just begun is not listed (%v)", err)
				}
				continue
			}
			ids, err := listNames(x, store)
			if err != nil || !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) || !slices.Contains(ids, "d-first") {
				x.Errorf("List beside writers is wrong: %q, %v", ids, err)
			}
		}
	})
	if n := len(x.list(handles[0], debate.Filter{})); n != writers*each+1 {
		x.Errorf("List yields %d debates, want %d", n, writers*each+1)
	}
}

func listNames(x *exam, store debate.Store) ([]string, error) {
	infos, err := collect(store.List(x.Context(), debate.Filter{}))
	for i := range infos {
		if infos[i].State != debate.StatePaused || infos[i].Seq != 2 || infos[i].Topic != "topic" {
			return nil, fmt.Errorf("a debate is told of as half begun: %s", told(infos[i]))
		}
	}
	return names(infos), err
}
