package debate

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/agonist-dev/debate/prompt"
)

// States of the debate flow.
const (
	StateAwaitingResponses State = "awaitingResponses" // the participants speak
	StateJudging           State = "judging"           // the judge assesses the round
	StateRoundComplete     State = "roundComplete"
)

// Triggers of the debate flow.
const (
	TriggerResponded Trigger = "responded" // everybody has spoken
	TriggerJudged    Trigger = "judged"    // the round is assessed
	TriggerProceed   Trigger = "proceed"   // on to the next round
)

// DebateFlow yields the flow of an adversarial debate: rounds of turns, an assessment after each, a
// verdict at the end.
func DebateFlow() *Flow { //nolint:revive // Flow is the type of all flows, this is that of a debate
	always := Guard{}
	received := Guard{"allArgumentsReceived", allArgumentsReceived}
	ends := Guard{"shouldEndDebate", func(r *Record) bool { _, ok := endReason(r); return ok }}
	limit := Guard{"maxRoundsReached", func(r *Record) bool { return r.Round >= r.config.Rounds }}
	goesOn := Guard{"canContinue", canContinue}
	return &Flow{
		Name:    DefaultFlow,
		Version: 1,
		Start:   StateAwaitingResponses,
		Rules: []Rule{
			{StateAwaitingResponses, TriggerResponded, StateJudging, received},
			{StateJudging, TriggerJudged, StateCompleting, ends},
			{StateJudging, TriggerJudged, StateCompleting, limit},
			{StateJudging, TriggerJudged, StateRoundComplete, always},
			{StateRoundComplete, TriggerProceed, StateAwaitingResponses, goesOn},
			{StateRoundComplete, TriggerProceed, StateCompleting, always},
		},
		Steps: map[State]Step{
			StateInitializing:      {Next: begin},
			StateAwaitingResponses: {Calls: turnCalls, Next: responded},
			StateJudging:           {Calls: assessmentCalls, Next: judged},
			StateRoundComplete:     {Next: proceed},
			StateCompleting:        {Calls: verdictCalls, Next: concluded},
		},
		Schemas: map[string]*Schema{
			string(KindAssessment): judgementSchema(),
			string(KindVerdict):    verdictSchema(),
		},
		Texts: debateTexts,
	}
}

func begin(r *Record) (Trigger, Note, bool) {
	return TriggerInitialized, Note{Round: roundNote(r, 1)}, true
}

func roundNote(r *Record, n int) *Round {
	phase := r.Format().Phase(n, r.config.Rounds)
	return &Round{N: n, Of: r.config.Rounds, Phase: phase.Name, Calls: len(r.Active())}
}

// turnCalls yields the turns of the round that are still missing: the next one, or all of them if
// the participants speak at once.
func turnCalls(r *Record) []Call {
	phase := r.phase
	var calls []Call
	active := r.Active()
	for i := range active {
		p, seat := &active[i], r.seat(i)
		if r.spoken(phase.Name, seat) {
			continue
		}
		call := turnCall(r, turnID(r.Round, phase.Name, p.Name), phase.Name, seat, p)
		if r.config.Mode == Sequential {
			return []Call{call}
		}
		calls = append(calls, call)
	}
	return calls
}

func turnID(round int, phase, name string) string {
	return "r" + strconv.Itoa(round) + "." + phase + "." + name
}

func turnCall(r *Record, id, phase string, slot int, p *Participant) Call {
	call := Call{
		ID: id, Kind: CallKind(phase), By: p.Name, Model: p.Model, Fallbacks: p.Fallbacks, Round: r.Round, Slot: slot,
		Hidden: r.config.Mode == Simultaneous, System: r.systems[slot], Last: turnText,
		MaxTokens: p.MaxTokens, Temperature: p.Temperature, Timeout: r.config.TurnTimeout,
	}
	if call.Temperature == nil {
		call.Temperature = r.config.Temperature
	}
	if r.Round > 1 && r.config.RoundDelay > 0 {
		call.NotBefore = r.EnteredAt().Add(r.config.RoundDelay)
	}
	return call
}

func turnText(r *Record) string { return prompt.Fill(r.instruction, r.Round) }

func allArgumentsReceived(r *Record) bool {
	if r.Format() == nil || r.Round == 0 {
		return false
	}
	phase := r.Format().Phase(r.Round, r.config.Rounds)
	for i := range r.Active() {
		if !r.spoken(phase.Name, r.seat(i)) {
			return false
		}
	}
	return true
}

// spoken reports whether the participant in this seat has had its turn of the phase in the current round.
func (r *Record) spoken(phase string, seat int) bool {
	for _, t := range slices.Backward(r.Turns) {
		if t.Round > 0 && t.Round < r.Round {
			return false
		}
		if t.Round == r.Round && t.Slot == seat && string(t.Kind) == phase {
			return true
		}
	}
	return false
}

