package file

import (
	"errors"
	"io/fs"
)

// An appender marks a journal before it writes, and removes the mark once its commit is on the disk. The mark is the
// size of the lock's file: how far the journal was on the disk, in bytes, plus 1; 0: there is no mark. So readers know
// how much they may read, and wait for nobody: a process may be stopped at any moment. A process that dies while it
// appends leaves its mark, and with it a commit that may not be on the disk. Whoever locks the journal next puts the
// commit there, see [locked.settle].

// extent is how far a journal may be read.
type extent struct {
	end     int64
	settled bool // all of it is on the disk, and nobody was appending
}

// extent returns how far a journal may be read now. It excludes what another handle has written and not yet synced,
// because that is taken back if the sync fails.
func (s *Store) extent(id string, f handle) (extent, error) {
	for {
		size, err := f.Size() // before the mark: what was appended in between is not asked for
		if err != nil {
			return extent{}, err
		}
		lock, err := s.disk.Stat(name(id) + suffixLock)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && lock.size == 0:
			return extent{size, true}, nil
		case err != nil:
			return extent{}, err
		}
		unlock, ok, err := s.disk.Share(name(id) + suffixLock)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // its holder has removed it
		case err != nil:
			return extent{}, err
		case !ok:
			return extent{min(size, lock.size-1), false}, nil
		}
		size, err = f.Size() // the appender is dead, or has just ended
		return extent{size, false}, errors.Join(err, unlock())
	}
}

// appending reports whether a living process may be within an append, so that readers do not see all that the file of the journal
// holds.
func appending(d disk, id string) bool {
	lock, err := d.Stat(name(id) + suffixLock)
	if err == nil && lock.size == 0 || errors.Is(err, fs.ErrNotExist) {
		return false
	}
	unlock, ok, err := d.Share(name(id) + suffixLock)
	if ok {
		err = unlock()
	}
	return err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && !ok
}
