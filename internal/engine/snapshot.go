package engine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/session"
	"github.com/agonist-dev/debate/internal/strictjson"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// SnapshotVersion is the version of the snapshots that this release writes. Older snapshots can be imported.
const SnapshotVersion = 1

// MaxSnapshot is the largest size of a snapshot, in bytes, that is written or read: 64 MiB. A larger log stays in
// its store.
const MaxSnapshot = 64 << 20

// snapshot holds a whole log.
type snapshot struct {
	ID     string
	Events []flow.Event
	Blobs  []blob
}

// Snapshot returns the whole log as versioned JSON; see debate.Session.
func (s *Session) Snapshot(ctx context.Context) ([]byte, error) {
	events, err := s.Log(ctx, "snapshot")
	if err != nil {
		return nil, err
	}
	return s.engine.snapshotOf(ctx, s.ID, events)
}

// snapshotOf returns a whole log as versioned JSON.
func (l *Engine) snapshotOf(ctx context.Context, id string, events []flow.Event) ([]byte, error) {
	blobs, err := l.snapshotFiles(ctx, id, events)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := writeSnapshot(&out, id, events, blobs, func(e flow.Event) flow.Event { return e }); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// writeSnapshot writes a log, one event a line, and its files, one a line. shown returns what is written of an event.
func writeSnapshot(w io.Writer, id string, events []flow.Event, blobs []blob, shown func(flow.Event) flow.Event) error {
	name, err := json.Marshal(id)
	if err != nil {
		return err
	}
	const end = "\n]}\n"
	out := bufio.NewWriter(w)
	size, _ := fmt.Fprintf(out, "{\"version\":%d,\"id\":%s,\"events\":[", SnapshotVersion, name)
	size += len(end)
	var line bytes.Buffer
	for i := range events {
		line.Reset()
		if err := shown(events[i]).WriteLine(&line); err != nil {
			return err
		}
		if size += line.Len() + 1; size > MaxSnapshot {
			return tooLarge()
		}
		if i > 0 {
			_ = out.WriteByte(',')
		}
		_ = out.WriteByte('\n')
		_, _ = out.Write(bytes.TrimSuffix(line.Bytes(), []byte("\n")))
	}
	if len(blobs) > 0 {
		_, _ = out.WriteString("\n],\"blobs\":[")
	}
	for i := range blobs {
		data, err := json.Marshal(&blobs[i])
		if err != nil {
			return err
		}
		if size += len(data) + 2; size > MaxSnapshot {
			return tooLarge()
		}
		if i > 0 {
			_ = out.WriteByte(',')
		}
		_ = out.WriteByte('\n')
		_, _ = out.Write(data)
	}
	_, _ = out.WriteString(end)
	if err := out.Flush(); err != nil { // reports the first write that failed
		return &flow.Error{Kind: provider.KindStore, Op: "export", Err: err}
	}
	return nil
}

// tooLarge reports a log that is too large for a snapshot.
func tooLarge() error {
	err := fmt.Errorf("the log takes more than %d bytes: it has to stay in its store", MaxSnapshot)
	return &flow.Error{Kind: provider.KindValidation, Op: "snapshot", Err: err}
}

func restoreError(field string, err error) error {
	return &flow.Error{Kind: provider.KindValidation, Op: "restore", Field: field, Err: err}
}

// readSnapshot decodes a snapshot strictly.
func readSnapshot(data []byte) (*snapshot, error) {
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
		err := errors.New("is missing: this is no snapshot")
		return nil, restoreError("version", flow.WithMend(err, "give what a snapshot or an export has written"))
	case version > SnapshotVersion:
		return nil, restoreError("version", fmt.Errorf("is %d: this release reads snapshots up to version %d", version, SnapshotVersion))
	}
	out, err := readEvents(data)
	if err != nil {
		return nil, err
	}
	if err := store.CheckID(out.ID); err != nil {
		return nil, restoreError("id", errors.Unwrap(err))
	}
	if len(out.Events) == 0 {
		return nil, restoreError("events", errors.New("is empty"))
	}
	return out, nil
}

