package sql

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"
)

// watch records who waits for which log to grow.
type watch struct {
	mu       sync.Mutex
	watchers map[string][]*watcher
	stop     context.CancelFunc // of the poller; nil: there is none
	closed   bool
	poller   sync.WaitGroup
}

type watcher struct {
	grown chan struct{}
	known end // its number is 0 while it is unknown
}

// Watch implements [store.Watcher]. Events of this store are reported at once, those of other stores
// after at most [Options.Poll]. A single query checks all watched logs.
func (s *Store) Watch(ctx context.Context, id string) <-chan struct{} {
	w := &watcher{grown: make(chan struct{}, 1)}
	if ends, err := s.ends(ctx, []string{id}); err == nil {
		w.known = ends[id]
	}
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	if s.watch.watchers == nil {
		s.watch.watchers = make(map[string][]*watcher)
	}
	s.watch.watchers[id] = append(s.watch.watchers[id], w)
	context.AfterFunc(ctx, func() { s.watch.leave(id, w) })
	if s.watch.stop == nil && !s.watch.closed {
		polling, stop := context.WithCancel(context.Background())
		s.watch.stop = stop
		s.watch.poller.Go(func() { s.look(polling) })
	}
	return w.grown
}

// leave removes a watcher. Removing the last one ends the poller.
func (w *watch) leave(id string, gone *watcher) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watchers[id] = slices.DeleteFunc(w.watchers[id], func(other *watcher) bool { return other == gone })
	if len(w.watchers[id]) == 0 {
		delete(w.watchers, id)
	}
	if len(w.watchers) == 0 && w.stop != nil {
		w.stop()
		w.stop = nil
	}
}

func (w *watch) close() {
	w.mu.Lock()
	w.closed = true
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
	w.mu.Unlock()
	w.poller.Wait()
}

// appended wakes the watchers of a log to which this store has appended.
func (w *watch) appended(id string, after, last int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.watchers[id] {
		if one.known.seq = last; after == 0 {
			one.known.no = 0
		}
		one.tell()
	}
}

// seen wakes the watchers of a log that was found to end at a new place. The finding may be older than
// what is known.
func (w *watch) seen(id string, found end) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.watchers[id] {
		switch {
		case found.no < one.known.no:
		case found.seq > one.known.seq, found.no > one.known.no && one.known.no != 0:
			one.known = found
			one.tell()
		case one.known.no == 0:
			one.known.no = found.no
		}
	}
}

func (w *watcher) tell() {
	select {
	case w.grown <- struct{}{}:
	default:
	}
}

func (w *watch) ids() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.watchers))
}

// look checks all watched logs until ctx ends.
func (s *Store) look(ctx context.Context) {
	ticker := time.NewTicker(s.poll)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		ends, err := s.ends(ctx, s.watch.ids())
		if err != nil {
			continue // the next check may succeed
		}
		for id, found := range ends {
			s.watch.seen(id, found)
		}
	}
}

// ends returns where the logs of these conversations end.
func (s *Store) ends(ctx context.Context, ids []string) (map[string]end, error) {
	encoded, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := s.read.QueryContext(ctx, s.dialect.ends, string(encoded))
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	ends := make(map[string]end)
	for rows.Next() {
		var id string
		var found end
		if err := rows.Scan(&id, &found.no, &found.seq); err != nil {
			return nil, err
		}
		ends[id] = found
	}
	return ends, rows.Err()
}
