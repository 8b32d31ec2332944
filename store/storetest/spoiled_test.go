package storetest_test

import (
	"context"
	"errors"
	"iter"
	"sync"
	"testing"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/storetest"
)

// spoiled is a handle onto a store.Memory. A test replaces what it spoils.
type spoiled struct {
	good   *store.Memory
	mu     *sync.Mutex    // of all handles
	shared map[string]any // by all handles
	handle int            // from 0
	done   chan struct{}  // closed by Close
	once   sync.Once

	onAppend  func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error
	onRead    func(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error]
	onList    func(ctx context.Context, filter store.Filter) iter.Seq2[store.Info, error]
	onDelete  func(ctx context.Context, id string) error
	onLease   func(ctx context.Context, id, owner string, d time.Duration) error
	onRelease func(ctx context.Context, id, owner string) error
	onWatch   func(ctx context.Context, id string) <-chan struct{}
	onWork    func(ctx context.Context) <-chan struct{}
	onPut     func(ctx context.Context, id, hash string, data []byte) error
	onInquire func(ctx context.Context, id string) (store.Quarantine, error)
	onConfine func(ctx context.Context, id string, q store.Quarantine) error
	onAlarm   func(ctx context.Context, id string, seq int64, d time.Duration) error
	onTime    func(ctx context.Context) (time.Time, error)
	onTell    func(ctx context.Context, id string) (store.Info, error)
	onSum     func(ctx context.Context, filter store.Filter) (store.Sum, error)
	onCount   func(ctx context.Context, filter store.Filter) ([]store.StateCount, error)
	onBlob    func(ctx context.Context, id, hash string) ([]byte, error)
	onRedact  func(ctx context.Context, id string, after int64, events []flow.Event, blobs []string) error
	onDamaged func(info *store.Info) error // describes a damaged conversation; the error ends the list
}

// storage makes storages whose handles are spoiled.
func storage(spoil func(s *spoiled)) func(testing.TB) storetest.Storage {
	return func(testing.TB) storetest.Storage {
		good, mu, shared := &store.Memory{}, &sync.Mutex{}, map[string]any{}
		handles := 0
		damage := func(_ testing.TB, id string) {
			mu.Lock()
			defer mu.Unlock()
			shared["damaged "+id] = true
		}
		holds := func(_ testing.TB, text string) []string { return (&spoiled{good: good}).holds(text) }
		return storetest.Storage{Damage: damage, Holds: holds, Open: func(t testing.TB) store.Store {
			s := &spoiled{
				good: good, mu: mu, shared: shared, handle: handles, done: make(chan struct{}),
				onAppend: good.Append, onRead: good.Read, onList: good.List, onDelete: good.Delete,
				onLease: good.Lease, onRelease: good.Release, onWork: good.Announce, onInquire: good.Quarantine,
				onConfine: good.SetQuarantine, onAlarm: good.SetAlarm, onTime: good.Time, onTell: good.Describe, onPut: good.PutBlob,
				onBlob: good.Blob, onRedact: good.Redact, onDamaged: damaged,
			}
			s.onWatch = s.watch
			t.Cleanup(func() { _ = s.Close() })
			handles++
			if spoil != nil {
				spoil(s)
			}
			return s
		}}
	}
}

func (s *spoiled) Append(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
	return s.onAppend(ctx, id, after, writer, events)
}

func (s *spoiled) Redact(ctx context.Context, id string, after int64, events []flow.Event, blobs []string) error {
	return s.onRedact(ctx, id, after, events, blobs)
}

func (s *spoiled) Read(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
	select {
	case <-s.done:
		return func(yield func(flow.Event, error) bool) { yield(flow.Event{}, errors.New("is closed")) }
	default:
		return s.onRead(ctx, id, after)
	}
}

// Close ends the handle.
func (s *spoiled) Close() error {
	s.once.Do(func() { close(s.done) })
	return nil
}

// watch is that of a good store.
func (s *spoiled) watch(ctx context.Context, id string) <-chan struct{} {
	changed, woken := s.good.Watch(ctx, id), make(chan struct{}, 1)
	go func() {
		for closed := false; !closed; {
			select {
			case <-changed:
			case <-s.done:
				closed = true
			case <-ctx.Done():
				return
			}
			select {
			case woken <- struct{}{}:
			default:
			}
		}
	}()
	return woken
}

func (s *spoiled) List(ctx context.Context, filter store.Filter) iter.Seq2[store.Info, error] {
	return func(yield func(store.Info, error) bool) {
		for info, err := range s.onList(ctx, filter) {
			if s.isDamaged(info.ID) {
				if err = s.onDamaged(&info); err == nil && !filter.Matches(info) {
					continue
				}
			}
			if !yield(info, err) {
				return
			}
		}
	}
}

func (s *spoiled) isDamaged(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shared["damaged "+id] == true
}

// damaged describes a conversation of which only the topic and the labels cannot be read.
func damaged(info *store.Info) error {
	info.Topic, info.Labels, info.Err = "", nil, errors.New("is damaged")
	return nil
}

