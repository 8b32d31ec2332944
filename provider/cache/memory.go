package cache

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// These are the default bounds of a Memory.
const (
	DefaultMaxBytes   = 64 << 20
	DefaultMaxEntries = 10_000
)

// Memory is a [Store] in memory. When it is full, it forgets the values that were used least recently.
// The zero value is ready to use. The fields must not change after the first use. From then on, a Memory
// is safe for concurrent use. It must not be copied.
type Memory struct {
	// MaxBytes bounds the total size of values and keys; DefaultMaxBytes if not positive. A value that is
	// longer by itself is not stored.
	MaxBytes int
	// MaxEntries bounds the number of values; DefaultMaxEntries if not positive.
	MaxEntries int
	// TTL is how long a value is returned after Put; if not positive, as long as it is stored. An expired
	// value keeps its place until Get asks for it or the place is needed.
	TTL time.Duration

	mu    sync.Mutex
	kept  map[string]*list.Element
	order list.List // of *memo, the most recently used first
	bytes int
}

// memo is a value in a Memory.
type memo struct {
	key   string
	value []byte
	put   time.Time // zero: there is no TTL
}

func (m *memo) size() int { return len(m.key) + len(m.value) }

var _ Store = (*Memory)(nil)

// Get implements [Store]. It never fails.
func (s *Memory) Get(_ context.Context, key string) (value []byte, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.kept[key]
	if !ok {
		return nil, false, nil
	}
	m := e.Value.(*memo) //nolint:forcetypeassert // nothing else is in the list
	if s.TTL > 0 && time.Since(m.put) >= s.TTL {
		s.forget(e)
		return nil, false, nil
	}
	s.order.MoveToFront(e)
	return m.value, true, nil
}

// Put implements [Store]. It never fails.
func (s *Memory) Put(_ context.Context, key string, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.kept[key]; ok {
		s.forget(e)
	}
	m := &memo{key: key, value: value}
	if m.size() > s.maxBytes() {
		return nil // it would push out all others, and itself
	}
	if s.TTL > 0 {
		m.put = time.Now()
	}
	if s.kept == nil {
		s.kept = make(map[string]*list.Element)
	}
	s.kept[key] = s.order.PushFront(m)
	s.bytes += m.size()
	for s.bytes > s.maxBytes() || len(s.kept) > s.maxEntries() {
		s.forget(s.order.Back())
	}
	return nil
}

// forget removes a value. The lock is held.
func (s *Memory) forget(e *list.Element) {
	m := s.order.Remove(e).(*memo) //nolint:forcetypeassert // nothing else is in the list
	delete(s.kept, m.key)
	s.bytes -= m.size()
}

func (s *Memory) maxBytes() int {
	if s.MaxBytes <= 0 {
		return DefaultMaxBytes
	}
	return s.MaxBytes
}

func (s *Memory) maxEntries() int {
	if s.MaxEntries <= 0 {
		return DefaultMaxEntries
	}
	return s.MaxEntries
}
