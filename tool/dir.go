package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Dir is a folder whose files models may read and, with tools that are made for it, write. It is safe for
// concurrent use.
type Dir struct {
	root    *os.Root
	limits  Limits
	maxSeen int           // cap on the entries of folders that one use looks at
	maxTime time.Duration // cap on the time of a search
	maxLock time.Duration // cap on the time that another process may keep a folder locked
	turn    chan struct{} // full while a tool writes
}

// Limits bounds what tools read and show. A field must not be negative, or above its maximum.
type Limits struct {
	File    int // bytes that are read of a file, from its beginning: 64 KiB if 0, at most 4 MiB
	Entries int // entries in a list: 200 if 0, at most 20,000
	Matches int // excerpts of the conversation, and as many of files, in the answer of a search: 20 if 0, at most 1,000
}

// The defaults of Limits.
const (
	defaultFile    = 64 << 10
	defaultEntries = 200
	defaultMatches = 20
)

// The highest limits. A page of a file and a search hold highestFile bytes in memory. More entries are
// never looked at, and more excerpts hardly fit into an answer.
const (
	highestFile    = 4 << 20
	highestEntries = maxEntries
	highestMatches = 1000
)

// OpenDir opens a folder of this machine, until [Dir.Close]. If the folder is moved, tools continue to
// use it. An invalid argument is a *flow.Error of kind validation, whose field is "root" or the name of
// the limit.
func OpenDir(root string, limits Limits) (*Dir, error) {
	for _, limit := range []struct {
		field   string
		n       *int
		usual   int
		highest int
	}{
		{"limits.file", &limits.File, defaultFile, highestFile},
		{"limits.entries", &limits.Entries, defaultEntries, highestEntries},
		{"limits.matches", &limits.Matches, defaultMatches, highestMatches},
	} {
		if *limit.n < 0 {
			return nil, invalid(limit.field, fmt.Errorf("%d is negative", *limit.n))
		}
		if *limit.n > limit.highest {
			return nil, invalid(limit.field, fmt.Errorf("%d is more than %d", *limit.n, limit.highest))
		}
		if *limit.n == 0 {
			*limit.n = limit.usual
		}
	}
	if root == "" {
		return nil, invalid("root", errors.New("is empty"))
	}
	opened, err := os.OpenRoot(root)
	if err != nil {
		return nil, invalid("root", fmt.Errorf("%s: %w", strconv.Quote(root), reason(err)))
	}
	return &Dir{
		root: opened, limits: limits, maxSeen: maxEntries, maxTime: maxTime, maxLock: maxLock, turn: make(chan struct{}, 1),
	}, nil
}

// Close closes the folder. Later uses of the tools fail.
func (d *Dir) Close() error { return d.root.Close() }

// These are the usual names of the tools. The first three are in the map of [Tools].
const (
	ListFilesName  = "list_files"
	ReadFileName   = "file_read"
	SearchName     = "context_search"
	WriteFileName  = "write_file"
	EditFileName   = "edit_file"
	RunCommandName = "run_command"
)

// Tools returns the tools of this package that only read, by their usual names. Its errors are those of [ListFiles].
func Tools(dir *Dir) (map[string]flow.Tool, error) {
	list, err := ListFiles(dir)
	if err != nil {
		return nil, err
	}
	read, err := ReadFile(dir)
	if err != nil {
		return nil, err
	}
	search, err := Search(dir)
	if err != nil {
		return nil, err
	}
	return map[string]flow.Tool{ListFilesName: list, ReadFileName: read, SearchName: search}, nil
}

// usable fails if there is no folder.
func usable(dir *Dir) error {
	if dir == nil || dir.root == nil {
		return invalid("dir", errors.New("there is no folder"))
	}
	return nil
}

func invalid(field string, err error) error {
	return &flow.Error{Kind: provider.KindValidation, Op: "tool", Field: field, Err: err}
}

// stat returns information about what a path leads to.
func (d *Dir) stat(p place) (fs.FileInfo, error) {
	info, err := d.root.Stat(p.local)
	if err != nil {
		return nil, p.fault(err)
	}
	return info, nil
}

// open opens a file or a folder, and nothing else. Opening a pipe may block for ever, and opening a
// device may have effects.
func (d *Dir) open(p place) (*os.File, fs.FileInfo, error) {
	info, err := d.stat(p)
	if err != nil {
		return nil, nil, err
	}
	if err := p.ordinary(info); err != nil {
		return nil, nil, err
	}
	file, err := d.root.OpenFile(p.local, openFlag, 0)
	if err != nil {
		return nil, nil, p.fault(err)
	}
	info, err = file.Stat() // it may be something else by now
	if err != nil {
		err = p.fault(err)
	} else {
		err = p.ordinary(info)
	}
	if err != nil {
		_ = file.Close() // nothing was written
		return nil, nil, err
	}
	return file, info, nil
}

// ordinary refuses anything but files and folders.
func (p place) ordinary(info fs.FileInfo) error {
	if info.IsDir() || info.Mode().IsRegular() {
		return nil
	}
	return p.fault(errors.New("is neither a file nor a folder"))
}

// watched is a reader that ends when its context is done and, unless all is wanted, after a zero byte: a file
// with a zero byte is not text, whatever follows.
type watched struct {
	ctx context.Context
	io.Reader

	all bool
}

func (w watched) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.Reader.Read(p)
	if !w.all && bytes.IndexByte(p[:n], 0) >= 0 {
		return n, io.EOF
	}
	return n, err
}
