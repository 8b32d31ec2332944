package debate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/prompt"
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
		Texts: debateTexts,
		Timed: []State{StateAwaitingResponses},
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

// ballotCalls yields the votes of the audience that are still missing.
func ballotCalls(r *Record, after bool) []Call {
	if r.config.Audience == nil {
		return nil
	}
	id, text := "vote.before.", "ballot.before"
	if after {
		id, text = "vote.after.", "ballot.after"
	}
	var calls []Call
	for i := range r.config.Audience.Members {
		m := &r.config.Audience.Members[i]
		call := memberCall(r, m, id+m.Name, KindBallot)
		call.Schema, call.after, call.Slot = string(KindBallot), after, i
		call.View.None = !after
		call.Last = func(r *Record) string { return r.Text(text) }
		if !r.Done(call.ID) && !r.Failed(call.ID) {
			calls = append(calls, call)
		}
	}
	return calls
}

// memberCall asks one of the audience. Who does not answer is left out.
func memberCall(r *Record, m *Member, id string, kind CallKind) Call {
	return Call{
		ID: id, Kind: kind, By: m.Name, Performer: performer(m.Judge, m.Person), Model: m.Model, Fallbacks: m.Fallbacks, Judge: m.Judge,
		System: r.Text("system." + m.Name), Timeout: r.config.JudgeTimeout, OnFail: OnFail{Skip: true},
	}
}

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

// turnCalls yields the turns of the round that are still missing: the next one, or all of a group that
// speaks at once. A group begins when all turns before it can be read.
func turnCalls(r *Record) []Call {
	if r.late {
		return nil
	}
	_, few := tooFew(r)
	var calls []Call
	group := 0
	for i := range r.schedule {
		s := &r.schedule[i]
		if i < len(r.said) && r.said[i] || r.absent(s) {
			continue
		}
		if few && !r.speaking(s) { // who speaks already is heard to the end
			continue
		}
		if len(r.hidden) > 0 && r.groupOf(r.Turns[r.hidden[0]]) != s.Group {
			break
		}
		if len(calls) > 0 && s.Group != group {
			break
		}
		calls, group = append(calls, turnCall(r, s)), s.Group
		if group == 0 {
			break
		}
	}
	return calls
}

// groupOf yields the group of a turn; 0 if it is none of the present schedule's.
func (r *Record) groupOf(t *Turn) int {
	if t.Round != r.Round || t.Slot >= len(r.schedule) {
		return 0
	}
	return r.schedule[t.Slot].Group
}

// speaking reports whether a speech is being made.
func (r *Record) speaking(s *Speech) bool {
	call := r.calls[turnID(r.Round, s.id)]
	return call != nil && call.status == callOpen
}

// absent reports whether a speech cannot be held: its speaker, or the one it is addressed to, takes no
// further part.
func (r *Record) absent(s *Speech) bool {
	if s.seat < 0 && r.Failed(turnID(r.Round, s.id)) || r.unasked(s) {
		return true
	}
	return len(r.dropped) > 0 && (r.isDropped(s.Speaker) || s.Target != "" && r.isDropped(s.Target))
}

// unasked reports whether a speech would answer a question that one of the audience was to put and has not.
func (r *Record) unasked(s *Speech) bool {
	if r.config.Audience == nil || s.Kind != KindAnswer {
		return false
	}
	for i := range r.schedule {
		q := &r.schedule[i]
		if q.seat < 0 && q.Speaker == s.Target && q.Slot < s.Slot && r.Failed(turnID(r.Round, q.id)) {
			return true
		}
	}
	return false
}

func turnID(round int, speech string) string { return "r" + strconv.Itoa(round) + "." + speech }

func turnCall(r *Record, s *Speech) Call {
	id := turnID(r.Round, s.id)
	if s.seat < 0 {
		return questionCall(r, s, id)
	}
	p := &r.config.Participants[s.seat]
	call := Call{
		ID: id, Kind: s.Kind, By: p.Name, Model: p.Model, Fallbacks: p.Fallbacks, Target: s.Target, Round: r.Round, Slot: s.Slot,
		Hidden: s.Group != 0, System: r.systems[s.seat], Last: s.instruction, View: View{Reader: s.Speaker, From: r.since()},
		MaxTokens: p.MaxTokens, Temperature: p.Temperature, Timeout: r.config.TurnTimeout,
	}
	if r.Failed(id) {
		call.OnFail = failingSpeaker(r, p.Name)
	}
	if call.MaxTokens == 0 && s.MaxTokens > 0 && !r.thinks(p) {
		call.MaxTokens = min(s.MaxTokens, r.config.MaxTokens)
	}
	if call.Temperature == nil {
		call.Temperature = r.config.Temperature
	}
	if r.Round > 1 && r.config.RoundDelay > 0 {
		call.NotBefore = r.EnteredAt().Add(r.config.RoundDelay)
	}
	return call
}

// thinks reports whether the thoughts of one of a participant's models count as output: a cap made for
// what is said would cut them.
func (r *Record) thinks(p *Participant) bool {
	reasons := func(name string) bool {
		m := r.model(name)
		return m != nil && m.Reasoning
	}
	return reasons(p.Model) || slices.ContainsFunc(p.Fallbacks, reasons) || reasons(r.replaced(p.Name))
}

