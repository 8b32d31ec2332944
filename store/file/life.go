package file

import (
	"crypto/rand"
	"errors"
	"strings"
	"sync"
)

// life proves that a handle is alive: it is a file that the handle keeps locked. The system unlocks it
// however the process ends.
type life struct {
	mu     sync.Mutex
	handle string // the file's name without its suffix; "": no lease was acquired yet
	lock   lock
}

// liveFile returns the name of this handle. The first call creates and locks its file. If somebody has
// removed the file, none of the handle's leases count. Once liveFile has created it again, those count that
// nobody else has acquired meanwhile. If it gets another name, a lease counts again when it is renewed.
func (s *Store) liveFile() (string, error) {
	l := &s.life
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock != nil {
		there, err := l.lock.There()
		if there || err != nil {
			return l.handle, err
		}
		_ = l.lock.Unlock(false)
		l.lock = nil
	}
	for {
		if l.handle == "" {
			l.handle = strings.ToLower(rand.Text())
		}
		lock, ok, err := s.disk.Lock(l.handle + suffixLive)
		switch {
		case err != nil:
			return "", err
		case ok:
			l.lock = lock
			l.sweep(s.disk)
			return l.handle, nil
		}
		l.handle = "" // a sweep holds the file, and its process may be stopped
	}
}

// sweep removes the files of handles that are no longer alive. It leaves failures to the next sweep.
func (l *life) sweep(d disk) {
	names, _ := d.Names()
	for _, name := range names {
		if handle, ok := strings.CutSuffix(name, suffixLive); ok && handle != l.handle {
			_, _ = d.Free(name)
		}
	}
}

// end releases all leases of the handle.
func (l *life) end() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock == nil {
		return nil
	}
	there, err := l.lock.There()
	err = errors.Join(err, l.lock.Unlock(there))
	l.lock = nil
	return err
}

// alive reports whether a handle is alive, in this process or another one.
func (s *Store) alive(handle string) (bool, error) {
	if handle == "" || strings.Trim(handle, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return false, nil // not the name of one of our files
	}
	free, err := s.disk.Free(handle + suffixLive)
	return !free, err
}
