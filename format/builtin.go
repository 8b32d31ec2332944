package format

// Builtin returns the formats that every engine knows, each a new value.
func Builtin() []Format {
	return []Format{
		freeForm(), structuredRounds(), roundLimited(), convergenceSeeking(),
		oxford(), lincolnDouglas(), roundtable(), karlPopper(),
		socratic(), devilsAdvocate(), dialecticalInquiry(),
	}
}

// What the plain formats ask in the phases that they share.
const (
	askOpening  = "Lay out your position: your thesis and the main arguments for it."
	askArgument = "Move the debate forward: take up the strongest point against you, and add something that has not been said."
	askClosing  = "This is your last turn. Weigh the debate as it went: what stands, what fell, " +
		"and why your position prevails. Bring no new arguments."
)

func freeForm() Format {
	return Format{
		Name:     FreeForm,
		Guidance: "A free debate without a fixed structure: respond to what was said last, and go where the strongest disagreement is.",
		Phases: []Phase{
			{Name: PhaseOpening, First: 1, Last: 1, Instruction: askOpening},
			{Name: PhaseArgument, First: 2, Last: -1, Instruction: askArgument},
		},
		End: EndByJudge,
	}
}

func structuredRounds() Format {
	return Format{
		Name:     StructuredRounds,
		Guidance: "As far as the number of rounds allows, openings come first, rebuttals after them, and closings last.",
		Phases: []Phase{
			{Name: PhaseOpening, First: 1, Last: 1, Instruction: askOpening},
			{Name: PhaseClosing, First: -1, Last: -1, Instruction: askClosing},
			{
				Name: "rebuttal", First: 2, Last: -2,
				Instruction: "Answer what the others have argued, point by point and by name, " +
					"and strengthen your own case where it was attacked.",
			},
		},
		End: EndByRounds,
	}
}

func roundLimited() Format {
	return Format{
		Name:     RoundLimited,
		Guidance: "The number of rounds is fixed: make each turn count, and build on what was said before.",
		Phases: []Phase{
			{Name: PhaseOpening, First: 1, Last: 1, Instruction: askOpening},
			{Name: PhaseClosing, First: -1, Last: -1, Instruction: askClosing},
			{Name: PhaseArgument, First: 2, Last: -2, Instruction: askArgument},
		},
		End: EndByRounds,
	}
}

func convergenceSeeking() Format {
	return Format{
		Name: ConvergenceSeeker,
		Guidance: "The aim is common ground: hold your position where it matters, concede what you should, " +
			"and say precisely where you still differ.",
		Phases: []Phase{
			{Name: PhaseOpening, First: 1, Last: 1, Instruction: askOpening},
			{
				Name: "exploration", First: 2, Last: -1,
				Instruction: "Name what you now agree on, then narrow the remaining disagreement " +
					"with a proposal that the others could accept.",
			},
		},
		End:    EndByConvergence,
		StopOn: []Detector{DetectDiminishing},
	}
}

func roundtable() Format {
	const (
		introduce = "Say in a sentence or two what makes the question worth the talk."
		first     = "Say how you see the question, and what of your own experience or knowledge bears on it."
		last      = "Say what you take away: where your view has changed, and what remains open to you."
		sumUp     = "Say which insights came out of the talk, and what it left open."
	)
	return Format{
		Name: Roundtable,
		Guidance: "A talk among equals without a winner: listen, build on what others bring, " +
			"and make plain both what is shared and where views part.",
		Seats: []Seats{
			{Side: Neutral, Max: 1, Role: "You host the talk: you open it and sum it up."},
			{Min: 2, Role: "You bring a view of your own, and are here to understand those of the others."},
		},
		Chair: Neutral,
		Phases: []Phase{
			// From the last round to the first: this covers a round only if it is both.
			{Name: "talk", First: -1, Last: 1, Slots: []Slot{
				{Who: TheChair, Kind: PhaseOpening, Instruction: introduce},
				{Who: Everyone, Instruction: first},
				{Who: TheChair, Kind: PhaseClosing, Instruction: sumUp},
			}},
			{Name: PhaseOpening, First: 1, Last: 1, Slots: []Slot{
				{Who: TheChair, Instruction: introduce},
				{Who: Everyone, Kind: "view", Instruction: first},
			}},
			{
				Name: "discussion", First: 2, Last: -2,
				Instruction: "Take up what another has said and carry it further: " +
					"add to it, question it, or join it with a point of somebody else.",
			},
			{Name: PhaseClosing, First: -1, Last: -1, Slots: []Slot{
				{Who: Everyone, Kind: "view", Instruction: last},
				{Who: TheChair, Instruction: sumUp},
			}},
		},
		End:    EndByRounds,
		Decide: NoWinner,
	}
}

