package debate

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// SnapshotVersion is the version of the snapshots that this release writes. Older ones can be restored.
const SnapshotVersion = 1

// MaxSnapshot is the size, in bytes, of the largest snapshot that is written, and that is read: 64 MiB. A log
// that is larger stays in its store.
const MaxSnapshot = 64 << 20

// snapshotJSON is a snapshot: the log itself.
type snapshotJSON struct {
	Version int     `json:"version"`
	ID      string  `json:"id"`
	Events  []Event `json:"events"`
}

// Snapshot yields the debate as versioned JSON: its whole log, the secret seed included, so it is as
// confidential as the store. It can be taken at any time, also in the middle of a round. A log that is larger
// than [MaxSnapshot] is an error of kind validation.
func (s *Session) Snapshot(ctx context.Context) ([]byte, error) {
	if s.seq.Load() == 0 {
		return nil, &Error{Kind: KindState, Op: "snapshot", Err: fmt.Errorf("nothing is recorded in state %s", s.State())}
	}
	events, err := s.live.read(ctx, s.id)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := writeSnapshot(&out, s.id, events, func(e Event) Event { return e }); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// writeSnapshot writes a log as it is shown, one event a line.
func writeSnapshot(w io.Writer, id string, events []Event, shown func(Event) Event) error {
	name, err := json.Marshal(id)
	if err != nil {
		return err
	}
	const end = "\n]}\n"
	out := bufio.NewWriter(w)
	size, _ := fmt.Fprintf(out, "{\"version\":%d,\"id\":%s,\"events\":[", SnapshotVersion, name)
	size += len(end)
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false) // which may make a text six times as long
	for i := range events {
		line.Reset()
		if err := encoder.Encode(shown(events[i])); err != nil {
			return err
		}
		if size += line.Len() + 1; size > MaxSnapshot {
			err := fmt.Errorf("the log takes more than %d bytes: it has to stay in its store", MaxSnapshot)
			return &Error{Kind: KindValidation, Op: "snapshot", Err: err}
		}
		if i > 0 {
			_ = out.WriteByte(',')
		}
		_ = out.WriteByte('\n')
		_, _ = out.Write(bytes.TrimSuffix(line.Bytes(), []byte("\n")))
	}
	_, _ = out.WriteString(end)
	return out.Flush() // and tells of every write that failed
}

// Restore puts a snapshot into the store, as [Engine.Import] does and with its checks, and goes on with
// its debate, as Open does: only what the snapshot lacks is asked again. A snapshot that is not whole,
// not of this kind, of a newer version or above [MaxSnapshot] is an error of kind validation, and
// nothing is stored.
func (e *Engine) Restore(ctx context.Context, snapshot []byte) (*Session, error) {
	l, err := e.freeze()
	if err != nil {
		return nil, err
	}
	id, err := l.bring(ctx, snapshot)
	if err != nil {
		return nil, err
	}
	return l.open(ctx, id)
}

func restoreError(field string, err error) error {
	return &Error{Kind: KindValidation, Op: "restore", Field: field, Err: err}
}

// readSnapshot decodes a snapshot strictly.
func readSnapshot(data []byte) (*snapshotJSON, error) {
	if len(data) > MaxSnapshot {
		return nil, restoreError("", fmt.Errorf("the snapshot has more than the %d bytes that are read", MaxSnapshot))
	}
	var head struct { // a newer version may have keys that this release does not know
		Version json.RawMessage `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			err = errors.New("it is no object")
		}
		return nil, restoreError("", fmt.Errorf("this is no snapshot: %w", err))
	}
	version := 0
	if head.Version != nil && json.Unmarshal(head.Version, &version) != nil {
		return nil, restoreError("version", errors.New("is not a whole number"))
	}
	switch {
	case version < 1:
		return nil, restoreError("version", errors.New("is missing: this is no snapshot"))
	case version > SnapshotVersion:
		return nil, restoreError("version", fmt.Errorf("is %d: this release reads snapshots up to version %d", version, SnapshotVersion))
	}
	var out snapshotJSON
	if err := decodeStrict("restore", data, &out); err != nil {
		return nil, err
	}
	if err := CheckID(out.ID); err != nil {
		return nil, restoreError("id", errors.Unwrap(err))
	}
	if len(out.Events) == 0 {
		return nil, restoreError("events", errors.New("is empty"))
	}
	return &out, nil
}

// keep stores the events of a snapshot that the store does not hold yet.
func (l *live) keep(ctx context.Context, s *snapshotJSON, sealed bool) error {
	held := 0
	for event, err := range l.store.Read(ctx, s.ID, 0) {
		if errors.Is(err, ErrNotFound) {
			break
		}
		if err != nil {
			return storeError("restore", err)
		}
		if held < len(s.Events) && !asKept(&event, &s.Events[held], sealed) {
			other := errors.New("the store holds another debate of this id")
			return &Error{Kind: KindConflict, Op: "restore", Field: fmt.Sprintf("events[%d]", held), Err: other}
		}
		held++
	}
	if held >= len(s.Events) {
		return nil
	}
	if held > 0 { // it may be running
		if l.held(s.ID) != nil {
			return &Error{Kind: KindConflict, Op: "restore", Field: "id", Err: ErrLeased}
		}
		if err := l.store.Lease(ctx, s.ID, l.owner, l.lease); err != nil {
			return storeError("restore", err)
		}
		defer func() { _ = l.store.Release(context.WithoutCancel(ctx), s.ID, l.owner) }()
	}
	if err := l.store.Append(ctx, s.ID, int64(held), newID(), s.Events[held:]); err != nil {
		return storeError("restore", err)
	}
	return nil
}

// sameEvent compares two events as they are stored.
func sameEvent(a, b *Event) bool {
	left, errL := json.Marshal(a)
	right, errR := json.Marshal(b)
	return errL == nil && errR == nil && string(left) == string(right)
}
