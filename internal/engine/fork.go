package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/jsondiff"
	"github.com/agonist-dev/debate/provider"
)

// Fork starts a conversation that continues from a point of another; see debate.Engine.
func (l *Engine) Fork(ctx context.Context, id string, seq int64, edit func(flow.Config) flow.Config) (*Session, error) {
	var begun *Session
	fork, err := l.fork(ctx, id, seq, edit, nil, func(s *Session, freeze frozen) error {
		err := s.Session.Start(ctx, freeze)
		if err == nil {
			begun = s
		}
		return err
	})
	if err != nil || begun != nil {
		return begun, err
	}
	return l.Open(ctx, fork)
}

// SubmitFork stores what Fork starts; see debate.Engine.
func (l *Engine) SubmitFork(ctx context.Context, id string, seq int64, edit func(flow.Config) flow.Config) (string, error) {
	return l.fork(ctx, id, seq, edit, nil, func(s *Session, freeze frozen) error { return s.Session.Submit(ctx, freeze) })
}

// frozen makes the start of a conversation, as the checks of its config have made it.
type frozen func(r *flow.Record, checked *flow.Start) (*flow.Start, error)

// fork stores a fork, and returns its id. One of which nothing is copied is begun by begin. A fork may go on after a conclusion; nil: it
// does not.
func (l *Engine) fork(
	ctx context.Context, id string, seq int64, edit func(flow.Config) flow.Config, again *reopening, begin func(*Session, frozen) error,
) (fork string, err error) {
	events, err := l.host.Read(ctx, id)
	if err != nil {
		return "", err
	}
	if seq < 0 || seq > int64(len(events)) {
		return "", forkError("seq", "is %d: the debate has the events 1 to %d", seq, len(events))
	}
	cut := extendCut(events, seq)
	origin, err := l.NewCore(id, events[:max(1, cut)])
	if err != nil {
		return "", err
	}
	config, forced, err := l.edited(origin, edit)
	if err != nil {
		return "", err
	}
	plan, err := l.plan(ctx, config, forced)
	if err != nil {
		return "", err
	}
	if plan.settings.ID == "" || plan.settings.ID == id && origin.Flow().Normalize == nil { // then the copy still has the ID
		plan.settings.ID = newID()
	}
	lasting := lastingEffects(origin.Record().Start().Tools, events, cut)
	if cut == 0 {
		return plan.settings.ID, l.forkFromStart(ctx, plan, &flow.Parent{ID: id}, lasting, begin)
	}
	start, err := l.forkStart(ctx, origin, plan)
	if err != nil {
		return "", err
	}
	start.Parent = parentOf(origin.Record(), id, cut)
	asked := askedSince(origin.Record(), events[:cut])
	prefix := copyPrefix(origin, start, events, cut, asked)
	start.Elsewhere = min(start.Elsewhere, int64(len(prefix))) // what this fork decides itself counts
	copied, err := l.kept(origin, plan.settings.ID, prefix, again)
	if err != nil {
		return "", err
	}
	if err = l.beginAnew(origin, plan.settings.ID, copied, again); err != nil {
		return "", err
	}
	if lasting != nil {
		last := copied[len(copied)-1]
		copied = append(copied, flow.Event{Seq: last.Seq + 1, At: last.At, Body: lasting})
	}
	spent, err := l.checkForked(plan.settings.ID, copied)
	if err != nil {
		return "", err
	}
	start.Parent.Spent = spent // the first of the copied events is this start
	if len(origin.InFlight()) > 0 {
		listNoMore(copied, spent.Unsettled)
	}
	if copied, err = l.stepped(ctx, plan.settings.ID, copied, again, len(asked) > 0); err != nil {
		return "", err
	}
	if err = asExpected(ctx, func() (*flow.Core, error) { return l.NewCore(plan.settings.ID, copied) }); err != nil {
		return "", err
	}
	carried, err := l.carried(ctx, id, flow.LogFiles(copied), plan.files)
	if err != nil {
		return "", err
	}
	return plan.settings.ID, l.storeFork(ctx, plan.settings.ID, seq, carried, copied)
}

