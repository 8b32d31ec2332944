package flow

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agonist-dev/debate/internal/order"
	"github.com/agonist-dev/debate/internal/secret"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// A record is the fold of a log. An event is folded by itself, without asking what the flow would do now, so that a log is read as it
// was written, also by a later version of the flow. The start, transitions and rounds are folded here, attempts at calls in
// fold_call, questions and answers in fold_inquiry. What else a log holds is folded where it is explained: a call that is left
// out in fail_skip, a summary in window_summary.

// fold takes one event into the record. It uses the event alone, never what a flow would do, so that old logs
// always load. A log may be hostile: what does not fit is an error of kind validation that names the field.
func (r *Record) fold(e *Event, m *Machine) error {
	if e.Seq != r.Seq+1 {
		return invalid("seq", "is %d after %d: events have no gaps", e.Seq, r.Seq)
	}
	if (e.Kind() == EventStart) != (r.start == nil) {
		return invalid("kind", "%q is not allowed here: the first event, and no other, is the start", e.Kind())
	}
	if foreign, unknown := e.Body.(*Foreign); unknown {
		kind := text.OneLine(string(foreign.Kind), 40)
		return invalid("kind", "%w: the kind %q of events, which a newer release or another version of the flow may know", ErrMissing, kind)
	}
	if live := e.Kind() == EventChunk || e.Kind() == EventHeartbeat; e.Body == nil || live {
		return invalid("kind", "%q is not kept in logs, or the event has no body", text.OneLine(string(e.Kind()), 40))
	}
	stood, began := r.stands(m), r.roundAt
	if err := r.foldBody(e, m); err != nil {
		return err
	}
	if stood && r.roundAt.Equal(began) { // unless the event itself says how long no call could run
		r.roundAt = began.Add(e.At.Sub(r.LastAt))
	}
	if len(r.held) > 0 {
		r.showHeld()
	}
	r.Seq, r.LastAt = e.Seq, e.At
	if r.projection == nil || e.Seq == 1 {
		return nil
	}
	return r.projection.Fold(e)
}

func invalid(field, format string, args ...any) error {
	return &Error{Kind: provider.KindValidation, Op: "read log", Field: field, Err: fmt.Errorf(format, args...)}
}

func (r *Record) foldBody(e *Event, m *Machine) error {
	switch body := e.Body.(type) {
	case *Start:
		return r.foldStart(body, e.At, m)
	case *Transition:
		return r.foldTransition(body, e.At, m)
	case *Round:
		if !r.follows(body) {
			return invalid("round.n", "is %d after round %d: rounds have no gaps", body.N, r.Round)
		}
		r.beginRound(body, e.At)
	case *Intent:
		return r.foldIntent(body, e.At)
	case *Skipped:
		return r.foldSkipped(body)
	case *Withdrawn:
		return r.foldWithdrawn(body)
	case *RetriedNow:
		if why := cmp.Or(notReason(body.Reason), notReason(body.Person)); why != "" {
			return invalid("retriedNow.reason", "%s", why)
		}
		r.foldRetriedNow()
	case *Amendment:
		return r.foldAmendment(body, m.flow)
	case *Late:
		return r.foldLate(body)
	case *Dropped:
		r.foldDropped(body.Participant)
	case *Warning:
		r.foldWarning(body)
	case *Inquiry:
		return r.foldAsked(body, e.At)
	case *Questions:
		return r.foldQuestions(body)
	case *Answer:
		return r.foldAnswer(body, e.At)
	case *Sent:
		if why := cmp.Or(notReason(body.Reason), notReason(body.Person)); why != "" {
			return invalid("sent.reason", "%s", why)
		}
		r.Inputs = append(r.Inputs, Received{Sent: *body, Seq: e.Seq, At: e.At, Round: r.Round, State: r.State})
	case *Note:
		return r.foldNote(body)
	case *Redacted:
		return r.foldRedacted(body)
	case *Opened:
		return r.foldOpened(body, e.At)
	case AttemptEnd:
		return r.foldOutcome(body, e.At)
	default:
		return invalid("kind", "%q is no fact", text.OneLine(string(e.Kind()), 40))
	}
	return nil
}

func (r *Record) foldWarning(w *Warning) {
	r.Warnings = append(r.Warnings, *w)
	switch w.Kind {
	case WarnSoft:
		r.limit, r.softened = w.Kind, r.settings.Budget
	case WarnHard:
		r.limit, r.hardened = w.Kind, r.settings.Budget
	default: // no limit
	}
	r.foldThreshold(w)
}

