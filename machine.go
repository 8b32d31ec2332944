package debate

import (
	"maps"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
)

// States of the debate flow.
const (
	StateAwaitingResponses flow.State = "awaitingResponses" // the participants speak
	StateJudging           flow.State = "judging"           // the judges assess the round
	StateRoundComplete     flow.State = "roundComplete"
)

// Triggers of the debate flow.
const (
	TriggerResponded flow.Trigger = "responded" // all speakers of the round have spoken, or all of a group
	TriggerJudged    flow.Trigger = "judged"    // the round is assessed
	TriggerProceed   flow.Trigger = "proceed"   // the next round begins
)

// DebateFlow returns the flow of an adversarial debate. Its order is:
//   - positions are assigned, if the config asks for it
//   - the audience votes, if there is one
//   - rounds of turns follow, with an assessment after each
//   - the judges give their verdicts
//   - the audience votes again
//
// own are formats that configs may name in addition to the built-in ones. An engine's own debate flow has those in
// Engine.Formats. A host program that composes a flow from this one passes its formats here.
func DebateFlow(own ...format.Format) *flow.Flow { //nolint:revive // Flow is the type of all flows, this is that of a debate
	formats := make(map[string]format.Format, len(own))
	for i := range own {
		formats[own[i].Name] = *own[i].Clone()
	}
	return debateFlow(formats, nil)
}

// debateFlow is DebateFlow with formats by name, and with detectors of the host program's.
func debateFlow(own map[string]format.Format, detectors map[string]Detector) *flow.Flow {
	formats, builtins := make(map[string]format.Format), make(map[string]format.Format)
	for _, f := range format.Builtin() {
		formats[f.Name] = f
		if _, replaced := own[f.Name]; !replaced {
			builtins[f.Name] = f
		}
	}
	maps.Copy(formats, own)
	always := flow.Guard{}
	received := flow.Guard{Name: "allArgumentsReceived", OK: allArgumentsReceived}
	few := flow.Guard{Name: "tooFewParticipants", OK: func(r *flow.Record) bool { _, few := tooFew(of(r)); return few }}
	ends := flow.Guard{Name: "shouldEndDebate", OK: func(r *flow.Record) bool { _, ok := endReason(of(r)); return ok }}
	limit := flow.Guard{Name: "maxRoundsReached", OK: func(r *flow.Record) bool { d := of(r); return d.alone || d.Round >= d.rounds() }}
	further := flow.Guard{Name: "hasFurtherRounds", OK: hasFurtherRounds}
	goesOn := flow.Guard{Name: "canContinue", OK: canContinue}
	return &flow.Flow{
		Name:    FlowName,
		Version: 2,
		Start:   StateAwaitingResponses,
		Rules: []flow.Rule{
			{From: StateAwaitingResponses, On: TriggerResponded, To: flow.StateCompleting, When: few},
			{From: StateAwaitingResponses, On: TriggerResponded, To: StateJudging, When: received},
			{From: StateAwaitingResponses, On: TriggerResponded, To: StateAwaitingResponses, When: always},
			{From: StateJudging, On: TriggerJudged, To: flow.StateCompleting, When: ends},
			{From: StateJudging, On: TriggerJudged, To: flow.StateCompleting, When: limit},
			{From: StateJudging, On: TriggerJudged, To: StateRoundComplete, When: always},
			{From: StateRoundComplete, On: TriggerProceed, To: StateAwaitingResponses, When: goesOn},
			{From: StateRoundComplete, On: TriggerProceed, To: flow.StateCompleting, When: always},
			{From: flow.StateCompleting, On: flow.TriggerReopen, To: StateRoundComplete, When: further},
			{From: flow.StateCompleting, On: flow.TriggerReopen, To: StateAwaitingResponses, When: always},
		},
		Steps: map[flow.State]flow.Step{
			flow.StateInitializing: {Calls: firstCalls, Next: begin, Steady: []flow.CallKind{KindBallot}},
			StateAwaitingResponses: {Calls: turnCalls, Next: responded},
			StateJudging:           {Calls: assessmentCalls, Next: judged},
			StateRoundComplete:     {Next: proceed},
			flow.StateCompleting:   {Calls: lastCalls, Next: concluded, Steady: []flow.CallKind{KindBallot}},
		},
		Schemas: debateSchemas(),
		Bodies:  []flow.Body{&Assessment{}, &Verdict{}, &Ballot{}, &Assignment{}, &FloorGiven{}},
		Timed:   []flow.State{StateAwaitingResponses},

		Decode: flow.DecodeTo[Config], Normalize: normalizer(formats), Check: checker(formats, own, detectors), Readable: true,
		Freeze: freezer(formats), Thaw: thaw, Draw: draw, Views: views, ConfigSchema: configSchema,
		Texts: debateTexts(builtins), Open: opener(detectors, builtins),
		Asks: asks, Missing: missingDetectors, Last: verdictsAndVotes, Owes: owes, Amend: amendable, Aside: aside, Reopen: reopen,
		Round: newRound, OnFailure: failureRules(), Kinds: kinds(formats), Fixed: fixed, Estimate: estimateDebate,
		Shape: formatName, Result: winnerOf,
	}
}

