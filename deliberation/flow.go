package deliberation

import (
	"fmt"

	"github.com/agonist-dev/debate/flow"
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
	TriggerQuestionsPending flow.Trigger = "questionsPending"
	TriggerAnswersSubmitted flow.Trigger = "answersSubmitted"
	TriggerAllClear         flow.Trigger = "allClear"
	TriggerBeginRound       flow.Trigger = "beginRound"
	TriggerMaxRoundsReached flow.Trigger = "maxRoundsReached"
	TriggerContextsReady    flow.Trigger = "contextsReady"
	TriggerProposed         flow.Trigger = "proposed"
	TriggerCritiqued        flow.Trigger = "critiqued"
	TriggerRefined          flow.Trigger = "refined"
	TriggerContinue         flow.Trigger = "continue"
	TriggerConsensusReached flow.Trigger = "consensusReached"
)

// EndQuality is the reason of a deliberation that ended because the proposals are good enough.
const EndQuality flow.EndReason = "quality"

// Kinds of warnings, beside [flow.WarnLeftOut].
const (
	WarnUnanswered   flow.WarningKind = "unanswered"     // no person was there to answer the agents' questions
	WarnSummary      flow.WarningKind = "summary-failed" // a summary could not be made, so the history is read in full
	WarnNoConfidence flow.WarningKind = "no-confidence"  // the judge gave no valid number, so the rounds continue
	WarnNoSolution   flow.WarningKind = "no-solution"    // the solution could not be made
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
		Version: 1,
		Start:   StateClarifying,
		Rules: []flow.Rule{
			{From: StateClarifying, On: TriggerQuestionsPending, To: StateAnswering, When: pending},
			{From: StateClarifying, On: TriggerAllClear, To: StatePlanningRound, When: always},
			{From: StateAnswering, On: TriggerAnswersSubmitted, To: StateClarifying, When: again},
			{From: StateAnswering, On: TriggerAnswersSubmitted, To: StatePlanningRound, When: always},
			{From: StatePlanningRound, On: TriggerBeginRound, To: StateSummarizing, When: left},
			{From: StatePlanningRound, On: TriggerMaxRoundsReached, To: flow.StateCompleting, When: always},
			{From: StateSummarizing, On: TriggerContextsReady, To: StateProposing, When: always},
			{From: StateProposing, On: TriggerProposed, To: flow.StateCompleting, When: few},
			{From: StateProposing, On: TriggerProposed, To: StateCritiquing, When: always},
			{From: StateCritiquing, On: TriggerCritiqued, To: flow.StateCompleting, When: few},
			{From: StateCritiquing, On: TriggerCritiqued, To: StateRefining, When: always},
			{From: StateRefining, On: TriggerRefined, To: flow.StateCompleting, When: few},
			{From: StateRefining, On: TriggerRefined, To: StateEvaluating, When: always},
			{From: StateEvaluating, On: TriggerConsensusReached, To: flow.StateCompleting, When: reached},
			{From: StateEvaluating, On: TriggerContinue, To: StatePlanningRound, When: always},
		},
		Steps: map[flow.State]flow.Step{
			flow.StateInitializing: {Next: initialized},
			StateClarifying:        {Calls: clarifyCalls, Next: clarified},
			StateAnswering:         {Calls: answerCalls, Next: answered},
			StatePlanningRound:     {Next: planned},
			StateSummarizing:       {Calls: digestCalls, Next: contextsReady},
			StateProposing:         {Calls: proposeCalls, Next: proposed},
			StateCritiquing:        {Calls: critiqueCalls, Next: critiqued},
			StateRefining:          {Calls: refineCalls, Next: refined},
			StateEvaluating:        {Calls: evaluateCalls, Next: evaluated},
			flow.StateCompleting:   {Calls: solutionCalls, Next: solved},
		},
		Timed:   []flow.State{StateSummarizing, StateProposing, StateCritiquing, StateRefining},
		Schemas: schemas(),

		Decode: decode, Settle: settle, Check: check, Field: field, Prompted: prompted, Texts: texts, Open: open, Fixed: fixed,
		Estimate: estimate,
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
	left := 0
	for i := range b.agents {
		if w := &b.agents[i]; w.active && !b.leftOut(w, phase) {
			left++
		}
	}
	if left < 2 {
		return fmt.Sprintf("%d of %d agents were able to take part in %s", left, len(b.agents), phase)
	}
	return ""
}

// leftOut reports whether an agent has failed in all that it was to do in a phase.
func (b *board) leftOut(w *work, phase flow.State) bool {
	duties := b.duties(w, phase)
	for _, a := range duties {
		if !b.Failed(a.id) {
			return false
		}
	}
	return len(duties) > 0
}

// duties returns the calls that an agent has to do in a phase, done or not.
func (b *board) duties(w *work, phase flow.State) []attempt {
	switch phase {
	case StateClarifying:
		return []attempt{plainly(clarifyID(b.iteration(), w))}
	case StateProposing:
		if b.proposes(w) {
			return []attempt{b.attempt(b.id("propose", w.ID))}
		}
	case StateCritiquing:
		var all []attempt
		for _, target := range b.targets(w.seat) {
			all = append(all, b.attempt(b.id("critique", w.ID, b.agents[target].ID)))
		}
		return all
	case StateRefining:
		if b.refines(w) {
			return []attempt{b.attempt(b.id("refine", w.ID))}
		}
	default:
	}
	return nil
}

// lost warns of every call of a phase that has failed for good, whose agent is left out of what it was for, and of
// every one whose prompt was made smaller.
func (b *board) lost(phase flow.State) []flow.Warning {
	var warnings []flow.Warning
	for i := range b.agents {
		w := &b.agents[i]
		for _, a := range b.duties(w, phase) {
			switch {
			case b.Failed(a.id):
				warnings = append(warnings, b.failing(a.id, w.ID, w.Name+" is left out"))
			case a.short == 0:
			case phase == StateCritiquing:
				warnings = append(warnings, a.smaller(w.ID, "of a part of the proposal"))
			case a.short == 1:
				warnings = append(warnings, a.smaller(w.ID, "without the history"))
			default:
				warnings = append(warnings, a.smaller(w.ID, "without the history, and of a part of each text"))
			}
		}
	}
	return warnings
}

// exit describes the end of a phase: the agents that were left out, and how many calls the next phase makes, or why there
// is none.
func (b *board) exit(phase flow.State, next func(*flow.Record) []flow.Call) flow.Exit {
	exit := flow.Exit{Warnings: b.lost(phase)}
	if few := b.tooFew(phase); few != "" {
		exit.Reason, exit.Evidence, exit.Calls = flow.EndTooFew, few, solutionSize(b.Record)
		return exit
	}
	exit.Calls = len(next(b.Record))
	return exit
}
