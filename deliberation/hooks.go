package deliberation

import (
	"errors"
	"iter"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// Hooks are callbacks that display the progress of a deliberation. They are for programs that do not read events
// themselves. Each callback may be nil. It gets the ID of an agent, or the name of the judge. An activity is a phrase
// such as "proposing" or "critiquing ben".
//
// The callbacks run on the goroutine that ranges over [Hooks.Events], one after the other, in the order of the events.
// A callback that blocks delays this reader only. The values that callbacks get are shared with the deliberation and
// read only.
type Hooks struct {
	// OnRoundStart is called when a round begins. of is the largest number of rounds.
	OnRoundStart func(round, of int)
	// OnPhaseStart is called when a state of the flow begins, and OnPhaseComplete when it ends. expected is how many
	// calls the state is expected to make; 0 if there are none, or if the number is unknown. round is 0 before the
	// first round.
	OnPhaseStart    func(round int, phase flow.State, expected int)
	OnPhaseComplete func(round int, phase flow.State)

	// OnAgentStart is called when an agent or the judge is asked, and OnAgentComplete when its answer is accepted.
	// OnAgentRetry is called when an attempt fails, or an answer is not accepted, and another attempt follows.
	// OnAgentFailed is called when none follows. Both are called for summaries and the synthesis too.
	OnAgentStart    func(agent, activity string)
	OnAgentComplete func(agent, activity string)
	OnAgentRetry    func(agent, activity string, failure error)
	OnAgentFailed   func(agent, activity string, failure error)

	// OnSummarizationStart is called when the history of an agent is to be summarised, and OnSummarizationComplete when
	// that is done. before is the size of what was summarised, and after that of the summary as it is read, both in
	// characters as in [Summary]. before is 0 if the reader began after the start.
	OnSummarizationStart    func(agent string)
	OnSummarizationComplete func(agent string, before, after int)

	// OnSynthesisStart is called when work on the solution begins, votes and merges included. OnSynthesisComplete gets
	// the solution. A deliberation without a solution gives a warning instead.
	OnSynthesisStart    func()
	OnSynthesisComplete func(*Solution)

	// OnToolStart is called when the model of an agent uses a tool, and OnToolComplete when the tool has answered or
	// failed.
	OnToolStart    func(agent, tool string)
	OnToolComplete func(agent, tool string, failed bool)

	// OnQuestion is called when a person is asked, and OnAnswer when the inquiry with this ID has its answer.
	OnQuestion func(flow.Inquiry)
	OnAnswer   func(flow.Answer)
	// OnWarning is called when the deliberation departs from its config, for example when an agent was left out of a
	// phase.
	OnWarning func(flow.Warning)
}

// Events yields the events unchanged. Before it yields an event, it makes the callbacks of that event:
//
//	for event, err := range hooks.Events(engine.Run(ctx, config)) {
//
// One callback comes later: the start of a phase comes with the next event, which may be the beginning of the round.
//
// A reader that begins in the middle gets the callbacks for all that begins from then on. It also gets the end of what
// began before. What only earlier events hold, such as the round, is 0 or "". The result may be ranged over as often as
// events may.
func (h Hooks) Events(events iter.Seq2[flow.Event, error]) iter.Seq2[flow.Event, error] {
	return func(yield func(flow.Event, error) bool) {
		p := progress{Hooks: h, jobs: make(map[string]*job)}
		for event, err := range events {
			p.take(&event)
			if !yield(event, err) {
				return
			}
		}
		p.beginPhase()
	}
}

// progress is how far one reader has come.
type progress struct {
	Hooks

	whole  bool // the log was seen from its start
	round  int
	phase  flow.State       // "": none, or it began before the reader came
	next   *flow.Transition // the phase that is still to be told of
	making bool             // the synthesis has begun
	jobs   map[string]*job  // by call
	sorted *sorted          // what was said so far; nil: the start was not seen, or is another flow's
}

// job is something that somebody is asked, over all attempts.
type job struct {
	agent    string
	kind     flow.CallKind
	activity string
}

// take makes the callbacks of one event.
func (p *progress) take(e *flow.Event) {
	if round, ok := e.Body.(*flow.Round); ok {
		p.round = round.N
		call2(p.OnRoundStart, round.N, round.Of)
	}
	p.beginPhase()
	switch body := e.Body.(type) {
	case *flow.Start:
		p.start(body)
	case *flow.Transition:
		p.turnTo(body)
	case *flow.Intent:
		p.begin(body)
	case *flow.Turn:
		p.spoken(body)
	case *flow.ToolResult:
		if p.OnToolComplete != nil {
			p.OnToolComplete(body.By, body.Tool, body.Failed)
		}
	case *flow.Rejection:
		p.rejected(body)
	case *flow.Failure:
		p.failed(body)
	case *flow.Inquiry:
		call1(p.OnQuestion, *body)
	case *flow.Answer:
		call1(p.OnAnswer, *body)
	case *flow.Warning:
		call1(p.OnWarning, *body)
	}
}

// start learns what is needed to tell the sizes of summaries.
func (p *progress) start(start *flow.Start) {
	p.whole = true
	if config := ConfigIn(start); config != nil {
		p.sorted = sorting(config)
	}
}

// turnTo takes a change of state.
func (p *progress) turnTo(t *flow.Transition) {
	switch t.To {
	case flow.StatePaused, flow.StateAwaitingInput, flow.StateError:
		return // the phase goes on afterwards
	default:
	}
	switch t.On {
	case flow.TriggerResume, flow.TriggerAnswered, flow.TriggerRetry:
		p.phase = t.To // it does
		return
	default:
	}
	if p.phase == "" && isPhase(t.From) {
		p.phase = t.From
	}
	if p.phase != "" {
		call2(p.OnPhaseComplete, p.round, p.phase)
	}
	if p.phase = ""; isPhase(t.To) {
		p.phase, p.next = t.To, t
	}
}

// isPhase reports whether a state is one of a flow's own, or that in which the solution is made.
func isPhase(s flow.State) bool {
	switch s {
	case flow.StateConfiguring, flow.StateValidating, flow.StateReady, flow.StateInitializing, flow.StatePaused,
		flow.StateAwaitingInput, flow.StateCompleted, flow.StateCanceled, flow.StateError:
		return false
	default:
		return true
	}
}

// beginPhase tells of the phase that has begun with the event before, if one has.
func (p *progress) beginPhase() {
	if p.next == nil {
		return
	}
	t := p.next
	p.next = nil
	if p.OnPhaseStart != nil {
		p.OnPhaseStart(p.round, t.To, t.Calls)
	}
}

// begin takes an attempt. Only the first of a call begins something.
func (p *progress) begin(in *flow.Intent) {
	p.round = max(p.round, in.Round)
	if in.Tool != "" {
		if in.Attempt == 1 {
			call2(p.OnToolStart, in.By, in.Tool)
		}
		return
	}
	if p.jobs[in.Call] != nil {
		return
	}
	j := &job{agent: in.By, kind: in.Kind, activity: activity(in.Kind, in.Target)}
	p.jobs[in.Call] = j
	if !p.whole && in.Attempt > 1 {
		return // it began before the reader came
	}
	switch j.kind {
	case KindAnswer: // a person's: the question tells
	case KindDigest:
		call1(p.OnSummarizationStart, in.By)
	case KindSynthesis:
		p.synthesize()
	case KindVote, KindMerge:
		p.synthesize()
		call2(p.OnAgentStart, in.By, j.activity)
	default:
		call2(p.OnAgentStart, in.By, j.activity)
	}
}

// synthesize tells once that the solution is being made.
func (p *progress) synthesize() {
	if !p.making && p.OnSynthesisStart != nil {
		p.OnSynthesisStart()
	}
	p.making = true
}

// spoken takes an answer that was accepted.
func (p *progress) spoken(t *flow.Turn) {
	delete(p.jobs, t.Call)
	if p.sorted != nil {
		p.sorted.sort(t)
	}
	switch t.Kind {
	case KindAnswer:
	case KindDigest:
		if p.OnSummarizationComplete != nil {
			before, after := p.sizes(t)
			p.OnSummarizationComplete(t.Speaker, before, after)
		}
	case KindSynthesis:
		if solution := decoded[Solution](t); solution != nil { // else a log was changed by hand
			call1(p.OnSynthesisComplete, solution)
		}
	default:
		call2(p.OnAgentComplete, t.Speaker, activity(t.Kind, t.Target))
	}
}

// sizes returns how much was summarised, and to how much.
func (p *progress) sizes(t *flow.Turn) (before, after int) {
	k := p.sorted
	if k == nil || k.seats[t.Speaker] == nil {
		return 0, characters(t.Text)
	}
	w := k.seats[t.Speaker]
	former := w.digest(t.Round - 1)
	if former != nil {
		before = characters(w.shown(former))
	}
	for _, item := range k.items(w, k.covered(former), k.covered(t)+1) {
		before += characters(item.Text)
	}
	return before, characters(w.shown(t))
}

// rejected takes an answer that was not accepted.
func (p *progress) rejected(r *flow.Rejection) {
	why := errors.New("the answer was not accepted: " + strings.Join(r.Problems, "; "))
	if !r.Final {
		p.setback(p.OnAgentRetry, r.By, r.Call, why)
		return
	}
	p.setback(p.OnAgentFailed, r.By, r.Call, why)
	delete(p.jobs, r.Call)
}

func (p *progress) failed(f *flow.Failure) {
	var why error
	if f.Error != nil {
		why = f.Error
	}
	switch {
	case f.Final:
		p.setback(p.OnAgentFailed, f.By, f.Call, why)
		delete(p.jobs, f.Call)
	case !f.Void: // what a pause or a crash has broken off is merely asked for again
		p.setback(p.OnAgentRetry, f.By, f.Call, why)
	}
}

func (p *progress) setback(hook func(agent, activity string, failure error), agent, call string, why error) {
	if hook == nil {
		return
	}
	doing := ""
	if j := p.jobs[call]; j != nil {
		doing = j.activity
	}
	hook(agent, doing, why)
}

// activity says what somebody does who is asked for a turn of this kind.
func activity(kind flow.CallKind, target string) string {
	doing := string(kind)
	switch kind {
	case KindQuestion:
		doing = "asking"
	case KindAnswer:
		doing = "answering"
	case KindProposal:
		doing = "proposing"
	case KindCritique:
		doing = "critiquing"
	case KindRefinement:
		doing = "refining"
	case KindDigest:
		doing = "summarizing"
	case KindConfidence, KindQuality:
		doing = "judging " + string(kind)
	case KindVote:
		doing = "voting"
	case KindMerge:
		doing = "merging"
	case KindSynthesis:
		doing = "synthesizing"
	case KindScore:
		doing = "scoring"
	default: // of a node that a host has put in
	}
	if target != "" {
		doing += " " + target
	}
	return doing
}

// call1 and call2 call back, if there is anybody to be called.
func call1[A any](hook func(A), a A) {
	if hook != nil {
		hook(a)
	}
}

func call2[A, B any](hook func(A, B), a A, b B) {
	if hook != nil {
		hook(a, b)
	}
}
