package otel

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// watch makes the trace of one sequence of events. It belongs to the loop that reads them.
type watch struct {
	observer *Observer
	meters   *instruments
	ctx      context.Context // of the debate's parent
	measured bool            // the metrics are collected
	after    int64           // facts up to this one were measured before; 0: none was
	counts   bool            // the present fact, or the last one, is measured
	traced   bool            // the debate's span is recorded
	idle     bool            // neither of the two

	first, last time.Time // times of the facts
	heard       time.Time // time of the latest chunk

	// The open spans, each a child of the one before it; nil: there is none.
	debate, round, phase, rest *span

	work    flow.State // the current working state, or the one before a rest; "": unknown, or none
	entered time.Time  // when work was entered; the first fact in it makes its span
	calls   map[attempt]*call
	agents  map[string]*agent // by the call that each is at work on
	begun   int               // number of calls so far
	prompt  prompt            // to the next call
	start   *flow.Start
	sides   map[string]format.Side // of a debate's participants, by name
	state   flow.State
	reason  flow.EndReason
	stopped *flow.Transition // to the error state, if the debate is in it
	rounds  int
	final   bool
}

// attempt names an attempt at a call.
type attempt struct {
	call string
	n    int
}

func newWatch(ctx context.Context, o *Observer, after int64) *watch {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx = context.WithoutCancel(ctx) // spans are ended and measured even if the reader's context is done
	return &watch{
		observer: o, meters: o.meters, ctx: ctx, measured: o.meters.enabled(ctx), after: after,
		calls: make(map[attempt]*call), agents: make(map[string]*agent),
	}
}

// take handles one event.
func (w *watch) take(e *flow.Event) {
	if w.idle {
		return
	}
	switch e.Kind() {
	case flow.EventChunk:
		if e.At.After(w.heard) {
			w.heard = e.At
		}
		return
	case flow.EventHeartbeat:
		return
	}
	at := w.time(e.At)
	if w.debate == nil {
		w.begin(e, at)
	}
	if !w.idle {
		w.counts = w.measured && (w.after == 0 || e.Seq > w.after)
		w.fact(e, at)
	}
}

// time returns the time of a fact. Facts are in order. A missing time is replaced by that of the fact
// before; OpenTelemetry would use the clock.
func (w *watch) time(at time.Time) time.Time {
	if at.IsZero() || at.Before(w.last) {
		at = w.last
	}
	if at.IsZero() {
		at = time.Unix(0, 0)
	}
	w.last = at
	return at
}

// begin makes the debate's span.
func (w *watch) begin(e *flow.Event, at time.Time) {
	name, attributes := operationWorkflow, []attribute.KeyValue{keyOperation.String(operationWorkflow)}
	if s, ok := e.Body.(*flow.Start); ok && !s.Config.IsZero() {
		w.start = s
		flow := clean(s.Flow)
		name += " " + flow
		attributes = append(attributes, keyWorkflow.String(flow))
		attributes = append(attributes, w.configured(s)...)
	} else if e.Seq > 1 {
		attributes = append(attributes, keyAfter.Int64(e.Seq-1))
	}
	w.first = at
	w.debate = w.open(nil, name, at, trace.SpanKindInternal, attributes...)
	w.traced = w.debate.IsRecording()
	w.idle = !w.traced && !w.measured
	w.meters.active.Add(w.ctx, 1)
}