// readEvents reads a snapshot of this version, one event after the other. It stops when it has found too many
// problems: otherwise a few bytes that are no event would take hundreds of times their size in memory.
func readEvents(data []byte) (*snapshot, error) {
	broken := func(err error) error { return restoreError("", fmt.Errorf("this is no snapshot: %w", err)) }
	in := json.NewDecoder(bytes.NewReader(data))
	if _, err := in.Token(); err != nil { // is an object: readSnapshot has checked that
		return nil, broken(err)
	}
	var out snapshot
	var found []error
	seen := make(map[string]bool)
	for in.More() && len(found) < flow.MaxProblems {
		token, err := in.Token()
		if err != nil {
			return nil, broken(err)
		}
		key, _ := token.(string)
		if seen[key] {
			return nil, restoreError(text.OneLine(key, 80), errors.New("is a duplicate"))
		}
		seen[key] = true
		value := bytes.TrimLeft(data[in.InputOffset():], " \t\r\n:")
		var more []error
		if key == "events" && bytes.HasPrefix(value, []byte("[")) {
			out.Events, more, err = readList(in)
		} else {
			more, err = out.readField(in, key)
		}
		if err != nil {
			return nil, broken(err)
		}
		found = append(found, more...)
	}
	if len(found) > 0 {
		return nil, errors.Join(found...)
	}
	if _, err := in.Token(); err != nil { // the end of the object
		return nil, broken(err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return nil, broken(errors.New("something stands behind it"))
	}
	return &out, nil
}

// readField reads a field that is not a list of events.
func (s *snapshot) readField(in *json.Decoder, key string) (found []error, err error) {
	var piece json.RawMessage
	if err := in.Decode(&piece); err != nil {
		return nil, err
	}
	is := strictjson.KindOf(piece)
	switch {
	case key == "version": // was read before
	case key == "events" && is != "null":
		found = append(found, restoreError(key, fmt.Errorf("is %s, not a list", is)))
	case key == "events":
	case key == "blobs":
		if err := flow.DecodeStrict("restore", piece, &s.Blobs); err != nil {
			found = append(found, flow.Within("restore", key, err)...)
		}
	case key != "id":
		found = append(found, restoreError(text.OneLine(key, 80), text.UnknownKey(key, "version", "id", "events", "blobs")))
	case json.Unmarshal(piece, &s.ID) != nil:
		found = append(found, restoreError(key, fmt.Errorf("is %s, not a text", is)))
	}
	return found, nil
}

// readList reads events until it has found more than MaxProblems problems.
func readList(in *json.Decoder) (events []flow.Event, found []error, err error) {
	if _, err := in.Token(); err != nil { // is a list: the caller has checked that
		return nil, nil, err
	}
	for i := 0; in.More(); i++ {
		at := fmt.Sprintf("events[%d]", i)
		var piece json.RawMessage
		if err := in.Decode(&piece); err != nil {
			return nil, nil, err
		}
		event, err := flow.ReadEvent("restore", piece)
		if err != nil {
			found = append(found, flow.Within("restore", at, err)...)
		} else if event.At.IsZero() || len(events) > 0 && event.At.Before(events[len(events)-1].At) {
			found = append(found, restoreError(at+".at", errors.New("is missing, or earlier than the event before it")))
		}
		if len(found) >= flow.MaxProblems {
			return nil, found, nil
		}
		events = append(events, event)
	}
	_, err = in.Token() // the end of the list
	return events, found, err
}

// storeSnapshot stores the events of a snapshot that the store lacks, and before them the files that are missing or damaged.
func (l *Engine) storeSnapshot(ctx context.Context, s *snapshot, given files, sealed bool) error {
	h, held := l.host, 0
	for event, err := range h.Store.Read(ctx, s.ID, 0) {
		if errors.Is(err, flow.ErrNotFound) {
			break
		}
		if err != nil {
			return session.StoreError("restore", err)
		}
		if held < len(s.Events) && !asKept(&event, &s.Events[held], sealed) {
			other := errors.New("the store holds another debate of this id")
			return &flow.Error{Kind: provider.KindConflict, Op: "restore", Field: fmt.Sprintf("events[%d]", held), Err: other}
		}
		held++
	}
	if held >= len(s.Events) { // a file may be missing all the same; one that is there stays as it is
		return h.PutFiles(ctx, s.ID, given)
	}
	if held > 0 { // the debate may be running
		if err := unapproved(s.Events, held); err != nil && !sealed {
			return err
		}
		if h.Session(s.ID) != nil {
			return &flow.Error{Kind: provider.KindConflict, Op: "restore", Field: "id", Err: flow.ErrLeased}
		}
		if err := h.Store.Lease(ctx, s.ID, h.Owner, h.Lease); err != nil {
			return session.StoreError("restore", err)
		}
		defer func() { _ = h.Store.Release(context.WithoutCancel(ctx), s.ID, h.Owner) }()
	}
	if err := h.PutFiles(ctx, s.ID, given); err != nil {
		return err
	}
	if err := h.Store.Append(ctx, s.ID, int64(held), newID(), s.Events[held:]); err != nil {
		return session.StoreError("restore", err)
	}
	return nil
}

// unapproved refuses to lengthen a stored log of so many events by approvals of uses of tools: they would count as if somebody here had
// given them, since only those of the first import are known to be from elsewhere.
func unapproved(events []flow.Event, held int) error {
	for i := held; i < len(events); i++ {
		a, ok := events[i].Body.(*flow.Answer)
		if ok && (a.Option == flow.OptionApprove || a.Option == flow.OptionAlways || a.Option == flow.OptionAgain) {
			err := errors.New("lets a tool be used, and stands behind the end of the stored log")
			err = flow.WithMend(err, "delete what is stored, and import this in its place")
			return &flow.Error{Kind: provider.KindConflict, Op: "restore", Field: fmt.Sprintf("events[%d].body.option", i), Err: err}
		}
	}
	return nil
}
