package prompt

// samples yields, for each template, data that leads through its branches: with every value, with
// none, and with each choice that the embedded templates make.
func samples() map[string][]any {
	person := []Person{{Name: "Ben", Side: "against", Position: "No."}, {Name: "Cy"}}
	names := []string{"Ada", "Ben"}
	debater := Debater{
		Topic: "Topic", Name: "Ada", Side: "for", Position: "Yes.", Persona: "Persona", Instructions: "Instructions",
		Format: "free-form", FormatGuidance: "Guidance", Others: person, Rounds: 3, Fence: "word",
	}
	judge := Judge{
		Name: "Judge", Topic: "Topic", Format: "free-form", FormatGuidance: "Guidance",
		Participants: person, Criteria: names, Rounds: 3, Fence: "word",
	}
	full := Turn{Phase: "opening", Instruction: "Instruction", Words: 300, Rounds: 3}
	return map[string][]any{
		"debater": {debater, Debater{}, Debater{Side: "for"}, Debater{Side: "against"}, Debater{Side: "neutral"}},
		"turn": {
			full,
			Turn{},
			Turn{Opening: true},
			Turn{Closing: true},
			Turn{Opening: true, Closing: true},
		},
		"judge": {judge, Judge{}.clean()},
		"assess": {
			Assess{Participants: names, Rubric: names, Rounds: 3},
			Assess{},
			Assess{Advisory: true},
		},
		"verdict": {
			Verdict{Participants: names, Criteria: names, Rounds: 3},
			Verdict{},
			Verdict{Unfinished: true},
			Verdict{NoWinner: true},
		},
		"again": {Again{Problems: names}, Again{}},
		"assign": {
			Assign{Topic: "Topic", Count: 2, Diversity: "binary", Taken: person},
			Assign{},
			Assign{Diversity: "spectrum"},
			Assign{Diversity: "multi-perspective"},
		},
	}
}
