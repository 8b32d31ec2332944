//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package tool

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
)

// maxPause is the longest pause between two attempts to lock a folder.
const maxPause = 20 * time.Millisecond

// guard is a folder that no other process writes to with these tools, if its file system has locks.
type guard struct {
	file  *os.File
	alone bool
}

// lock waits until no other process writes to a folder, at most so long. The kernel releases the lock if this process dies.
func lock(ctx context.Context, folder *os.Root, most time.Duration) (guard, error) {
	file, err := folder.Open(".")
	if err != nil {
		return guard{}, err
	}
	g := guard{file: file}
	until := time.Now().Add(most)
	for pause := time.Millisecond; ; pause = min(2*pause, maxPause) {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case !errors.Is(err, syscall.EWOULDBLOCK):
			g.alone = err == nil
			return g, nil
		case time.Now().After(until):
			g.release()
			return guard{}, errors.New("is in a folder that another process keeps locked")
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			g.release()
			return guard{}, ctx.Err()
		}
	}
}

// release lets other processes write. A process that is being started may hold a copy of the file.
func (g guard) release() {
	_ = syscall.Flock(int(g.file.Fd()), syscall.LOCK_UN)
	_ = g.file.Close() // nothing was written
}

// tidy removes what a process has left that was killed while it wrote.
func (g guard) tidy(folder *os.Root) {
	if !g.alone { // it may be in use
		return
	}
	for seen := 0; seen < maxEntries; seen += batch {
		entries, err := g.file.ReadDir(batch)
		for _, entry := range entries {
			if strings.HasPrefix(entry.Name(), unfinished) && entry.Type().IsRegular() {
				_ = folder.Remove(entry.Name())
			}
		}
		if err != nil {
			return
		}
	}
}

// sync makes the names of a folder survive a failure of the machine.
func (g guard) sync() error {
	err := g.file.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) { // this file system does not have it
		return nil
	}
	return err
}

// own gives a new file the owner of the old one, if this process may.
func own(file *os.File, old fs.FileInfo) {
	if stat, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = file.Chown(int(stat.Uid), int(stat.Gid))
	}
}
