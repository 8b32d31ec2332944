package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/agonist-dev/debate/store"
)

var _ store.Alarms = (*Store)(nil)

// alarm is the one line of an alarm's file: one that SetAlarm has set. It counts while the log ends at Seq, so that an append removes it
// without a change of the file.
type alarm struct {
	Seq int64     `json:"seq"`
	At  time.Time `json:"at"`
}

// SetAlarm implements [store.Alarms]. With SyncAlways, an alarm survives a power loss.
func (s *Store) SetAlarm(ctx context.Context, id string, seq int64, d time.Duration) error {
	if err := store.CheckID(id); err != nil {
		return err
	}
	h, err := s.lock(ctx, id, 0)
	if err != nil {
		return err
	}
	defer h.release()
	ends, err := h.endsAt(seq)
	if err != nil || !ends {
		return err
	}
	file := h.name + suffixAlarm
	if d <= 0 {
		if err := s.disk.Remove(file); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := writeNote(s.disk, file, alarm{seq, s.now().Add(d).UTC()}); err != nil {
		return err
	}
	f, err := s.disk.Open(file, os.O_RDWR)
	if err != nil {
		return err
	}
	return errors.Join(s.flush(f), f.Close(), s.flushDir())
}

// endsAt reports whether the journal holds a log that ends at seq.
func (h *locked) endsAt(seq int64) (bool, error) {
	f, err := h.store.disk.Open(h.name+suffixLog, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		h.last, h.drop = block{}, true
		return false, nil
	}
	if err != nil {
		return false, err
	}
	size, err := f.Size()
	if err == nil {
		_, err = h.catchUp(f, size)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		h.last = block{}
	}
	return seq > 0 && h.last.Last == seq, err
}

// alarm returns the alarm that was set of a conversation whose log ends at seq. Zero: none was.
func (s *Store) alarm(name string, seq int64) (time.Time, error) {
	a, err := readNote[alarm](s.disk, name+suffixAlarm)
	if err != nil || a.Seq != seq {
		return time.Time{}, err
	}
	return a.At, nil
}
