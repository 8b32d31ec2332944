package file

import (
	"context"
	"fmt"
	"time"
)

const (
	// maxOpen bounds how many changes have files open at once, two each, however many conversations there are.
	// Files are opened again for each change. That takes some 20 µs, where a sync takes 300, and no table
	// of open files has to be kept correct while other processes delete conversations.
	maxOpen = 128
	// maxKnown bounds how many journals are remembered, at some 400 bytes each. A journal that was
	// forgotten is read and synced again before its next append.
	maxKnown = 16 << 10
	// patience is the pause before trying again to lock a conversation that another process holds, which it
	// does for as long as a sync takes. If the process holds it for longer, it may be stopped, and the pauses grow up to
	// maxPatience: many may wait for what it holds.
	patience    = time.Millisecond
	maxPatience = 50 * time.Millisecond
	// maxWait bounds how long a process that would work on a conversation waits for another one that has locked it. It
	// is long enough for the sync of a slow disk.
	maxWait = 2 * time.Second
)

// locked is a journal that nobody else changes now, in this process or in another.
type locked struct {
	*journal

	store  *Store
	lock   lock
	drop   bool // the file of the lock is no longer needed
	left   bool // the file has a mark that could not be removed
	rested bool // nothing happened by itself in the state before the append
}

// errHeld reports that somebody has kept a conversation locked for as long as a caller would wait.
var errHeld = fmt.Errorf("another process has kept its files locked for %v", maxWait)

// lock waits until nobody else changes the conversation, and keeps others from it until release. It waits as long as
// ctx allows, and for each of the two that may keep it waiting, this process and another one, as long as wait says;
// 0: no limit.
func (s *Store) lock(ctx context.Context, id string, wait time.Duration) (*locked, error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	h := &locked{store: s, journal: s.know(id)}
	err := h.acquire(ctx, wait)
	if err != nil {
		s.forget(h.journal)
		s.busy.Done()
		return nil, err
	}
	h.settle()
	return h, nil
}

func (h *locked) acquire(ctx context.Context, wait time.Duration) error {
	if err := h.store.enter(ctx, h.turn, wait); err != nil {
		return err
	}
	for waited := time.Duration(0); ; {
		err := h.try(ctx)
		if err == nil && h.lock != nil {
			return nil
		}
		if err == nil && wait > 0 && waited >= wait {
			err = errHeld
		}
		if err == nil {
			pause := min(patience+waited/10, maxPatience)
			waited += pause
			err = h.store.pause(ctx, pause)
		}
		if err != nil {
			<-h.turn
			return err
		}
	}
}

// try tries the lock once. While it waits for the next attempt, no file is open.
func (h *locked) try(ctx context.Context) error {
	if err := h.store.enter(ctx, h.store.slots, 0); err != nil {
		return err
	}
	l, ok, err := h.store.disk.Lock(h.name + suffixLock)
	if err != nil || !ok {
		<-h.store.slots
		return err
	}
	h.lock = l
	return nil
}

// enter waits for a slot in a channel that bounds how many goroutines do something at once.
func (s *Store) enter(ctx context.Context, into chan struct{}, wait time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case into <- struct{}{}:
		return nil
	default:
	}
	var expired <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case into <- struct{}{}:
		return nil
	case <-expired:
		return errHeld
	case <-ctx.Done():
		return ctx.Err()
	case <-s.done:
		return s.errClosed()
	}
}

// pause waits before the lock is tried again.
func (s *Store) pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.done:
		return s.errClosed()
	}
}

func (h *locked) release() {
	_ = h.lock.Unlock(h.drop && !h.left) // the lock ends with its file, and a file that stays does no harm
	<-h.store.slots
	<-h.turn
	h.store.forget(h.journal)
	h.store.busy.Done()
}

// know returns what is known of a journal, and keeps it from being forgotten.
func (s *Store) know(id string) *journal {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.journals[id]
	if j == nil {
		j = &journal{id: id, name: name(id), turn: make(chan struct{}, 1)}
		s.journals[id] = j
	}
	j.users++
	return j
}

// forget forgets a journal of which nothing is known, and another one if there are too many.
func (s *Store) forget(j *journal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.users--
	if j.users == 0 && j.last.end == 0 {
		delete(s.journals, j.id)
	}
	if len(s.journals) <= maxKnown {
		return
	}
	for id, other := range s.journals {
		if other.users == 0 {
			delete(s.journals, id)
			return
		}
	}
}
