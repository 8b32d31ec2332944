// Package format describes the shape of a debate as data. A [Format] says who speaks when, a [Cast] is who takes part,
// and [Format.Schedule] returns each [Speech] of a round.
package format

import (
	"errors"
	"slices"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Format is the shape of a debate, as data. It says who speaks when, for how long and to whom, what a speaker has
// read, and when the debate ends. A host program defines its own formats in the same way: in Config.CustomFormat or
// Engine.Formats, in code or as JSON (see [Parse]).
//
// The methods do not change a format, and are safe for concurrent use.
type Format struct {
	Name string `json:"name" redact:"-"` // as judges and speakers read it
	// Guidance says in a few sentences what kind of debate this is. Debaters and judges read it, so it speaks of them in the third
	// person.
	Guidance string `json:"guidance,omitempty"`
	// Stance is how the speakers stand to what is argued: Advocate if empty. Seats may have another one. A config replaces both.
	Stance Stance `json:"stance,omitempty" redact:"-"`
	// Aim is what the judges judge: ByArgument if empty. A config may replace it.
	Aim Aim `json:"aim,omitempty" redact:"-"`
	// MinParticipants and MaxParticipants bound the number of participants: 2 and 10 if 0.
	MinParticipants int `json:"minParticipants,omitempty"`
	MaxParticipants int `json:"maxParticipants,omitempty"`
	// Seats say how many participants each side has. If Seats is empty, sides are free. Otherwise every participant
	// takes one of these seats.
	Seats []Seats `json:"seats,omitempty"`
	// Chair is the side of the participants who lead the talk and are not judged. If it is empty, there is no
	// chair.
	Chair Side `json:"chair,omitempty" redact:"-"`
	// Rounds fixes the number of rounds: Config.Rounds is then 0, or at least as many. If it is 0, Config.Rounds gives
	// the number.
	Rounds int `json:"rounds,omitempty"`
	// Phases say what is asked in which round. If several phases cover a round, the first of them counts.
	Phases []Phase `json:"phases"`
	// Reads says whose turns a debater reads. Judges and the audience read all turns.
	Reads Reads `json:"reads,omitzero"`
	// End is the rule for the end. Config.Rounds caps every format.
	End End `json:"end" redact:"-"`
	// Watch are detectors whose findings are shown to the judge.
	Watch []Detector `json:"watch,omitempty" redact:"-"`
	// StopOn are detectors whose finding ends the debate after the round.
	StopOn []Detector `json:"stopOn,omitempty" redact:"-"`
	// Decide says how the winner is found: by the judges if empty.
	Decide Decision `json:"decide,omitempty" redact:"-"`
	// Asides is how many notes of a round may each ask a participant for an answer out of turn ([flow.Note]): 0 for none. There is none in
	// a phase whose speakers speak at once.
	Asides int `json:"asides,omitempty"`
	// LeaverMayWin lets a participant win even after leaving the debate before its end. Such a participant is judged in any
	// case.
	LeaverMayWin bool `json:"leaverMayWin,omitempty"`
}

// Seats are the participants of one side.
type Seats struct {
	// Side is For, Against or Neutral; there are no others. Where there are more than three parts, participants are told apart by their
	// Persona and Instructions, and slots by "for:2" or "name:Ada". Seats without a side are for all participants whose side has no seats
	// of its own.
	Side Side `json:"side" redact:"-"`
	// Min and Max bound their number. Max 0 means no upper bound.
	Min int `json:"min,omitempty"`
	Max int `json:"max,omitempty"`
	// Role is what the format asks of them over the whole debate. Speakers and judges read it, so it is an infinitive: "to speak for
	// the motion".
	Role string `json:"role,omitempty"`
	// Stance is how they stand to what is argued: that of the format if empty.
	Stance Stance `json:"stance,omitempty" redact:"-"`
}

// Phase is a span of rounds in which the same is asked of the speakers.
type Phase struct {
	Name string `json:"name" redact:"-"` // "opening", "rebuttal", …: also the kind of its turns
	// First and Last are the first and the last round of the phase. Rounds count from 1. Negative numbers count
	// from the end: -1 is the last round.
	First int `json:"first"`
	Last  int `json:"last"`
	// Instruction tells a speaker what this phase asks. Without one here or in the slot, speakers are asked what the phase's name
	// calls for: to open, to close, or to go on. Who has not spoken yet in the first round is asked to open, whatever its name, but for a
	// chair that has heard others. With an instruction they are asked nothing else.
	Instruction string `json:"instruction,omitempty"`
	// Slots are the speeches of a round, in order. If there are none, every participant but the chair speaks once:
	// in the order of Config.Participants, and in the way that Config.Mode says.
	Slots []Slot `json:"slots,omitempty"`
	// Release frees speakers from this phase on, in all later rounds too, whatever their phases are. Each turn says so, and the format's
	// Instruction need not. What binds whom:
	//   - an advocate: the side, the position, or the view that it has taken if it was given neither
	//   - a proposer: the side and the position
	//   - a critic: its part too, so that it may propose
	//
	// Nothing binds speakers of the other stances, the chair or the audience, and they are told nothing.
	Release bool `json:"release,omitempty"`
	// Back is how many earlier rounds a speaker reads, besides the present one. 1 means the previous round only. 0
	// means all.
	Back int `json:"back,omitempty"`
}

// Slot is one speech of a round, or several of the same kind.
type Slot struct {
	// Who names the speakers. If no participant matches, the slot is skipped.
	Who Who `json:"who" redact:"-"`
	// Kind is the kind of the turns: the phase's name if empty.
	Kind flow.CallKind `json:"kind,omitempty" redact:"-"`
	// To names the participant to whom the speech is addressed. If it is empty, the speech is for all. If several
	// participants match, there is one speech to each.
	To Who `json:"to,omitempty" redact:"-"`
	// Exchanges makes the slot a cross-examination of this many questions; 0 means no cross-examination. Who asks each question
	// and To answers it, in one turn each.
	Exchanges int `json:"exchanges,omitempty"`
	// Minutes is the length of the slot if it were spoken: of the speech, or of the whole cross-examination. It gives a target of words
	// ([WordsPerMinute]) and a cap of 2 tokens for each of them, at least 256. That is enough for English. Other languages take more, German
	// up to 2.2, Finnish and Arabic up to 4, with the tokens of older models: set MaxTokens for these. A speech that is cut at its cap is
	// marked so for those who read it, and the outcome names it.
	Minutes float64 `json:"minutes,omitempty"`
	// Words and MaxTokens replace what Minutes gives, for each turn.
	Words     int `json:"words,omitempty"`
	MaxTokens int `json:"maxTokens,omitempty"`
	// Instruction tells the speaker what this slot asks, after the phase's instruction. In a cross-examination,
	// Instruction is for the speaker who asks, and Answer for the speaker who answers.
	Instruction string `json:"instruction,omitempty"`
	Answer      string `json:"answer,omitempty"`
	// Group lets neighbouring slots with the same number run at once. Their speakers do not hear each other until
	// all of them have spoken. 0 means one speaker after the other.
	Group int `json:"group,omitempty"`
}

// Who names speakers in a [Slot]. It is one of:
//   - a constant such as Everyone
//   - a side ("for")
//   - a participant of a side by number, from 1 ("for:2")
//   - a participant by name ("name:Ada")
//   - a member of the audience by number, from 1 ("audience:1")
type Who string

// Speakers by their part in the debate.
const (
	Everyone  Who = "all"    // all participants but the chair, in their order
	BothSides Who = "sides"  // those for and against alternate: the first for, the first against, the second for, …
	TheChair  Who = "chair"  // the participants on the format's Chair side
	Others    Who = "others" // as To: all but the speaker and the chair
)

// Reads says whose turns a debater reads, as a graph of readers and speakers.
type Reads struct {
	Graph Graph `json:"graph,omitempty" redact:"-"` // AllRead if empty
	// Edges are used for GivenEdges. They give the names of the speakers whom a reader reads besides itself, by the
	// reader's name.
	Edges map[string][]string `json:"edges,omitempty" redact:"-"`
}

// Graph is a graph of readers and speakers.
type Graph string

// The graphs. Each debater reads its own turns and those of the chair in all of them.
const (
	AllRead    Graph = "all"   // each reads all others
	Ring       Graph = "ring"  // each reads the participant before it in the order; the first reads the last
	SideGroups Graph = "sides" // each reads its own side
	GivenEdges Graph = "edges" // each reads those that Reads.Edges names
)

// End is a rule for the end of a debate.
type End string

// The rules for the end.
const (
	EndByJudge       End = "judge"       // when the judges no longer wish to continue
	EndByRounds      End = "rounds"      // after exactly Config.Rounds, whatever the judges wish
	EndByConvergence End = "convergence" // when the judges see convergence or diminishing returns
)

// Decision says how the winner is found.
type Decision string

// The ways to find the winner.
const (
	ByJudges Decision = "judges" // by the votes of the judges
	BySwing  Decision = "swing"  // the side that gains more of the audience wins, in percentage points; without an audience, ByJudges
	NoWinner Decision = "none"   // there is no winner, and no judge may name one
)

// Names of the built-in formats.
const (
	FreeForm           = "free-form"
	StructuredRounds   = "structured-rounds"
	RoundLimited       = "round-limited"
	ConvergenceSeeker  = "convergence-seeking"
	Oxford             = "oxford"
	LincolnDouglas     = "lincoln-douglas"
	Roundtable         = "roundtable"
	KarlPopper         = "karl-popper"
	Socratic           = "socratic"
	DevilsAdvocate     = "devils-advocate"
	DialecticalInquiry = "dialectical-inquiry"
	TruthSeeking       = "truth-seeking"
)

// Names of phases that mean more than a name. [Phase].Name and [Slot].Kind may be any of them, or any other name.
const (
	PhaseOpening  = "opening"  // without an instruction, speakers are asked to open: to give their answer and its reasons
	PhaseClosing  = "closing"  // without an instruction, speakers are asked to close: to weigh the debate, and to bring nothing new
	PhaseArgument = "argument" // the phase of the rounds that no phase of a format covers
)

// Parse reads a format from JSON, strictly: an unknown key, a key given twice, or a format without a name is an
// error. The error joins one *[flow.Error] of kind validation for each problem, as that of [flow.DecodeStrict] does.
// Parse does not check whether the format makes sense. [Format.Check] does that, and Engine.Validate calls it.
func Parse(data []byte) (Format, error) {
	var f Format
	if err := flow.DecodeStrict("read format", data, &f); err != nil {
		return Format{}, err
	}
	if f.Name == "" {
		return Format{}, &flow.Error{Kind: provider.KindValidation, Op: "read format", Field: "name", Err: errors.New("is empty")}
	}
	return f, nil
}

// Phase returns the phase that covers a round, from 1, in a debate of this many rounds. If none does, it returns a
// phase without instructions whose name is [PhaseArgument].
func (f *Format) Phase(round, rounds int) Phase {
	if i := f.PhaseIndex(round, rounds); i >= 0 {
		return f.Phases[i]
	}
	return Phase{Name: PhaseArgument}
}

// PhaseIndex returns the index of the phase that covers a round, or -1 if none does.
func (f *Format) PhaseIndex(round, rounds int) int {
	return slices.IndexFunc(f.Phases, func(p Phase) bool {
		return fromEnd(p.First, rounds) <= round && round <= fromEnd(p.Last, rounds)
	})
}

func fromEnd(round, rounds int) int {
	if round < 0 {
		return rounds + 1 + round
	}
	return round
}

// Participants returns the bounds on the number of participants, both inclusive, with their defaults.
func (f *Format) Participants() (least, most int) {
	least, most = f.MinParticipants, f.MaxParticipants
	if least == 0 {
		least = 2
	}
	if most == 0 {
		most = max(10, least)
	}
	return least, most
}

// Judged reports whether participants of a side are contestants. Those of the chair are not.
func (f *Format) Judged(side Side) bool { return f.Chair == "" || side != f.Chair }

// Role returns what the format asks of a side, or "" if it asks nothing of its own.
func (f *Format) Role(side Side) string {
	if seats := f.seatsOf(side); seats != nil {
		return seats.Role
	}
	return ""
}

// seatsOf returns the seats that a participant of a side takes, or nil if there are none.
func (f *Format) seatsOf(side Side) *Seats {
	var free *Seats
	for i := range f.Seats {
		switch f.Seats[i].Side {
		case side:
			return &f.Seats[i]
		case "":
			free = &f.Seats[i]
		}
	}
	return free
}

// Clone returns a deep copy.
func (f *Format) Clone() *Format {
	c := *f
	c.Seats = slices.Clone(f.Seats)
	c.Phases = slices.Clone(f.Phases)
	for i := range c.Phases {
		c.Phases[i].Slots = slices.Clone(c.Phases[i].Slots)
	}
	c.Watch, c.StopOn = slices.Clone(f.Watch), slices.Clone(f.StopOn)
	if f.Reads.Edges != nil {
		c.Reads.Edges = make(map[string][]string, len(f.Reads.Edges))
		for reader, speakers := range f.Reads.Edges {
			c.Reads.Edges[reader] = slices.Clone(speakers)
		}
	}
	return &c
}

// Kinds returns the kinds of the speeches that the phases ask for.
func (f *Format) Kinds() []flow.CallKind {
	var out []flow.CallKind
	for i := range f.Phases {
		phase := &f.Phases[i]
		out = append(out, flow.CallKind(phase.Name))
		for j := range phase.Slots {
			switch slot := &phase.Slots[j]; {
			case slot.Exchanges > 0:
				out = append(out, KindQuestion, KindAnswer)
			case slot.Kind != "":
				out = append(out, slot.Kind)
			}
		}
	}
	return out
}