func socratic() Format {
	steps := []struct{ name, ask string }{
		{"clarification", "Ask what the speaker holds and means: for the claim in plain words, a definition or an example."},
		{"assumptions", "Ask about something that the speaker takes for granted, and whether it has to be so."},
		{"evidence", "Ask how the speaker knows: what the claim rests on, and how good that ground is."},
		{"viewpoints", "Ask how it looks from elsewhere: what somebody who disagrees would say, or which alternative there is."},
		{"implications", "Ask what follows if the speaker is right, and whether that can be accepted."},
		{"question", "Ask about the question itself: why it matters, or whether it is the right one to ask after all that was said."},
	}
	f := Format{
		Name: Socratic,
		Guidance: "An inquiry by questions: an examiner asks and holds no view, the others answer. " +
			"The questions go from what is meant to what is assumed, known, seen otherwise and implied, and to the question itself.",
		Seats: []Seats{
			{Side: Neutral, Min: 1, Max: 1, Role: "You only ask, and put forward no thesis, not even inside a question."},
			{
				Min: 1,
				Role: "You are examined: answer with what you can really say for your view, admit what you do not know, " +
					"and mend the view where an answer shows that it fails.",
			},
		},
		Chair:  Neutral,
		Rounds: len(steps),
		End:    EndByRounds,
		Decide: NoWinner,
	}
	for i, step := range steps {
		f.Phases = append(f.Phases, Phase{Name: step.name, First: i + 1, Last: i + 1, Slots: []Slot{{
			Who: TheChair, To: Others, Exchanges: 1, Instruction: step.ask,
			Answer: "If the question has changed your view, say how.",
		}}})
	}
	return f
}

func devilsAdvocate() Format {
	const (
		propose = "Make your proposal: what is to be done, by whom and how, and why it is the right thing."
		attack  = "Attack the proposal: its assumptions, its evidence, what it overlooks and how it could fail. " +
			"Suggest nothing in its place."
		defend = "Answer the criticism one by one: refute it, or change the proposal and say how."
		press  = "Say which answers do not hold, and bring the strongest objection that has not been raised. " +
			"Suggest nothing in the proposal's place."
		remain   = "Suggest nothing in the proposal's place, even now."
		standing = "State the proposal as it now stands, with every change that the criticism has brought about."
	)
	return Format{
		Name: DevilsAdvocate,
		Guidance: "A proposal is put to the test: one side makes and defends it, the other only criticises, whatever it thinks " +
			"itself. The criticism is there to make the proposal better or to show that it should be dropped.",
		Seats: []Seats{
			{Side: For, Min: 1, Role: "You make a proposal, defend it, and mend it where the criticism is right."},
			{Side: Against, Min: 1, Role: "You are the devil's advocate: you say what is wrong with the proposal, and offer no other."},
		},
		Phases: []Phase{
			{Name: "proposal", First: 1, Last: 1, Slots: []Slot{
				{Who: Who(For), Instruction: propose}, {Who: Who(Against), Kind: "criticism", Instruction: attack},
			}},
			{Name: PhaseClosing, First: -1, Last: -1, Slots: []Slot{
				{Who: Who(Against), Instruction: remain}, {Who: Who(For), Instruction: standing},
			}},
			{Name: "criticism", First: 2, Last: -2, Slots: []Slot{
				{Who: Who(For), Kind: "defence", Instruction: defend}, {Who: Who(Against), Instruction: press},
			}},
		},
		End: EndByRounds,
	}
}

func dialecticalInquiry() Format {
	const (
		plan = "Present your plan in full: its aim, the steps and who takes them, what it costs and risks, " +
			"and the assumptions on which it rests, each by name."
		counter = "Turn the plan's assumptions round, and build on the contrary ones a full plan of your own: " +
			"aim, steps, costs and risks. To criticise the other plan is not enough."
		critique = "Test the other plan: which of its assumptions fails, and what follows if it does. " +
			"Then answer what was said against your own."
		join = "Join the two plans: say which assumptions hold, what of each plan should be kept, " +
			"and what the best plan made of both would be."
	)
	return Format{
		Name: DialecticalInquiry,
		Guidance: "Two full plans from contrary assumptions are set against each other, so that the assumptions come to light. " +
			"As far as the number of rounds allows, they are then tested, and at the end both sides look for the plan " +
			"that keeps the best of the two.",
		Seats: []Seats{
			{Side: For, Min: 1, Role: "You put forward a plan and stand by its assumptions until they are shown to fail."},
			{Side: Against, Min: 1, Role: "You put forward a full counter-plan from the contrary assumptions, and stand by those."},
		},
		Phases: []Phase{
			{Name: "plan", First: 1, Last: 1, Slots: []Slot{
				{Who: Who(For), Instruction: plan}, {Who: Who(Against), Kind: "counter-plan", Instruction: counter},
			}},
			{Name: "synthesis", First: -1, Last: -1, Slots: []Slot{{Who: BothSides, Instruction: join}}},
			{Name: "critique", First: 2, Last: -2, Slots: []Slot{{Who: BothSides, Instruction: critique}}},
		},
		End: EndByRounds,
	}
}
