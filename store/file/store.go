package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/agonist-dev/debate"
)

// Sync says when what is appended is on the disk.
type Sync int

const (
	// SyncAlways has each commit on the disk before Append returns: neither the end of the process nor a
	// loss of power takes it away.
	SyncAlways Sync = iota
	// SyncNever leaves it to the operating system when it writes. What is appended survives the end of the
	// process, however sudden, but not that of the machine: a loss of power takes away the last half minute
	// or so, and where it takes only parts of it, a journal is corrupt and is refused from there on. It is
	// for tests, and for debates that cost nothing.
	SyncNever
)

// Store keeps debates in the files of a folder. Set its fields before the first use. It is safe for
// concurrent use, and so is a folder that several of them have open, in one process or many, as long as it
// is on a disk of the machine itself. A Store must not be copied.
type Store struct {
	// Dir is the folder. It is made if it is not there, for the eyes of this user only.
	Dir string
	// Sync says what a commit survives: SyncAlways if zero. All who have the folder open should agree.
	Sync Sync
	// Report is told when Append has cut off what a crash left behind the last whole commit; nil: the file
	// in which it is kept is all that tells. It is called before Append returns, and may use the store.
	Report func(Torn)
	// Now replaces the clock that leases are measured with; nil: time.Now.
	Now func() time.Time

	once sync.Once
	err  error
	disk disk

	mu       sync.Mutex
	done     chan struct{}  // closed by Close
	busy     sync.WaitGroup // changes that have begun
	journals map[string]*journal
	places   chan struct{} // one for each change that has files open
	watch    watch
	life     life
}

// Open opens a folder and makes it if it is not there. To set more than the folder use a [Store] of your
// own: it opens with its first use.
func Open(dir string) (*Store, error) {
	s := &Store{Dir: dir}
	return s, s.ready()
}

// ready opens the folder.
func (s *Store) ready() error {
	s.once.Do(func() {
		s.journals = make(map[string]*journal)
		s.places = make(chan struct{}, maxOpen)
		s.done = make(chan struct{})
		if s.disk != nil {
			return
		}
		if s.Dir == "" {
			s.err = &debate.Error{Kind: debate.KindValidation, Op: "file", Field: "Dir", Err: errors.New("is empty")}
			return
		}
		dir, err := filepath.Abs(s.Dir) // the program may go to another folder
		if err != nil {
			s.err = err
			return
		}
		s.disk = folder(dir)
		s.err = s.makeDir(dir)
	})
	return s.err
}

// makeDir makes the folder, and sees to it that it is found again after a loss of power.
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

// Close ends all watching, and gives up all leases that were taken through this handle. It waits for what
// has been begun; loops over Read and List go on. Everything else is [fs.ErrClosed] from then on.
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
	s.busy.Wait()
	return s.life.end()
}

// begin counts a change in, so that Close waits for it.
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

// Append implements [debate.Store]. It waits for another process that changes the debate as long as ctx
// lets it; once it writes, ctx has no part in it. An error of writing or syncing leaves open whether the
// events are kept: the journal is cut back where it can be, and read again before anything else is
// appended. A journal that is damaged is a [*CorruptError].
func (s *Store) Append(ctx context.Context, id string, after int64, writer string, events []debate.Event) error {
	if err := debate.CheckID(id); err != nil || len(events) == 0 {
		return err
	}
	if after < 0 {
		return debate.ErrConflict
	}
	b, err := encode(after, events)
	if err != nil {
		return fmt.Errorf("debate %s cannot be stored: %w", id, err)
	}
	h, err := s.hold(ctx, id)
	if err != nil {
		return err
	}
	torn, err := h.append(b, after, writer)
	h.release()
	if torn != nil && s.Report != nil {
		s.Report(*torn)
	}
	if err == nil {
		s.watch.look(s.disk, id, true)
	}
	return err
}

// Delete implements [debate.Store]. What was cut off the journal goes too.
func (s *Store) Delete(ctx context.Context, id string) error {
	if err := debate.CheckID(id); err != nil {
		return err
	}
	h, err := s.hold(ctx, id)
	if err != nil {
		return err
	}
	defer h.release()
	h.last = block{}
	h.shown.Store(nil)
	for _, suffix := range []string{suffixTorn, suffixLog, suffixLease} {
		if err := s.disk.Remove(h.name + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	h.drop = true
	return s.flushDir()
}

// flushDir has the folder's entries on the disk.
func (s *Store) flushDir() error {
	if s.Sync == SyncNever {
		return nil
	}
	return s.disk.Sync()
}

// flush has a file's content on the disk.
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
