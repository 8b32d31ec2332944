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
	TriggerResponded Trigger = "responded" // all speakers of the round have spoken, or all of a group
	TriggerJudged    Trigger = "judged"    // the round is assessed
	TriggerProceed   Trigger = "proceed"   // the next round begins
)

// DebateFlow returns the flow of an adversarial debate. Its order is:
//   - positions are assigned, if the config asks for it
//   - the audience votes, if there is one
//   - rounds of turns follow, with an assessment after each
//   - the judges give their verdicts
//   - the audience votes again
func DebateFlow() *Flow { //nolint:revive // Flow is the type of all flows, this is that of a debate
	return debateFlow(builtinFormats())
}

// builtinFormats returns the built-in formats by name.
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

		Decode: decodeDebate, Settle: settler(formats), Check: checker(formats), Freeze: freezer(formats), Thaw: thaw,
		Draw: draw, Views: views, Prompted: prompted, Texts: debateTexts, Open: open,
		Last: verdictsAndVotes, Spare: droppable, Fixed: fixed, Estimate: estimateDebate,
	}
}

// firstCalls returns the missing calls before the first round: the positions, then the audience's first vote. The
// positions come first because the voters are told of them.
func firstCalls(r *Record) []Call {
	d := of(r)
	if calls := assignCalls(d); len(calls) > 0 {
		return calls
	}
	return ballotCalls(d, false)
}

// lastCalls returns the missing calls at the end: the verdicts, and the audience's second vote.
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

// assignCalls returns the call that finds positions, if it is still missing.
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

// assigner is the name under which the search for positions is accounted.
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

// canContinue reports whether another round is possible:
//   - enough participants are left
//   - not all of them are rate-limited
//   - the conversation fits the model of each of them
func canContinue(r *Record) bool {
	d := of(r)
	_, stuck := hindrance(d)
	return !stuck
}

// hindrance reports whether anything prevents another round, and what.
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
