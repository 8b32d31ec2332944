package debate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/jsondiff"
	"github.com/agonist-dev/debate/provider"
)

// Fork starts a new debate that continues from a point of an old one. The new log begins with a copy of the old one
// up to event seq. The old debate does not change and need not be open.
//
// The cut moves forward over events that only complete the one before them: the result of an answer, or the round
// that a transition begins. With seq 0 nothing is copied: the debate begins from the start, as after a reset. Calls
// that were in flight at the cut are not copied. The new debate makes them.
//
// edit may change the config; nil changes nothing. edit gets the config with an empty Config.ID and leaves the new
// debate's id there. An empty id becomes a new UUIDv7. An id that exists is a conflict.
//
// What the copied part refers to cannot be changed: the names, sides and order of the participants, the flow and
// its config, the format, the mode, and the audience. Other models, texts, judges, limits, rounds and labels can.
//
// What the copied part has cost counts as the new debate's own. If the debate was paused or in error at the cut, so
// is the new one. A debate that a hard limit has stopped can be retried with a higher limit.
func (e *Engine) Fork(ctx context.Context, id string, seq int64, edit func(flow.Config) flow.Config) (*Session, error) {
	l, err := e.freeze()
	if err != nil {
		return nil, err
	}
	events, err := l.host.Read(ctx, id)
	if err != nil {
		return nil, err
	}
	if seq < 0 || seq > int64(len(events)) {
		return nil, forkError("seq", "is %d: the debate has the events 1 to %d", seq, len(events))
	}
	seq = extendCut(events, seq)
	origin, err := l.core(id, events[:max(1, seq)])
	if err != nil {
		return nil, err
	}
	config := origin.Record().Config()
	if settle := origin.Flow().Settle; settle != nil { // a copy, since edit may write to it
		if config, err = settle(config); err != nil {
			return nil, err
		}
	}
	name := origin.Flow().Name
	config = flow.Named(name, config)
	if edit != nil {
		if config = edit(flow.Unnamed(config)); config != nil && config.Flow() == origin.Record().Config().Flow() {
			config = flow.Named(name, config)
		}
	}
	plan, err := l.plan(config, origin.Record().Terms().Unattended != nil)
	if err != nil {
		return nil, err
	}
	plan.terms.ID = cmp.Or(plan.terms.ID, newID())
	if seq == 0 {
		return l.startFork(ctx, plan, &flow.Parent{ID: id})
	}
	start, err := l.forkedStart(ctx, origin, plan)
	if err != nil {
		return nil, err
	}
	start.Parent = &flow.Parent{ID: id, Seq: seq}
	return l.storeFork(ctx, plan.terms.ID, copyPrefix(origin, start, events[:seq]))
}

// Editing makes an edit for [Engine.Fork] from a function that writes to a config of type T, such as debate.Config.
// A config of another type stays as it is.
func Editing[T any, P interface {
	*T
	flow.Config
}](edit func(P),
) func(flow.Config) flow.Config {
	return func(config flow.Config) flow.Config {
		if c, ok := config.(P); ok {
			edit(c)
		}
		return config
	}
}

func forkError(field, format string, args ...any) error {
	return &flow.Error{Kind: provider.KindValidation, Op: "fork", Field: field, Err: fmt.Errorf(format, args...)}
}

// startFork starts the forked debate from the beginning.
func (l *engine) startFork(ctx context.Context, p *plan, parent *flow.Parent) (*Session, error) {
	s, err := l.newSession(p)
	if err != nil {
		return nil, err
	}
	if err := s.Validate(ctx); err != nil {
		return nil, err
	}
	if _, err := l.host.Load(ctx, s.ID()); !errors.Is(err, flow.ErrNotFound) {
		return nil, idExists(err)
	}
	if err := s.start(ctx, parent); err != nil {
		return nil, err
	}
	return s, nil
}

// idExists reports that the id of a fork exists. If err is not nil, idExists returns err instead.
func idExists(err error) error {
	if err != nil {
		return err
	}
	return &flow.Error{Kind: provider.KindConflict, Op: "fork", Field: "id", Err: errors.New("a debate of this id exists")}
}

