package debate

import (
	"errors"
	"slices"
)

// Format is the shape of a debate, as data: who speaks when, how long, to whom and having read what,
// and the rule for the end. A host defines its own the same way, in Config.CustomFormat (in code or
// as JSON, see [ParseFormat]) or in Engine.Formats.
type Format struct {
	Name string `json:"name"`
	// Guidance tells the debaters and the judge, in a few sentences, what kind of debate this is.
	Guidance string `json:"guidance,omitempty"`
	// MinParticipants and MaxParticipants bound the number of participants; 0: 2 and 10.
	MinParticipants int `json:"minParticipants,omitempty"`
	MaxParticipants int `json:"maxParticipants,omitempty"`
	// Seats say how many participants there are of each side. Empty: sides are free. If there are any,
	// every participant is of one of these sides.
	Seats []Seats `json:"seats,omitempty"`
	// Chair is the side of those who lead the talk and are not judged; "": nobody does.
	Chair Side `json:"chair,omitempty"`
	// Rounds fixes the number of rounds; 0: Config.Rounds does.
	Rounds int `json:"rounds,omitempty"`
	// Phases say what is asked in which round; the first that covers a round is its phase.
	Phases []Phase `json:"phases"`
	// Reads says whose turns a debater reads. Judges and the audience read all.
	Reads Reads `json:"reads,omitzero"`
	// End is the rule for the end. Config.Rounds caps every format.
	End End `json:"end"`
	// Watch are detectors whose findings are shown to the judge.
	Watch []Detector `json:"watch,omitempty"`
	// StopOn are detectors whose finding ends the debate after the round.
	StopOn []Detector `json:"stopOn,omitempty"`
	// Decide says who finds the winner: the judges if empty.
	Decide Decision `json:"decide,omitempty"`
}

// Seats are the participants of one side.
type Seats struct {
	Side Side `json:"side"`
	// Min and Max bound their number; Max 0: no bound.
	Min int `json:"min,omitempty"`
	Max int `json:"max,omitempty"`
	// Role tells them what the format asks of them over the whole debate.
	Role string `json:"role,omitempty"`
}

// Phase is a span of rounds in which the same is asked of the speakers.
type Phase struct {
	Name string `json:"name"` // "opening", "rebuttal", …: also the kind of its turns
	// First and Last are the rounds that the phase covers, from 1. Negative numbers count from the
	// end: -1 is the last round.
	First int `json:"first"`
	Last  int `json:"last"`
	// Instruction tells a speaker what this phase asks.
	Instruction string `json:"instruction,omitempty"`
	// Slots are the speeches of a round, in order. Empty: everybody but the chair speaks once, in the
	// order of Config.Participants, as Config.Mode says.
	Slots []Slot `json:"slots,omitempty"`
	// Back is how many earlier rounds a speaker reads, beside the present one: 1 is the previous round
	// only. 0: all.
	Back int `json:"back,omitempty"`
}

// Slot is one speech of a round, or several of the same sort.
type Slot struct {
	// Who speaks. Nobody who fits: the slot is left out.
	Who Who `json:"who"`
	// Kind of the turns: the phase's name if empty.
	Kind CallKind `json:"kind,omitempty"`
	// To is whom the speech is addressed to; "": everybody. If several fit, there is a speech to each.
	To Who `json:"to,omitempty"`
	// Exchanges makes the slot a cross-examination: so many times Who asks and To answers, a turn each.
	Exchanges int `json:"exchanges,omitempty"`
	// Minutes is the length of the slot as it would be spoken: of the speech, or of the whole
	// cross-examination. It gives a target of words ([WordsPerMinute]) and a cap of tokens.
	Minutes float64 `json:"minutes,omitempty"`
	// Words and MaxTokens replace what Minutes gives, for each turn.
	Words     int `json:"words,omitempty"`
	MaxTokens int `json:"maxTokens,omitempty"`
	// Instruction tells the speaker what this slot asks, after the phase's. Of a cross-examination it
	// is for who asks, and Answer for who answers.
	Instruction string `json:"instruction,omitempty"`
	Answer      string `json:"answer,omitempty"`
	// Group: slots side by side with the same number run at once, and their speakers do not hear each
	// other until all have spoken. 0: one speaker after the other.
	Group int `json:"group,omitempty"`
}

// Who names speakers in a [Slot]: one of the constants, a side ("for"), one of a side by its place
// ("for:2"), a participant by name ("name:Ada"), or a member of the audience by place ("audience:1").
type Who string

// Speakers by what they are.
const (
	Everyone  Who = "all"    // all participants but the chair, in their order
	BothSides Who = "sides"  // those for and against in turn: the first for, the first against, the second for, …
	TheChair  Who = "chair"  // those of the format's chair
	Others    Who = "others" // as To: all but the speaker and the chair
)

// Reads says whose turns a debater reads: a graph of readers and speakers.
type Reads struct {
	Graph Graph `json:"graph,omitempty"` // AllRead if empty
	// Edges are, for GivenEdges, the speakers whom a reader reads beside itself, by names.
	Edges map[string][]string `json:"edges,omitempty"`
}

// Graph is a graph of readers and speakers.
type Graph string

// The graphs.
const (
	AllRead    Graph = "all"   // everybody reads everybody
	Ring       Graph = "ring"  // each reads the one before it in the order, the first the last; and the chair
	SideGroups Graph = "sides" // each reads its own side, and the chair
	GivenEdges Graph = "edges"
)

// End is a rule for the end of a debate.
type End string

// The rules for the end.
const (
	EndByJudge       End = "judge"       // when the judges no longer wish to go on
	EndByRounds      End = "rounds"      // after exactly Config.Rounds, whatever the judges wish
	EndByConvergence End = "convergence" // when the judges see convergence or diminishing returns
)

// Decision says who finds the winner.
type Decision string

// The ways to find the winner.
const (
	ByJudges Decision = "judges"
	BySwing  Decision = "swing" // the side that gains more of the audience, in percentage points
	NoWinner Decision = "none"  // nobody wins, and no judge may say so
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
)

// Names of the phases whose turns are told that they are the first or the last, and of rounds that no
// phase covers.
const (
	phaseOpening  = "opening"
	phaseClosing  = "closing"
	phaseArgument = "argument"
)

// ParseFormat reads a format from JSON, strictly: an unknown key, or one given twice, is an error. The error joins
// one *[Error] of kind validation for each problem, as that of [DecodeStrict] does.
// Whether the format makes sense is checked by Engine.Validate, like that of a format made in code.
func ParseFormat(data []byte) (Format, error) {
	var f Format
	if err := DecodeStrict("read format", data, &f); err != nil {
		return Format{}, err
	}
	if f.Name == "" {
		return Format{}, &Error{Kind: KindValidation, Op: "read format", Field: "name", Err: errors.New("is empty")}
	}
	return f, nil
}

// Phase yields the phase of a round in a debate of so many rounds.
func (f *Format) Phase(round, rounds int) Phase {
	if i := f.PhaseIndex(round, rounds); i >= 0 {
		return f.Phases[i]
	}
	return Phase{Name: phaseArgument}
}

// PhaseIndex yields which of the phases covers a round; -1: none.
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

// Participants yields the bounds on the number of participants.
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

// Judged reports whether participants of a side are contestants: not those who lead the talk.
func (f *Format) Judged(side Side) bool { return f.Chair == "" || side != f.Chair }

// Role yields what the format asks of a side.
func (f *Format) Role(side Side) string {
	for _, seats := range f.Seats {
		if seats.Side == side {
			return seats.Role
		}
	}
	return ""
}

// Clone yields a deep copy.
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
