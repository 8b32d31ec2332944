package file

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/agonist-dev/debate"
)

const (
	// pollEvery is how often the journals that somebody watches are looked at.
	pollEvery = 100 * time.Millisecond
	// pollShare is the part of a processor, one over this, that looking may take. Only with thousands of
	// watched journals it makes the pauses longer.
	pollShare = 20
)

// watch knows who waits for which journal to grow.
type watch struct {
	mu      sync.Mutex
	closed  bool
	ids     map[string]*watched
	stop    chan struct{} // ends the one goroutine that polls; nil: none does
	polling sync.WaitGroup
}

// watched is a journal that somebody watches.
type watched struct {
	seen  stamp
	wakes []chan struct{}
}

func (w *watched) wake() {
	for _, c := range w.wakes {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// Watch implements [debate.Watcher]. What this handle appends is told at once, what others append within
// a tenth of a second or so. After Close nothing is told any more.
func (s *Store) Watch(ctx context.Context, id string) <-chan struct{} {
	wake := make(chan struct{}, 1)
	if debate.CheckID(id) != nil || s.ready() != nil {
		return wake
	}
	if s.watch.add(s.disk, id, wake) {
		context.AfterFunc(ctx, func() { s.watch.remove(id, wake) })
	}
	return wake
}

func (w *watch) add(d disk, id string, wake chan struct{}) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	one := w.ids[id]
	if one == nil {
		one = &watched{}
		one.seen, _ = d.Stat(name(id) + suffixLog) // what is not there has not grown yet
		if w.ids == nil {
			w.ids = make(map[string]*watched)
		}
		w.ids[id] = one
	}
	one.wakes = append(one.wakes, wake)
	if w.stop == nil {
		stop := make(chan struct{})
		w.stop = stop
		w.polling.Go(func() { w.poll(d, stop) })
	}
	return true
}

func (w *watch) remove(id string, wake chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.ids[id]
	if one == nil {
		return
	}
	one.wakes = slices.DeleteFunc(one.wakes, func(c chan struct{}) bool { return c == wake })
	if len(one.wakes) == 0 {
		delete(w.ids, id)
	}
	if len(w.ids) == 0 {
		w.rest()
	}
}

// rest ends the polling. w.mu is held.
func (w *watch) rest() {
	if w.stop != nil {
		close(w.stop)
		w.stop = nil
	}
}

func (w *watch) close() {
	w.mu.Lock()
	w.closed, w.ids = true, nil
	w.rest()
	w.mu.Unlock()
	w.polling.Wait()
}

// poll looks at the journals until it is stopped.
func (w *watch) poll(d disk, stop chan struct{}) {
	timer := time.NewTimer(pollEvery)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-stop:
			return
		}
		begin := time.Now()
		for _, id := range w.all() {
			w.look(d, id, false)
		}
		timer.Reset(max(pollEvery, pollShare*time.Since(begin)))
	}
}

func (w *watch) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.ids))
}

// look wakes those who watch a journal if it has changed, or has grown for sure.
func (w *watch) look(d disk, id string, grown bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.ids[id]
	if one == nil {
		return
	}
	now, err := d.Stat(name(id) + suffixLog)
	if err == nil && now != one.seen || grown {
		one.wake()
	}
	one.seen = now
}