// forkedStart makes the start of a debate that continues another log. It takes over from that log:
//   - the seed, so that fences and labels stay
//   - what the flow has frozen
//   - the rows of models
func (l *engine) forkedStart(ctx context.Context, origin *flow.Core, p *plan) (*flow.Start, error) {
	old, f := origin.Record().Start(), origin.Flow()
	if given := p.machine.Flow().Name; given != f.Name {
		return nil, forkError("flow", "cannot be changed after the beginning: it is %q, and %q is given", f.Name, given)
	}
	if err := checkFixed(origin.Record().Config(), p.config, f); err != nil {
		return nil, err
	}
	if _, err := l.validate(ctx, p, origin.Record().Frozen()); err != nil {
		return nil, err
	}
	start := *old
	start.Config, start.Terms, start.Models = flow.Value{Go: p.config}, *p.terms, make(map[string]flow.Model)
	for _, name := range models(p.config) {
		start.Models[name] = l.model(name)
	}
	maps.Copy(start.Models, old.Models)
	made, err := l.rendered(p, origin.Record().Frozen(), old.Seed)
	if err != nil {
		return nil, err
	}
	start.Texts, start.Views = made.fenced(old.Seed), made.views
	return &start, nil
}

// checkFixed refuses changes of what a log refers to.
func checkFixed(old, config flow.Config, f *flow.Flow) error {
	fix := f.Fixed
	if fix == nil {
		fix = func(c flow.Config) any { return c }
	}
	field, left, right, err := jsondiff.Find(fix(old), fix(config))
	if err != nil {
		return forkError("", "%w", err)
	}
	if field != "" {
		return forkError(field, "cannot be changed after the beginning: it is %s, and %s is given", left, right)
	}
	return nil
}

// extendCut moves a cut forward until it no longer separates an event from one that only completes it.
func extendCut(events []flow.Event, seq int64) int64 {
	for seq > 0 && seq < int64(len(events)) && completes(&events[seq], &events[seq-1]) {
		seq++
	}
	return seq
}

// completes reports whether an event only completes the one before it. A debate that was cut between the two would
// stand still, or ask again for what was answered.
func completes(e, before *flow.Event) bool {
	_, dropped := e.Body.(*flow.Dropped)
	switch body := e.Body.(type) {
	case *flow.Round:
		return true
	case *flow.Warning:
		if body.Kind == flow.WarnLate {
			return true
		}
	case *flow.Answer:
		return body.Unattended
	case *flow.Transition:
		if body.On == flow.TriggerStart || body.On == flow.TriggerAnswered {
			return true
		}
		if body.On == flow.TriggerStop {
			return endsByAnswer(before)
		}
	}
	switch former := before.Body.(type) {
	case *flow.Failure:
		return dropped
	case *flow.Answer:
		return dropped || former.Option == ""
	default:
		return false
	}
}

// endsByAnswer reports whether a stop after this event was chosen by an answer.
func endsByAnswer(before *flow.Event) bool {
	switch before.Body.(type) {
	case *flow.Answer, *flow.Dropped:
		return true
	default:
		return false
	}
}

// copyPrefix copies a log with another start, and leaves out the calls that are in flight at its end.
func copyPrefix(origin *flow.Core, start *flow.Start, events []flow.Event) []flow.Event {
	lost := origin.InFlight()
	out := make([]flow.Event, 0, len(events))
	for i := range events {
		e := events[i]
		if in, ok := e.Body.(*flow.Intent); ok && slices.Contains(lost, flow.Lost{Call: in.Call, Attempt: in.Attempt}) {
			continue
		}
		if i == 0 {
			e.Body = start
		}
		e.Seq = int64(len(out) + 1)
		out = append(out, e)
	}
	return out
}

// storeFork stores a whole log under a new id, and opens it.
func (l *engine) storeFork(ctx context.Context, id string, events []flow.Event) (*Session, error) {
	if _, err := l.core(id, events); err != nil {
		return nil, err
	}
	if err := l.host.Create(ctx, "fork", id, events); errors.Is(err, flow.ErrConflict) {
		return nil, idExists(nil)
	} else if err != nil {
		return nil, err
	}
	return l.open(ctx, id)
}
