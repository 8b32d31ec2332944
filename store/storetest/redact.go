package storetest

import (
	"errors"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// gone is what stands in the place of a text that was removed.
const gone = "gone"

func redactChecks() []check {
	list := []check{
		{"redact/events take the places of others", redactEvents},
		{"redact/at another position is a conflict", redactConflict},
		{"redact/what is not there", redactMissing},
		{"redact/wrong numbers are refused", redactRefused},
		{"redact/the log goes on", redactGoesOn},
		{"redact/lists and searches", redactListed},
		{"redact/blobs are removed", redactBlobs},
		{"redact/other conversations stay", redactOthers},
		{"redact/watchers are told", redactWatched},
		{"redact/nothing is left in the files", redactLeft},
		{"redact/beside appends", redactCrowd},
	}
	for i := range list {
		run := list[i].run
		list[i].run = func(x *exam) {
			if _, ok := x.open().(store.Redactor); !ok {
				x.Skip("the store is no store.Redactor")
			}
			run(x)
		}
	}
	return list
}

// redact rewrites a log.
func (x *exam) redact(s store.Store, id string, after int64, events []flow.Event, blobs ...string) error {
	x.Helper()
	r, ok := s.(store.Redactor)
	if !ok {
		x.Fatalf("one handle is a store.Redactor and another is not")
	}
	return r.Redact(x.Context(), id, after, events, blobs)
}

// rewritten returns events in place of those of a log that have these numbers, and one behind it.
func rewritten(log []flow.Event, text string, seqs ...int64) []flow.Event {
	var events []flow.Event
	for _, seq := range seqs {
		events = append(events, flow.Event{Seq: seq, At: log[seq-1].At, Body: &flow.Turn{Speaker: "Ada", Text: text}})
	}
	last := log[len(log)-1]
	return append(events, flow.Event{Seq: last.Seq + 1, At: last.At, Body: &flow.Redacted{With: text}})
}

// applied returns a log after its redaction.
func applied(log, events []flow.Event) []flow.Event {
	out := append([]flow.Event(nil), log...)
	for _, e := range events {
		if e.Seq <= int64(len(out)) {
			out[e.Seq-1] = e
		} else {
			out = append(out, e)
		}
	}
	return out
}

func redactEvents(x *exam) {
	handles := x.handles(2)
	log := some(0, 200, "w")
	x.append(handles[0], "a", 0, "w", log[:3])
	x.append(handles[1], "a", 3, "v", log[3:10])
	x.append(handles[0], "a", 10, "w", log[10:])
	x.log(handles[1], "a", 0, log)
	for _, seqs := range [][]int64{{1, 3, 4, 10, 11, 200}, {5}, {2, 3}} {
		events := rewritten(log, strings.Repeat("gone ", 1+len(log)%7), seqs...)
		if err := x.redact(handles[1], "a", int64(len(log)), events); err != nil {
			x.Fatalf("Redact failed: %v", err)
		}
		log = applied(log, events)
		for _, s := range append(handles, x.open()) {
			x.log(s, "a", 0, log)
			x.log(s, "a", 4, log[4:])
			x.log(s, "a", int64(len(log)-1), log[len(log)-1:])
		}
	}
}

func redactConflict(x *exam) {
	handles := x.handles(2)
	log := some(0, 5, "w")
	x.append(handles[0], "a", 0, "w", log[:4])
	x.append(handles[1], "a", 4, "v", log[4:])
	for _, end := range []int64{0, 4, 6} {
		events := []flow.Event{{Seq: end + 1, Body: &flow.Redacted{}}}
		if end > 0 {
			events = append([]flow.Event{{Seq: 1, Body: &flow.Turn{Text: gone}}}, events...)
		}
		if err := x.redact(handles[0], "a", end, events); !errors.Is(err, flow.ErrConflict) {
			x.Errorf("Redact of a log of 5 events after %d gave %v, want flow.ErrConflict", end, err)
		}
	}
	x.log(handles[1], "a", 0, log)
}

func redactMissing(x *exam) {
	s := x.open()
	if err := x.redact(s, "a", 0, []flow.Event{{Seq: 1, Body: &flow.Redacted{}}}); !errors.Is(err, flow.ErrNotFound) {
		x.Errorf("Redact of a conversation that is not there gave %v, want flow.ErrNotFound", err)
	}
	x.unknown(s, "a")
	if err := x.redact(s, "../a", 0, nil); err == nil {
		x.Errorf("Redact of the id ../a succeeds")
	}
}

func redactRefused(x *exam) {
	s := x.open()
	log := some(0, 3, "w")
	x.append(s, "a", 0, "w", log)
	body := &flow.Turn{Text: gone}
	for _, seqs := range [][]int64{{1}, {0, 4}, {2, 1, 4}, {1, 1, 4}, {5}, {4, 6}} {
		var events []flow.Event
		for _, seq := range seqs {
			events = append(events, flow.Event{Seq: seq, Body: body})
		}
		if err := x.redact(s, "a", 3, events); err == nil {
			x.Errorf("Redact with the events %v of a log of 3 succeeds", seqs)
		}
	}
	x.log(s, "a", 0, log)
}

// redactGoesOn appends after a redaction, by handles that knew the log before.
func redactGoesOn(x *exam) {
	handles := x.handles(2)
	log := some(0, 4, "w")
	x.append(handles[0], "a", 0, "w", log[:2])
	x.append(handles[0], "a", 2, "w", log[2:])
	x.log(handles[1], "a", 0, log)
	x.lease(handles[0], "a", "me", time.Hour)
	events := rewritten(log, gone, 1, 4)
	if err := x.redact(handles[1], "a", 4, events); err != nil {
		x.Fatalf("Redact failed: %v", err)
	}
	log = applied(log, events)
	x.conflict("the log has grown", handles[0], 4, "w", some(4, 1, "w"))
	x.conflict("what w has appended was changed since", handles[0], 2, "w", some(2, 2, "w"))
	x.append(handles[0], "a", 5, "w", some(5, 2, "w"))
	x.append(handles[1], "a", 7, "v", some(7, 1, "v"))
	log = append(append(log, some(5, 2, "w")...), some(7, 1, "v")...)
	for _, s := range append(handles, x.open()) {
		x.log(s, "a", 0, log)
	}
	x.leased("the lease counts still", handles[1], "a", "you")
	if err := x.redact(handles[0], "a", int64(len(log)), nil); err != nil {
		x.Errorf("Redact without events failed: %v", err)
	}
	x.log(handles[1], "a", 0, log)
}

func redactListed(x *exam) {
	handles := x.handles(2)
	log := debateOf("vans", map[string]string{"k": "v", "keep": "it"}, flow.StateCompleted, "old words")
	log = append(log, flow.Event{At: log[0].At, Body: &flow.Transition{
		From: flow.StateCompleting, To: flow.StateCompleted, Spent: 7, Result: "vans win",
	}})
	for i := range log {
		log[i].Seq = int64(i) + 1
	}
	x.append(handles[0], "a", 0, "w", log)
	x.listed("before", handles[1], store.Filter{Text: "vans"}, "a")
	var events []flow.Event
	for _, e := range log {
		switch body := e.Body.(type) {
		case *flow.Start:
			now := *body
			now.Settings.Topic, now.Settings.Labels = gone, map[string]string{"k": gone, "keep": "it"}
			events = append(events, flow.Event{Seq: e.Seq, At: e.At, Body: &now})
		case *flow.Turn:
			events = append(events, flow.Event{Seq: e.Seq, At: e.At, Body: &flow.Turn{Text: gone}})
		case *flow.Transition:
			now := *body
			now.Evidence = gone
			if now.Result != "" {
				now.Result = gone
			}
			events = append(events, flow.Event{Seq: e.Seq, At: e.At, Body: &now})
		}
	}
	end := log[len(log)-1]
	events = append(events, flow.Event{Seq: end.Seq + 1, At: end.At, Body: &flow.Redacted{With: gone}})
	before := x.list(handles[0], store.Filter{})
	if err := x.redact(handles[0], "a", end.Seq, events); err != nil {
		x.Fatalf("Redact failed: %v", err)
	}
	for _, s := range append(handles, x.open()) {
		x.listed("the topic is another", s, store.Filter{Text: "vans"})
		x.listed("the turns are others", s, store.Filter{Text: "old"})
		x.listed("the turns are others", s, store.Filter{Text: gone}, "a")
		x.listed("the label is another", s, store.Filter{Labels: map[string]string{"k": "v"}})
		x.listed("the label is another", s, store.Filter{Labels: map[string]string{"k": gone, "keep": "it"}}, "a")
		infos := x.list(s, store.Filter{})
		if len(infos) != 1 || len(before) != 1 {
			x.Fatalf("List yields %d conversations, want 1", len(infos))
		}
		got, want := infos[0], before[0]
		if got.Topic != gone || got.State != want.State || got.Seq != end.Seq+1 || !got.StartedAt.Equal(want.StartedAt) ||
			got.Spent != want.Spent || got.Unsettled != want.Unsettled || got.Result != gone || got.Round != want.Round {
			x.Errorf("List yields %+v after %+v", got, want)
		}
	}
}

func redactBlobs(x *exam) {
	handles := x.handles(2)
	if _, ok := handles[0].(store.Blobs); !ok {
		x.Skip("the store is no store.Blobs")
	}
	log := some(0, 2, "w")
	hash := x.put(handles[0], "a", []byte("the old file"))
	x.put(handles[0], "a", []byte("another"))
	x.put(handles[0], "b", []byte("the old file"))
	x.append(handles[0], "a", 0, "w", log)
	x.blob(handles[1], "a", []byte("the old file"))
	if err := x.redact(handles[1], "a", 2, rewritten(log, gone, 1), hash, flow.HashOf([]byte("none"))); err != nil {
		x.Fatalf("Redact failed: %v", err)
	}
	for _, s := range append(handles, x.open()) {
		x.noBlob("it was removed", s, "a", hash)
		x.blob(s, "a", []byte("another"))
		x.blob(s, "b", []byte("the old file"))
	}
	x.put(handles[0], "a", []byte("a new one"))
	x.blob(handles[1], "a", []byte("a new one"))
	x.blob(handles[1], "a", []byte("another"))
}

func redactOthers(x *exam) {
	s := x.open()
	ids := []string{"a", "A", "aa", "a.a", "b"}
	for _, id := range ids {
		x.append(s, id, 0, "w", some(0, 3, id))
	}
	log := some(0, 3, "a")
	events := rewritten(log, gone, 1, 2, 3)
	if err := x.redact(s, "a", 3, events); err != nil {
		x.Fatalf("Redact failed: %v", err)
	}
	x.log(s, "a", 0, applied(log, events))
	for _, id := range ids[1:] {
		x.log(s, id, 0, some(0, 3, id))
	}
}

func redactWatched(x *exam) {
	handles := x.handles(2)
	watcher, ok := handles[1].(store.Watcher)
	if !ok {
		x.Skip("the store is no store.Watcher")
	}
	log := some(0, 2, "w")
	x.append(handles[0], "a", 0, "w", log)
	woken := watcher.Watch(x.Context(), "a")
	if err := x.redact(handles[0], "a", 2, rewritten(log, gone, 1)); err != nil {
		x.Fatalf("Redact failed: %v", err)
	}
	select {
	case <-woken:
	case <-time.After(x.patience):
		x.Errorf("nobody was told of a redaction")
	}
}

// redactLeft looks for what was removed in the files of the storage.
func redactLeft(x *exam) {
	if x.storage.Holds == nil {
		x.Skip("the storage has no files")
	}
	const secret = "the-secret-that-nobody-may-find"
	handles := x.handles(2)
	log := debateOf(secret, map[string]string{"k": secret}, flow.StateCompleted, secret)
	log = append(log, flow.Event{At: log[0].At, Body: &flow.Transition{To: flow.StateCompleted, Result: secret}})
	for i := range log {
		log[i].Seq = int64(i) + 1
	}
	for n := range manySizes() {
		log = append(log, flow.Event{Seq: log[len(log)-1].Seq + 1, At: log[0].At, Body: &flow.Turn{Text: strings.Repeat(secret, n)}})
	}
	x.append(handles[0], "b", 0, "w", some(0, 20, "b"))
	for i := range log {
		x.append(handles[i%2], "a", int64(i), "w", log[i:i+1])
	}
	blob := []byte(strings.Repeat(secret, 1000))
	hash := flow.HashOf(blob)
	if _, ok := handles[0].(store.Blobs); ok {
		x.put(handles[0], "a", blob)
	}
	x.listed("before", handles[1], store.Filter{Text: secret}, "a")
	if len(x.storage.Holds(x.TB, secret)) == 0 {
		x.Fatalf("nothing of what is to be removed is found in the files")
	}
	var events []flow.Event
	for _, e := range log {
		switch body := e.Body.(type) {
		case *flow.Start:
			now := *body
			now.Config.Go = config{gone}
			now.Settings.Topic, now.Settings.Labels = gone, map[string]string{"k": gone}
			e.Body = &now
		case *flow.Turn:
			e.Body = &flow.Turn{Text: gone}
		case *flow.Transition:
			now := *body
			now.Result = ""
			e.Body = &now
		default:
			continue
		}
		events = append(events, e)
	}
	end := log[len(log)-1]
	events = append(events, flow.Event{Seq: end.Seq + 1, At: end.At, Body: &flow.Redacted{With: gone}})
	if err := x.redact(handles[0], "a", end.Seq, events, hash); err != nil {
		x.Fatalf("Redact failed: %v", err)
	}
	x.log(handles[1], "a", 0, applied(log, events))
	for _, file := range x.storage.Holds(x.TB, secret) {
		x.Errorf("what was removed stands in %s", file)
	}
}

// redactCrowd rewrites a log while others append to it.
func redactCrowd(x *exam) {
	handles := x.handles(2)
	log := some(0, 2, "w")
	x.append(handles[0], "a", 0, "w", log)
	keep := func(end int64) []flow.Event {
		return []flow.Event{{Seq: end + 1, At: log[0].At, Body: &flow.Turn{Text: "kept"}}}
	}
	x.append(handles[0], "a", 2, "w", keep(2)) // before any redaction
	const n = 12
	x.crowd(2, func(i int) {
		for range n {
			for {
				now := x.read(handles[i], "a", 0)
				end := int64(len(now))
				var err error
				if i == 0 {
					err = handles[0].Append(x.Context(), "a", end, "w", keep(end))
				} else {
					err = x.redact(handles[1], "a", end, rewritten(now, gone, 1, 2))
				}
				if err == nil {
					break
				}
				if !errors.Is(err, flow.ErrConflict) {
					x.Errorf("failed: %v", err)
					return
				}
			}
		}
	})
	kept := 0
	for _, e := range x.read(x.open(), "a", 0) {
		if turn, ok := e.Body.(*flow.Turn); ok && turn.Text == "kept" {
			kept++
		}
	}
	if kept != n+1 {
		x.Errorf("%d of %d events are there that were appended beside redactions", kept, n+1)
	}
}
