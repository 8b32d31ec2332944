package file

import (
	"context"
	"errors"
	"io/fs"
	"time"
)

// extent is how far readers may read a journal, as known by the handle that wrote to it last.
type extent struct {
	end   int64 // everything before it is on the disk
	grows bool  // the handle holds the lock and writes behind end
}

// extent returns how far a journal may be read. It excludes what another handle has written and not yet
// synced, because that is taken back if the sync fails. So while another handle holds the conversation's lock,
// extent waits, about as long as a sync takes. What this handle has synced itself is known without the
// lock.
func (s *Store) extent(ctx context.Context, id string, f handle) (int64, error) {
	known := s.published(id)
	for {
		size, err := f.Size()
		switch {
		case err != nil:
			return 0, err
		case known != nil && (known.grows || known.end == size):
			return min(known.end, size), nil
		}
		unlock, ok, err := s.disk.Share(name(id) + suffixLock)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return size, nil // the writer creates the file and keeps it
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
		known = s.published(id) // it may be this handle that holds the lock
	}
}

// published returns what this handle knows; nil: nothing.
func (s *Store) published(id string) *extent {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.journals[id]; j != nil {
		return j.published.Load()
	}
	return nil
}
