package prompt

// samples returns data for each template that reaches all its branches: with every value, with none, and
// with each choice that the embedded templates make.
func samples() map[string][]any {
	const topic = "Topic"
	person := []Person{{Name: "Ben", Side: "against", Position: "No."}, {Name: "Cy"}}
	names := []string{"Ada", "Ben"}
	rubric := []Criterion{{Name: "wit", Weight: 60, Low: "none", High: "sparkling"}, {Name: "courage"}}
	debater := Debater{
		Topic: topic, Name: "Ada", Side: "for", Position: "Yes.", Persona: "Persona", KeyArguments: names,
		Instructions: "Instructions", Format: "free-form", FormatGuidance: "Guidance", Role: "Role", Others: person,
		Rounds: 3, Fence: anyFence,
	}
	chair := debater
	chair.Chair = true
	judge := Judge{
		Name: "Judge", Topic: topic, Format: "free-form", FormatGuidance: "Guidance",
		Participants: person, Chairs: names, Criteria: names, Rounds: 3, Fence: anyFence,
	}
	scoring := judge
	scoring.Rubric, scoring.NoWinner = rubric, true
	full := Turn{Phase: "opening", Instruction: "Instruction", Target: names[1], Words: 300, Rounds: 3}
	return map[string][]any{
		"debater": {
			debater,
			Debater{},
			Debater{Side: "for"},
			Debater{Side: "against"},
			Debater{Side: "neutral"},
			Debater{Role: "Role"},
			chair.clean(),
			Debater{Chair: true},
		},
		"turn": {
			full,
			Turn{},
			Turn{Opening: true},
			Turn{Closing: true},
			Turn{Opening: true, Closing: true},
			Turn{Chair: true},
			Turn{Chair: true, Opening: true},
			Turn{Chair: true, Closing: true},
			Turn{Chair: true, Opening: true, Closing: true},
			Turn{Question: true},
			Turn{Question: true, Target: names[1]},
			Turn{Answer: true},
			Turn{Answer: true, Target: names[1]},
		},
		"judge": {judge, Judge{}.clean(), scoring.clean()},
		"assess": {
			Assess{Participants: names, Rubric: rubric, Rounds: 3},
			Assess{},
			Assess{Ends: "rounds"},
			Assess{Ends: "convergence"},
			Assess{Ends: "convergence", Judges: 3},
			Assess{Judges: 3, Rounds: 1},
		},
		"verdict": {
			Verdict{Participants: names, Criteria: names, Rounds: 3},
			Verdict{},
			Verdict{Unfinished: true},
			Verdict{NoWinner: true},
		},
		"again": {Again{Problems: names}, Again{}},
		"tools": {Tools{Left: "3"}, Tools{}},
		"assign": {
			AssignPositions{Topic: topic, Count: 2, Diversity: "binary", Open: person, Taken: person},
			AssignPositions{Diversity: "binary"},
			AssignPositions{},
			AssignPositions{Diversity: "spectrum"},
			AssignPositions{Diversity: "multi-perspective"},
		},
		"findings": {Findings{Items: names}, Findings{}},
		"voter": {
			Voter{
				Topic: topic, Name: "Vera", Persona: "Persona", For: "Yes.", Against: "No.", Format: "oxford",
				FormatGuidance: "Guidance", Participants: person, Fence: anyFence,
			},
			Voter{},
		},
		"ballot":     {Ballot{}, Ballot{Before: true}},
		"summarizer": {Summarizer{Topic: topic, Participants: person, Fence: anyFence}, Summarizer{}},
		"summary":    {Summary{Words: "300"}, Summary{}, Summary{Former: true}},
	}
}
