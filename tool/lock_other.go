//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package tool

import (
	"context"
	"io/fs"
	"os"
	"time"
)

// guard does nothing: on this system other processes are not kept from a folder.
type guard struct{}

func lock(context.Context, *os.Root, time.Duration) (guard, error) { return guard{}, nil }

func (guard) release() {}

func (guard) tidy(*os.Root) {}

func (guard) sync() error { return nil }

func own(*os.File, fs.FileInfo) {}
