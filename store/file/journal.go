package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// journal is what a handle knows of a conversation's journal.
type journal struct {
	id, name string
	turn     chan struct{} // holds one; whoever has put it in owns the fields below
	last     block         // the last whole commit; end is 0: nothing is known
	safe     bool          // last is on the disk for sure

	users int // guarded by Store.mu
}

// append adds a batch, unless the log ends elsewhere. It returns what it had to cut off first, even if
// the append then fails.
func (h *locked) append(b *batch, after int64, writer string) (torn *Torn, err error) {
	mode := os.O_RDWR
	if after == 0 {
		mode |= os.O_CREATE
	}
	f, err := h.store.disk.Open(h.name+suffixLog, mode)
	if errors.Is(err, fs.ErrNotExist) {
		h.last = block{}
		return nil, flow.ErrConflict
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if closed := f.Close(); closed != nil && err == nil {
			h.last, err = block{}, h.unsure(closed)
		}
	}()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	end, err := h.catchUp(f, size)
	if err != nil {
		h.last = block{}
		return nil, err
	}
	last := &h.last
	again := writer != "" && string(last.Writer) == writer && last.First == after+1 && last.Last == after+int64(len(b.events))
	if last.Last != after && !again {
		return nil, flow.ErrConflict
	}
	if err := h.rewriteLast(f); err != nil || again {
		return nil, err
	}
	if end < size {
		if torn, err = h.cut(f, end, size); err != nil {
			return nil, err
		}
	}
	h.rested = last.State.Idle()
	return torn, h.write(f, b, writer)
}

// settle puts on the disk what a process that died within an append has left whole, and removes its mark. If that fails,
// the mark stays for the next one who locks the journal. An append that comes then reports the error.
func (h *locked) settle() {
	mark, err := h.store.disk.Stat(h.name + suffixLock)
	if err != nil || mark.size == 0 {
		return
	}
	if err = h.finish(); err == nil {
		err = h.lock.Mark(0)
	}
	if h.left = err != nil; h.left {
		h.last = block{}
	}
}

// finish puts the last whole commit of the journal on the disk.
func (h *locked) finish() error {
	f, err := h.store.disk.Open(h.name+suffixLog, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	size, err := f.Size()
	if err == nil {
		_, err = h.catchUp(f, size)
	}
	if err == nil {
		err = h.rewriteLast(f)
	}
	if err == nil {
		err = h.store.disk.Sync() // the journal may have got its name just before
	}
	return err
}

// catchUp reads what others have appended since the last look. It returns the end of the last whole
// commit.
func (h *locked) catchUp(f handle, size int64) (end int64, err error) {
	known, err := h.known(f, size)
	switch {
	case err != nil:
		return 0, err
	case !known:
		h.last, h.safe = block{}, false
	case size == h.last.end:
		return size, nil
	}
	return walk(f, size, h.id, h.last, func(b *block) error {
		h.last, h.safe = *b, h.store.Sync == SyncNever
		return nil
	})
}

// known reports whether the last commit that this handle knows is still there. Then everything before it
// is too, because each commit's checksum covers that of the commit before it.
func (h *locked) known(f handle, size int64) (bool, error) {
	if h.last.Last == 0 || size < h.last.end {
		return false, nil
	}
	line := make([]byte, sumWidth)
	if _, err := f.ReadAt(line, h.last.text); err != nil {
		return false, err
	}
	want, _ := h.last.sum.MarshalText()
	return bytes.Equal(line[:sumWidth-1], want), nil
}

// rewriteLast makes the last commit durable if another process wrote it, or if an attempt of this process
// failed. The commit may never have reached the disk, and it must be there before anything follows it.
// Syncing is not enough: after a failed sync, the system may take unwritten bytes for written. So rewriteLast
// writes the same bytes again.
func (h *locked) rewriteLast(f handle) error {
	if h.safe || h.last.Last == 0 {
		return nil
	}
	from := h.last.from
	if h.last.First == 1 {
		from = 0 // from the header on, and with the name in the folder
	}
	data := make([]byte, h.last.end-from)
	_, err := f.ReadAt(data, from)
	if err == nil {
		_, err = f.WriteAt(data, from)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil && from == 0 {
		err = h.store.disk.Sync()
	}
	if err != nil {
		h.last = block{}
		return h.unsure(err)
	}
	h.safe = true
	return nil
}

// cut removes everything behind the last whole commit, after saving it elsewhere.
func (h *locked) cut(f handle, end, size int64) (*Torn, error) {
	kept, err := h.store.disk.Open(h.name+suffixTorn, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	defer func() { _ = kept.Close() }()
	at, err := kept.Size()
	if err != nil {
		return nil, err
	}
	note := fmt.Sprintf("%d bytes from byte %d on, cut off at %s:\n", size-end, end, h.store.now().UTC().Format(time.RFC3339))
	to := io.NewOffsetWriter(kept, at)
	_, err = io.WriteString(to, note)
	if err == nil {
		_, err = io.Copy(to, io.NewSectionReader(f, end, size-end))
	}
	if err == nil {
		err = h.store.flush(kept)
	}
	if err == nil {
		err = h.store.flushDir()
	}
	if err == nil {
		err = f.Truncate(end)
	}
	if err == nil {
		err = h.store.flush(f) // or some of it may mix with the next write
	}
	if err != nil {
		h.last = block{}
		return nil, err
	}
	path := filepath.Join(h.store.Dir, h.name+suffixTorn)
	return &Torn{ID: h.id, Offset: end, Bytes: size - end, Kept: path}, nil
}

// write adds a batch. If it fails, the outcome is unknown: it takes back what was written if possible,
// and the journal is read again before the next append.
func (h *locked) write(f handle, b *batch, writer string) error {
	before, from := h.last, h.last.end
	var head bytes.Buffer
	if before.Last == 0 {
		if err := appendLine(&head, 0, header{Journal: version, ID: h.id}); err != nil {
			return err
		}
		s, _, err := divide(head.Bytes())
		if err != nil {
			return err
		}
		before, from = block{sum: s, end: int64(head.Len()), line: 1}, 0
	}
	own, err := b.seal(before, writer)
	if err != nil {
		return err
	}
	data := b.lines.Bytes()
	if head.Len() > 0 {
		data = append(head.Bytes(), data...)
	}
	if err := h.mark(from + 1); err != nil {
		return err
	}
	_, err = f.WriteAt(data, from)
	if err == nil {
		err = h.store.flush(f)
	}
	if err == nil && from == 0 {
		err = h.store.flushDir()
	}
	if err != nil {
		h.last = block{}
		// If this fails, the rest is a tear, or is found to be a whole commit, and the mark stays. Without the flush,
		// what has reached the disk may mix with the next write.
		if f.Truncate(from) == nil && h.store.flush(f) == nil {
			_ = h.mark(0)
		}
		return h.unsure(err)
	}
	h.last, h.safe = own, true
	if err := h.mark(0); err != nil { // while it stays, readers may not see the commit
		return h.unsure(err)
	}
	return nil
}

// mark marks the journal, see [extent]. Where nothing waits for the disk, there is nothing to mark.
func (h *locked) mark(size int64) error {
	if h.store.Sync == SyncNever {
		return nil
	}
	return h.lock.Mark(size)
}

func (h *locked) unsure(err error) error {
	return fmt.Errorf("conversation %s: it is unknown whether the events are stored: %w", h.id, err)
}