func (r *Record) foldStart(s *Start, at time.Time, m *Machine) error {
	switch {
	case s.Version > LogVersion:
		return invalid("start.version", "%w: a reader of version %d of logs; this release reads up to version %d",
			ErrMissing, s.Version, LogVersion)
	case s.Version < 1:
		return invalid("start.version", "is %d", s.Version)
	case s.Config.IsZero():
		return invalid("start.config", "is missing")
	case len(s.Models) > maxTracked:
		return invalid("start.models", "are more than %d", maxTracked)
	case s.Parent != nil && !possibleAccount(&s.Parent.Spent):
		return invalid("start.parent.spent", "is no use: its numbers are negative, or too large")
	}
	if err := foldSettings(&s.Settings, "start.settings."); err != nil {
		return err
	}
	config, err := m.ReadConfig(s.Config)
	if err != nil {
		return invalid("start.config", "cannot be read: %s", text.OneLine(err.Error(), 200))
	}
	frozen, err := m.flow.ReadFrozen(s.Frozen)
	if err != nil {
		return invalid("start.frozen", "cannot be read: %s", text.OneLine(err.Error(), 200))
	}
	if !slices.Equal(config.Settings().Participants, s.Settings.Participants) {
		return invalid("start.settings.participants", "are not those of the config")
	}
	r.flow, r.frozen, r.machine = s.Flow, frozen, m
	r.start, r.config, r.settings, r.valid, r.timed = s, config, &s.Settings, true, m.flow.Timed
	r.rules = config.Settings().OnFailure
	r.fence, r.texts = secret.Fence(s.Seed), s.Texts
	r.expect()
	r.readDocuments()
	if err := r.makeViews(s.Views); err != nil {
		return err
	}
	r.State, r.StartedAt, r.timesFrom = StateReady, at, at
	if m.flow.Open != nil {
		if r.projection, err = m.flow.Open(r, s); err != nil {
			if own, ok := errors.AsType[*Error](err); ok && own.Field != "" {
				return invalid("start."+own.Field, "cannot be read: %s", text.OneLine(own.Err.Error(), 200))
			}
			return invalid("start", "cannot be read: %s", text.OneLine(err.Error(), 200))
		}
	}
	return nil
}

// foldSettings checks the settings that an event holds.
func foldSettings(t *Settings, at string) error {
	var f Findings
	f.completed(t)
	if len(f) == 0 {
		return nil
	}
	first, _ := errors.AsType[*Error](f[0])
	return invalid(at+first.Field, "%s", text.OneLine(first.Err.Error(), 200))
}

// expect allocates room for the turns and calls that the conversation will have. A bound keeps the room small.
func (r *Record) expect() {
	rounds := min(maxExpectedTurns, max(1, r.settings.Rounds))
	turns := r.expectedTurns()
	r.calls = make(map[string]*callState, min(maxExpectedTurns, turns+rounds+1))
	r.Turns, r.RoundStarts = make([]*Turn, 0, turns), make([]time.Time, 0, rounds)
	for name, model := range order.ByKey(r.start.Models) {
		r.models = append(r.models, namedModel{name, model})
	}
}

// maxExpectedTurns bounds the room that is allocated before there are turns.
const maxExpectedTurns = 64

func (r *Record) expectedTurns() int {
	rounds := min(maxExpectedTurns, max(1, r.settings.Rounds))
	return min(maxExpectedTurns, rounds*min(maxExpectedTurns, len(r.settings.Participants)))
}

// follows reports whether a round is the one after the present one. So there are never more rounds than events.
func (r *Record) follows(round *Round) bool { return round.N-1 == r.Round }

// beginRound begins a round.
func (r *Record) beginRound(round *Round, at time.Time) {
	r.Round, r.late, r.roundAt, r.toolCounts, r.owed = round.N, false, at, nil, nil
	r.sharing, r.planned, r.done, r.firstTimed = nil, round.Calls, 0, ""
	r.RoundStarts, r.begunOf = append(r.RoundStarts, at), round.Of
	r.nextBatch()
}

func (r *Record) foldTransition(t *Transition, at time.Time, m *Machine) error {
	switch {
	case t.From != r.State:
		return invalid("transition.from", "is %s in state %s", text.OneLine(string(t.From), 40), r.State)
	case !m.knows(t.To):
		return invalid("transition.to", "is %q: no state of flow %s", text.OneLine(string(t.To), 40), m.flow.Name)
	case t.On == TriggerReopen && t.From != StateCompleting:
		return invalid("transition.on", "is %s in state %s", t.On, r.State)
	case t.On == TriggerReopen && r.reopened >= mostReopened:
		return invalid("transition.on", "is %s more than %d times", t.On, mostReopened)
	case t.To == StateError && t.Failure == nil && t.On != TriggerLimit:
		return invalid("transition.failure", "is missing")
	}
	if why := notReason(t.Person); why != "" {
		return invalid("transition.person", "%s", why)
	}
	if t.Round != nil && !r.follows(t.Round) {
		return invalid("transition.round", "is %d after round %d: rounds have no gaps", t.Round.N, r.Round)
	}
	if err := r.foldFired(t.Call); err != nil {
		return err
	}
	r.foldWhole(t, m)
	if t.Round != nil {
		r.owed = t.Round
	}
	concluding := r.work == StateCompleting
	if t.On == TriggerRetry && r.Failure != nil && r.Failure.Op == string(KindConfirm) {
		r.acked = true // whoever retries has seen the cost warning
	}
	r.concluded = t.From == StateCompleting && t.On == TriggerCompleted
	r.State, r.entry, r.relieved = t.To, t.Evidence, false
	r.Failure = nil
	switch rested := !m.working(t.From); {
	case !m.working(t.To) && !rested:
		r.left = at
	case m.working(t.To) && rested:
		r.opened = opening{} // whoever resumes a conversation that rests begins calls without an Opened
	}
	switch {
	case t.To == StateError:
		r.before, r.errorAt = ending{r.Reason, r.Evidence}, r.Seq+1
		r.Reason, r.Evidence = t.Reason, t.Evidence
		r.Failure = t.Failure
		if r.Failure == nil {
			r.Failure = limitError(r.Round, r.warning(WarnHard))
		}
	case m.working(t.To):
		r.foldWork(t, at, m)
	}
	r.foldEnding(t, m, t.To == StateCompleting && !concluding || r.Final())
	r.foldTrigger(t, at)
	return nil
}

