package file

import (
	"context"
	"os"
	"time"
)

const (
	// fileWork changes when work is announced. It is not named like a file of a conversation.
	fileWork = "work"
	// maxWork bounds its size.
	maxWork = 4 << 10
)

// Announce implements [store.Announcer]. What this handle does is announced at once, what others do within about a tenth of
// a second. After Close nothing is announced.
func (s *Store) Announce(ctx context.Context) <-chan struct{} {
	if s.ready() != nil {
		return make(chan struct{})
	}
	return s.work.Listen(ctx)
}

// announce tells this handle and all others that a conversation may need a process. For that a file gets another size. If
// the file cannot be written, the others learn of the work when they list next.
func (s *Store) announce() {
	s.work.Ring()
	f, err := s.disk.Open(fileWork, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	size, err := f.Size()
	switch {
	case err != nil:
	case size < maxWork:
		_, _ = f.WriteAt([]byte{'.'}, size)
	default:
		_ = f.Truncate(0)
	}
}

// lookForWork looks at the file until ctx ends. Two handles may have changed it at once, and the system may have given both
// changes one time, so a change is told a second time with the next look. Work may have come before the first look.
func (s *Store) lookForWork(ctx context.Context) {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	seen, _ := s.disk.Stat(fileWork) // a missing file has not changed yet
	for again := true; ; {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		now, err := s.disk.Stat(fileWork)
		changed := err == nil && now != seen
		if changed || again {
			s.work.Ring()
		}
		again, seen = changed, now
	}
}