// configured returns the attributes of a config.
func (w *watch) configured(s *flow.Start) []attribute.KeyValue {
	attributes := []attribute.KeyValue{
		keyConversation.String(clean(s.Settings.ID)),
		keyParticipants.Int(len(s.Settings.Participants)), keyMaxRounds.Int(s.Settings.Rounds),
	}
	if c := configOf(s); c != nil {
		attributes = append(attributes, keyFormat.String(clean(c.Format)))
		if c.Judging != nil {
			attributes = append(attributes, keyJudges.Int(len(c.Judging.Judges)))
		}
		w.sides = make(map[string]format.Side, len(c.Participants))
		for i := range c.Participants {
			w.sides[c.Participants[i].Name] = c.Participants[i].Side
		}
	}
	if w.observer.Content {
		attributes = append(attributes, keyTopic.String(text.OneLine(s.Settings.Topic, maxContent)))
	}
	if w.observer.Labels {
		for i, name := range slices.Sorted(maps.Keys(s.Settings.Labels)) {
			if i == maxLabels {
				break
			}
			attributes = append(attributes, attribute.String(labelPrefix+clean(name), text.OneLine(s.Settings.Labels[name], maxValue)))
		}
	}
	return attributes
}

// configOf returns the config of a debate; nil: it is that of another flow, or cannot be read.
func configOf(s *flow.Start) *debate.Config {
	if c, ok := s.Config.Go.(*debate.Config); ok {
		return c
	}
	c := new(debate.Config)
	if s.Flow != debate.FlowName || json.Unmarshal(s.Config.JSON, c) != nil {
		return nil
	}
	return c
}

// fact handles every event that is not a chunk. It looks at the content of an event, not at its kind,
// because a log may be hostile.
func (w *watch) fact(e *flow.Event, at time.Time) {
	w.heed(e.Body, at)
	switch body := e.Body.(type) {
	case *flow.Start:
	case *flow.Transition:
		w.transition(body, at)
	case *flow.Round:
		w.beginRound(body, at)
	case *flow.Intent:
		w.ask(body, at)
	case *flow.Late:
		w.settle(body)
	default:
		if out, ok := outcomeOf(e); ok {
			w.answered(&out, at)
			w.judged(body, at)
			return
		}
		w.note(e, at)
	}
}

// settle takes the cost of an attempt that had been given up. The spans around it have ended, but for the debate's.
func (w *watch) settle(late *flow.Late) {
	if late.Settled <= 0 || late.Cost < 0 || late.Settled > w.debate.spent.AtMost {
		return
	}
	w.debate.spent.Cost += late.Cost
	w.debate.spent.AtMost -= late.Settled
}

// transition handles a change of state.
func (w *watch) transition(t *flow.Transition, at time.Time) {
	if w.final { // only the costs of late calls follow
		return
	}
	w.controlled(t, at)
	w.rest.end(at, false)
	w.rest, w.stopped = nil, nil
	w.state = t.To
	switch t.To {
	case flow.StatePaused, flow.StateAwaitingInput, flow.StateError:
		w.rest = w.open(w.place(), string(t.To), at, trace.SpanKindInternal, keyState.String(string(t.To)))
		if t.To == flow.StateError {
			w.stopped = t
			w.rest.fail(stopType(t))
		}
		return
	case flow.StateCompleted, flow.StateCanceled:
		w.final = true
		w.move("", at)
		w.endRound(at, false)
	case flow.StateCompleting:
		w.move(t.To, at)
		w.endRound(at, false)
	default:
		w.move(t.To, at)
		return
	}
	if t.Reason != "" {
		w.reason = t.Reason
	}
}

// stopType returns the error.type of a transition to the error state. Only a hard limit has no failure.
func stopType(t *flow.Transition) string {
	if t.Failure == nil {
		return string(provider.KindCostLimit)
	}
	return failureType(t.Failure)
}

// move enters a working state. After a rest it may be the state that was left; then its span continues.
func (w *watch) move(to flow.State, at time.Time) {
	if to == w.work {
		return
	}
	w.leave(at, false)
	w.work, w.entered = to, at
}

// leave ends the span of the working state, and those of the agents in it. A state without duration and facts has no span.
func (w *watch) leave(at time.Time, unfinished bool) {
	if w.phase == nil && at.After(w.entered) {
		w.place()
	}
	w.dismiss(at, unfinished)
	w.phase.end(at, unfinished)
	w.phase = nil
}

