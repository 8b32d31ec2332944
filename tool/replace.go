package tool

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
)

// maxLock is how long another process may keep a folder locked.
const maxLock = 5 * time.Second

// errChanged refuses a write that would lose what somebody else has written.
var errChanged = errors.New("has changed since it was read: read it again")

// unfinished begins the name of a file that is about to replace another one.
const unfinished = ".debate-unfinished-"

// target is a file that is being replaced, in a folder that nothing else of this process writes to.
type target struct {
	place

	folder *os.Root    // the folder that holds the file
	guard  guard       // keeps other processes from it
	name   string      // in the folder
	info   fs.FileInfo // nil: there is no such file
	data   []byte
}

// replace lets change see what a file holds, and puts what it returns in its place, all at once. Until change and
// the replacement are done, no other use of the folder's tools writes. If change returns what the file holds already,
// nothing is written. Missing folders are made if create is set.
func (d *Dir) replace(ctx context.Context, p place, size int, create bool, change func(t *target) (string, error)) error {
	if err := d.enter(ctx); err != nil {
		return err
	}
	defer func() { <-d.turn }()
	folder, name, err := d.descend(p, create)
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }()
	t := &target{place: p, folder: folder, name: name}
	if t.guard, err = lock(ctx, folder, d.maxLock); err != nil {
		return t.failed(ctx, err)
	}
	defer t.guard.release()
	if err = t.load(ctx, size); err != nil {
		return err
	}
	text, err := change(t)
	if err != nil || t.info != nil && text == string(t.data) {
		return err
	}
	return t.put(ctx, text)
}

// enter waits until no other use of the folder's tools writes.
func (d *Dir) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case d.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// failed returns the error of the context if it has ended.
func (t *target) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return t.fault(err)
}

// descend opens the folder of a file. It follows no symbolic link, so that a path names one file only.
func (d *Dir) descend(p place, create bool) (folder *os.Root, name string, err error) {
	elements := strings.Split(p.clean, "/")
	name = elements[len(elements)-1]
	if folder, err = d.root.OpenRoot("."); err != nil {
		return nil, "", p.fault(err)
	}
	for _, element := range elements[:len(elements)-1] {
		inner, err := step(folder, element, create)
		_ = folder.Close() // nothing was written
		if err != nil {
			return nil, "", p.fault(err)
		}
		folder = inner
	}
	return folder, name, nil
}

func step(folder *os.Root, name string, create bool) (*os.Root, error) {
	info, err := folder.Lstat(name)
	if create && errors.Is(err, fs.ErrNotExist) {
		if err = folder.Mkdir(name, 0o777); err == nil || errors.Is(err, fs.ErrExist) { // less what the process masks
			info, err = folder.Lstat(name)
		}
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errors.New("passes through a file that is not a folder")
	}
	inner, err := folder.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if opened, err := inner.Stat("."); err != nil || !os.SameFile(info, opened) {
		_ = inner.Close() // nothing was written
		return nil, errors.New("has changed while it was looked at")
	}
	return inner, nil
}

// load reads the file as it is. It fails if the file could not be written as it is.
func (t *target) load(ctx context.Context, size int) error {
	info, err := t.folder.Lstat(t.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return t.fault(err)
	case info.IsDir():
		return t.fault(errors.New("is a folder, no file"))
	case !info.Mode().IsRegular():
		return t.fault(errors.New("is no ordinary file"))
	case info.Mode().Perm()&0o222 == 0:
		return t.fault(errors.New("is read-only"))
	case info.Size() > int64(size):
		return t.fault(fmt.Errorf("has %d bytes, and only files of at most %d can be written", info.Size(), size))
	}
	file, err := t.folder.OpenFile(t.name, changeFlag, 0) // who may not write the file may not replace it
	if err != nil {
		return t.fault(err)
	}
	defer func() { _ = file.Close() }() // nothing was written
	if opened, err := file.Stat(); err != nil || !os.SameFile(info, opened) {
		return t.fault(errChanged)
	}
	defer impatient(ctx, file)()
	data, err := io.ReadAll(io.LimitReader(watched{ctx, file, true}, int64(size)+1))
	switch {
	case err != nil:
		return t.failed(ctx, err)
	case len(data) > size:
		return t.fault(errChanged)
	}
	t.info, t.data = info, data
	return nil
}

// put writes a new file beside the old one, and gives it the old one's name. A reader sees one of both, whole, and so
// does whoever comes after a crash.
func (t *target) put(ctx context.Context, text string) error {
	t.guard.tidy(t.folder)
	beside, err := t.write(text)
	if err != nil {
		return t.fault(err)
	}
	if err = ctx.Err(); err == nil {
		err = t.rename(beside)
	}
	if err != nil {
		_ = t.folder.Remove(beside)
		return t.failed(ctx, err)
	}
	if err = t.guard.sync(); err != nil {
		return t.fault(fmt.Errorf("is written, but may be lost if the machine fails: %w", reason(err)))
	}
	return nil
}

// write makes a file with the permissions of the old one, and returns its name.
func (t *target) write(text string) (name string, err error) {
	name = unfinished + rand.Text()
	mode := fs.FileMode(0o666) // less what the process masks
	if t.info != nil {
		mode = 0o600 // until it is that of the old one
	}
	file, err := t.folder.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", err
	}
	if t.info != nil {
		own(file, t.info)
		err = file.Chmod(t.info.Mode().Perm())
	}
	if err == nil {
		_, err = file.WriteString(text)
	}
	if err == nil {
		err = file.Sync()
	}
	if failed := file.Close(); err == nil {
		err = failed
	}
	if err != nil {
		_ = t.folder.Remove(name)
		return "", err
	}
	return name, nil
}

// rename puts the new file in the place of the old one, unless that has changed since it was read. A file that has
// appeared meanwhile is not replaced.
func (t *target) rename(beside string) error {
	if t.info == nil {
		switch err := t.folder.Link(beside, t.name); {
		case err == nil:
			_ = t.folder.Remove(beside) // else the next write does it
			return nil
		case errors.Is(err, fs.ErrExist):
			return errChanged
		} // not every file system has links
	}
	info, err := t.folder.Lstat(t.name)
	switch {
	case t.info == nil && errors.Is(err, fs.ErrNotExist):
	case err != nil, t.info == nil, !os.SameFile(info, t.info), info.Size() != t.info.Size(), !info.ModTime().Equal(t.info.ModTime()):
		return errChanged
	}
	return t.folder.Rename(beside, t.name)
}
