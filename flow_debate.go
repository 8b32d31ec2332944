package debate

import (
	"fmt"
)

// States of the debate flow.
const (
	StateAwaitingResponses State = "awaitingResponses" // the participants speak
	StateJudging           State = "judging"           // the judges assess the round
	StateRoundComplete     State = "roundComplete"
)

// Triggers of the debate flow.
const (
	TriggerResponded Trigger = "responded" // everybody has spoken, or a group of the round has
	TriggerJudged    Trigger = "judged"    // the round is assessed
	TriggerProceed   Trigger = "proceed"   // on to the next round
)

// DebateFlow yields the flow of an adversarial debate: rounds of turns, an assessment after each, a
// verdict at the end; before all that the positions that are to be assigned, and around it the votes
// of an audience.
func DebateFlow() *Flow { //nolint:revive // Flow is the type of all flows, this is that of a debate
	always := Guard{}
	received := Guard{"allArgumentsReceived", allArgumentsReceived}
	few := Guard{"tooFewParticipants", func(r *Record) bool { _, few := tooFew(r); return few }}
	ends := Guard{"shouldEndDebate", func(r *Record) bool { _, _, ok := endReason(r); return ok }}
	limit := Guard{"maxRoundsReached", func(r *Record) bool { return r.Round >= r.config.Rounds }}
	goesOn := Guard{"canContinue", canContinue}
	return &Flow{
		Name:    DefaultFlow,
		Version: 1,
		Start:   StateAwaitingResponses,
		Rules: []Rule{
			{StateAwaitingResponses, TriggerResponded, StateCompleting, few},
			{StateAwaitingResponses, TriggerResponded, StateJudging, received},
			{StateAwaitingResponses, TriggerResponded, StateAwaitingResponses, always},
			{StateJudging, TriggerJudged, StateCompleting, ends},
			{StateJudging, TriggerJudged, StateCompleting, limit},
			{StateJudging, TriggerJudged, StateRoundComplete, always},
			{StateRoundComplete, TriggerProceed, StateAwaitingResponses, goesOn},
			{StateRoundComplete, TriggerProceed, StateCompleting, always},
		},
		Steps: map[State]Step{
			StateInitializing:      {Calls: firstCalls, Next: begin},
			StateAwaitingResponses: {Calls: turnCalls, Next: responded},
			StateJudging:           {Calls: assessmentCalls, Next: judged},
			StateRoundComplete:     {Next: proceed},
			StateCompleting:        {Calls: lastCalls, Next: concluded},
		},
		Schemas: map[string]*Schema{
			string(KindAssessment): judgementSchema(),
			schemaRubric:           rubricSchema(),
			string(KindVerdict):    verdictSchema(),
			string(KindBallot):     schemaOf(string(KindBallot), checkBallot),
			string(KindAssign):     schemaOf(string(KindAssign), checkPlan),
		},
		Bodies: []Body{&Assessment{}, &Verdict{}, &Ballot{}, &Assignment{}},
		Texts:  debateTexts,
		Timed:  []State{StateAwaitingResponses},
	}
}

// firstCalls yields what is to be done before the first round: positions, and the audience's first vote.
// Who votes is told of the positions, so these come first.
func firstCalls(r *Record) []Call {
	if calls := assignCalls(r); len(calls) > 0 {
		return calls
	}
	return ballotCalls(r, false)
}

// lastCalls yields what is to be done at the end: the verdicts, and the audience's second vote.
func lastCalls(r *Record) []Call {
	if len(r.Turns) == 0 {
		return nil
	}
	return append(verdictCalls(r), ballotCalls(r, true)...)
}

func begin(r *Record) (Trigger, Note, bool) {
	return TriggerInitialized, Note{Round: roundNote(r, 1)}, true
}

func roundNote(r *Record, n int) *Round {
	f := r.Format()
	i := f.phase(n, r.config.Rounds)
	note := &Round{N: n, Of: r.config.Rounds, Phase: phaseArgument}
	if i >= 0 {
		note.Phase = f.Phases[i].Name
	}
	schedule := r.schedule
	if i != r.phase {
		schedule = f.speeches(i, r.config)
	}
	for k := range schedule {
		if !r.absent(&schedule[k]) {
			note.Calls++
		}
	}
	return note
}

// assignCalls yields the call that finds positions, if that is still to be done.
func assignCalls(r *Record) []Call {
	a := r.config.Assign
	const id = "assign"
	if a == nil || r.Assignment != nil || len(r.unplaced()) == 0 {
		return nil
	}
	return []Call{{
		ID: id, Kind: KindAssign, By: assigner, Model: a.Model, Fallbacks: a.Fallbacks, View: View{None: true},
		Schema: string(KindAssign), Last: func(r *Record) string { return r.Text("assign") },
		Temperature: a.Temperature, Timeout: r.config.JudgeTimeout,
	}}
}

// assigner is under what name the search for positions is accounted.
const assigner = "assigner"

func performer(judge string, person bool) Performer {
	switch {
	case person:
		return ByPerson
	case judge != "":
		return ByJudge
	default:
		return ByModel
	}
}

func allArgumentsReceived(r *Record) bool {
	if r.Format() == nil || r.Round == 0 {
		return false
	}
	if r.late {
		return true
	}
	for i := range r.schedule {
		if !r.said[i] && !r.absent(&r.schedule[i]) {
			return false
		}
	}
	return true
}

func responded(r *Record) (Trigger, Note, bool) {
	note := Note{}
	if r.late && len(r.Turns) == 0 {
		err := fmt.Errorf("nobody has spoken within the round's time of %s", r.config.RoundTimeout)
		failure := &Error{Kind: KindTimeout, Op: "round", Round: r.Round, Err: err}
		return TriggerFail, Note{Reason: EndFailed, Evidence: failure.Error(), Failure: failure}, true
	}
	if evidence, few := tooFew(r); few {
		note.Reason, note.Evidence = EndTooFew, evidence
	}
	return TriggerResponded, note, true
}

func judged(r *Record) (Trigger, Note, bool) {
	note := Note{}
	if reason, evidence, ok := endReason(r); ok {
		note.Reason, note.Evidence = reason, evidence
	} else if r.Round >= r.config.Rounds {
		note.Reason, note.Evidence = EndRounds, fmt.Sprintf("all %d rounds are spoken", r.config.Rounds)
	}
	return TriggerJudged, note, true
}

// canContinue holds while enough participants are left, not all of them are rate-limited, and the
// conversation fits everybody's model.
func canContinue(r *Record) bool {
	_, stuck := hindrance(r)
	return !stuck
}

// hindrance says what keeps the debate from another round, if anything does.
func hindrance(r *Record) (evidence string, stuck bool) {
	if evidence, few := tooFew(r); few {
		return evidence, true
	}
	active, limited := r.Active(), 0
	for i := range active {
		call := r.latestOf(active[i].Name)
		if call == nil {
			continue
		}
		switch call.standing() {
		case StatusContextExceeded:
			return fmt.Sprintf("the conversation no longer fits the model of %s", active[i].Name), true
		case StatusRateLimited:
			limited++
		default:
		}
	}
	return "everybody who is left is rate-limited", limited >= len(active)
}

func proceed(r *Record) (Trigger, Note, bool) {
	if evidence, stuck := hindrance(r); stuck {
		return TriggerProceed, Note{Reason: EndTooFew, Evidence: evidence}, true
	}
	return TriggerProceed, Note{Round: roundNote(r, r.Round+1)}, true
}

func concluded(*Record) (Trigger, Note, bool) { return TriggerCompleted, Note{}, true }
