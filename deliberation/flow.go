package deliberation

import (
	"fmt"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// FlowName is the name of the flow, in Engine.Flows.
const FlowName = "deliberation"

// States of the flow.
const (
	StateClarifying    flow.State = "clarifying"    // the agents say what they want to ask
	StateAnswering     flow.State = "answering"     // a person answers
	StatePlanningRound flow.State = "planningRound" // the flow decides whether there is another round
	StateSummarizing   flow.State = "summarizing"   // histories that the proposals read are summarised
	StateProposing     flow.State = "proposing"     // agents without a proposal propose
	StateCritiquing    flow.State = "critiquing"    // critiques, and the summaries that refining reads
	StateRefining      flow.State = "refining"      // agents whose proposal was critiqued refine it
	StateEvaluating    flow.State = "evaluating"    // the judge says whether the rounds continue
)

// Triggers of the flow.
const (
	triggerQuestionsPending flow.Trigger = "questionsPending"
	triggerAnswersSubmitted flow.Trigger = "answersSubmitted"
	triggerAllClear         flow.Trigger = "allClear"
	triggerBeginRound       flow.Trigger = "beginRound"
	triggerMaxRoundsReached flow.Trigger = "maxRoundsReached"
	triggerContextsReady    flow.Trigger = "contextsReady"
	triggerProposed         flow.Trigger = "proposed"
	triggerCritiqued        flow.Trigger = "critiqued"
	triggerRefined          flow.Trigger = "refined"
	triggerContinue         flow.Trigger = "continue"
	triggerConsensusReached flow.Trigger = "consensusReached"
)

// EndQuality is the reason of a deliberation that ended because the proposals are good enough.
const EndQuality flow.EndReason = "quality"

// Kinds of warnings, beside [flow.WarnLeftOut].
const (
	WarnUnanswered   flow.WarningKind = "unanswered"     // no person was there to answer the agents' questions
	WarnSummary      flow.WarningKind = "summary-failed" // a summary could not be made: the history is read in full, if it fits
	WarnCut          flow.WarningKind = "summary-cut"    // a summary has ended at its limit of output tokens
	WarnNoConfidence flow.WarningKind = "no-confidence"  // the judge gave no valid number, so the rounds continue
	WarnNoSolution   flow.WarningKind = "no-solution"    // the solution could not be made
	WarnMissing      flow.WarningKind = "missing"        // one of several critiques or merges has failed for good
	WarnShortened    flow.WarningKind = "shortened"      // a prompt did not fit the model's window, and was made smaller
)

// Flow returns the flow of deliberations. Register it in Engine.Flows under [FlowName]. Each call returns a fresh
// value, so the caller may change it, as [Insert] does.
func Flow() *flow.Flow {
	always := flow.Guard{}
	pending := flow.Guard{Name: "questionsPending", OK: func(r *flow.Record) bool { return len(read(r).pending()) > 0 }}
	again := flow.Guard{Name: "iterationsLeft", OK: func(r *flow.Record) bool { return read(r).asksAgain() }}
	left := flow.Guard{Name: "roundsLeft", OK: roundsLeft}
	few := flow.Guard{Name: "tooFewAgents", OK: func(r *flow.Record) bool { return read(r).tooFew(r.Working()) != "" }}
	reached := flow.Guard{Name: "thresholdReached", OK: func(r *flow.Record) bool { _, _, ok := read(r).consensus(); return ok }}
	return &flow.Flow{
		Name:    FlowName,
		Version: 2,
		Accepts: 1,
		Start:   StateClarifying,
		Rules: []flow.Rule{
			{From: StateClarifying, On: triggerQuestionsPending, To: StateAnswering, When: pending},
			{From: StateClarifying, On: triggerAllClear, To: StatePlanningRound, When: always},
			{From: StateAnswering, On: triggerAnswersSubmitted, To: StateClarifying, When: again},
			{From: StateAnswering, On: triggerAnswersSubmitted, To: StatePlanningRound, When: always},
			{From: StatePlanningRound, On: triggerBeginRound, To: StateSummarizing, When: left},
			{From: StatePlanningRound, On: triggerMaxRoundsReached, To: flow.StateCompleting, When: always},
			{From: StateSummarizing, On: triggerContextsReady, To: StateProposing, When: always},
			{From: StateProposing, On: triggerProposed, To: flow.StateCompleting, When: few},
			{From: StateProposing, On: triggerProposed, To: StateCritiquing, When: always},
			{From: StateCritiquing, On: triggerCritiqued, To: flow.StateCompleting, When: few},
			{From: StateCritiquing, On: triggerCritiqued, To: StateRefining, When: always},
			{From: StateRefining, On: triggerRefined, To: flow.StateCompleting, When: few},
			{From: StateRefining, On: triggerRefined, To: StateEvaluating, When: always},
			{From: StateEvaluating, On: triggerConsensusReached, To: flow.StateCompleting, When: reached},
			{From: StateEvaluating, On: triggerContinue, To: StatePlanningRound, When: always},
			{From: flow.StateCompleting, On: flow.TriggerReopen, To: StatePlanningRound, When: always},
		},
		Steps: map[flow.State]flow.Step{
			flow.StateInitializing: {Next: initialized},
			StateClarifying:        {Calls: clarifyCalls, Next: clarified},
			StateAnswering:         {Calls: answerCalls, Next: answered},
			StatePlanningRound:     {Next: planned},
			StateSummarizing:       {Calls: digestCalls, Next: contextsReady},
			StateProposing:         {Calls: proposeCalls, Next: proposed},
			StateCritiquing:        {Calls: critiqueCalls, Next: critiqued, Steady: []flow.CallKind{KindCritique}},
			StateRefining:          {Calls: refineCalls, Next: refined},
			StateEvaluating:        {Calls: evaluateCalls, Next: evaluated},
			flow.StateCompleting:   {Calls: solutionCalls, Next: solved},
		},
		Owes: owes, Last: conclusion, Amend: amendable, Reopen: reopen, OnFailure: failureRules(), Kinds: kinds,
		Timed:   []flow.State{StateSummarizing, StateProposing, StateCritiquing, StateRefining},
		Prompts: templates(),
		Schemas: schemas(),

		Decode: flow.DecodeTo[Config], Normalize: normalize, Check: check, Field: field, Texts: texts, Open: open,
		Fixed: fixed, Estimate: estimate, ConfigSchema: configSchema,
	}
}

// tooFew says why the rounds end after a phase; "": they do not. They end if fewer than two agents have something that
// stands, or if all but one were left out of the phase. An agent that was merely late is not left out.
func (b *board) tooFew(phase flow.State) string {
	if n := b.stands(); n < 2 {
		return fmt.Sprintf("%d of %d agents have a proposal", n, len(b.agents))
	}
	if b.Late() {
		return ""
	}
	if left := b.able(phase, nil); left < 2 {
		return fmt.Sprintf("%d of %d agents were able to take part in %s", left, len(b.agents), phase)
	}
	return ""
}

// leftOut reports whether an agent has failed in all that it was to do in a phase. The duties of all agents are gone through once: as
// many are asked about as there are calls.
func (b *board) leftOut(w *work, phase flow.State) bool {
	if len(b.SkippedCalls) == 0 {
		return false
	}
	out, known := b.out[phase]
	if !known {
		out = make([]bool, len(b.agents))
		for i := range b.agents {
			out[i] = b.skips(b.duties(&b.agents[i], phase))
		}
		if b.out == nil {
			b.out = make(map[flow.State][]bool)
		}
		b.out[phase] = out
	}
	return out[w.seat]
}

// skips reports whether each of an agent's duties was left out, and none of them because its time was over.
func (b *board) skips(duties []attempt) bool {
	for i := range duties {
		if !b.Skipped(duties[i].id) || b.late(duties[i].id) {
			return false
		}
	}
	return len(duties) > 0
}

// late reports whether a call was left out because its time was over.
func (b *board) late(call string) bool {
	if b.tardy == nil {
		b.tardy = make(map[string]bool)
		for i := range b.SkippedCalls {
			if s := &b.SkippedCalls[i]; s.Cause == "" {
				b.tardy[s.Call] = true
			}
		}
	}
	return b.tardy[call]
}

// duties returns the calls that an agent has to do in a phase, done or not.
func (b *board) duties(w *work, phase flow.State) []attempt {
	switch phase {
	case StateClarifying:
		if !w.Person {
			return []attempt{plainly(clarifyID(b.iteration(), w))}
		}
	case StateProposing:
		if b.proposes(w) {
			return []attempt{b.proposalOf(w)}
		}
	case StateCritiquing:
		var all []attempt
		for _, target := range b.targets(w.seat) {
			all = append(all, b.critiquing(w, &b.agents[target]))
		}
		return all
	case StateRefining:
		if b.refines(w) {
			return []attempt{b.refining(w)}
		}
	default:
	}
	return nil
}

// lost warns of every call of a phase that has failed for good, and of every one whose prompt was made smaller. An agent
// whose calls have all failed is left out of the phase.
func (b *board) lost(phase flow.State) []flow.Warning {
	var warnings []flow.Warning
	for i := range b.agents {
		w := &b.agents[i]
		for _, a := range b.duties(w, phase) {
			switch {
			case b.Skipped(a.id) && b.leftOut(w, phase):
				warnings = append(warnings, b.failing(flow.WarnLeftOut, a.id, w.ID, w.Name+" is left out of "+string(phase)))
			case b.Skipped(a.id):
				what := string(phase) + " is incomplete"
				if phase == StateCritiquing {
					what = "a critique is missing"
				}
				warnings = append(warnings, b.failing(WarnMissing, a.id, w.ID, what))
			case a.short > 0:
				warnings = append(warnings, a.smaller(w.ID))
			}
		}
	}
	return warnings
}

// after leads on from a phase. The exit describes its end: the agents that were left out, and how many calls the next
// phase makes, or why there is none. It is a failure if that is so only because proposals were late.
func (b *board) after(on flow.Trigger, phase flow.State, next func(*flow.Record) []*flow.Call) (flow.Trigger, flow.Exit, bool) {
	exit := flow.Exit{Warnings: append(b.lost(phase), b.unsummarized()...)}
	few := b.tooFew(phase)
	switch {
	case few == "":
		exit.Calls = len(next(b.Record))
	case b.stands() < 2 && b.stands()+b.lateProposals() >= 2:
		err := fmt.Errorf("%s: the others were late, and the round's time is %s", few, b.Settings().RoundTimeout)
		failure := &flow.Error{Kind: provider.KindTimeout, Op: string(phase), Field: "roundTimeout", Round: b.Round, Err: err}
		return flow.TriggerFail, flow.Exit{Reason: flow.EndFailed, Evidence: failure.Error(), Failure: failure}, true
	case !b.decided(phase):
		failure := &flow.Error{
			Kind: provider.KindState, Op: string(phase), Field: "unattended", Round: b.Round,
			Err: fmt.Errorf("%s, and nobody decided to continue with so few", few),
		}
		return flow.TriggerFail, flow.Exit{Reason: flow.EndFailed, Evidence: failure.Error(), Failure: failure}, true
	default:
		exit.Reason, exit.Evidence, exit.By, exit.Calls = flow.EndTooFew, few, flow.EndedByPerson, solutionSize(b.Record)
	}
	return on, exit, true
}

// lateProposals returns how many agents have no proposal because they were late.
func (b *board) lateProposals() int {
	n := 0
	for i := range b.agents {
		if w := &b.agents[i]; w.active && w.standing() == nil && b.late(b.proposalOf(w).id) {
			n++
		}
	}
	return n
}
