package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// Redact implements [store.Redactor]. It writes the new journal under another name, syncs it, and then renames it: a crash leaves
// the old journal or the new one, whole. A reader that has begun to read the old journal reads it to its end. Redact then does the
// same with the file of blobs, if one is removed, and with the index, and removes what was cut off the journal. The file system
// frees the old files; a store cannot reach what that leaves on the disk.
func (s *Store) Redact(ctx context.Context, id string, after int64, events []flow.Event, blobs []string) error {
	if err := store.CheckID(id); err != nil {
		return err
	}
	if err := store.CheckRedact(after, events); err != nil {
		return err
	}
	h, err := s.lock(ctx, id, 0)
	if err != nil {
		return err
	}
	err = h.redact(after, events)
	if err == nil {
		err = h.dropBlobs(blobs)
	}
	if err == nil {
		err = h.dropTorn()
	}
	h.release()
	if err == nil {
		err = s.dropIndexed(ctx, id)
	}
	if err == nil {
		s.watch.look(s.disk, id, true)
	}
	return err
}

// redact writes the journal anew.
func (h *locked) redact(after int64, events []flow.Event) error {
	d := h.store.disk
	f, err := d.Open(h.name+suffixLog, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return flow.ErrNotFound
	}
	if err != nil {
		return err
	}
	size, err := f.Size()
	if err == nil {
		_, err = h.catchUp(f, size)
	}
	switch {
	case err == nil && h.last.Last == 0:
		err = flow.ErrNotFound
	case err == nil && h.last.Last != after:
		err = flow.ErrConflict
	}
	if err != nil || len(events) == 0 {
		return errors.Join(err, f.Close())
	}
	r := &rewriter{locked: h, from: f, size: size, events: events}
	err = h.store.replace(h.name+suffixLog, r.write, func() error {
		// Windows renames no file that is open. From here on readers may find the one journal or the other, each of them whole;
		// who comes after a crash makes the name durable.
		return errors.Join(f.Close(), h.mark(max(size, r.last.end)+1))
	})
	h.last, h.safe = block{}, false
	if err != nil {
		_ = f.Close()
		return fmt.Errorf("conversation %s: it is unknown whether the journal was written anew: %w", h.id, err)
	}
	h.last, h.safe = r.last, true
	return h.mark(0)
}

// rewriter writes a journal anew.
type rewriter struct {
	*locked

	from   handle
	size   int64
	events []flow.Event // to be written; those that take the places of others come first
	to     handle
	last   block // the last that was written
}

// write writes the journal to another file.
func (r *rewriter) write(to handle) error {
	r.to = to
	first := true
	_, err := walk(r.from, r.size, r.id, block{}, func(b *block) error {
		if first {
			first = false
			if err := r.head(b.from); err != nil {
				return err
			}
		}
		return r.block(b)
	})
	if err != nil {
		return err
	}
	b, err := encode(r.last.Last, r.events)
	if err != nil {
		return err
	}
	own, err := b.seal(r.last, "")
	if err != nil {
		return err
	}
	if _, err := to.WriteAt(b.lines.Bytes(), own.from); err != nil {
		return err
	}
	r.last = own
	return nil
}

// head copies the header, which has so many bytes.
func (r *rewriter) head(n int64) error {
	line := make([]byte, n)
	if _, err := r.from.ReadAt(line, 0); err != nil {
		return err
	}
	own, _, err := divide(line)
	if err != nil {
		return err
	}
	r.last = block{sum: own, end: n, line: 1}
	_, err = r.to.WriteAt(line, 0)
	return err
}

