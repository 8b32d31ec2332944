package sql

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/agonist-dev/debate/internal/bell"
	"github.com/agonist-dev/debate/store"
)

// watch records who waits for which log to change.
type watch struct {
	// behind is set if a look has failed: something may have changed, whatever the database says of the time since.
	behind atomic.Bool

	mu     sync.Mutex
	closed bool
	logs   map[string]*watchedLog
	rest   context.CancelFunc // stops listening for what other stores do; nil: nobody watches
}

// watchedLog is a log that is watched.
type watchedLog struct {
	known  end  // zero: there is no log, or nobody has looked
	asked  bool // somebody has looked
	missed bool // a watcher's first look has failed
	wakes  bell.Ears
}

// Watch implements [store.Watcher]. Changes by this store are reported at once, those by other stores after at most
// [Options.Poll]; where nothing tells of them, after twice that. A notification of PostgreSQL that is lost costs up to ten. One
// statement checks all watched logs, however many watch.
// [Store.Close] wakes all who watch, and whoever watches afterwards is woken at once.
func (s *Store) Watch(ctx context.Context, id string) <-chan struct{} {
	wake := make(chan struct{}, 1)
	if store.CheckID(id) != nil {
		return wake
	}
	asked, closed := s.watchToo(id, wake)
	if closed {
		wake <- struct{}{}
		return wake
	}
	context.AfterFunc(ctx, func() { s.watch.leave(id, wake) })
	if !asked && !s.look(ctx, []string{id}) {
		s.watch.miss(id)
	}
	return wake
}

// watchToo adds a watcher, and reports whether somebody has looked at its log. The first watcher starts listening for what other stores
// do. A store that is closed adds none.
func (s *Store) watchToo(id string, wake chan struct{}) (asked, closed bool) {
	w := &s.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false, true
	}
	one := w.logs[id]
	if one == nil {
		one = &watchedLog{}
		if w.logs == nil {
			w.logs = make(map[string]*watchedLog)
		}
		w.logs[id] = one
	}
	one.wakes = append(one.wakes, wake)
	if w.rest == nil {
		var listening context.Context
		listening, w.rest = context.WithCancel(context.Background())
		s.work.Listen(listening) // whoever announces work tells what has changed, too
	}
	return one.asked, false
}

// close wakes all who watch: reads fail by now.
func (w *watch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, one := range w.logs {
		one.wakes.Ring()
	}
}

// miss notes that a watcher does not know where its log ends. The next look wakes it.
func (w *watch) miss(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if one := w.logs[id]; one != nil {
		one.missed = true
	}
}

// leave removes a watcher. The last one stops listening.
func (w *watch) leave(id string, gone chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.logs[id]
	one.wakes.Remove(gone)
	if len(one.wakes) == 0 {
		delete(w.logs, id)
	}
	if len(w.logs) == 0 {
		w.rest()
		w.rest = nil
	}
}

func (w *watch) watches(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.logs[id] != nil
}

func (w *watch) ids() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.logs))
}

// appended wakes the watchers of a log to which this store has appended, and tells the other stores.
func (s *Store) appended(id string, after, last int64) {
	s.watch.change(id, func(known end) end {
		if after == 0 {
			known.no = 0 // a new conversation
		}
		known.seq = last
		return known
	})
	s.notices.add(id)
}

// removed does the same for a conversation that this store has deleted.
func (s *Store) removed(id string) {
	s.watch.change(id, func(end) end { return end{} })
	s.notices.add(id)
}

func (w *watch) change(id string, now func(known end) end) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if one := w.logs[id]; one != nil {
		one.known = now(one.known)
		one.wakes.Ring()
	}
}

// seen wakes the watchers of those logs that a look has found to end elsewhere than is known. A look may be older than what is known;
// if that is in doubt, they are woken. The first look at a log wakes nobody: Watch has not returned, and its caller reads the log
// afterwards.
func (w *watch) seen(ids []string, found map[string]end) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		one, now := w.logs[id], found[id]
		switch {
		case one == nil: // nobody watches it any more
			continue
		case !one.asked && !one.missed && one.known == end{}:
			one.known = now
		case one.asked && one.known == now, now.olderThan(one.known):
		case now == end{} && one.known != end{}: // the look may be older than the log: the next one wakes again
			one.known, one.asked, one.missed = now, false, true
			one.wakes.Ring()
			continue
		default:
			one.known = now
			one.wakes.Ring()
		}
		one.asked = true
	}
}

// olderThan reports whether a log that ends here ended elsewhere later.
func (e end) olderThan(other end) bool {
	return e.no != 0 && (e.no < other.no || e.no == other.no && e.seq < other.seq)
}

// look wakes the watchers of those logs that have changed. It takes one statement, and reports whether that has succeeded.
func (s *Store) look(ctx context.Context, ids []string) bool {
	if len(ids) == 0 {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	found, err := s.ends(ctx, ids)
	if err != nil {
		s.watch.behind.Store(true)
		return false
	}
	s.watch.seen(ids, found)
	return true
}

// lookAtAll looks at all watched logs.
func (s *Store) lookAtAll(ctx context.Context) {
	s.watch.behind.Store(false)
	s.look(ctx, s.watch.ids())
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