// place returns the innermost open span: that of the working state, if that is known.
func (w *watch) place() *span {
	parent := w.round
	if parent == nil {
		parent = w.debate
	}
	if w.phase == nil && w.work != "" {
		name := clean(string(w.work))
		w.phase = w.open(parent, name, w.entered, trace.SpanKindInternal, keyState.String(name))
	}
	if w.phase != nil {
		return w.phase
	}
	return parent
}

// beginRound begins a round, in the working state that was just entered.
func (w *watch) beginRound(r *flow.Round, at time.Time) {
	w.leave(at, false)
	w.entered = at
	w.endRound(at, false)
	w.rounds = max(w.rounds, r.N)
	w.round = w.open(w.debate, "round", at, trace.SpanKindInternal,
		keyRound.Int(r.N), keyPhase.String(clean(r.Phase)), keyExpected.Int(r.Calls))
}

func (w *watch) endRound(at time.Time, unfinished bool) {
	if w.round == nil {
		return
	}
	for _, c := range w.calls {
		if spend := c.unknown(); c.round == w.round && !unfinished {
			w.round.pay(&spend)
		}
	}
	if w.round.IsRecording() {
		w.round.SetAttributes(w.round.costs()...)
	}
	w.round.end(at, unfinished)
	w.round = nil
}

// close ends all open spans. If the debate is over, only its own span is left, and those of calls whose
// cost was never reported.
func (w *watch) close(err error) {
	if w.debate == nil {
		return
	}
	at := w.last
	if !w.final && w.heard.After(at) {
		at = w.heard
	}
	w.meters.active.Add(w.ctx, -1)
	open := slices.SortedFunc(maps.Values(w.calls), func(a, b *call) int { return cmp.Compare(a.n, b.n) })
	for _, c := range open {
		if spend := c.unknown(); w.final && spend.BrokenOff {
			w.debate.pay(&spend)
			c.SetAttributes(costs(spend.Cost, spend.AtMost)...)
			if w.counts {
				w.meters.atMost.Add(c.ctx, usd(spend.AtMost), set(w.callAttributes(c.intent)))
			}
		}
		c.end(at, true)
	}
	w.rest.end(at, !w.final)
	w.leave(at, !w.final)
	w.endRound(at, !w.final)
	w.conclude(err)
	w.debate.end(at, !w.final)
}

// conclude records how the debate ended, or its state when the sequence ended.
func (w *watch) conclude(err error) {
	failure, reason := "", w.reason
	switch {
	case w.final:
	case w.stopped != nil:
		failure, reason = stopType(w.stopped), w.stopped.Reason
	default:
		failure = endType(err)
	}
	if w.traced {
		w.debate.SetAttributes(
			keyState.String(clean(string(w.state))), keyRounds.Int(w.rounds), keyCalls.Int(w.begun),
		)
		w.debate.SetAttributes(w.debate.costs()...)
		if reason != "" {
			w.debate.SetAttributes(keyReason.String(clean(string(reason))))
		}
		if failure != "" {
			w.debate.fail(failure)
		}
	}
	if !w.counts {
		return
	}
	state := "unfinished"
	if w.final || w.stopped != nil {
		state = string(w.state)
	}
	attributes := []attribute.KeyValue{keyState.String(state), keyReason.String(endReason(reason))}
	if w.start != nil {
		attributes = append(attributes, keyFlow.String(w.observer.flows.word(w.start.Flow)))
	}
	if failure != "" {
		attributes = append(attributes, keyError.String(failure))
	}
	all := set(attributes)
	w.meters.ended.Add(w.debate.ctx, 1, all)
	if w.final {
		w.meters.rounds.Record(w.debate.ctx, int64(w.rounds), all)
		if w.start != nil {
			w.meters.duration.Record(w.debate.ctx, w.last.Sub(w.first).Seconds(), all)
		}
	}
}
