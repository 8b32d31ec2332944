package debate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Parent says which debate another one was forked from, and after which of its events.
type Parent struct {
	ID  string `json:"id"`
	Seq int64  `json:"seq"`
}

// Fork starts a new debate that goes on from a point of an old one: with what stands in the old log up
// to event seq, and the few after it that only say what it means (an answer's result, the round that a
// transition begins), and a config that edit may change; nil changes nothing. The old debate stays as it is,
// and nothing of it needs to be open. seq 0 copies nothing: the debate begins anew, as after a reset.
//
// The new debate's id is what edit leaves in Config.ID, which is empty when it gets it: "" is a new
// UUIDv7, and one that exists is a conflict. What the copied part refers to cannot be changed: the
// participants' names, sides and order, the flow and its config, the format, the mode, and the audience. Other
// models, texts, judges, limits, rounds and labels can. Calls that were in flight at that point are not
// copied: they are made by the new debate. What the copied part has cost counts as the new debate's own.
// A debate that is forked where it was paused, or in error, is so too; one that a hard limit has stopped
// can be retried with a higher one.
func (e *Engine) Fork(ctx context.Context, id string, seq int64, edit func(FlowConfig) FlowConfig) (*Session, error) {
	l, err := e.freeze()
	if err != nil {
		return nil, err
	}
	events, err := l.read(ctx, id)
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
	config := origin.record.config
	if settle := origin.machine.flow.Settle; settle != nil { // a copy, since edit may write to it
		if config, err = settle(config); err != nil {
			return nil, err
		}
	}
	flow := origin.machine.flow.Name
	config = Named(flow, config)
	if edit != nil {
		if config = edit(unnamed(config)); config != nil && config.Flow() == origin.record.config.Flow() {
			config = Named(flow, config)
		}
	}
	plan, err := l.plan(config, origin.record.terms.Unattended != nil)
	if err != nil {
		return nil, err
	}
	plan.terms.ID = cmp.Or(plan.terms.ID, newID())
	if seq == 0 {
		return l.anew(ctx, plan, &Parent{ID: id})
	}
	start, err := l.branch(ctx, origin, plan)
	if err != nil {
		return nil, err
	}
	start.Parent = &Parent{ID: id, Seq: seq}
	return l.plant(ctx, plan.terms.ID, prefix(origin, start, events[:seq]))
}

// Editing makes an edit for [Engine.Fork] of a function that writes to a config of type T, such as debate.Config. A
// config of another type stays as it is.
func Editing[T any, P interface {
	*T
	FlowConfig
}](edit func(P),
) func(FlowConfig) FlowConfig {
	return func(config FlowConfig) FlowConfig {
		if c, ok := config.(P); ok {
			edit(c)
		}
		return config
	}
}

func forkError(field, format string, args ...any) error {
	return &Error{Kind: KindValidation, Op: "fork", Field: field, Err: fmt.Errorf(format, args...)}
}

// anew starts the debate from the beginning.
func (l *live) anew(ctx context.Context, p *plan, parent *Parent) (*Session, error) {
	s, err := l.sessionOf(p)
	if err != nil {
		return nil, err
	}
	if err := s.Validate(ctx); err != nil {
		return nil, err
	}
	if _, err := l.load(ctx, s.id); !errors.Is(err, ErrNotFound) {
		return nil, taken(err)
	}
	s.mu.Lock()
	if s.start == nil {
		s.start, err = l.start(p)
	}
	if s.start != nil {
		s.start.Parent = parent
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if err := s.Start(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// taken says that the id of a fork exists; err is what else went wrong.
func taken(err error) error {
	if err != nil {
		return err
	}
	return &Error{Kind: KindConflict, Op: "fork", Field: "id", Err: errors.New("a debate of this id exists")}
}

// branch makes the start of a debate that goes on with another's log: with its seed, so that its fences
// and labels stay, what its flow has frozen, and the rows of models that it knows.
func (l *live) branch(ctx context.Context, origin *Core, p *plan) (*Start, error) {
	old, flow := origin.record.start, origin.machine.flow
	if given := p.machine.flow.Name; given != flow.Name {
		return nil, forkError("flow", "cannot be changed after the beginning: it is %q, and %q is given", flow.Name, given)
	}
	if err := branches(origin.record.config, p.config, flow); err != nil {
		return nil, err
	}
	if _, err := l.validate(ctx, p, origin.record.frozen); err != nil {
		return nil, err
	}
	start := *old
	start.Config, start.Terms, start.Models = Value{Go: p.config}, *p.terms, make(map[string]Model)
	for _, name := range models(p.config) {
		start.Models[name] = l.model(name)
	}
	maps.Copy(start.Models, old.Models)
	made, err := l.rendered(p, origin.record.frozen, old.Seed)
	if err != nil {
		return nil, err
	}
	start.Texts, start.Views = made.fenced(old.Seed), made.views
	return &start, nil
}

// branches refuses changes of what a log refers to.
func branches(old, config FlowConfig, flow *Flow) error {
	fix := flow.Fixed
	if fix == nil {
		fix = func(c FlowConfig) any { return c }
	}
	field, left, right, err := difference(fix(old), fix(config))
	if err != nil {
		return forkError("", "%w", err)
	}
	if field != "" {
		return forkError(field, "cannot be changed after the beginning: it is %s, and %s is given", left, right)
	}
	return nil
}

// whole moves a cut behind what cannot be parted from the event before it.
func whole(events []Event, seq int64) int64 {
	for seq > 0 && seq < int64(len(events)) && follows(&events[seq], &events[seq-1]) {
		seq++
	}
	return seq
}

// follows reports whether an event is nothing but what the one before it means: a debate that ends between
// the two would stand still, or ask again for what was answered.
func follows(e, before *Event) bool {
	_, dropped := e.Body.(*Dropped)
	switch body := e.Body.(type) {
	case *Round:
		return true
	case *Warning:
		if body.Kind == WarnLate {
			return true
		}
	case *Answer:
		return body.Unattended
	case *Transition:
		if body.On == TriggerStart || body.On == TriggerAnswered {
			return true
		}
		if body.On == TriggerStop {
			return endsByAnswer(before)
		}
	}
	switch former := before.Body.(type) {
	case *Failure:
		return dropped
	case *Answer:
		return dropped || former.Option == ""
	default:
		return false
	}
}

// endsByAnswer reports whether a stop after this event is what an answer has chosen.
func endsByAnswer(before *Event) bool {
	switch before.Body.(type) {
	case *Answer, *Dropped:
		return true
	default:
		return false
	}
}

// prefix copies a log, begun by another start, without the calls that are in flight at its end.
func prefix(origin *Core, start *Start, events []Event) []Event {
	lost := origin.InFlight()
	out := make([]Event, 0, len(events))
	for i := range events {
		e := events[i]
		if in, ok := e.Body.(*Intent); ok && slices.Contains(lost, Lost{Call: in.Call, Attempt: in.Attempt}) {
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
func (l *live) plant(ctx context.Context, id string, events []Event) (*Session, error) {
	if _, err := l.core(id, events); err != nil {
		return nil, err
	}
	if l.closed() {
		return nil, ErrClosed
	}
	writer := newID()
	if err := l.insist(ctx.Done(), func() error { return l.store.Append(ctx, id, 0, writer, events) }); err != nil {
		if errors.Is(err, ErrConflict) {
			return nil, taken(nil)
		}
		return nil, storeError("fork", err)
	}
	return l.open(ctx, id)
}

// closed reports whether the engine was shut down.
func (l *live) closed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shut
}