// block writes a commit with its events, or those in their places. The result is that of the last transition, and may be another one
// now. It keeps all else that the commit says.
func (r *rewriter) block(b *block) error {
	data := make([]byte, b.Bytes)
	if _, err := r.from.ReadAt(data, b.from); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	out := &batch{start: -1}
	own, shown := *b, store.Info{Result: r.last.Result}
	seq, at := b.First, b.from
	for line := range bytes.Lines(data) {
		if at == b.Start {
			out.start = int64(out.lines.Len())
		}
		at += int64(len(line))
		if len(r.events) == 0 || r.events[0].Seq != seq {
			out.lines.Write(line)
			if err := showTransition(&shown, line); err != nil {
				return err
			}
		} else {
			again, err := encode(seq-1, r.events[:1])
			if err != nil {
				return err
			}
			out.lines.Write(again.lines.Bytes())
			shown.Add(&r.events[0])
			r.events = r.events[1:]
		}
		seq++
	}
	own.Result = shown.Result
	own.Start = r.last.Start
	if out.start >= 0 {
		own.Start = r.last.end + out.start
	}
	own.from, own.text, own.Bytes, own.Prev = r.last.end, r.last.end+int64(out.lines.Len()), int64(out.lines.Len()), r.last.sum
	if err := appendLine(&out.lines, sum(0).add(out.lines.Bytes()), commitLine{own.commit}); err != nil {
		return err
	}
	own.end = own.from + int64(out.lines.Len())
	var err error
	if own.sum, _, err = divide(out.lines.Bytes()[own.Bytes:]); err != nil {
		return err
	}
	r.last = own
	_, err = r.to.WriteAt(out.lines.Bytes(), own.from)
	return err
}

// showTransition adds the event of a line to what lists show, if it is a transition.
func showTransition(info *store.Info, line []byte) error {
	if !bytes.Contains(line, []byte(`"`+flow.EventTransition+`"`)) { // a fast check
		return nil
	}
	_, text, err := divide(line)
	if err != nil {
		return err
	}
	var e flow.Event
	if err := e.UnmarshalJSON(text); err != nil {
		return err
	}
	if e.Kind() == flow.EventTransition {
		info.Add(&e)
	}
	return nil
}

// dropBlobs writes the file of blobs anew without some of them.
func (h *locked) dropBlobs(hashes []string) error {
	if len(hashes) == 0 {
		return nil
	}
	name := h.name + suffixBlobs
	f, err := h.store.disk.Open(name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	places, _, err := findBlobs(f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	err = h.store.replace(name, func(to handle) error { return copyBlobs(to, f, places, hashes) }, f.Close)
	if err != nil {
		_ = f.Close()
	}
	return err
}

// copyBlobs copies blobs but those that have these hashes. One whose head is damaged gets another.
func copyBlobs(to, from handle, places []blobPlace, without []string) error {
	end := int64(0)
	for _, p := range places {
		data, err := p.read(from)
		if err != nil {
			return err
		}
		hash := flow.HashOf(data)
		if len(data) == 0 || slices.Contains(without, hash) || slices.Contains(without, p.hash) {
			continue
		}
		if _, err := to.WriteAt(append(fmt.Appendf(nil, "%s %012d\n", hash, len(data)), data...), end); err != nil {
			return err
		}
		end += blobHead + int64(len(data))
	}
	return nil
}

// dropTorn removes what was cut off the journal: it may hold anything.
func (h *locked) dropTorn() error {
	err := h.store.disk.Remove(h.name + suffixTorn)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return h.store.flushDir()
}

// dropIndexed writes the index anew without a conversation, and removes what a process has left that died while it wrote one.
func (s *Store) dropIndexed(ctx context.Context, id string) error {
	for {
		l, ok, err := s.disk.Lock(lockIndex)
		if err != nil {
			return err
		}
		if ok {
			defer func() { _ = l.Unlock(true) }()
			break
		}
		if err := s.pause(ctx, patience); err != nil {
			return err
		}
	}
	names, err := s.disk.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasSuffix(name, suffixNew) {
			_, _ = s.disk.Free(name)
		}
	}
	x := readIndex(s.disk)
	line := x.get(id)
	if line == nil {
		return nil
	}
	return s.replace(fileIndex, func(to handle) error {
		_, err := to.WriteAt(bytes.Replace(x.text, line, nil, 1), 0)
		return err
	}, nil)
}

// replace gives a file another content, in one step that survives a crash. before is called right before that; nil: nothing is.
func (s *Store) replace(name string, write func(to handle) error, before func() error) error {
	err := replace(s.disk, name, func(to handle) error {
		if err := write(to); err != nil {
			return err
		}
		return s.flush(to)
	}, before)
	if err != nil {
		return err
	}
	return s.flushDir()
}

var (
	_ store.Redactor  = (*Store)(nil)
	_ store.Describer = (*Store)(nil)
)
