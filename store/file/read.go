package file

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// Read implements [store.Store]. It never waits for a writer: while another handle appends, Read yields what precedes that
// commit. It keeps one file open until the loop ends. It skips a tear behind the last whole commit. Any other damage, a
// file that is not a journal, and an event that cannot be decoded are a [*CorruptError].
func (s *Store) Read(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
	return func(yield func(flow.Event, error) bool) {
		if err := s.read(ctx, id, after, func(e flow.Event) bool { return yield(e, nil) }); err != nil {
			yield(flow.Event{}, err)
		}
	}
}

// read passes events to give until the journal ends or give returns false.
func (s *Store) read(ctx context.Context, id string, after int64, give func(flow.Event) bool) error {
	if err := store.CheckID(id); err != nil {
		return err
	}
	if err := errors.Join(s.ready(), ctx.Err()); err != nil {
		return err
	}
	if s.closed() {
		return s.errClosed()
	}
	f, err := s.disk.Open(name(id)+suffixLog, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return flow.ErrNotFound
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	r := &reader{store: s, ctx: ctx, id: id, file: f, after: max(0, after), give: give}
	if err = r.run(); errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// errEnough reports that the loop was left early.
var errEnough = errors.New("enough")

// reader is one loop over Read.
type reader struct {
	store *Store
	ctx   context.Context
	id    string
	file  handle
	size  int64 // how far to read, in bytes
	after int64 // the last event that was passed on, or that is not asked for
	give  func(flow.Event) (more bool)
	found bool          // there is a whole commit
	in    *bufio.Reader // the events of a block
	text  []byte        // one of their lines
}

func (r *reader) run() (err error) {
	if err := r.measure(); err != nil {
		return err
	}
	begin, err := r.seek()
	for suspect := int64(-1); err == nil; {
		_, err = walk(r.file, r.size, r.id, begin, r.block)
		corrupt, ok := errors.AsType[*CorruptError](err)
		switch {
		case err == nil && !r.found:
			return flow.ErrNotFound
		case err == nil:
			return nil
		case ok && begin.end > 0: // from the beginning of the journal, the exact place can be reported
			begin, err = block{}, nil
		case ok && corrupt.Offset != suspect: // a writer may have been writing there
			suspect = corrupt.Offset
			err = r.measure()
		}
	}
	return err
}

// measure finds out how far to read.
func (r *reader) measure() error {
	known, err := r.store.extent(r.id, r.file)
	r.size = known.end
	return err
}

// seek finds the place from which to read, so that a reader that follows a long log does not read it from
// its beginning each time. It goes back from the end, commit by commit, and trusts their lines, because
// everything is checked on the way forward. If that fails, it returns no block.
func (r *reader) seek() (block, error) {
	if r.after == 0 {
		return block{}, nil
	}
	if _, err := top(r.file, r.size, r.id); err != nil {
		return block{}, nil //nolint:nilerr // the error comes up again, at its place
	}
	b, ok, err := tail(r.file, r.size)
	for ok && b.First-1 > r.after {
		b, ok, err = tail(r.file, b.from)
	}
	if !ok || b.First == 1 {
		return block{}, err
	}
	return block{commit: commit{Last: b.First - 1}, sum: b.Prev, end: b.from}, nil
}

// block passes on the events of a block. The block has been checked as a whole. Reading it a second time
// costs little, and nothing has to be kept in memory.
func (r *reader) block(b *block) error {
	r.found = true
	if err := r.ctx.Err(); err != nil || b.Last <= r.after {
		return err
	}
	section := io.NewSectionReader(r.file, b.from, b.Bytes)
	if r.in == nil || int64(r.in.Size()) < min(maxCommit, b.Bytes) {
		r.in = bufio.NewReaderSize(section, int(min(maxCommit, b.Bytes)))
	} else {
		r.in.Reset(section)
	}
	at, line := b.from, b.line-int(b.Last-b.First+1)
	for seq := b.First; seq <= b.Last; seq++ {
		text, err := whole(r.in, &r.text)
		var e flow.Event
		if err == nil && seq > r.after {
			err = decode(text, seq, &e)
		}
		if d, wrong := errors.AsType[*damage](err); wrong {
			return &CorruptError{ID: r.id, Offset: at, Line: line, Err: d.err}
		}
		if err != nil {
			return err
		}
		at, line = at+int64(len(r.text)), line+1
		if seq <= r.after {
			continue
		}
		if err := r.ctx.Err(); err != nil {
			return err
		}
		r.after = seq
		if !r.give(e) {
			return errEnough
		}
	}
	return nil
}

// decode reads the event that has a number. If the text is not that event, it fails with a *damage.
func decode(text []byte, seq int64, e *flow.Event) error {
	if err := e.UnmarshalJSON(text); err != nil {
		return &damage{err: err}
	}
	if e.Seq != seq {
		return &damage{err: fmt.Errorf("event %d is in the place of event %d", e.Seq, seq)}
	}
	return nil
}
