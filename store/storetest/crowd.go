package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

func crowdChecks() []check {
	return []check{
		{"crowd/of many who append to one place one succeeds", crowdOnePlace},
		{"crowd/readers see whole commits and no gaps", crowdReaders},
		{"crowd/one commit is tried by many at once", crowdOneWriter},
		{"crowd/many conversations at once", crowdDebates},
		{"crowd/leases that come and go lose no append", crowdLeases},
		{"crowd/all methods at once", crowdMethods},
	}
}

// crowdOnePlace lets writers race for each number of one log.
func crowdOnePlace(x *exam) {
	const writers, numbers = 12, 25
	handles := x.handles(3)
	var mu sync.Mutex
	won := map[int64][]string{} // by number: the writers whose append was acknowledged
	x.crowd(writers, func(w int) {
		s, who := handles[w%len(handles)], fmt.Sprint("w", w)
		for n := range int64(numbers) {
			switch err := s.Append(x.Context(), "a", n, who, some(n, 1, who)); {
			case err == nil:
				mu.Lock()
				won[n] = append(won[n], who)
				mu.Unlock()
			case !errors.Is(err, flow.ErrConflict):
				x.Errorf("Append gave %v, want nil or flow.ErrConflict", err)
				return
			}
		}
	})
	var want []flow.Event
	for n := range int64(numbers) {
		if len(won[n]) != 1 {
			x.Fatalf("number %d was written by %d of %d: %q", n+1, len(won[n]), writers, won[n])
		}
		want = append(want, some(n, 1, won[n][0])...)
	}
	for _, s := range handles {
		x.log(s, "a", 0, want)
	}
}

// commit returns n events for one commit. Each says how many of them follow.
func commit(from int64, n int) []flow.Event {
	events := make([]flow.Event, n)
	for i := range events {
		events[i] = flow.Event{Body: &flow.Warning{Kind: flow.WarnCost, Left: n - 1 - i}}
	}
	return after(from, events...)
}

// crowdReaders has writers continue until each of the readers has read often enough.
func crowdReaders(x *exam) {
	const writers, readers, least, most, looks = 3, 3, 12, 150, 30
	handles := x.handles(3)
	x.append(handles[0], "a", 0, "", commit(0, 2))
	var writing, reading atomic.Int64
	writing.Store(writers)
	reading.Store(readers)
	x.crowd(writers+readers, func(i int) {
		s := handles[i%len(handles)]
		if i >= writers {
			defer reading.Add(-1)
			var seen int64
			for look := 0; look < looks && writing.Load() > 0; look++ {
				var err error
				if seen, err = further(x, s, seen); err != nil {
					x.Errorf("a reader beside writers: %v", err)
					return
				}
			}
			return
		}
		defer writing.Add(-1)
		for n := 0; n < least || n < most && reading.Load() > 0; n++ {
			if err := grow(x, s, fmt.Sprint("w", i), 1+n%5); err != nil {
				x.Errorf("a writer beside others: %v", err)
				return
			}
		}
	})
	if _, err := whole(x, handles[0], 0); err != nil {
		x.Errorf("after all: %v", err)
	}
}

// further reads a log from its beginning, and then from where it ended at the last look. It returns the
// present end.
func further(x *exam, s store.Store, seen int64) (int64, error) {
	n, err := whole(x, s, 0)
	if err != nil {
		return 0, err
	}
	if n < seen {
		return 0, fmt.Errorf("the log had %d events and now has %d", seen, n)
	}
	end, err := whole(x, s, seen)
	if err != nil {
		return 0, err
	}
	if end < n {
		return 0, fmt.Errorf("the log had %d events, and read from %d on it ends at %d", n, seen, end)
	}
	return end, nil
}

// grow appends a commit of n events at the end of the log.
func grow(x *exam, s store.Store, writer string, n int) error {
	for {
		end, err := whole(x, s, 0)
		if err != nil {
			return err
		}
		if err = s.Append(x.Context(), "a", end, writer, commit(end, n)); !errors.Is(err, flow.ErrConflict) {
			return err
		}
	}
}