// questionCall lets one of the audience ask.
func questionCall(r *Record, s *Speech, id string) Call {
	for i := range r.config.Audience.Members {
		if m := &r.config.Audience.Members[i]; m.Name == s.Speaker {
			call := memberCall(r, m, id, s.Kind)
			call.Round, call.Slot, call.Target, call.Hidden, call.Last = r.Round, s.Slot, s.Target, s.Group != 0, s.instruction
			call.MaxTokens = s.MaxTokens
			return call
		}
	}
	return Call{ID: id, Kind: s.Kind, By: s.Speaker, OnFail: OnFail{Skip: true}}
}

// since is the first round that the present phase lets its speakers read.
func (r *Record) since() int {
	if r.phase < 0 || r.start.Format.Phases[r.phase].Back == 0 {
		return 0
	}
	return max(0, r.Round-r.start.Format.Phases[r.phase].Back)
}

// instruction is what a speaker is told last.
func (s *Speech) instruction(r *Record) string {
	text := prompt.Fill(r.Text(s.text), r.Round)
	if s.Target != "" && strings.Contains(text, targetHole) {
		text = strings.ReplaceAll(text, targetHole, s.Target)
	}
	return text
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

// assessmentCalls yields the assessments of the round that are still missing.
func assessmentCalls(r *Record) []Call {
	judging := r.config.Judging
	if judging == nil || judging.When == AtEnd || r.late && len(r.spoken(r.Round)) == 0 {
		return nil
	}
	schema := string(KindAssessment)
	if judging.Rubric != nil {
		schema = schemaRubric
	}
	id := "r" + strconv.Itoa(r.Round) + ".assessment."
	var calls []Call
	for place, i := range r.bench {
		judge := &judging.Judges[i]
		if r.Done(id+judge.Name) || len(r.dropped) > 0 && r.isDropped(judge.Name) {
			continue
		}
		call := judgeCall(r, judge, id+judge.Name, KindAssessment)
		call.Schema, call.Slot = schema, place
		call.Last = func(r *Record) string {
			return prompt.Fill(r.Text("assess."+judge.Name), r.Round) + r.gone() + r.measured()
		}
		calls = append(calls, call)
	}
	return calls
}

// verdictCalls yields the verdicts that are still missing.
func verdictCalls(r *Record) []Call {
	if r.config.Judging == nil {
		return nil
	}
	var calls []Call
	for place, i := range r.bench {
		judge := &r.config.Judging.Judges[i]
		if len(r.dropped) > 0 && r.isDropped(judge.Name) {
			continue
		}
		for _, swapped := range []bool{false, true} {
			if swapped && !r.config.Judging.BothOrders {
				break
			}
			call := verdictCall(r, judge, swapped)
			call.Slot = place
			if !r.Done(call.ID) {
				calls = append(calls, call)
			}
		}
	}
	return calls
}

// Suffixes of the ids of calls and texts.
const (
	swappedSuffix    = ".swapped"
	unfinishedSuffix = ".unfinished"
)

func verdictCall(r *Record, judge *JudgeConfig, swapped bool) Call {
	id, text := "verdict."+judge.Name, "verdict."+judge.Name
	if swapped {
		id, text = id+swappedSuffix, text+swappedSuffix
	}
	call := judgeCall(r, judge, id, KindVerdict)
	call.Schema, call.swapped, call.View.Swapped = string(KindVerdict), swapped, swapped
	call.Last = func(r *Record) string {
		if !allArgumentsReceived(r) {
			return prompt.Fill(r.Text(text+unfinishedSuffix), r.Round) + r.gone()
		}
		return prompt.Fill(r.Text(text), r.Round) + r.gone()
	}
	return call
}

func judgeCall(r *Record, judge *JudgeConfig, id string, kind CallKind) Call {
	call := Call{
		ID: id, Kind: kind, By: judge.Name, Performer: performer(judge.Judge, judge.Person), Model: judge.Model,
		Fallbacks: judge.Fallbacks, Judge: judge.Judge, Round: r.Round, System: r.Text("system." + judge.Name),
		View: View{Labels: r.config.Judging.Anonymous}, MaxTokens: judge.MaxTokens, Temperature: judge.Temperature,
		Timeout: r.config.JudgeTimeout, OnFail: OnFail{Ask: failingJudge, Drop: true},
	}
	if len(call.Fallbacks) > 0 && len(r.bench) > 1 && !r.config.Judging.OwnFamily {
		call.Fallbacks = slices.DeleteFunc(slices.Clone(call.Fallbacks), r.partial)
	}
	if model := r.replaced(judge.Name); model != "" {
		call.Performer, call.Model, call.Judge = ByModel, model, ""
	}
	return call
}

// gone tells a judge who of those listed in its instruction takes no further part.
func (r *Record) gone() string {
	var names []string
	for _, name := range r.dropped {
		if r.place(name, -1) < 0 {
			continue
		}
		if r.anonymous != nil {
			name = r.anonymous.labels.hide(name)
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return ""
	}
	return "\n\nLeft the debate early, and not to be judged any more: " + strings.Join(names, ", ") + "."
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
	if _, few := tooFew(r); few {
		return false
	}
	active, limited := r.Active(), 0
	for i := range active {
		call := r.latestOf(active[i].Name)
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
	return limited < len(active)
}

func proceed(r *Record) (Trigger, Note, bool) {
	if !canContinue(r) {
		return TriggerProceed, Note{Reason: EndTooFew, Evidence: "too few participants are able to go on"}, true
	}
	return TriggerProceed, Note{Round: roundNote(r, r.Round+1)}, true
}

func concluded(*Record) (Trigger, Note, bool) { return TriggerCompleted, Note{}, true }
