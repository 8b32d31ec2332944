package debate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	flowpkg "github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/jsondiff"
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
func (e *Engine) Fork(ctx context.Context, id string, seq int64, edit func(flowpkg.Config) flowpkg.Config) (*Session, error) {
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
	seq = whole(events, seq)
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
	flow := origin.Flow().Name
	config = flowpkg.Named(flow, config)
	if edit != nil {
		if config = edit(flowpkg.Unnamed(config)); config != nil && config.Flow() == origin.Record().Config().Flow() {
			config = flowpkg.Named(flow, config)
		}
	}
	plan, err := l.plan(config, origin.Record().Terms().Unattended != nil)
	if err != nil {
		return nil, err
	}
	plan.terms.ID = cmp.Or(plan.terms.ID, newID())
	if seq == 0 {
		return l.anew(ctx, plan, &flowpkg.Parent{ID: id})
	}
	start, err := l.branch(ctx, origin, plan)
	if err != nil {
		return nil, err
	}
	start.Parent = &flowpkg.Parent{ID: id, Seq: seq}
	return l.plant(ctx, plan.terms.ID, prefix(origin, start, events[:seq]))
}

// Editing makes an edit for [Engine.Fork] from a function that writes to a config of type T, such as debate.Config.
// A config of another type stays as it is.
func Editing[T any, P interface {
	*T
	flowpkg.Config
}](edit func(P),
) func(flowpkg.Config) flowpkg.Config {
	return func(config flowpkg.Config) flowpkg.Config {
		if c, ok := config.(P); ok {
			edit(c)
		}
		return config
	}
}

func forkError(field, format string, args ...any) error {
	return &flowpkg.Error{Kind: flowpkg.KindValidation, Op: "fork", Field: field, Err: fmt.Errorf(format, args...)}
}

// anew starts the forked debate from the beginning.
func (l *engine) anew(ctx context.Context, p *plan, parent *flowpkg.Parent) (*Session, error) {
	s, err := l.newSession(p)
	if err != nil {
		return nil, err
	}
	if err := s.Validate(ctx); err != nil {
		return nil, err
	}
	if _, err := l.host.Load(ctx, s.ID()); !errors.Is(err, flowpkg.ErrNotFound) {
		return nil, taken(err)
	}
	if err := s.start(ctx, parent); err != nil {
		return nil, err
	}
	return s, nil
}

// taken reports that the id of a fork exists. If err is not nil, taken returns err instead.
func taken(err error) error {
	if err != nil {
		return err
	}
	return &flowpkg.Error{Kind: flowpkg.KindConflict, Op: "fork", Field: "id", Err: errors.New("a debate of this id exists")}
}

// branch makes the start of a debate that continues another log. It takes over from that log:
//   - the seed, so that fences and labels stay
//   - what the flow has frozen
//   - the rows of models
func (l *engine) branch(ctx context.Context, origin *flowpkg.Core, p *plan) (*flowpkg.Start, error) {
	old, flow := origin.Record().Start(), origin.Flow()
	if given := p.machine.Flow().Name; given != flow.Name {
		return nil, forkError("flow", "cannot be changed after the beginning: it is %q, and %q is given", flow.Name, given)
	}
	if err := branches(origin.Record().Config(), p.config, flow); err != nil {
		return nil, err
	}
	if _, err := l.validate(ctx, p, origin.Record().Frozen()); err != nil {
		return nil, err
	}
	start := *old
	start.Config, start.Terms, start.Models = flowpkg.Value{Go: p.config}, *p.terms, make(map[string]flowpkg.Model)
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

// branches refuses changes of what a log refers to.
func branches(old, config flowpkg.Config, flow *flowpkg.Flow) error {
	fix := flow.Fixed
	if fix == nil {
		fix = func(c flowpkg.Config) any { return c }
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

// whole moves a cut forward until it no longer separates an event from one that only completes it.
func whole(events []flowpkg.Event, seq int64) int64 {
	for seq > 0 && seq < int64(len(events)) && follows(&events[seq], &events[seq-1]) {
		seq++
	}
	return seq
}

// follows reports whether an event only completes the one before it. A debate that was cut between the two would
// stand still, or ask again for what was answered.
func follows(e, before *flowpkg.Event) bool {
	_, dropped := e.Body.(*flowpkg.Dropped)
	switch body := e.Body.(type) {
	case *flowpkg.Round:
		return true
	case *flowpkg.Warning:
		if body.Kind == flowpkg.WarnLate {
			return true
		}
	case *flowpkg.Answer:
		return body.Unattended
	case *flowpkg.Transition:
		if body.On == flowpkg.TriggerStart || body.On == flowpkg.TriggerAnswered {
			return true
		}
		if body.On == flowpkg.TriggerStop {
			return endsByAnswer(before)
		}
	}
	switch former := before.Body.(type) {
	case *flowpkg.Failure:
		return dropped
	case *flowpkg.Answer:
		return dropped || former.Option == ""
	default:
		return false
	}
}

// endsByAnswer reports whether a stop after this event was chosen by an answer.
func endsByAnswer(before *flowpkg.Event) bool {
	switch before.Body.(type) {
	case *flowpkg.Answer, *flowpkg.Dropped:
		return true
	default:
		return false
	}
}

// prefix copies a log with another start, and leaves out the calls that are in flight at its end.
func prefix(origin *flowpkg.Core, start *flowpkg.Start, events []flowpkg.Event) []flowpkg.Event {
	lost := origin.InFlight()
	out := make([]flowpkg.Event, 0, len(events))
	for i := range events {
		e := events[i]
		if in, ok := e.Body.(*flowpkg.Intent); ok && slices.Contains(lost, flowpkg.Lost{Call: in.Call, Attempt: in.Attempt}) {
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

// plant stores a whole log under a new id, and opens it.
func (l *engine) plant(ctx context.Context, id string, events []flowpkg.Event) (*Session, error) {
	if _, err := l.core(id, events); err != nil {
		return nil, err
	}
	if err := l.host.Create(ctx, "fork", id, events); errors.Is(err, flowpkg.ErrConflict) {
		return nil, taken(nil)
	} else if err != nil {
		return nil, err
	}
	return l.open(ctx, id)
}
