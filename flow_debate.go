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
	return debateFlow(builtinFormats())
}

// builtinFormats yields the built-in formats by name.
func builtinFormats() map[string]Format {
	formats := make(map[string]Format)
	for _, f := range BuiltinFormats() {
		formats[f.Name] = f
	}
	return formats
}

// debateFlow is DebateFlow with the formats of an engine.
func debateFlow(formats map[string]Format) *Flow {
	always := Guard{}
	received := Guard{"allArgumentsReceived", allArgumentsReceived}
	few := Guard{"tooFewParticipants", func(r *Record) bool { _, few := tooFew(of(r)); return few }}
	ends := Guard{"shouldEndDebate", func(r *Record) bool { _, _, ok := endReason(of(r)); return ok }}
	limit := Guard{"maxRoundsReached", func(r *Record) bool { d := of(r); return d.Round >= d.config.Rounds }}
	goesOn := Guard{"canContinue", canContinue}
	return &Flow{
		Name:    FlowName,
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
		Schemas: debateSchemas(),
		Bodies:  []Body{&Assessment{}, &Verdict{}, &Ballot{}, &Assignment{}},
		Timed:   []State{StateAwaitingResponses},

		Decode: decodeDebate, Settle: settler(formats), Check: checker(formats), Freeze: freezer(formats), Thaw: thaw, Draw: draw, Views: views, Prompted: prompted,
		Texts: debateTexts, Open: open, Last: verdictsAndVotes, Spare: droppable, Fixed: fixed, Estimate: estimateDebate,
	}
}

// firstCalls yields what is to be done before the first round: positions, and the audience's first vote.
// Who votes is told of the positions, so these come first.
func firstCalls(r *Record) []Call {
	d := of(r)
	if calls := assignCalls(d); len(calls) > 0 {
		return calls
	}
	return ballotCalls(d, false)
}

// lastCalls yields what is to be done at the end: the verdicts, and the audience's second vote.
func lastCalls(r *Record) []Call {
	if len(r.Turns) == 0 {
		return nil
	}
	return verdictsAndVotes(r)
}

// verdictsAndVotes is lastCalls, whether or not anything was said.
func verdictsAndVotes(r *Record) []Call {
	d := of(r)
	return append(verdictCalls(d), ballotCalls(d, true)...)
}

func begin(r *Record) (Trigger, Note, bool) {
	d := of(r)
	return TriggerInitialized, Note{Round: roundNote(d, 1)}, true
}

func roundNote(d *Debate, n int) *Round {
	f := d.format
	i := f.PhaseIndex(n, d.config.Rounds)
	note := &Round{N: n, Of: d.config.Rounds, Phase: phaseArgument}
	if i >= 0 {
		note.Phase = f.Phases[i].Name
	}
	schedule := d.schedule
	if i != d.phase {
		schedule = f.Speeches(i, d.config.Cast())
	}
	for k := range schedule {
		if !d.absent(&schedule[k]) {
			note.Calls++
		}
	}
	return note
}

// assignCalls yields the call that finds positions, if that is still to be done.
func assignCalls(d *Debate) []Call {
	a := d.config.Assign
	const id = "assign"
	if a == nil || d.Assignment != nil || len(d.unplaced()) == 0 {
		return nil
	}
	return []Call{{
		ID: id, Kind: KindAssign, By: assigner, Model: a.Model, Fallbacks: a.Fallbacks, View: View{None: true},
		Schema: string(KindAssign), Last: func(*Record) string { return d.Text("assign") },
		Temperature: a.Temperature, Timeout: d.config.JudgeTimeout,
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
	d := of(r)
	if d.format == nil || d.Round == 0 {
		return false
	}
	if d.Late() {
		return true
	}
	for i := range d.schedule {
		if !d.said[i] && !d.absent(&d.schedule[i]) {
			return false
		}
	}
	return true
}

func responded(r *Record) (Trigger, Note, bool) {
	d := of(r)
	note := Note{}
	if d.Late() && len(d.Turns) == 0 {
		err := fmt.Errorf("nobody has spoken within the round's time of %s", d.config.RoundTimeout)
		failure := &Error{Kind: KindTimeout, Op: "round", Round: d.Round, Err: err}
		return TriggerFail, Note{Reason: EndFailed, Evidence: failure.Error(), Failure: failure}, true
	}
	if evidence, few := tooFew(d); few {
		note.Reason, note.Evidence = EndTooFew, evidence
	}
	return TriggerResponded, note, true
}

func judged(r *Record) (Trigger, Note, bool) {
	d := of(r)
	note := Note{}
	if reason, evidence, ok := endReason(d); ok {
		note.Reason, note.Evidence = reason, evidence
	} else if d.Round >= d.config.Rounds {
		note.Reason, note.Evidence = EndRounds, fmt.Sprintf("all %d rounds are spoken", d.config.Rounds)
	}
	return TriggerJudged, note, true
}

// canContinue holds while enough participants are left, not all of them are rate-limited, and the
// conversation fits everybody's model.
func canContinue(r *Record) bool {
	d := of(r)
	_, stuck := hindrance(d)
	return !stuck
}

// hindrance says what keeps the debate from another round, if anything does.
func hindrance(d *Debate) (evidence string, stuck bool) {
	if evidence, few := tooFew(d); few {
		return evidence, true
	}
	active, limited := d.Active(), 0
	for i := range active {
		switch d.Status(active[i]) {
		case StatusContextExceeded:
			return fmt.Sprintf("the conversation no longer fits the model of %s", active[i]), true
		case StatusRateLimited:
			limited++
		default:
		}
	}
	return "everybody who is left is rate-limited", limited >= len(active)
}

func proceed(r *Record) (Trigger, Note, bool) {
	d := of(r)
	if evidence, stuck := hindrance(d); stuck {
		return TriggerProceed, Note{Reason: EndTooFew, Evidence: evidence}, true
	}
	return TriggerProceed, Note{Round: roundNote(d, d.Round+1)}, true
}

func concluded(*Record) (Trigger, Note, bool) { return TriggerCompleted, Note{}, true }
