package file

import (
	"context"
	"errors"
	"io/fs"
	"time"
)

// extent is how far a journal goes for readers, as the handle knows that wrote to it last.
type extent struct {
	end   int64 // all before it is on the disk
	grows bool  // the handle holds the lock and writes behind that
}

// extent yields how far a journal may be read: what another handle has written and not synced yet is not
// shown, since it is taken back if that fails. So while another one holds the debate's lock, which takes as
// long as a sync, it waits. What this handle has synced itself it knows without the lock.
func (s *Store) extent(ctx context.Context, id string, f handle) (int64, error) {
	shown := s.shown(id)
	for {
		size, err := f.Size()
		switch {
		case err != nil:
			return 0, err
		case shown != nil && (shown.grows || shown.end == size):
			return min(shown.end, size), nil
		}
		unlock, ok, err := s.disk.Share(name(id) + suffixLock)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return size, nil // who appends makes the file, and leaves it there
		case err != nil:
			return 0, err
		case ok:
			size, err = f.Size()
			return size, errors.Join(err, unlock())
		}
		timer := time.NewTimer(patience)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return 0, ctx.Err()
		}
		shown = s.shown(id) // it may be this handle that holds the lock
	}
}

// shown yields what this handle knows; nil: nothing.
func (s *Store) shown(id string) *extent {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.journals[id]; j != nil {
		return j.shown.Load()
	}
	return nil
}
