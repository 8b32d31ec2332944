package format

import "strconv"

// Formats of two sides that contend for the audience or the judge. Their minutes are those of the spoken forms: the
// audience debates of Open to Debate (Intelligence Squared U.S.), and the school forms named after Lincoln and
// Douglas and after Karl Popper.

// A cross-examination takes three minutes in both school forms. That is time for three questions.
const (
	crossExchanges = 3
	crossMinutes   = 3
)

// maxOfASide limits the participants on one side of an Oxford debate.
const maxOfASide = 4

func oxford() Format {
	return Format{
		Name: Oxford,
		Guidance: "Two sides contend over a motion before listeners whom each wants to win over: " +
			"those who are undecided, and those who lean the other way. " +
			"Where a side has several speakers, they share one case, and each covers what the others have not.",
		Seats: []Seats{
			{Side: For, Min: 1, Max: maxOfASide, Role: "to speak for the motion."},
			{Side: Against, Min: 1, Max: maxOfASide, Role: "to speak against the motion."},
			{Side: Neutral, Max: 1, Role: "to moderate: to ask what a listener would want answered, and to press both sides equally."},
		},
		Chair:  Neutral,
		Rounds: 3,
		Phases: []Phase{
			{
				Name: PhaseOpening, First: 1, Last: 1,
				Slots: []Slot{{
					Who: BothSides, Minutes: 7,
					Instruction: "Say what your side holds about the motion and give its best reasons, in words that a listener can follow. " +
						"If the other side has spoken, take up its strongest point.",
				}},
			},
			{Name: "exchange", First: 2, Last: 2, Slots: oxfordExchange()},
			{
				Name: PhaseClosing, First: 3, Last: 3,
				Slots: []Slot{{
					Who: BothSides, Minutes: 2,
					Instruction: "Leave those who listen with the one consideration that should decide the question. Bring nothing new.",
				}},
			},
		},
		End:    EndByRounds,
		Decide: BySwing,
	}
}

// oxfordExchange returns the moderated middle of an Oxford debate:
//   - If there is a moderator, the moderator asks all speakers.
//   - The sides ask each other: the first asks the first, the second asks the second.
//   - Two members of the audience ask both sides.
func oxfordExchange() []Slot {
	slots := []Slot{{
		Who: TheChair, To: BothSides, Exchanges: 1,
		Instruction: "Press the speaker on the point that an undecided listener would doubt most.",
		Answer:      "Speak to those who listen as much as to the moderator.",
	}}
	cross := func(who, to Side, place int) Slot {
		at := ":" + strconv.Itoa(place)
		return Slot{
			Who: Who(string(who) + at), To: Who(string(to) + at), Exchanges: 1,
			Instruction: "Aim at the claim on which the other side's case depends most.",
			Answer:      "Defend your side's case on that very point.",
		}
	}
	for place := 1; place <= maxOfASide; place++ {
		slots = append(slots, cross(For, Against, place), cross(Against, For, place))
	}
	for place := 1; place <= 2; place++ {
		member := Who("audience:" + strconv.Itoa(place))
		slots = append(slots,
			Slot{Who: member, Kind: KindQuestion, Instruction: "Ask both sides what would help you to make up your mind."},
			Slot{
				Who: BothSides, Kind: KindAnswer, To: member,
				Instruction: "Say what your side's answer is, and how it differs from the other side's.",
			})
	}
	return slots
}

// crossing returns a cross-examination of three minutes.
func crossing(who, to Who) Slot {
	return Slot{
		Who: who, To: to, Exchanges: crossExchanges, Minutes: crossMinutes,
		Instruction: "Seek an admission, a gap or a contradiction that your side can use later, and follow up on earlier answers.",
		Answer:      "Answer truthfully, and grant no more than you are asked.",
	}
}

func lincolnDouglas() Format {
	const (
		affirm = "Name the value that should decide the question and the criterion by which it is measured, " +
			"then show that affirming the topic serves them best."
		negate = "Name the value and the criterion that your side offers, and show that by them the topic is to be rejected. " +
			"Then answer the case that was made for it."
	)
	return Format{
		Name: LincolnDouglas,
		Guidance: "One against one, about values: each side offers a value and a criterion that measures it, " +
			"and argues that its side of the question upholds them better. The side for the topic speaks first and last; " +
			"the second round brings no new arguments.",
		Seats: []Seats{
			{Side: For, Min: 1, Max: 1, Role: "to affirm the topic: to carry its burden of proof, and to speak first and last."},
			{Side: Against, Min: 1, Max: 1, Role: "to negate the topic: to answer the case made for it, and to make one against it."},
		},
		Rounds: 2,
		Phases: []Phase{
			{Name: "constructive", First: 1, Last: 1, Slots: []Slot{
				{Who: "for:1", Minutes: 6, Instruction: affirm},
				crossing("against:1", "for:1"),
				{Who: "against:1", Minutes: 7, Instruction: negate},
				crossing("for:1", "against:1"),
			}},
			{
				Name: "rebuttal", First: 2, Last: 2,
				Instruction: "Bring no new arguments: only answers to what was said, and new evidence for points already made.",
				Slots: []Slot{
					{Who: "for:1", Minutes: 4, Instruction: "Answer the case against the topic, then restore your own where it was attacked."},
					{
						Who: "against:1", Minutes: 6,
						Instruction: "Answer what was just said. This is your last turn: weigh both cases by value and criterion, " +
							"and say why yours prevails.",
					},
					{
						Who: "for:1", Minutes: 3,
						Instruction: "This is the last turn of the debate: settle the few points that decide it, " +
							"and say why your case upholds the value better.",
					},
				},
			},
		},
		End: EndByRounds,
	}
}

func karlPopper() Format {
	const (
		team   = " with two others: the first speaker of a team makes its case, the others hold to it."
		affirm = "Set out your team's whole case: what the terms of the topic mean, the criterion by which to judge it, " +
			"and the arguments."
		negate = "Answer the case that was made, its definitions and its criterion included, " +
			"then set out your team's whole case against the topic."
		rebuild = "Answer the other team's arguments one by one, and rebuild those of your own team that were attacked. " +
			"Bring no new lines of argument."
		weigh = "Name the points on which the teams still clash, and show for each who has the better of it. Bring nothing new."
	)
	return Format{
		Name: KarlPopper,
		Guidance: "Two teams of three, each with one case that all its speakers share. " +
			"The first of a team makes its case, the second and third defend it and test the other's; nobody brings a new case later.",
		Seats: []Seats{
			{Side: For, Min: 3, Max: 3, Role: "to affirm the topic" + team},
			{Side: Against, Min: 3, Max: 3, Role: "to negate the topic" + team},
		},
		Rounds: 3,
		Phases: []Phase{
			{Name: "constructive", First: 1, Last: 1, Slots: []Slot{
				{Who: "for:1", Minutes: 6, Instruction: affirm},
				crossing("against:3", "for:1"),
				{Who: "against:1", Minutes: 6, Instruction: negate},
				crossing("for:3", "against:1"),
			}},
			{Name: "rebuttal", First: 2, Last: 2, Slots: []Slot{
				{Who: "for:2", Minutes: 5, Instruction: rebuild},
				crossing("against:1", "for:2"),
				{Who: "against:2", Minutes: 5, Instruction: rebuild},
				crossing("for:1", "against:2"),
			}},
			{Name: PhaseClosing, First: 3, Last: 3, Slots: []Slot{
				{Who: "for:3", Minutes: 5, Instruction: weigh},
				{Who: "against:3", Minutes: 5, Instruction: weigh},
			}},
		},
		End: EndByRounds,
	}
}
