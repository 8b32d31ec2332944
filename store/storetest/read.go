package storetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

func readChecks() []check {
	return []check{
		{"read/an unknown conversation is not found", readUnknown},
		{"read/from a cursor", readCursor},
		{"read/beyond the end there is nothing", readBeyond},
		{"read/sees at once what was appended", readAtOnce},
		{"read/stops with the loop", readBreak},
		{"read/stops with its context", readCanceled},
		{"read/the loop may use the store", readReentrant},
		{"read/a sequence can be read again", readAgain},
	}
}

func readUnknown(x *exam) {
	s := x.open()
	x.unknown(s, "none")
	x.append(s, "a", 0, "w", some(0, 1, "w"))
	for _, id := range []string{"none", "aa", "A", "a.a"} {
		x.unknown(s, id)
	}
	for _, err := range s.Read(x.Context(), "none", 7) {
		if !errors.Is(err, flow.ErrNotFound) {
			x.Errorf("Read of an unknown conversation from a cursor gave %v, want flow.ErrNotFound", err)
		}
	}
}

func readCursor(x *exam) {
	const events = 150
	s := x.open()
	for n := int64(0); n < events; n += 3 {
		x.append(s, "a", n, "w", some(n, 3, "w"))
	}
	for _, cursor := range []int64{0, 1, 2, 3, 4, 63, 64, 65, 100, 127, 128, 129, 148, 149} {
		x.log(s, "a", cursor, some(cursor, events-int(cursor), "w"))
	}
	x.log(s, "a", -5, some(0, events, "w"))
}

func readBeyond(x *exam) {
	s := x.open()
	x.append(s, "a", 0, "w", some(0, 3, "w"))
	for _, cursor := range []int64{3, 4, 100, 1 << 40, 1<<63 - 1} {
		x.log(s, "a", cursor, nil)
	}
}

func readAtOnce(x *exam) {
	handles := x.handles(2)
	reader := handles[1]
	for n := range int64(20) {
		if n > 0 {
			x.log(reader, "a", n, nil)
		}
		x.append(handles[0], "a", n, "w", some(n, 1, "w"))
		x.log(reader, "a", n, some(n, 1, "w"))
	}
}

func readBreak(x *exam) {
	s := x.open()
	x.append(s, "a", 0, "w", some(0, 100, "w"))
	for most := 1; most < 100; most += 7 {
		n := 0
		for _, err := range s.Read(x.Context(), "a", 0) {
			if err != nil {
				x.Fatalf("Read failed: %v", err)
			}
			if n++; n == most {
				break
			}
		}
	}
	x.append(s, "a", 100, "w", some(100, 1, "w"))
	x.log(s, "a", 99, some(99, 2, "w"))
}

func readCanceled(x *exam) {
	events := longLog()
	s := x.open()
	x.append(s, "a", 0, "w", some(0, events, "w"))
	if _, err := collect(s.Read(canceled(x.Context()), "a", 0)); err == nil {
		x.Errorf("Read went on although its context was over before")
	}
	ctx, cancel := context.WithCancel(x.Context())
	defer cancel()
	n := 0
	var failed error
	for _, err := range s.Read(ctx, "a", 0) {
		if failed = err; err != nil {
			break
		}
		n++
		cancel()
	}
	if failed == nil {
		x.Errorf("Read yielded all %d events although its context was over after the first", n)
	}
	x.log(s, "a", int64(events-1), some(int64(events-1), 1, "w"))
}

// A reader may append to the same conversation, or look at others.
func readReentrant(x *exam) {
	s := x.open()
	x.append(s, "a", 0, "w", some(0, 3, "w"))
	x.append(s, "b", 0, "w", some(0, 3, "w"))
	ctx := x.Context()
	x.within("a loop over Read that uses the store", func() error {
		for event, err := range s.Read(ctx, "a", 0) {
			if err == nil && event.Seq <= 3 {
				err = errors.Join(
					s.Append(ctx, "a", event.Seq+2, "w", some(event.Seq+2, 1, "w")),
					s.Lease(ctx, "a", "me", time.Hour),
					s.Release(ctx, "a", "me"),
				)
			}
			if err != nil {
				return err
			}
			if got, err := collect(s.Read(ctx, "b", 0)); err != nil || len(got) != 3 {
				return errors.Join(err, fmt.Errorf("reading while reading gave %d events", len(got)))
			}
			if got, err := collect(s.List(ctx, store.Filter{})); err != nil || len(got) != 2 {
				return errors.Join(err, fmt.Errorf("listing while reading gave %d conversations", len(got)))
			}
		}
		return nil
	})
	x.log(s, "a", 0, some(0, 6, "w"))
}

func readAgain(x *exam) {
	s := x.open()
	x.append(s, "a", 0, "w", some(0, 2, "w"))
	seq := s.Read(x.Context(), "a", 0)
	for range 3 {
		events, err := collect(seq)
		if err != nil {
			x.Fatalf("Read failed: %v", err)
		}
		if what := unlike(lines(x, events), lines(x, some(0, 2, "w"))); what != "" {
			x.Errorf("the same sequence yields something else each time: %s", what)
		}
	}
}