// edited returns the config of a fork, and whether nobody is asked in it although it does not say so: an edit could not change that.
func (l *Engine) edited(origin *flow.Core, edit func(flow.Config) flow.Config) (config flow.Config, forced bool, err error) {
	name := origin.Flow().Name
	if config, err = l.machines[name].Normalized(origin.Record().Config()); err != nil { // a copy, since edit may write to it
		return nil, false, err
	}
	forced = origin.Record().Start().Settings.Unattended && !config.Settings().Unattended
	config = flow.Named(name, config)
	if edit != nil {
		if config = edit(flow.Unnamed(config)); config != nil && config.Flow() == origin.Record().Config().Flow() {
			config = flow.Named(name, config)
		}
	}
	return config, forced, nil
}

// checkForked returns what the copied part of a fork has used. It refuses a fork with a model that surely cannot read its files: those
// of the edited config, and those of people in the copied part.
func (l *Engine) checkForked(id string, events []flow.Event) (flow.Account, error) {
	forked, err := l.NewCore(id, events)
	if err != nil {
		return flow.Account{}, err
	}
	return forked.Record().Spent(), forked.Unreadable()
}

// asExpected asks the caller about a fork that is to be stored; see flow.Expected.
func asExpected(ctx context.Context, forked func() (*flow.Core, error)) error {
	holds := flow.ExpectedOf(ctx, "").Holds
	if holds == nil {
		return nil
	}
	core, err := forked()
	if err != nil {
		return err
	}
	return holds(core.Record())
}

func forkError(field, format string, args ...any) error {
	return &flow.Error{Kind: provider.KindValidation, Op: "fork", Field: field, Err: fmt.Errorf(format, args...)}
}

// forkFromStart begins the forked debate from the beginning. lasting is a warning of what lasts of the original; nil: there is
// none.
func (l *Engine) forkFromStart(
	ctx context.Context, p *plan, parent *flow.Parent, lasting *flow.Warning, begin func(*Session, frozen) error,
) error {
	s, err := l.configure(p)
	if err != nil {
		return err
	}
	if err := s.validate(ctx, lasting); err != nil {
		return err
	}
	switch stored, err := l.host.Load(ctx, s.ID); {
	case err == nil:
		former := stored.Record().Parent()
		return idExists(former != nil && former.ID == parent.ID && former.Seq == 0 && s.SameAs(stored.Record()) == nil)
	case !errors.Is(err, flow.ErrNotFound):
		return err
	}
	if err := asExpected(ctx, func() (*flow.Core, error) { return l.configured(p) }); err != nil {
		return err
	}
	carried, err := l.carried(ctx, parent.ID, flow.DocumentFiles(p.settings.Documents), p.files)
	if err != nil {
		return err
	}
	s.Keep(carried)
	return begin(s, l.startOf(parent))
}

// idExists reports that the id of a fork exists: of the same fork, or of another conversation.
func idExists(same bool) error {
	err := errors.New("a debate of this id exists")
	if same {
		err = flow.ErrForked
	}
	return &flow.Error{Kind: provider.KindConflict, Op: "fork", Field: "id", Err: err}
}

// forkStart makes the start of a debate that continues another log. It takes over from that log:
//   - the seed, so that fences and labels stay
//   - what the flow has frozen
//   - the rows of models, which lack what is known by now too
func (l *Engine) forkStart(ctx context.Context, origin *flow.Core, p *plan) (*flow.Start, error) {
	old, f := origin.Record().Start(), origin.Flow()
	if given := p.machine.Flow().Name; given != f.Name {
		return nil, forkError("flow", "cannot be changed after the beginning: it is %q, and %q is given", f.Name, given)
	}
	if err := checkFork(origin.Record().Config(), p.config, f); err != nil {
		return nil, err
	}
	if _, _, err := l.validate(ctx, p, origin.Record().Frozen()); err != nil {
		return nil, err
	}
	known, _ := l.setupOf(p)
	start := *old
	start.Config, start.Settings, start.Models = flow.Value{Go: p.config}, *p.settings, maps.Clone(known.rows)
	for name, row := range origin.Record().Models() {
		row.Unsupported = slices.Concat(row.Unsupported, l.model(name).Unsupported)
		slices.Sort(row.Unsupported)
		row.Unsupported = slices.Compact(row.Unsupported)
		start.Models[name] = row
	}
	made, err := l.rendered(p, known.key, origin.Record().Frozen(), old.Seed)
	if err != nil {
		return nil, err
	}
	start.Texts, start.Views = made.fenced(old.Seed), made.views
	start.FlowVersion = f.Version // whose texts these are
	return &start, nil
}

