package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/jsondiff"
	"github.com/agonist-dev/debate/internal/session"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// Verified is what Verify has read.
type Verified struct {
	Record    *flow.Record
	Decisions int
}

// Verify checks a stored log; see debate.Engine.
func (l *Engine) Verify(ctx context.Context, id string) (Verified, error) {
	var none Verified
	events, err := l.host.Read(ctx, id)
	if err != nil {
		return none, err
	}
	core, err := l.NewCore(id, events)
	if err != nil {
		return none, unsound("the log is not whole", err)
	}
	record := core.Record()
	data, err := l.snapshotOf(ctx, id, events)
	if err != nil {
		return none, err
	}
	if err := l.reread(data, record); err != nil {
		return none, unsound("the log is not whole", err)
	}
	info, err := store.InfoOf(ctx, l.host.Store, id)
	if err != nil {
		return none, session.StoreError("verify", err)
	}
	if err := sameInfo(&info, record); err != nil {
		return none, unsound("the list is wrong", err)
	}
	decided, err := l.redecide(ctx, id, events)
	switch {
	case ctx.Err() != nil:
		return none, ctx.Err()
	case err != nil:
		return none, unsound("the log is not what the flow decides", err)
	}
	return Verified{record, decided}, nil
}

// unsound reports a log that is wrong. That this engine lacks something is no fault of the log.
func unsound(what string, err error) error {
	if errors.Is(err, flow.ErrMissing) {
		return err
	}
	return &flow.Error{Kind: provider.KindStore, Op: "verify", Err: fmt.Errorf("%w: %s: %w", store.ErrDamaged, what, err)}
}

// reread reads a log as one from elsewhere, which is not trusted, and compares what comes of it.
func (l *Engine) reread(data []byte, record *flow.Record) error {
	read, err := readSnapshot(data)
	if err != nil {
		return err
	}
	if err := l.inspect(read); err != nil {
		return err
	}
	if _, err := inspectFiles(flow.LogFiles(read.Events), read.Blobs); err != nil {
		return err
	}
	core, err := l.NewCore(read.ID, read.Events)
	if err != nil {
		return err
	}
	field, first, second, err := jsondiff.Find(record, core.Record())
	if field != "" {
		err = fmt.Errorf("%s of the record is %s, and %s when it is read again", field, first, second)
	}
	return err
}

// sameInfo compares the entry in the list with the log, unless the log has grown meanwhile.
func sameInfo(info *store.Info, record *flow.Record) error {
	if info.Seq != record.Seq || info.State == record.State && info.Round == record.Round && info.Flow == record.Flow() {
		return nil
	}
	return fmt.Errorf("it has %s, %s in round %d, and the log %s, %s in round %d",
		info.Flow, info.State, info.Round, record.Flow(), record.State, record.Round)
}

// redecide has the flow decide again, from the events before, each change of the state that it has decided by these alone. It
// returns how many there are. The copied part of a fork is left out: it was decided under another config. So is what follows an approval
// of a tool in the imported part: it was decided where that counted, and it does not count here.
func (l *Engine) redecide(ctx context.Context, id string, events []flow.Event) (decided int, err error) {
	inputs, copied, elsewhere := l.machines[flowOf(events)].Flow().Inputs, int64(0), int64(0)
	for i := range events {
		if ctx.Err() != nil {
			return decided, ctx.Err()
		}
		switch body := events[i].Body.(type) {
		case *flow.Start:
			if elsewhere = body.Elsewhere; body.Parent != nil {
				copied = body.Parent.Seq
			}
		case *flow.Answer:
			if body.Option == flow.OptionApprove || body.Option == flow.OptionAlways {
				copied = max(copied, elsewhere)
			}
		}
		said, ok := events[i].Body.(*flow.Transition)
		if !ok || events[i].Seq <= copied || !alone(said, inputs) {
			continue
		}
		again, err := l.next(id, events[:i], events[i].At)
		switch {
		case err != nil:
			return decided, fmt.Errorf("event %d: %w", events[i].Seq, err)
		case again.From != said.From || again.To != said.To || again.On != said.On || again.Reason != said.Reason || again.By != said.By:
			return decided, fmt.Errorf("event %d goes %s, and the flow decides to go %s", events[i].Seq, way(said), way(again))
		}
		decided++
	}
	return decided, nil
}

// alone reports whether the flow decides a change of the state by the events before it alone: nobody has asked for it, no
// failure and no limit has caused it.
func alone(t *flow.Transition, inputs []flow.Trigger) bool {
	if t.By == flow.EndedByHost || t.Call != "" || slices.Contains(inputs, t.On) {
		return false
	}
	switch t.On {
	case flow.TriggerInitialized, flow.TriggerComplete, flow.TriggerCompleted:
		return true
	case flow.TriggerReopen: // a person has asked for it, in the same commit
		return false
	default: // one of the flow's own
		return !slices.ContainsFunc(flow.Lifecycle(), func(rule flow.Rule) bool { return rule.On == t.On })
	}
}

// next returns the change of the state that follows these events at a time; the zero value: there is none.
func (l *Engine) next(id string, before []flow.Event, at time.Time) (*flow.Transition, error) {
	core, err := flow.NewCore(flow.Flows{Machines: l.machines, First: l.first}, l.contexts, id, before) // it asks nobody, so it lacks nothing
	if err != nil {
		return nil, err
	}
	out, err := core.Step(flow.Input{At: at, Signal: flow.Tick{}})
	for i := range out.Events {
		if t, ok := out.Events[i].Body.(*flow.Transition); ok && err == nil {
			return t, nil
		}
	}
	return new(flow.Transition), err
}

// way says how the state changes.
func way(t *flow.Transition) string {
	if t.To == "" {
		return "nowhere"
	}
	return strings.TrimSpace(fmt.Sprintf("from %s to %s by %s %s", t.From, t.To, t.On, t.Reason))
}