// firstCalls returns the missing calls before the first round: the positions, then the audience's first vote. The
// positions come first because the voters are told of them.
func firstCalls(r *flow.Record) []*flow.Call {
	d := of(r)
	if calls := assignCalls(d); len(calls) > 0 {
		return calls
	}
	return ballotCalls(d, false)
}

// lastCalls returns the missing calls at the end: the verdicts, and the audience's second vote.
func lastCalls(r *flow.Record) []*flow.Call {
	if len(r.Turns) == 0 {
		return nil
	}
	return verdictsAndVotes(r)
}

// verdictsAndVotes is lastCalls, whether or not anything was said.
func verdictsAndVotes(r *flow.Record) []*flow.Call {
	d := of(r)
	return append(verdictCalls(d), ballotCalls(d, true)...)
}

func begin(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	return flow.TriggerInitialized, flow.Exit{Round: newRound(r, 1)}, true
}

// newRound returns how a round begins; see flow.Flow.Round.
func newRound(r *flow.Record, n int) *flow.Round {
	d := of(r)
	f, most := d.format, max(n, d.rounds()) // a fork may have fewer rounds than have begun
	i := f.PhaseIndex(n, most)
	round := &flow.Round{N: n, Of: most, Phase: format.PhaseArgument}
	if i >= 0 {
		round.Phase = f.Phases[i].Name
	}
	schedule := d.schedule
	if i != d.phase {
		schedule = f.Speeches(i, d.config.Cast())
	}
	for k := range schedule {
		if !d.left(&schedule[k]) {
			round.Calls++
		}
	}
	if d.chooses(i) && round.Calls > 1 {
		round.Calls += round.Calls - 1 // the last speech needs no decision
	}
	return round
}

// canContinue reports whether enough participants are left for another round.
func canContinue(r *flow.Record) bool {
	_, few := tooFew(of(r))
	return !few
}

// hasFurtherRounds reports whether rounds follow in a debate that is reopened. Where the format fixes their number, there are none.
func hasFurtherRounds(r *flow.Record) bool {
	d := of(r)
	return d.format.Rounds == 0 && d.Round < d.rounds()
}

func proceed(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	d := of(r)
	if evidence, few := tooFew(d); few {
		return TriggerProceed, flow.Exit{Reason: flow.EndTooFew, Evidence: evidence, By: flow.EndedByPerson}, true
	}
	return TriggerProceed, flow.Exit{Round: newRound(r, d.Round+1)}, true
}

func concluded(*flow.Record) (flow.Trigger, flow.Exit, bool) {
	return flow.TriggerCompleted, flow.Exit{}, true
}
