package file

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// quarantined is the one line of a quarantine's file. Like a lease, it need not survive a power loss.
type quarantined struct {
	Count  int       `json:"count"`
	Reason string    `json:"reason"`
	Until  time.Time `json:"until"`
}

// Quarantine implements [store.Quarantines].
func (s *Store) Quarantine(_ context.Context, id string) (store.Quarantine, error) {
	if err := store.CheckID(id); err != nil {
		return store.Quarantine{}, err
	}
	if err := s.ready(); err != nil {
		return store.Quarantine{}, err
	}
	return s.quarantine(name(id))
}

func (s *Store) quarantine(name string) (store.Quarantine, error) {
	q, err := readNote[quarantined](s.disk, name+suffixQuarantine)
	if err != nil {
		return store.Quarantine{}, err
	}
	left := max(0, q.Until.Sub(s.now()))
	return store.Quarantine{Count: q.Count, Reason: q.Reason, Left: flow.Duration(left)}, nil
}

// SetQuarantine implements [store.Quarantines].
func (s *Store) SetQuarantine(ctx context.Context, id string, q store.Quarantine) error {
	if err := store.CheckID(id); err != nil {
		return err
	}
	h, err := s.lock(ctx, id, 0)
	if err != nil {
		return err
	}
	ended := false
	defer func() {
		h.release()
		if ended {
			s.announce()
		}
	}()
	if q != (store.Quarantine{}) {
		return writeNote(s.disk, h.name+suffixQuarantine, quarantined{q.Count, q.Reason, s.now().Add(time.Duration(q.Left)).UTC()})
	}
	err = s.disk.Remove(h.name + suffixQuarantine)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	ended = err == nil
	return err
}
