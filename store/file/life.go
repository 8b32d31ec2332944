package file

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync"
)

// life is the proof that a handle lives: a file that it keeps locked. The system unlocks it however the
// process ends.
type life struct {
	mu     sync.Mutex
	handle string // the file's name before its suffix; "": no lease was taken yet
	lock   lock
}

// live yields the name of this handle, and has it live from the first time on. If somebody has removed its
// file, all its leases count for nothing; with a new file of that name those that nobody has taken meanwhile
// count again.
func (s *Store) live(ctx context.Context) (string, error) {
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
	if l.handle == "" {
		l.handle = strings.ToLower(rand.Text())
	}
	for {
		lock, ok, err := s.disk.Lock(l.handle + suffixLive)
		if ok {
			l.lock = lock
			l.sweep(s.disk)
			return l.handle, nil
		}
		if err == nil {
			err = s.pause(ctx) // somebody who sweeps has come between the file and its lock
		}
		if err != nil {
			return "", err
		}
	}
}

// sweep removes the files of those that do not live any more. What fails is left to the next one.
func (l *life) sweep(d disk) {
	names, _ := d.Names()
	for _, name := range names {
		if handle, ok := strings.CutSuffix(name, suffixLive); ok && handle != l.handle {
			_, _ = d.Free(name)
		}
	}
}

// end gives the handle's leases up.
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

// alive reports whether a handle lives, in this process or another one.
func (s *Store) alive(handle string) (bool, error) {
	if handle == "" || strings.Trim(handle, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return false, nil // the name of no file of ours
	}
	free, err := s.disk.Free(handle + suffixLive)
	return !free, err
}
