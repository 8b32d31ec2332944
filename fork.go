package debate

import (
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
func (e *Engine) Fork(ctx context.Context, id string, seq int64, edit func(*Config)) (*Session, error) {
	l, err := e.freeze()
	if err != nil {
		return nil, err
	}
	events, err := l.host.read(ctx, id)
	if err != nil {
		return nil, err
	}
	if seq < 0 || seq > int64(len(events)) {
		return nil, forkError("seq", "is %d: the debate has the events 1 to %d", seq, len(events))
	}
	seq = whole(events, seq)
	origin, err := l.core(id, events[:seq])
	if err == nil && seq == 0 {
		origin, err = l.core(id, events[:1])
	}
	if err != nil {
		return nil, err
	}
	config := origin.record.config.clone()
	config.ID = ""
	if edit != nil {
		edit(config)
	}
	if config.ID == "" {
		config.ID = newID()
	}
	config = l.withFormatRounds(*config).withDefaults()
	if seq == 0 {
		return l.anew(ctx, config, &Parent{ID: id})
	}
	start, err := l.branch(ctx, origin, config)
	if err != nil {
		return nil, err
	}
	start.Parent = &Parent{ID: id, Seq: seq}
	return l.plant(ctx, config.ID, prefix(origin, start, events[:seq]))
}

func forkError(field, format string, args ...any) error {
	return &Error{Kind: KindValidation, Op: "fork", Field: field, Err: fmt.Errorf(format, args...)}
}

// anew starts the debate from the beginning.
func (l *live) anew(ctx context.Context, config *Config, parent *Parent) (*Session, error) {
	s, err := l.newSession(config)
	if err != nil {
		return nil, err
	}
	if err := s.Validate(ctx); err != nil {
		return nil, err
	}
	if _, err := l.host.load(ctx, s.ID()); !errors.Is(err, ErrNotFound) {
		return nil, taken(err)
	}
	if err := s.start(ctx, parent); err != nil {
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
// and labels stay, its format, and the rows of models that it knows.
func (l *live) branch(ctx context.Context, origin *Core, config *Config) (*Start, error) {
	old := origin.record.start
	if err := branches(old, config); err != nil {
		return nil, err
	}
	checked := *config
	checked.CustomFormat = old.Format // the one of the engine may have changed
	if _, err := l.validate(ctx, &checked); err != nil {
		return nil, err
	}
	start := *old
	start.Config, start.Models = config, make(map[string]Model)
	for _, name := range config.models() {
		start.Models[name] = l.model(name)
	}
	maps.Copy(start.Models, old.Models)
	var err error
	start.Texts, err = l.texts(origin.machine.flow, config, old.Format, old.Seed)
	return &start, err
}

// branches refuses changes of what a log refers to.
func branches(old *Start, config *Config) error {
	type seat struct {
		Name string `json:"name"`
		Side Side   `json:"side"`
	}
	type fixed struct {
		Flow         any    `json:"flow"`
		FlowConfig   any    `json:"flowConfig"`
		Format       any    `json:"format"`
		CustomFormat any    `json:"customFormat"`
		Mode         any    `json:"mode"`
		Audience     any    `json:"audience"`
		Participants []seat `json:"participants"`
	}
	fix := func(c *Config) fixed {
		f := fixed{Flow: c.Flow, FlowConfig: c.FlowConfig, Format: c.Format, CustomFormat: c.CustomFormat, Mode: c.Mode, Audience: c.Audience}
		for _, p := range c.Participants {
			f.Participants = append(f.Participants, seat{p.Name, p.Side})
		}
		return f
	}
	field, left, right, err := difference(fix(old.Config), fix(config))
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
	switch {
	case e.Round != nil, e.Warning != nil && e.Warning.Kind == WarnLate:
		return true
	case e.Transition != nil && (e.Transition.On == TriggerStart || e.Transition.On == TriggerAnswered):
		return true
	case e.Answer != nil:
		return e.Answer.Unattended
	case before.Failure != nil:
		return e.Dropped != nil
	case before.Answer == nil:
		return e.Transition != nil && e.Transition.On == TriggerStop && before.Dropped != nil
	case before.Answer.Option == "":
		return true
	default:
		return e.Dropped != nil || e.Transition != nil && e.Transition.On == TriggerStop
	}
}

// prefix copies a log, begun by another start, without the calls that are in flight at its end.
func prefix(origin *Core, start *Start, events []Event) []Event {
	lost := origin.InFlight()
	out := make([]Event, 0, len(events))
	for i := range events {
		e := events[i]
		if in := e.Intent; in != nil && slices.Contains(lost, Lost{Call: in.Call, Attempt: in.Attempt}) {
			continue
		}
		if i == 0 {
			e.Start = start
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
	if err := l.host.create(ctx, "fork", id, events); errors.Is(err, ErrConflict) {
		return nil, taken(nil)
	} else if err != nil {
		return nil, err
	}
	return l.open(ctx, id)
}