func responded(*Record) (Trigger, Note, bool) { return TriggerResponded, Note{}, true }

// assessmentCalls yields the assessments of the round that are still missing.
func assessmentCalls(r *Record) []Call {
	judging := r.config.Judging
	if judging == nil || judging.When == AtEnd {
		return nil
	}
	return judgeCalls(r, "r"+strconv.Itoa(r.Round)+".assessment", KindAssessment, assessText)
}

func assessText(r *Record) string { return prompt.Fill(r.Text("assess"), r.Round) }

// judgeCalls yields a call of this kind for every judge who has not answered.
func judgeCalls(r *Record, id string, kind CallKind, last func(*Record) string) []Call {
	var calls []Call
	for i := range r.config.Judging.Judges {
		judge := &r.config.Judging.Judges[i]
		call := Call{
			ID: id + "." + judge.Name, Kind: kind, By: judge.Name, Model: judge.Model, Fallbacks: judge.Fallbacks, Judge: judge.Judge,
			Round: r.Round, Slot: i, Schema: string(kind), System: r.Text("system." + judge.Name), Last: last,
			MaxTokens: judge.MaxTokens, Temperature: judge.Temperature, Timeout: r.config.JudgeTimeout,
		}
		if judge.Judge != "" {
			call.Performer = ByJudge
		}
		if !r.Done(call.ID) {
			calls = append(calls, call)
		}
	}
	return calls
}

func judged(r *Record) (Trigger, Note, bool) {
	note := Note{}
	if reason, ok := endReason(r); ok {
		note.Evidence = reason
	} else if r.Round >= r.config.Rounds {
		note.Evidence = fmt.Sprintf("all %d rounds are spoken", r.config.Rounds)
	}
	return TriggerJudged, note, true
}

// endReason says why the format ends the debate after this round, if it does.
func endReason(r *Record) (string, bool) {
	if r.Format() == nil {
		return "", false
	}
	a := r.assessment()
	switch r.Format().End {
	case EndByRounds:
		if r.Round >= r.config.Rounds {
			return fmt.Sprintf("the format has %d rounds", r.config.Rounds), true
		}
	case EndByConvergence:
		switch {
		case a == nil:
		case a.Flags.ConvergenceReached:
			return fmt.Sprintf("%s sees convergence in round %d", a.Judge, a.Round), true
		case a.Flags.DiminishingReturns:
			return fmt.Sprintf("%s sees diminishing returns in round %d", a.Judge, a.Round), true
		}
	default:
		if a != nil && !a.ShouldContinue {
			return fmt.Sprintf("%s wishes to end after round %d", a.Judge, a.Round), true
		}
	}
	return "", false
}

// assessment yields the assessment of the current round; nil: there is none.
func (r *Record) assessment() *Assessment {
	if n := len(r.Assessments); n > 0 && r.Assessments[n-1].Round == r.Round {
		return r.Assessments[n-1]
	}
	return nil
}

// canContinue holds while at least two participants are left, not all of them are rate-limited, and
// the conversation fits everybody's model.
func canContinue(r *Record) bool {
	active, limited := r.Active(), 0
	for _, p := range active {
		call := r.latestOf(p.Name)
		if call == nil {
			continue
		}
		switch call.standing() {
		case StatusContextExceeded:
			return false
		case StatusRateLimited:
			limited++
		default:
		}
	}
	return len(active) >= 2 && limited < len(active)
}

func proceed(r *Record) (Trigger, Note, bool) {
	if !canContinue(r) {
		return TriggerProceed, Note{Evidence: "too few participants are able to go on"}, true
	}
	return TriggerProceed, Note{Round: roundNote(r, r.Round+1)}, true
}

// verdictCalls yields the verdict that is still missing.
func verdictCalls(r *Record) []Call {
	if r.config.Judging == nil || len(r.Turns) == 0 {
		return nil
	}
	return judgeCalls(r, "verdict", KindVerdict, verdictText)
}

// verdictText tells the judge whether the last round is complete.
func verdictText(r *Record) string {
	if !allArgumentsReceived(r) {
		return r.Text("verdict.unfinished")
	}
	return r.Text("verdict")
}

func concluded(*Record) (Trigger, Note, bool) { return TriggerCompleted, Note{}, true }

// seat yields the place of the i-th active participant among all.
func (r *Record) seat(i int) int {
	if len(r.dropped) == 0 {
		return i
	}
	name := r.Active()[i].Name
	for seat := range r.config.Participants {
		if r.config.Participants[seat].Name == name {
			return seat
		}
	}
	return i
}
