package debate

// Format is the shape of a debate, as data: its phases and the rule for its end. A host defines its
// own the same way, in Config.CustomFormat or in Engine.Formats.
type Format struct {
	Name string `json:"name"`
	// Guidance tells the debaters and the judge, in a few sentences, what kind of debate this is.
	Guidance string `json:"guidance,omitempty"`
	// MinParticipants and MaxParticipants bound the number of participants; 0: 2 and 10.
	MinParticipants int `json:"minParticipants,omitempty"`
	MaxParticipants int `json:"maxParticipants,omitempty"`
	// Phases say what is asked in which round; the first that covers a round is its phase.
	Phases []Phase `json:"phases"`
	// End is the rule for the end. Config.Rounds caps every format.
	End End `json:"end"`
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
}

// End is a rule for the end of a debate.
type End string

// The rules for the end.
const (
	EndByJudge       End = "judge"       // when the judge no longer wishes to go on
	EndByRounds      End = "rounds"      // after exactly Config.Rounds, whatever the judge wishes
	EndByConvergence End = "convergence" // when the judge sees convergence or diminishing returns
)

// Names of the built-in formats.
const (
	FreeForm          = "free-form"
	StructuredRounds  = "structured-rounds"
	RoundLimited      = "round-limited"
	ConvergenceSeeker = "convergence-seeking"
)

// Names of the phases whose turns are told that they are the first or the last.
const (
	phaseOpening = "opening"
	phaseClosing = "closing"
)

// BuiltinFormats yields the formats that every engine knows, each a fresh value.
func BuiltinFormats() []Format {
	const (
		opening  = "Lay out your position: your thesis and the main arguments for it."
		rebuttal = "Answer what the others have argued, point by point and by name, and strengthen your own case where it was attacked."
		argument = "Move the debate forward: take up the strongest point against you, " +
			"and add something that has not been said."
		exploration = "Name what you now agree on, then narrow the remaining disagreement " +
			"with a proposal that the others could accept."
		closing = "This is your last turn. Weigh the debate as it went: what stands, what fell, " +
			"and why your position prevails. Bring no new arguments."
		seeking = "The aim is common ground: hold your position where it matters, concede what you should, " +
			"and say precisely where you still differ."
	)
	return []Format{
		{
			Name:     FreeForm,
			Guidance: "A free debate without a fixed structure: respond to what was said last, and go where the strongest disagreement is.",
			Phases: []Phase{
				{Name: phaseOpening, First: 1, Last: 1, Instruction: opening},
				{Name: "argument", First: 2, Last: -1, Instruction: argument},
			},
			End: EndByJudge,
		},
		{
			Name:     StructuredRounds,
			Guidance: "The first round holds the openings, the last the closings, and the rounds between are rebuttals.",
			Phases: []Phase{
				{Name: phaseOpening, First: 1, Last: 1, Instruction: opening},
				{Name: phaseClosing, First: -1, Last: -1, Instruction: closing},
				{Name: "rebuttal", First: 2, Last: -2, Instruction: rebuttal},
			},
			End: EndByRounds,
		},
		{
			Name:     RoundLimited,
			Guidance: "The number of rounds is fixed and small: make each turn count, and build on the rounds before.",
			Phases: []Phase{
				{Name: phaseClosing, First: -1, Last: -1, Instruction: closing},
				{Name: phaseOpening, First: 1, Last: 1, Instruction: opening},
				{Name: "argument", First: 2, Last: -2, Instruction: argument},
			},
			End: EndByRounds,
		},
		{
			Name:     ConvergenceSeeker,
			Guidance: seeking,
			Phases: []Phase{
				{Name: phaseOpening, First: 1, Last: 1, Instruction: opening},
				{Name: "exploration", First: 2, Last: -1, Instruction: exploration},
			},
			End: EndByConvergence,
		},
	}
}

// Phase yields the phase of a round in a debate of so many rounds.
func (f *Format) Phase(round, rounds int) Phase {
	for _, phase := range f.Phases {
		if fromEnd(phase.First, rounds) <= round && round <= fromEnd(phase.Last, rounds) {
			return phase
		}
	}
	return Phase{Name: "argument"}
}

func fromEnd(round, rounds int) int {
	if round < 0 {
		return rounds + 1 + round
	}
	return round
}

// participants yields the bounds on the number of participants.
func (f *Format) participants() (least, most int) {
	least, most = f.MinParticipants, f.MaxParticipants
	if least == 0 {
		least = 2
	}
	if most == 0 {
		most = max(10, least)
	}
	return least, most
}

func (f *Format) clone() *Format {
	c := *f
	c.Phases = append([]Phase(nil), f.Phases...)
	return &c
}
