package sql

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// life tells whether the owners of leases in a file of SQLite live: all of them run on this machine. Beside the database stands a file
// for each owner, which its process keeps locked while it has leases. The system unlocks it however the process ends. An owner without
// such a file may live, and its leases end with their time.
//
// Owners lock their file together, because several Stores may have one owner. Who asks locks it alone, for a moment: that works if no
// owner has it, and an owner that begins waits for that moment.
//
// A nil life knows nothing, and shows nothing.
type life struct {
	path string // of the database

	mu     sync.Mutex
	mute   bool // nobody gets a lease by this Store: it only reads, or is closed
	swept  bool
	owners map[string]*living // by their names in the database
}

// living is an owner of leases of this Store.
type living struct {
	lock *flock.Flock // nil: the file cannot be locked
	ids  map[string]bool
}

const (
	suffixLive = "-live-"
	ageLive    = 24 * time.Hour // of a file whose owner is gone: its leases are over, or end with their time
)

// file returns the path of an owner's file.
func (l *life) file(owner string) string {
	sum := sha256.Sum256([]byte(owner))
	return l.path + suffixLive + hex.EncodeToString(sum[:8])
}

// begin is called before an owner asks for a lease.
func (l *life) begin(ctx context.Context, id, owner string) {
	if l == nil || ctx.Err() != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mute {
		return
	}
	if !l.swept {
		l.swept = true
		l.sweep()
	}
	o := l.owners[owner]
	if o == nil {
		o = &living{lock: lockAlive(ctx, l.file(owner)), ids: map[string]bool{}}
		if l.owners == nil {
			l.owners = map[string]*living{}
		}
		l.owners[owner] = o
	}
	o.ids[id] = true
}

// end is called when an owner has no lease of a conversation any more.
func (l *life) end(id, owner string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.owners[owner]
	if o == nil {
		return
	}
	if delete(o.ids, id); len(o.ids) == 0 {
		delete(l.owners, owner)
		o.end()
	}
}

// close is called when the Store is closed. What its owners still have ends with its time.
func (l *life) close() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.owners {
		o.end()
	}
	l.owners, l.mute = nil, true
}

// dead returns the locked file of an owner whose process is gone; pass it to bury. It is nil if the owner lives, or if nobody can tell.
// Somebody else may be asking at the same time, so it asks several times.
func (l *life) dead(ctx context.Context, owner string, times int) *flock.Flock {
	if l == nil || owner == "" {
		return nil
	}
	return lockDead(ctx, l.file(owner), times)
}

// gone reports whether an owner's process is gone.
func (l *life) gone(owner string) bool {
	lock := l.dead(context.Background(), owner, 1)
	if lock == nil {
		return false
	}
	bury(lock, false)
	return true
}

// files returns the paths of owners' files whose processes are gone.
func (l *life) files() map[string]bool {
	if l == nil {
		return nil
	}
	entries, _ := os.ReadDir(filepath.Dir(l.path))
	var files map[string]bool
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), filepath.Base(l.path)+suffixLive) {
			continue
		}
		path := filepath.Join(filepath.Dir(l.path), entry.Name())
		if lock := lockDead(context.Background(), path, 1); lock != nil {
			bury(lock, false)
			if files == nil {
				files = map[string]bool{}
			}
			files[path] = true
		}
	}
	return files
}

// sweep removes the files of owners that are gone for long. It leaves failures to the next sweep.
func (l *life) sweep() {
	for path := range l.files() {
		if info, err := os.Stat(path); err != nil || time.Since(info.ModTime()) < ageLive {
			continue
		}
		if lock := lockDead(context.Background(), path, 1); lock != nil {
			bury(lock, true)
		}
	}
}

// end unlocks an owner's file, and removes it unless another Store has the same owner.
func (o *living) end() {
	if o.lock == nil {
		return
	}
	path := o.lock.Path()
	_ = o.lock.Close()
	if lock := lockDead(context.Background(), path, 1); lock != nil {
		bury(lock, true)
	}
}

// lockAlive locks a file for an owner, together with others. It is nil if that is impossible.
func lockAlive(ctx context.Context, path string) *flock.Flock {
	for ctx.Err() == nil {
		lock := flock.New(path)
		ok, err := lock.TryRLock()
		switch {
		case err != nil:
			return nil
		case ok && named(lock):
			return lock
		case ok: // somebody has removed it before it was locked
			_ = lock.Close()
		default: // somebody asks
			select {
			case <-time.After(time.Millisecond):
			case <-ctx.Done():
			}
		}
	}
	return nil
}

// lockDead locks a file alone, if there is one and no owner has it.
func lockDead(ctx context.Context, path string, times int) *flock.Flock {
	for try := range times {
		if try > 0 {
			select {
			case <-time.After(time.Millisecond):
			case <-ctx.Done():
				return nil
			}
		}
		lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
		ok, err := lock.TryLock()
		switch {
		case err != nil:
			return nil
		case ok && named(lock):
			return lock
		case ok:
			_ = lock.Close()
		}
	}
	return nil
}

// named reports whether the file that is locked still has its name.
func named(lock *flock.Flock) bool {
	here, err := lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(lock.Path())
	return err == nil && os.SameFile(here, there)
}

// bury unlocks a file that lockDead has locked, and removes it if remove is set.
func bury(lock *flock.Flock, remove bool) {
	var err error
	if remove {
		err = os.Remove(lock.Path())
	}
	_ = lock.Close()
	if err != nil && !errors.Is(err, fs.ErrNotExist) && runtime.GOOS == "windows" { // which keeps a file that is open
		_ = os.Remove(lock.Path())
	}
}
