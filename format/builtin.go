package format

// Builtin returns the formats that every engine knows, each a new value. In their phases without an instruction, speakers are asked what
// the phase's name calls for.
func Builtin() []Format {
	return []Format{
		freeForm(), structuredRounds(), roundLimited(), convergenceSeeking(),
		oxford(), lincolnDouglas(), roundtable(), karlPopper(),
		socratic(), devilsAdvocate(), dialecticalInquiry(), truthSeeking(),
	}
}

func freeForm() Format {
	return Format{
		Name:   FreeForm,
		Asides: 3,
		Guidance: "A free discussion without a fixed structure: the speakers respond to what was said last, " +
			"and go where the disagreement is strongest.",
		Phases: []Phase{
			{Name: PhaseOpening, First: 1, Last: 1},
			{Name: PhaseArgument, First: 2, Last: -1},
		},
		End: EndByJudge,
	}
}

func structuredRounds() Format {
	return Format{
		Name:     StructuredRounds,
		Guidance: "As far as the number of rounds allows, openings come first, rebuttals after them, and closings last.",
		Phases: []Phase{
			{Name: PhaseOpening, First: 1, Last: 1},
			{Name: PhaseClosing, First: -1, Last: -1},
			{
				Name: "rebuttal", First: 2, Last: -2,
				Instruction: "Answer what the others have argued, by name and point by point, and what was said against you.",
			},
		},
		End: EndByRounds,
	}
}

func roundLimited() Format {
	return Format{
		Name:     RoundLimited,
		Asides:   3,
		Guidance: "The number of rounds is fixed, so each turn has to count, and builds on what was said before.",
		Phases: []Phase{
			{Name: PhaseOpening, First: 1, Last: 1},
			{Name: PhaseClosing, First: -1, Last: -1},
			{Name: PhaseArgument, First: 2, Last: -2},
		},
		End: EndByRounds,
	}
}

func convergenceSeeking() Format {
	return Format{
		Name: ConvergenceSeeker,
		Guidance: "The speakers look for an answer that all of them can give for good reasons. " +
			"Where they cannot, they find out what exactly divides them.",
		Stance: Open,
		Aim:    ByTruth,
		Phases: []Phase{
			{Name: PhaseOpening, First: 1, Last: 1},
			{
				Name: "exploration", First: 2, Last: -1,
				Instruction: "Say what you hold now. Then name the narrowest point that still divides you, and how it could be settled.",
			},
		},
		End:    EndByConvergence,
		StopOn: []Detector{DetectDiminishing},
		Decide: NoWinner,
	}
}

// truthSeeking asks for independent answers first. From then on each speaker reads the latest answers of the others, and no older ones.
func truthSeeking() Format {
	return Format{
		Name: TruthSeeking,
		Guidance: "Everybody first answers alone. In each round after that, everybody reads the latest answers of the others, " +
			"and then answers anew, as all do at the same time. To agree is no aim in itself.",
		Stance: Open,
		Aim:    ByTruth,
		Phases: []Phase{
			{Name: "first-answer", First: 1, Last: 1, Slots: []Slot{{
				Who: Everyone, Group: 1, Instruction: "Give your answer to the topic, and the reasons that carry it.",
			}}},
			{Name: "revision", First: 2, Last: -1, Back: 1, Slots: []Slot{{
				Who: Everyone, Group: 1,
				Instruction: "Give your answer as it is now, in full, and meet the strongest reason against it.",
			}}},
		},
		End: EndByConvergence,
	}
}

func roundtable() Format {
	const (
		introduce = "Open the talk: say in a few sentences what the question turns on, and what makes it worth the talk."
		first     = "Say how you see the question, and what this view rests on."
		last      = "Say what you take away: where your view has changed and why, and what remains open to you."
		sumUp     = "Sum up fairly which insights came out of the talk, what is shared now, and what was left open. Nobody wins."
	)
	return Format{
		Name:   Roundtable,
		Asides: 3,
		Guidance: "A talk among equals without a winner: all listen, build on what others bring, " +
			"and make plain both what is shared and where views part.",
		Stance: Shared,
		Aim:    ByUnderstanding,
		Seats: []Seats{
			{Side: Neutral, Max: 1, Role: "to host the talk: to open it and to sum it up."},
			{Min: 2, Role: "to bring a view of one's own, and to understand those of the others."},
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
		Name:   Socratic,
		Asides: 3,
		Guidance: "An inquiry by questions: an examiner asks and holds no view, the others answer. " +
			"The questions go from what is meant to what is assumed, known, seen otherwise and implied, and to the question itself.",
		Stance: Examined,
		Aim:    ByUnderstanding,
		Seats: []Seats{
			{Side: Neutral, Min: 1, Max: 1, Role: "only to ask, and to put forward no thesis, not even inside a question."},
			{
				Min: 1,
				Role: "to be examined: to say what can really be said for a view, to admit what is not known, " +
					"and to mend the view where an answer shows that it fails.",
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
		propose  = "Make your proposal: what is to be done, by whom and how, and why it is the right thing."
		attack   = "Attack the proposal: its assumptions, its evidence, what it overlooks and how it could fail."
		defend   = "Answer the criticism one by one: refute it, or change the proposal and say how."
		press    = "Say which answers do not hold, and bring the strongest objection that has not been raised."
		remain   = "Say which objections still stand against the proposal, and which ones it has met."
		standing = "State the proposal as it now stands, with every change that the criticism has brought about."
	)
	return Format{
		Name: DevilsAdvocate,
		Guidance: "A proposal is put to the test: one side makes and defends it, the other only criticises, whatever it thinks " +
			"itself. The criticism is there to make the proposal better or to show that it should be dropped.",
		Aim: ByTruth,
		Seats: []Seats{
			{Side: For, Min: 1, Role: "to make a proposal, to defend it, and to mend it where the criticism is right.", Stance: Proposer},
			{
				Side: Against, Min: 1, Stance: Critic,
				Role: "to be the devil's advocate: to say what is wrong with the proposal, and to offer no other.",
			},
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
		End:    EndByRounds,
		Decide: NoWinner,
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
		Aim: ByTruth,
		Seats: []Seats{
			{Side: For, Min: 1, Role: "to put forward a plan, and to stand by its assumptions until they are shown to fail."},
			{Side: Against, Min: 1, Role: "to put forward a full counter-plan from the contrary assumptions, " +
				"and to stand by those until they are shown to fail."},
		},
		Phases: []Phase{
			{Name: "plan", First: 1, Last: 1, Slots: []Slot{
				{Who: Who(For), Instruction: plan}, {Who: Who(Against), Kind: "counter-plan", Instruction: counter},
			}},
			{Name: "synthesis", First: -1, Last: -1, Release: true, Slots: []Slot{{Who: BothSides, Instruction: join}}},
			{Name: "critique", First: 2, Last: -2, Slots: []Slot{{Who: BothSides, Instruction: critique}}},
		},
		End:    EndByRounds,
		Decide: NoWinner,
	}
}
