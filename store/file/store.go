package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/bell"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// Sync says when appended events are on the disk.
type Sync int

const (
	// SyncAlways puts each commit on the disk before Append returns. It survives the end of the process
	// and a power loss.
	SyncAlways Sync = iota
	// SyncNever leaves it to the operating system when to write. Appended events survive any end of the
	// process, but not that of the machine: a power loss takes away about the last half minute. If only parts
	// of that are lost, the journal is corrupt and is refused from there on. It is for tests,
	// and for conversations that cost nothing.
	SyncNever
)

// Store stores conversations in the files of a folder. Set its fields before the first use. It is safe for
// concurrent use. Several Stores, in one process or many, may have the same folder open if it is on a local
// disk. A Store must not be copied.
type Store struct {
	// Dir is the folder. If it is missing, it is created, with access for the current user only.
	Dir string
	// Sync says what a commit survives: SyncAlways if zero. All Stores of one folder should use the same.
	Sync Sync
	// Report is called when Append has cut off a tear, that is, what a crash left behind the last whole
	// commit, and when List finds that a journal has become shorter. It is called before Append returns, or from within
	// the list, and may use the store. Nil: slog.Default gets a warning, since acknowledged commits may be lost (see
	// Tears and corruption).
	Report func(Torn)
	// Now replaces the clock that leases use, and that of [Store.Time]; nil: time.Now, and the clock of the file system. In a
	// bubble of testing/synctest set it to time.Now, because the file system's clock is outside the bubble.
	Now func() time.Time

	once sync.Once
	err  error
	disk disk

	mu       sync.Mutex
	done     chan struct{}  // closed by Close
	busy     sync.WaitGroup // changes that have begun
	journals map[string]*journal
	shorter  map[string]int64 // the sizes of journals of which it was reported that they have become shorter
	slots    chan struct{}    // one for each change that has files open
	watch    watch
	work     bell.Bell
	life     life
}

// Open opens a folder, and creates it if it is missing. For other options, make a [Store] yourself: it
// opens the folder at its first use.
func Open(dir string) (*Store, error) {
	s := &Store{Dir: dir}
	return s, s.ready()
}

// ready opens the folder.
func (s *Store) ready() error {
	s.once.Do(func() {
		s.journals, s.shorter = make(map[string]*journal), make(map[string]int64)
		s.slots = make(chan struct{}, maxOpen)
		s.done = make(chan struct{})
		s.work.Source = s.lookForWork
		if s.disk != nil {
			return
		}
		if s.Dir == "" {
			s.err = &flow.Error{Kind: provider.KindValidation, Op: "file", Field: "Dir", Err: errors.New("is empty")}
			return
		}
		dir, err := filepath.Abs(s.Dir) // the program may change its working directory
		if err != nil {
			s.err = err
			return
		}
		s.disk = folder(dir)
		s.err = s.makeDir(dir)
	})
	return s.err
}

// makeDir creates the folder, and makes it durable.
func (s *Store) makeDir(path string) error {
	var above []string
	for dir := path; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		above = append(above, filepath.Dir(dir))
	}
	if err := os.MkdirAll(path, 0o700); err != nil || s.Sync == SyncNever {
		return err
	}
	for _, dir := range above {
		if err := folder(dir).Sync(); err != nil {
			return err
		}
	}
	return nil
}

// Close wakes all who watch and releases all leases that this handle has acquired. It waits for changes
// that have begun; loops over Read and List that have begun continue. From then on, everything else fails with
// [fs.ErrClosed].
func (s *Store) Close() error {
	if s.ready() != nil {
		return nil //nolint:nilerr // what was never open is closed
	}
	s.mu.Lock()
	if !s.closed() {
		close(s.done)
	}
	s.mu.Unlock()
	s.watch.close()
	s.work.Close()
	s.busy.Wait()
	return s.life.end()
}

// begin counts a change, so that Close waits for it.
func (s *Store) begin() error {
	if err := s.ready(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed() {
		return s.errClosed()
	}
	s.busy.Add(1)
	return nil
}

func (s *Store) closed() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

func (s *Store) errClosed() error { return fmt.Errorf("the file store %s: %w", s.Dir, fs.ErrClosed) }

// Append implements [store.Store]. If another process changes the conversation, Append waits for it as long as
// ctx allows. Once it writes, it ignores ctx. If writing or syncing fails, it is unknown whether the
// events are stored: the journal is cut back if possible, and it is read again before the next append. A
// damaged journal is a [*CorruptError].
func (s *Store) Append(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
	if err := store.CheckID(id); err != nil || len(events) == 0 {
		return err
	}
	if after < 0 {
		return flow.ErrConflict
	}
	b, err := encode(after, events)
	if err != nil {
		return fmt.Errorf("conversation %s cannot be stored: %w", id, err)
	}
	h, err := s.lock(ctx, id, 0)
	if err != nil {
		return err
	}
	torn, err := h.append(b, after, writer)
	woken := err == nil && h.rested && !h.last.State.Idle()
	if err == nil && h.last.State.Final() {
		_ = s.disk.Remove(h.name + suffixAlarm) // it does not count any more: no list needs to read it
	}
	h.release()
	if torn != nil {
		s.report(ctx, *torn)
	}
	if err == nil {
		s.watch.look(s.disk, id, true)
	}
	if woken {
		s.announce()
	}
	return err
}

// report tells that a tear was cut off.
func (s *Store) report(ctx context.Context, torn Torn) {
	if s.Report != nil {
		s.Report(torn)
		return
	}
	slog.Default().LogAttrs(ctx, slog.LevelWarn, "the end of a journal was torn: it was cut off, and is kept in another file",
		slog.String("conversation", torn.ID), slog.Int64("offset", torn.Offset), slog.Int64("bytes", torn.Bytes), slog.String("kept", torn.Kept))
}

// reportLost tells once that a journal has become shorter.
func (s *Store) reportLost(ctx context.Context, lost Torn) {
	s.mu.Lock()
	size, told := s.shorter[lost.ID]
	s.shorter[lost.ID] = lost.Offset
	s.mu.Unlock()
	switch {
	case told && size == lost.Offset:
	case s.Report != nil:
		s.Report(lost)
	default:
		slog.Default().LogAttrs(ctx, slog.LevelWarn, "a journal has become shorter: its last events are lost, unless an older copy was put back",
			slog.String("conversation", lost.ID), slog.Int64("offset", lost.Offset), slog.Int64("bytes", lost.Bytes))
	}
}

// Delete implements [store.Store]. It also deletes the blobs, and what was cut off the journal.
func (s *Store) Delete(ctx context.Context, id string) error {
	if err := store.CheckID(id); err != nil {
		return err
	}
	h, err := s.lock(ctx, id, 0)
	if err != nil {
		return err
	}
	defer func() {
		h.release()
		s.watch.look(s.disk, id, true)
	}()
	h.last = block{}
	for _, suffix := range []string{suffixTorn, suffixBlobs, suffixAlarm, suffixLog, suffixLease, suffixQuarantine} {
		if err := s.disk.Remove(h.name + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	h.drop = true
	return s.flushDir()
}

// flushDir makes the names in the folder durable.
func (s *Store) flushDir() error {
	if s.Sync == SyncNever {
		return nil
	}
	return s.disk.Sync()
}

// flush makes the content of a file durable.
func (s *Store) flush(f handle) error {
	if s.Sync == SyncNever {
		return nil
	}
	return f.Sync()
}

func (s *Store) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}
