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

// disk is what a store needs of a file system: one folder of files. Behind it a test loses power. Errors
// are those of package os.
type disk interface {
	// Open opens a file for os.O_RDONLY, or for os.O_RDWR with or without os.O_CREATE.
	Open(name string, mode int) (handle, error)
	Remove(name string) error
	Stat(name string) (stamp, error)
	// Names yields the files in any order.
	Names() ([]string, error)
	// Sync has the names on the disk.
	Sync() error
	// Lock takes the exclusive lock of a file, which it makes if it is not there, unless somebody holds it:
	// then ok is false. drop removes the file before the lock ends.
	Lock(name string) (unlock func(drop bool) error, ok bool, err error)
	// Free reports whether nobody holds the lock of a file, and removes the file then.
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

// stamp changes when a file is written to.
type stamp struct {
	size int64
	at   time.Time
}

// folder is the disk of the operating system.
type folder string

type osHandle struct{ *os.File }

// Size yields how many bytes the file has.
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
	file, err := os.OpenFile(f.path(name), mode, 0o600) // a log holds the debate's secret
	if err != nil {
		return nil, err
	}
	return osHandle{file}, nil
}

// Remove implements disk.
func (f folder) Remove(name string) error { return os.Remove(f.path(name)) }

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
		return nil // NTFS keeps its names in a journal of its own; a folder cannot be flushed
	}
	dir, err := os.Open(string(f))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Lock implements disk. It makes sure that the file which it has locked is still the one of that name:
// whoever held the lock before may have removed it.
func (f folder) Lock(name string) (func(drop bool) error, bool, error) {
	flag := os.O_RDONLY // to ask for a new file, where there is one, has all who work in the folder wait for each other
	for {
		l := flock.New(f.path(name), flock.SetFlag(flag), flock.SetPermissions(0o600))
		ok, err := l.TryLock()
		if errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE == 0 {
			flag |= os.O_CREATE
			continue
		}
		if err != nil || !ok {
			return nil, false, err
		}
		here, err := l.Stat()
		if err == nil {
			var there fs.FileInfo
			if there, err = os.Stat(f.path(name)); err == nil && os.SameFile(here, there) {
				return func(drop bool) error { return f.unlock(l, drop) }, true, nil
			}
		}
		if closed := l.Close(); closed != nil || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, false, errors.Join(err, closed)
		}
	}
}

func (f folder) unlock(l *flock.Flock, drop bool) error {
	var err error
	if drop {
		err = os.Remove(l.Path())
	}
	closed := l.Close()
	if err != nil && runtime.GOOS == "windows" {
		err = os.Remove(l.Path()) // there a file that is open stays; now it is not, or somebody needs it
	}
	return errors.Join(closed, err)
}

// Free implements disk. It asks with a shared lock, so that two who ask do not take each other for the
// owner.
func (f folder) Free(name string) (bool, error) {
	l := flock.New(f.path(name), flock.SetFlag(os.O_RDONLY))
	ok, err := l.TryRLock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil || !ok:
		return false, err
	}
	_ = f.unlock(l, true) // another one who asks may be removing it too
	return true, nil
}