func (s *spoiled) Delete(ctx context.Context, id string) error {
	err := s.onDelete(ctx, id)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.shared, "damaged "+id)
	return err
}

func (s *spoiled) Lease(ctx context.Context, id, owner string, d time.Duration) error {
	return s.onLease(ctx, id, owner, d)
}

func (s *spoiled) Release(ctx context.Context, id, owner string) error {
	return s.onRelease(ctx, id, owner)
}

func (s *spoiled) Watch(ctx context.Context, id string) <-chan struct{} { return s.onWatch(ctx, id) }

func (s *spoiled) Announce(ctx context.Context) <-chan struct{} { return s.onWork(ctx) }

func (s *spoiled) Quarantine(ctx context.Context, id string) (store.Quarantine, error) {
	return s.onInquire(ctx, id)
}

func (s *spoiled) SetQuarantine(ctx context.Context, id string, q store.Quarantine) error {
	return s.onConfine(ctx, id, q)
}

func (s *spoiled) SetAlarm(ctx context.Context, id string, seq int64, d time.Duration) error {
	return s.onAlarm(ctx, id, seq, d)
}

func (s *spoiled) Time(ctx context.Context) (time.Time, error) { return s.onTime(ctx) }

func (s *spoiled) Describe(ctx context.Context, id string) (store.Info, error) {
	info, err := s.onTell(ctx, id)
	if err == nil && s.isDamaged(id) {
		err = s.onDamaged(&info)
	}
	return info, err
}

func (s *spoiled) Sum(ctx context.Context, filter store.Filter) (store.Sum, error) {
	if s.onSum == nil {
		return store.SumList(ctx, s, filter)
	}
	return s.onSum(ctx, filter)
}

func (s *spoiled) CountStates(ctx context.Context, filter store.Filter) ([]store.StateCount, error) {
	if s.onCount == nil {
		return store.CountList(ctx, s, filter)
	}
	return s.onCount(ctx, filter)
}

func (s *spoiled) PutBlob(ctx context.Context, id, hash string, data []byte) error {
	return s.onPut(ctx, id, hash, data)
}

func (s *spoiled) Blob(ctx context.Context, id, hash string) ([]byte, error) {
	return s.onBlob(ctx, id, hash)
}

// exclusive acquires a lock of all handles. It waits for longer than any examination is patient, and not for ever: at the end of a bubble
// nobody may wait any more.
func (s *spoiled) exclusive() (release func(), err error) {
	s.mu.Lock()
	lock, ok := s.shared["lock"].(chan struct{})
	if !ok {
		lock = make(chan struct{}, 1)
		s.shared["lock"] = lock
	}
	s.mu.Unlock()
	select {
	case lock <- struct{}{}:
		return func() { <-lock }, nil
	case <-time.After(24 * time.Hour):
		return nil, errors.New("locked")
	}
}

// end is how many events a log has.
func (s *spoiled) end(id string) (n int64) {
	for _, err := range s.good.Read(context.Background(), id, 0) {
		if err == nil {
			n++
		}
	}
	return n
}

// owner is who holds a debate that has begun.
func (s *spoiled) owner(id string) string {
	for info, err := range s.good.List(context.Background(), store.Filter{}) {
		if err == nil && info.ID == id {
			return info.Owner
		}
	}
	return ""
}

// events replaces each event that is read.
func (s *spoiled) events(edit func(e *flow.Event)) {
	s.onRead = func(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
		return func(yield func(flow.Event, error) bool) {
			for e, err := range s.good.Read(ctx, id, after) {
				if err == nil {
					edit(&e)
				}
				if !yield(e, err) {
					return
				}
			}
		}
	}
}

// infos replaces what is listed.
func (s *spoiled) infos(keep func(info *store.Info, filter store.Filter) bool, widen func(filter store.Filter) store.Filter) {
	s.onList = func(ctx context.Context, filter store.Filter) iter.Seq2[store.Info, error] {
		return func(yield func(store.Info, error) bool) {
			for info, err := range s.good.List(ctx, widen(filter)) {
				if err == nil && !keep(&info, filter) {
					continue
				}
				if !yield(info, err) {
					return
				}
			}
		}
	}
}

// filters replaces the filter.
func (s *spoiled) filters(widen func(f *store.Filter)) {
	s.infos(func(*store.Info, store.Filter) bool { return true }, func(f store.Filter) store.Filter {
		widen(&f)
		return f
	})
}

// tells replaces what is told of a debate.
func (s *spoiled) tells(edit func(info *store.Info)) {
	s.infos(func(info *store.Info, _ store.Filter) bool { edit(info); return true },
		func(f store.Filter) store.Filter { return f })
}

// matches yields what a good store lists.
func (s *spoiled) matches(filter store.Filter) iter.Seq[store.Info] {
	return func(yield func(store.Info) bool) {
		for info, err := range s.good.List(context.Background(), filter) {
			if err == nil && !yield(info) {
				return
			}
		}
	}
}
