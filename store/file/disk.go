package file

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
)

// disk is what a store needs of a file system: one folder of files. A test's disk can lose power. Errors
// are those of package os.
type disk interface {
	// Open opens a file in mode os.O_RDONLY or os.O_RDWR, the latter with or without os.O_CREATE.
	Open(name string, mode int) (handle, error)
	Remove(name string) error
	// Rename gives a file another name, in one step. A file that has this name is replaced.
	Rename(from, to string) error
	Stat(name string) (stamp, error)
	// Names returns the files in any order.
	Names() ([]string, error)
	// Sync makes the names durable.
	Sync() error
	// Lock acquires the exclusive lock of a file, and creates the file if it is missing. If the lock is
	// held already, ok is false.
	Lock(name string) (l lock, ok bool, err error)
	// Share acquires the shared lock of a file, which must exist. If somebody holds the exclusive lock,
	// ok is false.
	Share(name string) (unlock func() error, ok bool, err error)
	// Free reports whether nobody holds the lock of a file. If so, it removes the file.
	Free(name string) (bool, error)
}

// handle is an open file.
type handle interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
	Size() (int64, error)
}

// lock is a held lock of a file.
type lock interface {
	// There reports whether the file still has its name. It may have been removed, and replaced by
	// another.
	There() (bool, error)
	// Mark sets the size of the file, which others see. The file takes no space on the disk.
	Mark(size int64) error
	// Unlock releases the lock. If drop is set, it removes the file first.
	Unlock(drop bool) error
}

// stamp changes when the file is written to.
type stamp struct {
	size int64
	at   time.Time
}

// folder is a disk of the operating system.
type folder string

type osHandle struct{ *os.File }

// Size returns the size of the file in bytes.
func (h osHandle) Size() (int64, error) {
	info, err := h.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f folder) path(name string) string { return filepath.Join(string(f), name) }

// Open implements disk.
func (f folder) Open(name string, mode int) (handle, error) {
	file, err := os.OpenFile(f.path(name), mode, 0o600) // a log holds the secret of the conversation
	if err != nil {
		return nil, err
	}
	return osHandle{file}, nil
}

// Remove implements disk.
func (f folder) Remove(name string) error { return os.Remove(f.path(name)) }

// Rename implements disk.
func (f folder) Rename(from, to string) error { return os.Rename(f.path(from), f.path(to)) }

// Stat implements disk.
func (f folder) Stat(name string) (stamp, error) {
	info, err := os.Stat(f.path(name))
	if err != nil {
		return stamp{}, err
	}
	return stamp{info.Size(), info.ModTime()}, nil
}

// Names implements disk.
func (f folder) Names() ([]string, error) {
	dir, err := os.Open(string(f))
	if err != nil {
		return nil, err
	}
	names, err := dir.Readdirnames(-1)
	return names, errors.Join(err, dir.Close())
}

// Sync implements disk.
func (f folder) Sync() error {
	if runtime.GOOS == "windows" {
		return nil // NTFS has a journal for names; a folder cannot be flushed
	}
	dir, err := os.Open(string(f))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Lock implements disk. It checks that the file that it locked still has its name, because the previous
// holder may have removed it.
func (f folder) Lock(name string) (lock, bool, error) {
	flag := os.O_RDONLY // asking for a new file while one exists would make all users of the folder wait for each other
	for {
		l := &fileLock{flock.New(f.path(name), flock.SetFlag(flag), flock.SetPermissions(0o600))}
		ok, err := l.TryLock()
		if errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE == 0 {
			flag |= os.O_CREATE
			continue
		}
		if err != nil || !ok {
			return nil, false, err
		}
		if there, err := l.There(); there && err == nil {
			return l, true, nil
		} else if err = errors.Join(err, l.Close()); err != nil {
			return nil, false, err
		}
	}
}

// Share implements disk.
func (f folder) Share(name string) (func() error, bool, error) {
	for {
		l := &fileLock{flock.New(f.path(name), flock.SetFlag(os.O_RDONLY))}
		ok, err := l.TryRLock()
		if err != nil || !ok {
			return nil, false, err
		}
		if there, err := l.There(); there && err == nil {
			return l.Close, true, nil
		} else if err = errors.Join(err, l.Close()); err != nil {
			return nil, false, err
		}
	}
}

// fileLock is a locked file.
type fileLock struct{ *flock.Flock }

// There implements lock.
func (l *fileLock) There() (bool, error) {
	here, err := l.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Stat(l.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(here, there), err
}

// Mark implements lock.
func (l *fileLock) Mark(size int64) error { return os.Truncate(l.Path(), size) }

// Unlock implements lock.
func (l *fileLock) Unlock(drop bool) error {
	var err error
	if drop {
		err = os.Remove(l.Path())
	}
	closed := l.Close()
	if err != nil && runtime.GOOS == "windows" {
		err = os.Remove(l.Path()) // Windows keeps a file that is open; if this one is still open, somebody needs it
	}
	return errors.Join(closed, err)
}

// Free implements disk. It tries a shared lock, so that two callers do not mistake each other for the
// owner.
func (f folder) Free(name string) (bool, error) {
	l := &fileLock{flock.New(f.path(name), flock.SetFlag(os.O_RDONLY))}
	ok, err := l.TryRLock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil || !ok:
		return false, err
	}
	_ = l.Unlock(true) // another caller may be removing it too
	return true, nil
}