// checkFork refuses changes of what a log refers to.
func checkFork(old, config flow.Config, f *flow.Flow) error {
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
	_, skipped := e.Body.(*flow.Skipped)
	switch body := e.Body.(type) {
	case *flow.Round:
		return true
	case *flow.Note:
		reopened, ok := before.Body.(*flow.Transition)
		return ok && reopened.On == flow.TriggerReopen
	case *flow.Warning:
		if body.Kind == flow.WarnLate || body.Kind == flow.WarnCapped {
			return true
		}
	case *flow.Answer:
		return body.Rule
	case *flow.Transition:
		if body.On == flow.TriggerStart || body.On == flow.TriggerAnswered || body.On == flow.TriggerOverdue {
			return true
		}
		if body.On == flow.TriggerStop {
			return endsByAnswer(before)
		}
	}
	switch former := before.Body.(type) {
	case *flow.Failure:
		return dropped || skipped
	case *flow.Answer:
		return dropped || skipped || former.Option == ""
	default:
		return false
	}
}

// endsByAnswer reports whether a stop after this event was chosen by an answer.
func endsByAnswer(before *flow.Event) bool {
	switch before.Body.(type) {
	case *flow.Answer, *flow.Dropped, *flow.Skipped:
		return true
	default:
		return false
	}
}

// copyPrefix copies the first seq events of a log with another start, and leaves out the calls that are in flight at their end, and those
// that persons are asked to perform there: the fork asks anew, under its own config and with all of the time, but not before somebody has
// taken a decision that is awaited there. It keeps the uses of tools that are in flight there: they may have had an effect, so that nobody
// knows their outcome, as after a crash. Uses that the log begins after seq are copied as if they were in flight there. A decision to make
// a use that has not begun there is left out: it was for the original, which makes that use.
func copyPrefix(origin *flow.Core, start *flow.Start, events []flow.Event, seq int64, asked map[string]int64) []flow.Event {
	begun := begunSince(origin.Record().Start().Tools, events, seq)
	lost, unused := origin.InFlight(), unusedDecisions(events[:seq], begun)
	out := make([]flow.Event, 0, int(seq)+len(begun))
	for i := range events[:seq] {
		e := events[i]
		switch body := e.Body.(type) {
		case *flow.Intent:
			if body.Tool == "" && slices.Contains(lost, flow.Lost{Call: body.Call, Attempt: body.Attempt}) || isSince(asked, body.Call, e.Seq) {
				continue
			}
		case *flow.Inquiry:
			if unused[body.ID] || isSince(asked, body.ID, e.Seq) {
				continue
			}
		case *flow.Answer:
			if unused[body.Inquiry] {
				continue
			}
		}
		if i == 0 {
			e.Body = start
		}
		e.Seq = int64(len(out) + 1)
		out = append(out, e)
	}
	for _, use := range begun {
		out = append(out, flow.Event{Seq: int64(len(out) + 1), At: out[len(out)-1].At, Body: use})
	}
	return out
}

