package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/store"
)

// StoredLog is a debate as its store holds it.
type StoredLog struct {
	Engine *debate.Engine
	ID     string
	Events []debate.Event
}

// Copied yields the events as a store on disk would: nothing is shared.
func (l StoredLog) Copied(t *testing.T) []debate.Event {
	t.Helper()
	data, err := json.Marshal(l.Events)
	require.NoError(t, err)
	var events []debate.Event
	require.NoError(t, json.Unmarshal(data, &events))
	return ReadBodies(events)
}

// Index yields the place of the n-th event of a kind, from 0.
func (l StoredLog) Index(t *testing.T, kind flow.EventKind, n int) int {
	t.Helper()
	for i := range l.Events {
		if l.Events[i].Kind() == kind {
			if n == 0 {
				return i
			}
			n--
		}
	}
	require.Failf(t, "no such event", "%s", kind)
	return 0
}

// Commits is a store that notes where each commit ended.
type Commits struct {
	*store.Memory

	Ends []int
}

// Append implements [store.Store].
func (s *Commits) Append(ctx context.Context, id string, after int64, writer string, events []debate.Event) error {
	s.Ends = append(s.Ends, int(after)+len(events))
	return s.Memory.Append(ctx, id, after, writer, events)
}

// TurnsOf yields the turns of somebody.
func TurnsOf(events []debate.Event, by string) (turns []*flow.Turn) {
	for _, e := range events {
		if turn := body.As[flow.Turn](e); turn != nil && turn.Speaker == by {
			turns = append(turns, turn)
		}
	}
	return turns
}

// Bodies returns the bodies of one kind that the log of a conversation holds, which is over.
func Bodies[T any](t *testing.T, engine *debate.Engine, id string) (found []T) {
	t.Helper()
	for event, err := range engine.Events(t.Context(), id, 0) {
		require.NoError(t, err)
		if body := body.As[T](event); body != nil {
			found = append(found, *body)
		}
	}
	return found
}

// PlayedLog plays a debate to its end and yields its log.
func PlayedLog(t *testing.T, config debate.Config) StoredLog {
	t.Helper()
	engine, _ := Engine(config)
	return LogOf(t, engine, Run(t, engine, config).ID)
}

// LogOf yields what is stored of a conversation.
func LogOf(t *testing.T, engine *debate.Engine, id string) StoredLog {
	t.Helper()
	l := StoredLog{Engine: engine, ID: id}
	snapshot := SnapshotOf(t, engine, id)
	var read struct {
		Events []debate.Event `json:"events"`
	}
	require.NoError(t, json.Unmarshal(snapshot, &read))
	l.Events = ReadBodies(read.Events)
	return l
}

// Exported is what Export writes of a debate.
func Exported(t *testing.T, engine *debate.Engine, id string) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, engine.Export(t.Context(), id, &out))
	return out.Bytes()
}

// Question yields what a debate waits for: one inquiry, about a call that has failed for good.
func Question(t *testing.T, record *debate.Record, err error) flow.Inquiry {
	t.Helper()
	require.ErrorIs(t, err, debate.ErrAwaitingInput)
	require.Equal(t, flow.StateAwaitingInput, record.State)
	require.Nil(t, record.Failure)
	require.Len(t, record.Inquiries, 1)
	q := record.Inquiries[0]
	require.NotNil(t, q.Failure)
	require.True(t, record.Failed(q.About[0].Call))
	require.Equal(t, q.To, q.Failure.Participant)
	return q
}

// Logged yields the debate's facts.
func Logged(t *testing.T, e *debate.Engine, id string) []debate.Event {
	t.Helper()
	return LogOf(t, e, id).Events
}

// LastReason yields the last transition that gives a reason.
func LastReason(events []debate.Event) (last flow.Transition) {
	for i := range events {
		if change := body.As[flow.Transition](events[i]); change != nil && change.Reason != "" {
			last = *change
		}
	}
	return last
}

// KindsOf yields what events tell.
func KindsOf(events []debate.Event) (out []flow.EventKind) {
	for i := range events {
		out = append(out, events[i].Kind())
	}
	return out
}

// Kept yields a debate's facts as its store has them.
func Kept(t *testing.T, store debate.Store, id string) (events []debate.Event) {
	t.Helper()
	for event, err := range store.Read(t.Context(), id, 0) {
		require.NoError(t, err)
		events = append(events, event)
	}
	return events
}

// PinnedSeed is the seed of all pinned debates.
func PinnedSeed() string { return "0123456789abcdef0123456789abcdef" }

// SnapshotOf yields a stored debate's snapshot.
func SnapshotOf(t *testing.T, engine *debate.Engine, id string) []byte {
	t.Helper()
	session, err := engine.Open(t.Context(), id)
	require.NoError(t, err)
	data, err := session.Snapshot(t.Context())
	require.NoError(t, err)
	return data
}

// Restore imports a snapshot and opens its debate.
func Restore(ctx context.Context, engine *debate.Engine, snapshot []byte) (*debate.Session, error) {
	id, err := engine.Import(ctx, bytes.NewReader(snapshot))
	if err != nil {
		return nil, err
	}
	return engine.Open(ctx, id)
}

// Snapshot writes events as Session.Snapshot does.
func Snapshot(t *testing.T, id string, events []debate.Event) []byte {
	t.Helper()
	data, err := json.Marshal(map[string]any{"version": debate.SnapshotVersion, "id": id, "events": events})
	require.NoError(t, err)
	return data
}

// Reconfigure changes the config of a start, and what is frozen of its settings with it.
func Reconfigure(s *flow.Start, change func(*debate.Config)) {
	config := StartConfig(s)
	change(config)
	id, unattended := s.Settings.ID, s.Settings.Unattended
	settings := config.Settings()
	settings.ID, settings.Unattended = id, unattended
	s.Config, s.Settings = flow.Value{Go: config}, *debate.DebateFlow().Complete(settings)
}

// Withdrawals yields the calls that a log has withdrawn.
func Withdrawals(t *testing.T, engine *debate.Engine, id string) (calls []string) {
	t.Helper()
	for _, e := range LogOf(t, engine, id).Events {
		if w := body.As[flow.Withdrawn](e); w != nil {
			calls = append(calls, w.Call)
		}
	}
	return calls
}

// View returns the debate of a record. It is empty if the record is of another flow.
func View(r *debate.Record) *debate.Debate {
	if d, ok := debate.Of(r); ok {
		return d
	}
	return &debate.Debate{Record: r}
}

// CoreOf folds a log into a core, as an engine does.
func CoreOf(t testing.TB, engine *debate.Engine, id string, log []flow.Event) *flow.Core {
	t.Helper()
	core, err := kernel.Of(t, engine).NewCore(id, log)
	require.NoError(t, err)
	return core
}

// Canonical returns the canonical form of a record.
func Canonical(t testing.TB, r *debate.Record) string {
	t.Helper()
	data, err := View(r).Canonical()
	require.NoError(t, err)
	return string(data)
}

// Undisturbed returns the canonical form of the debate if nothing interrupts it.
func Undisturbed(t *testing.T, config debate.Config) string {
	t.Helper()
	config.ID, config.Budget = "", nil
	engine, _ := Engine(config)
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	record, err := session.Wait(t.Context())
	require.NoError(t, err)
	require.NoError(t, session.Close())
	return Canonical(t, record)
}
