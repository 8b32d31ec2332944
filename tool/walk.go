package tool

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// Bounds of one use.
const (
	maxAnswer  = 30 << 10 // bytes of an answer
	maxEntries = 20_000   // entries of folders that are looked at
	batch      = 1000     // entries that are read at once
)

// walk visits a folder and those in it, sorted by name. It does not follow symbolic links, and skips
// folders whose name begins with a dot, because they hold the data of programs.
type walk struct {
	dir   *Dir
	seen  int  // entries so far
	cut   bool // there are more than it may look at
	shut  int  // folders that cannot be read
	visit func(p place, entry fs.DirEntry) error
}

// through visits all entries of a folder and, down to a depth, of those in it. It fails with the error of
// the context or of a visit, or if the first folder cannot be read.
func (w *walk) through(ctx context.Context, p place, depth int) error {
	entries, err := w.entries(ctx, p)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		inner := p.within(entry.Name())
		if err := w.visit(inner, entry); err != nil {
			return err
		}
		if !entry.IsDir() || depth <= 1 || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		if err := w.through(ctx, inner, depth-1); err != nil {
			if !isUnreadable(err) {
				return err
			}
			w.shut++
		}
	}
	return nil
}

// entries reads a folder, sorted by name, as far as the walk may look at it.
func (w *walk) entries(ctx context.Context, p place) ([]fs.DirEntry, error) {
	file, info, err := w.dir.open(p)
	if err != nil {
		return nil, unreadable{err}
	}
	defer func() { _ = file.Close() }() // nothing was written
	if !info.IsDir() {
		return nil, unreadable{p.fault(errors.New("is a file, no folder"))}
	}
	var entries []fs.DirEntry
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		some, err := file.ReadDir(batch)
		if room := w.dir.maxSeen - w.seen; len(some) > room {
			some, w.cut = some[:room], true
		}
		entries, w.seen = append(entries, some...), w.seen+len(some)
		switch {
		case errors.Is(err, io.EOF), w.cut:
			slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
			return entries, nil
		case err != nil:
			return nil, unreadable{p.fault(err)}
		}
	}
}

// unreadable is the error of a file or folder that cannot be read.
type unreadable struct{ error }

// Unwrap returns the cause.
func (u unreadable) Unwrap() error { return u.error }

func isUnreadable(err error) bool {
	var u unreadable
	return errors.As(err, &u)
}