// foldWork folds that a conversation works on, or again.
func (r *Record) foldWork(t *Transition, at time.Time, m *Machine) {
	if !m.working(t.From) && r.work != "" { // the time of a round stands still while no call can run
		r.shift(at.Sub(r.left))
	}
	if m.working(t.From) || t.To != r.work {
		r.reveal()
	}
	if t.To != r.work {
		r.work, r.workAt, r.entered, r.toolCounts, r.tardy = t.To, r.Seq+1, at, nil, nil
		r.withdraw(func(q *Inquiry) bool { return q.Use != nil }) // who still wants the use is asked again
	}
}

// foldEnding folds why a conversation concludes, and who has decided it. concludes reports whether it does so now.
func (r *Record) foldEnding(t *Transition, m *Machine, concludes bool) {
	if ends := t.Reason != "" && m.working(t.From) && m.working(t.To); t.Evidence != "" && (concludes || ends) {
		r.Reason, r.Evidence = t.Reason, t.Evidence
	}
	if t.By != "" && (concludes || m.working(t.From) && m.working(t.To)) {
		r.EndedEarlyBy = t.By
	}
	if concludes {
		r.Inquiries = nil
	}
}

// foldFired folds that the flow has acted on the failure of a call, if one is named.
func (r *Record) foldFired(name string) error {
	if name == "" {
		return nil
	}
	call := r.calls[name]
	if call == nil || call.status != callFailed {
		return invalid("transition.call", "%q is no call that has failed", text.OneLine(name, 80))
	}
	call.troubled().fired = true
	r.countDone(call)
	return nil
}

// abortsCalls reports whether a transition aborts the calls in flight.
func abortsCalls(t *Transition) bool {
	return !t.Drain && (t.On == TriggerPause || t.On == TriggerStop || t.On == TriggerCancel || t.On == TriggerLimit)
}

// forsakesCalls reports whether the ends of the calls in flight may never be recorded after a transition: it aborts them, or no worker
// looks for a conversation in the new state.
func forsakesCalls(t *Transition) bool {
	switch t.To {
	case StatePaused, StateError, StateCompleted, StateCanceled:
		return true
	default:
		return abortsCalls(t)
	}
}

// presumesBroken reports whether a call in flight counts as broken off after a transition.
func presumesBroken(t *Transition, call *callState) bool { return forsakesCalls(t) || call.aborted }

// unsettledBy returns what is unsettled once a transition is recorded.
func (r *Record) unsettledBy(t *Transition) Unsettled {
	sum := r.spent.total.Unsettled
	for _, call := range r.inFlight {
		spend := r.unknownSpend(call.intent)
		switch presumed := presumesBroken(t, call); {
		case presumed && !call.presumed:
			sum = sum.Plus(spend.Unsettled())
		case !presumed && call.presumed:
			sum = sum.Less(spend.Unsettled())
		}
	}
	return sum
}

// foldTrigger folds what a transition does to the calls.
func (r *Record) foldTrigger(t *Transition, at time.Time) {
	for _, call := range r.inFlight {
		call.drains = call.drains || t.On == TriggerLimit
		call.aborted = call.aborted || abortsCalls(t)
		if presumesBroken(t, call) {
			r.presume(call)
		} else {
			r.resume(call)
		}
	}
	switch t.On {
	case TriggerAnswered:
		if t.From == StateError { // nothing is missing any more, in spite of the limit
			r.limit = ""
			r.Reason, r.Evidence = r.before.reason, r.before.evidence
		}
	case TriggerReopen:
		r.foldReopened(at)
	case TriggerRetry:
		if slices.Contains(r.timed, r.work) { // the round's time begins anew
			r.restore()
			r.late = false
		}
		r.limit, r.roundAt, r.firstTimed, r.unsummed = "", at, "", nil
		r.Reason, r.Evidence = r.before.reason, r.before.evidence
		r.reset()
	}
}

func newRecord(id string) *Record {
	return &Record{ID: id, State: StateConfiguring, callTable: callTable{calls: make(map[string]*callState)}}
}
