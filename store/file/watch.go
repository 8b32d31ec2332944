package file

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/agonist-dev/debate/internal/bell"
	"github.com/agonist-dev/debate/store"
)

const (
	// pollEvery is the interval at which watched journals are checked.
	pollEvery = 100 * time.Millisecond
	// pollShare bounds the processor time for that, to one part in pollShare. Only with thousands of
	// watched journals does it make the intervals longer.
	pollShare = 20
)

// watch records who waits for which journal to grow.
type watch struct {
	mu      sync.Mutex
	closed  bool
	ids     map[string]*watched
	stop    chan struct{} // ends the goroutine that polls; nil: there is none
	polling sync.WaitGroup
}

// watched is a journal that is being watched.
type watched struct {
	seen  stamp
	whole bool // nobody was appending when seen was taken: readers may read all of it
	wakes bell.Ears
}

// Watch implements [store.Watcher]. Changes by this handle are reported at once, those by others within
// about a tenth of a second. Close wakes all who watch, and whoever watches afterwards is woken at once.
func (s *Store) Watch(ctx context.Context, id string) <-chan struct{} {
	wake := make(chan struct{}, 1)
	if store.CheckID(id) != nil || s.ready() != nil {
		return wake
	}
	if !s.watch.add(s.disk, id, wake) {
		wake <- struct{}{}
		return wake
	}
	context.AfterFunc(ctx, func() { s.watch.remove(id, wake) })
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
		one.seen, _ = d.Stat(name(id) + suffixLog) // a missing journal has not grown yet
		one.whole = !appending(d, id)
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
	one.wakes.Remove(wake)
	if len(one.wakes) == 0 {
		delete(w.ids, id)
	}
	if len(w.ids) == 0 {
		w.stopPolling()
	}
}

// stopPolling ends the polling. w.mu is held.
func (w *watch) stopPolling() {
	if w.stop != nil {
		close(w.stop)
		w.stop = nil
	}
}

// close wakes all who watch: reads fail by now.
func (w *watch) close() {
	w.mu.Lock()
	for _, one := range w.ids {
		one.wakes.Ring()
	}
	w.closed, w.ids = true, nil
	w.stopPolling()
	w.mu.Unlock()
	w.polling.Wait()
}

// poll checks the journals until it is stopped.
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

// look wakes the watchers of a journal if it has changed or is gone, or if changed says so. What another handle is appending changes the
// file before anybody may read it, see [Store.extent]. So they are woken once more when that is over.
func (w *watch) look(d disk, id string, changed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.ids[id]
	if one == nil {
		return
	}
	now, _ := d.Stat(name(id) + suffixLog) // the zero stamp: there is no journal
	if now == one.seen && one.whole && !changed {
		return
	}
	whole := !appending(d, id) // before they are woken
	if now != one.seen || whole && !one.whole || changed {
		one.wakes.Ring()
	}
	one.seen, one.whole = now, whole
}