// askedSince returns the calls that persons are asked to perform at the end of a log, each with the event that has begun the attempt.
func askedSince(r *flow.Record, events []flow.Event) map[string]int64 {
	out := make(map[string]int64)
	for i := range r.Inquiries {
		if q := &r.Inquiries[i]; len(q.Options) == 0 {
			out[q.ID] = 0
		}
	}
	for i := range events {
		if in, ok := events[i].Body.(*flow.Intent); ok {
			if _, asked := out[in.Call]; asked {
				out[in.Call] = events[i].Seq
			}
		}
	}
	return out
}

// isSince reports whether an event about a call belongs to the attempt that a person is asked to make.
func isSince(asked map[string]int64, call string, seq int64) bool {
	first, ok := asked[call]
	return ok && seq >= first
}

// listNoMore lowers what the last copied transition says for lists to what the copied part leaves unsettled: it also counts the calls in
// flight, which a fork leaves out.
func listNoMore(copied []flow.Event, unsettled flow.Unsettled) {
	for i := range slices.Backward(copied) {
		if t, ok := copied[i].Body.(*flow.Transition); ok {
			of := *t
			of.Unsettled = of.Less(of.Less(unsettled))
			copied[i].Body = &of
			return
		}
	}
}

// unusedDecisions returns the inquiries whose answer lets one use of a tool be made that does not begin in these events, and those
// about the uses that have begun since.
func unusedDecisions(events []flow.Event, since []*flow.Intent) map[string]bool {
	uses, decided := make(map[string]string), make(map[string]string) // inquiries to uses, and uses to inquiries
	for i := range events {
		switch body := events[i].Body.(type) {
		case *flow.Inquiry:
			if body.Use != nil {
				uses[body.ID] = body.Use.Use
			}
		case *flow.Answer:
			if use := uses[body.Inquiry]; use != "" && (body.Option == flow.OptionApprove || body.Option == flow.OptionAgain) {
				decided[use] = body.Inquiry
			}
		case *flow.Intent:
			delete(decided, body.Call)
		}
	}
	out := make(map[string]bool, len(decided))
	for inquiry, use := range uses {
		if slices.ContainsFunc(since, func(in *flow.Intent) bool { return in.Call == use }) {
			out[inquiry] = true
		}
	}
	for _, inquiry := range decided {
		out[inquiry] = true
	}
	return out
}

// storeFork stores a whole log with its files under a new id. seq is the last event that was to be copied.
func (l *Engine) storeFork(ctx context.Context, id string, seq int64, carried files, events []flow.Event) error {
	err := l.host.Create(ctx, "fork", id, carried, events)
	if !errors.Is(err, flow.ErrConflict) && !errors.Is(err, flow.ErrLeased) {
		return err
	}
	stored, unread := l.host.Read(ctx, id)
	if unread != nil {
		return err
	}
	same, unread := l.sameFork(id, seq, stored, events)
	if unread != nil {
		return err
	}
	return idExists(same)
}

// sameFork reports whether a stored log is the fork that would be made: of the same parent, cut at the event seq or behind those
// that complete it, with the same config, and with the same conclusions that it goes on from. What else differs has come about since:
// the parent may have gone on.
func (l *Engine) sameFork(id string, seq int64, log, events []flow.Event) (bool, error) {
	stored, err := l.NewCore(id, log)
	if err != nil {
		return false, err
	}
	made, err := l.NewCore(id, events)
	if err != nil {
		return false, err
	}
	former, own := stored.Record().Parent(), made.Record().Parent()
	if former == nil || former.ID != own.ID || former.Seq < seq || former.Seq > own.Seq {
		return false, nil
	}
	told := func(a, b flow.Event) bool {
		return flow.SameEvent(&flow.Event{Body: a.Body}, &flow.Event{Body: b.Body})
	}
	return slices.EqualFunc(reopenings(log), reopenings(events), told) && sameConfig(stored.Record(), made.Record()) == nil, nil
}

// reopenings returns the notes with which a log goes on after its conclusions.
func reopenings(log []flow.Event) (notes []flow.Event) {
	for i := 1; i < len(log); i++ {
		if log[i].Kind() == flow.EventNote && completes(&log[i], &log[i-1]) {
			notes = append(notes, log[i])
		}
	}
	return notes
}
