package file

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// lease is the one line of a lease's file. It is written in place, so that renewing needs no space on the
// disk. A process that dies while writing leaves a wrong checksum, and the lease does not count. A lease
// need not survive a power loss, because no process does.
type lease struct {
	Owner  token     `json:"owner"`
	Until  time.Time `json:"until"`
	Handle string    `json:"handle"` // its file shows whether the process is alive
}

// Lease implements [store.Store]. A lease ends when its time is over, or with the handle that acquired
// it: when the handle is closed or its process ends. Then another process can acquire it at once.
//
// If another process keeps the conversation's files locked for two seconds, that is [flow.ErrLeased] too: the process
// may be stopped, and a worker can open other conversations. The owner of the lease waits as long as ctx allows.
func (s *Store) Lease(ctx context.Context, id, owner string, d time.Duration) error {
	if err := store.CheckID(id); err != nil {
		return err
	}
	h, err := s.lockToLease(ctx, id, owner)
	if err != nil {
		return err
	}
	defer h.release()
	held, err := s.lease(h.name)
	if err != nil {
		return err
	}
	handle, err := s.liveFile() // first, because this handle's leases count again if its file was gone
	if err != nil {
		return err
	}
	now := s.now()
	if string(held.Owner) != owner && held.Until.After(now) {
		if alive, err := s.alive(held.Handle); err != nil || alive {
			return errors.Join(err, flow.ErrLeased)
		}
	}
	return writeNote(s.disk, h.name+suffixLease, lease{Owner: token(owner), Until: now.Add(d).UTC(), Handle: handle})
}

// lockToLease locks a conversation for a lease.
func (s *Store) lockToLease(ctx context.Context, id, owner string) (*locked, error) {
	h, err := s.lock(ctx, id, maxWait)
	if !errors.Is(err, errHeld) {
		return h, err
	}
	if held, err := s.lease(name(id)); err == nil && string(held.Owner) == owner {
		return s.lock(ctx, id, 0)
	}
	return nil, fmt.Errorf("%w: %w", flow.ErrLeased, errHeld)
}

// Release implements [store.Store].
func (s *Store) Release(ctx context.Context, id, owner string) error {
	if err := store.CheckID(id); err != nil {
		return err
	}
	h, err := s.lock(ctx, id, 0)
	if err != nil {
		return err
	}
	announces := false
	defer func() {
		h.release()
		if announces {
			s.announce()
		}
	}()
	held, err := s.lease(h.name)
	if err != nil || string(held.Owner) != owner || held.Handle == "" {
		h.drop = err == nil && held.Handle == ""
		return err
	}
	if err := s.disk.Remove(h.name + suffixLease); err != nil {
		return err
	}
	announces = h.last.end == 0 || !h.last.State.Idle()
	h.last, h.drop = block{}, true // another process is likely to continue the conversation
	return nil
}

// lease reads the lease of a conversation. The zero lease has no owner.
func (s *Store) lease(name string) (lease, error) { return readNote[lease](s.disk, name+suffixLease) }

// readNote reads a file of one line. If there is none, or it is not whole, that is the zero value.
func readNote[T any](d disk, file string) (note T, err error) {
	var zero T
	f, err := d.Open(file, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return zero, nil
	}
	if err != nil {
		return zero, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.NewSectionReader(f, 0, maxCommit))
	if err != nil {
		return zero, err
	}
	line := data[:bytes.IndexByte(data, '\n')+1]
	if _, text, err := check(line); err != nil || json.Unmarshal(text, &note) != nil {
		return zero, nil
	}
	return note, nil
}

// writeNote writes a file of one line in place.
func writeNote(d disk, file string, note any) error {
	var line bytes.Buffer
	if err := appendLine(&line, 0, note); err != nil {
		return err
	}
	if line.Len() > maxCommit {
		return fmt.Errorf("%s would have %d bytes, and may have %d", file, line.Len(), maxCommit)
	}
	f, err := d.Open(file, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	size, err := f.Size()
	if err == nil {
		_, err = f.WriteAt(line.Bytes(), 0)
	}
	if err == nil && size > int64(line.Len()) {
		err = f.Truncate(int64(line.Len()))
	}
	return errors.Join(err, f.Close())
}
