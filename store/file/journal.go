package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/agonist-dev/debate"
)

// journal is what a handle knows of a debate's journal.
type journal struct {
	id, name string
	turn     chan struct{} // holds one; whoever has put it in owns what follows
	last     block         // the last whole commit; with no end: nothing is known
	safe     bool          // it is on the disk for sure

	shown atomic.Pointer[extent]

	users int // guarded by Store.mu
}

// append adds a batch, unless somebody else was faster. What it had to cut off before is yielded even if
// it fails then.
func (h *hold) append(b *batch, after int64, writer string) (torn *Torn, err error) {
	mode := os.O_RDWR
	if after == 0 {
		mode |= os.O_CREATE
	}
	f, err := h.store.disk.Open(h.name+suffixLog, mode)
	if errors.Is(err, fs.ErrNotExist) {
		h.last = block{}
		return nil, debate.ErrConflict
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
		return nil, debate.ErrConflict
	}
	if err := h.settle(f); err != nil || again {
		return nil, err
	}
	if end < size {
		if torn, err = h.cut(f, end, size); err != nil {
			return nil, err
		}
	}
	return torn, h.write(f, b, writer)
}

// catchUp reads what others have appended since, and yields where the last whole commit ends.
func (h *hold) catchUp(f handle, size int64) (end int64, err error) {
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

// known reports whether the last commit that this handle knows of is still there: then so is all before
// it, since each commit's checksum is of the one before it too.
func (h *hold) known(f handle, size int64) (bool, error) {
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

// settle makes sure of a last commit that another process has written, or a try of this one that failed:
// it may never have come to the disk, and it must be there before anything is built on it. Syncing alone
// would not do: after a sync that has failed the system may take what it could not write for written. So
// the same bytes are written again.
func (h *hold) settle(f handle) error {
	if h.safe || h.last.Last == 0 {
		return nil
	}
	from := h.last.from
	if h.last.First == 1 {
		from = 0 // with the header, and the name in the folder
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

// cut takes off what follows the last whole commit, once it is kept elsewhere.
func (h *hold) cut(f handle, end, size int64) (*Torn, error) {
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
		err = h.store.flush(f) // or some of it may mix with what is written next
	}
	if err != nil {
		h.last = block{}
		return nil, err
	}
	path := filepath.Join(h.store.Dir, h.name+suffixTorn)
	return &Torn{ID: h.id, Offset: end, Bytes: size - end, Kept: path}, nil
}

// write adds a batch. Whatever fails, its outcome is unknown: what was written is taken back if that is
// possible, and the journal is read again before the next append.
func (h *hold) write(f handle, b *batch, writer string) error {
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
	h.shown.Store(&extent{end: from, grows: true})
	_, err = f.WriteAt(data, from)
	if err == nil {
		err = h.store.flush(f)
	}
	if err == nil && from == 0 {
		err = h.store.flushDir()
	}
	if err != nil {
		h.last = block{}
		if f.Truncate(from) == nil { // else what stays is a tear, or is found to be whole
			_ = h.store.flush(f) // or what of it has come to the disk may mix with what the next one writes
		}
		h.shown.Store(nil)
		return h.unsure(err)
	}
	h.last, h.safe = own, true
	h.shown.Store(&extent{end: own.end})
	return nil
}

func (h *hold) unsure(err error) error {
	return fmt.Errorf("debate %s: it is unknown whether the events are stored: %w", h.id, err)
}