// whole reads a log of commits from the end of one of them. It returns the end of the log.
func whole(x *exam, s store.Store, from int64) (int64, error) {
	end, left := from, 0
	for event, err := range s.Read(x.Context(), "a", from) {
		warning, ok := event.Body.(*flow.Warning)
		switch {
		case err != nil:
			return 0, err
		case event.Seq != end+1:
			return 0, fmt.Errorf("event %d follows event %d", event.Seq, end)
		case !ok || left > 0 && warning.Left != left-1:
			return 0, fmt.Errorf("event %d is not what was appended", event.Seq)
		}
		end, left = event.Seq, warning.Left
	}
	if left > 0 {
		return 0, fmt.Errorf("the log ends at %d, in the middle of a commit: %d of its events are missing", end, left)
	}
	return end, nil
}

// crowdOneWriter is one writer whose calls are repeated before the first has returned.
func crowdOneWriter(x *exam) {
	handles := x.handles(3)
	for n := range int64(10) {
		x.crowd(6, func(i int) {
			if err := handles[i%len(handles)].Append(x.Context(), "a", 2*n, "w", some(2*n, 2, "w")); err != nil {
				x.Errorf("one of several tries of the same commit failed: %v", err)
			}
		})
	}
	x.log(handles[0], "a", 0, some(0, 20, "w"))
}

func crowdDebates(x *exam) {
	const debates, commits = 100, 5
	handles := x.handles(3)
	x.crowd(debates, func(i int) {
		id := fmt.Sprint("d", i)
		for n := range int64(commits) {
			s := handles[(i+int(n))%len(handles)]
			if err := s.Append(x.Context(), id, 2*n, id, some(2*n, 2, id)); err != nil {
				x.Errorf("Append to one of %d conversations gave %v", debates, err)
				return
			}
			if got, err := collect(s.Read(x.Context(), id, 2*n)); err != nil || len(got) != 2 {
				x.Errorf("Read of one of %d conversations gave %d events in place of 2, %v", debates, len(got), err)
				return
			}
		}
	})
	var want []string
	for i := range debates {
		id := fmt.Sprint("d", i)
		want = append(want, id)
		x.log(handles[i%len(handles)], id, 0, some(0, 2*commits, id))
	}
	slices.Sort(want)
	x.listed("many conversations", handles[0], store.Filter{}, want...)
}

// crowdLeases starts conversations while others acquire and release their leases.
func crowdLeases(x *exam) {
	const debates, owners = 40, 3
	handles := x.handles(2)
	for n := range debates {
		id := fmt.Sprint("d", n)
		x.crowd(owners+1, func(i int) {
			s, who := handles[i%2], fmt.Sprint("owner ", i)
			var err error
			if i == 0 {
				err = s.Append(x.Context(), id, 0, "w", some(0, 2, id))
			} else if err = s.Lease(x.Context(), id, who, time.Hour); err == nil {
				err = s.Release(x.Context(), id, who)
			}
			if err != nil && !errors.Is(err, flow.ErrLeased) {
				x.Errorf("appending beside leases failed: %v", err)
			}
		})
		x.log(handles[n%2], id, 0, some(0, 2, id))
		x.lease(handles[0], id, "me", time.Hour)
		x.leased("it is mine", handles[1], id, "you")
	}
}

// crowdMethods is for the race detector, and for deadlocks.
func crowdMethods(x *exam) {
	handles := x.handles(2)
	x.append(handles[0], "a", 0, "w", debateOf("a", nil, flow.StatePaused, "text"))
	ctx := x.Context()
	x.within("a crowd that uses all methods", func() error {
		var mu sync.Mutex
		var failed []error
		x.crowd(14, func(i int) {
			s, who := handles[i%2], fmt.Sprint("w", i)
			for n := range 10 {
				var err error
				switch i / 2 {
				case 0:
					_, err = collect(s.Read(ctx, "a", 0))
				case 1:
					_, err = collect(s.List(ctx, store.Filter{Text: "text"}))
				case 2:
					err = s.Lease(ctx, "a", who, time.Hour)
				case 3:
					err = s.Release(ctx, "a", who)
				case 4:
					err = s.Append(ctx, "a", int64(3+n), who, some(int64(3+n), 1, who))
				case 5:
					err = s.Append(ctx, "b"+who, int64(n), who, some(int64(n), 1, who))
				case 6:
					err = s.Delete(ctx, "c")
				}
				if err != nil && !errors.Is(err, flow.ErrConflict) && !errors.Is(err, flow.ErrLeased) {
					mu.Lock()
					failed = append(failed, err)
					mu.Unlock()
				}
			}
		})
		return errors.Join(failed...)
	})
}
