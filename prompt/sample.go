package prompt

import "slices"

// embeddedTemplate returns a template of this package.
func embeddedTemplate(name, text string, trials []any) Template {
	return Template{
		Text: text, Samples: trials,
		Fenced: slices.Contains([]string{"debater", "judge", "voter", "summarizer", partFence}, name),
		Asks:   slices.Contains([]string{"assess", "verdict", "ballot", "assign"}, name),
	}
}

// stances are those that the part "stance" tells apart. The empty one is that of an advocate.
func stances() []string {
	return []string{"", "advocate", "open", "shared", "examined", "proposal", "critic"}
}

// samples returns data for each template that reaches all its branches: with every value, with none, and
// with each choice that the embedded templates make. Data that are not empty have [SampleFence] and [SampleFields].
func samples() map[string][]any {
	const topic = "Topic"
	person := []Person{{Name: "Ben", Side: "against", Position: "No."}, {Name: "Cy", Persona: "Persona"}}
	names := []string{"Ada", "Ben"}
	rubric := []Criterion{{Name: "wit", Weight: 60, Low: "none", High: "sparkling"}, {Name: "courage"}}
	debater := Debater{
		Topic: topic, Name: "Ada", Side: "for", Position: "Yes.", Persona: "Persona", KeyArguments: names,
		Instructions: "Instructions", Format: "free-form", FormatGuidance: "Guidance", Role: "Role", Others: person,
		Means: "you say yes to the topic", Place: "place 1 of 2", Language: "German", Rounds: 3, Fence: SampleFence,
	}
	chair := debater
	chair.Chair = true
	speakers := []any{debater, Debater{}}
	for _, stance := range stances() {
		speakers = append(speakers,
			Debater{Stance: stance, Fence: SampleFence}, Debater{Stance: stance, Position: "Yes.", Fence: SampleFence},
			Debater{Stance: stance, Side: "for", Fence: SampleFence}, Debater{Stance: stance, Place: "place 1 of 2", Fence: SampleFence})
	}
	judge := Judge{
		Name: "Judge", Topic: topic, Format: "free-form", FormatGuidance: "Guidance",
		Participants: person, Chairs: names, Criteria: names, Roles: names, Instructions: "Instructions", Language: "German",
		Rounds: 3, Fence: SampleFence,
	}
	scoring := judge
	scoring.Rubric, scoring.NoWinner = rubric, true
	judges := []any{judge, Judge{Fence: SampleFence}.clean(), scoring.clean()}
	for _, aim := range []string{"argument", "truth", "understanding"} {
		judge.Aim = aim
		judges = append(judges, judge)
	}
	full := Turn{Phase: "opening", Instruction: "Instruction", Target: names[1], Words: 300, Rounds: 3, First: true}
	return map[string][]any{
		"debater": append(speakers,
			Debater{Side: "against", Fence: SampleFence},
			Debater{Side: "neutral", Means: "neither", Fence: SampleFence},
			Debater{Role: "Role", Fence: SampleFence},
			chair.clean(),
			Debater{Chair: true, Fence: SampleFence},
		),
		partStance:   speakers,
		partFence:    {Fence{SampleFence}},
		partLanguage: {Language{"German"}, Language{}},
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
			Turn{Question: true, First: true},
			Turn{Answer: true},
			Turn{Answer: true, Target: names[1]},
		},
		"judge": judges,
		"assess": {
			Assess{Participants: names, Rubric: rubric, Rounds: 3, Fields: SampleFields},
			Assess{},
			Assess{Ends: "rounds", Fields: SampleFields},
			Assess{Ends: "convergence", Fields: SampleFields},
			Assess{Ends: "convergence", Judges: 3, Fields: SampleFields},
			Assess{Judges: 3, Rounds: 1, First: true, Fields: SampleFields},
		},
		"verdict": {
			Verdict{Participants: names, Criteria: names, Rounds: 3, Fields: SampleFields},
			Verdict{},
			Verdict{Unfinished: true, Fields: SampleFields},
			Verdict{NoWinner: true, Fields: SampleFields},
		},
		"again": {Again{Problems: names}, Again{}},
		"tools": {Tools{Left: "3"}, Tools{}},
		"assign": {
			AssignPositions{
				Topic: topic, FormatGuidance: "Guidance", Count: 2, Diversity: "binary", Open: person, Taken: person,
				Instructions: "Instructions", Language: "German", Fields: SampleFields,
			},
			AssignPositions{Diversity: "binary", Fields: SampleFields},
			AssignPositions{},
			AssignPositions{Diversity: "spectrum", Fields: SampleFields},
			AssignPositions{Diversity: "multi-perspective", Fields: SampleFields},
		},
		"findings": {Findings{Items: names}, Findings{}},
		"voter": {
			Voter{
				Topic: topic, Name: "Vera", Persona: "Persona", For: "Yes.", Against: "No.", Format: "oxford",
				FormatGuidance: "Guidance", Participants: person, Instructions: "Instructions", Language: "German", Fence: SampleFence,
			},
			Voter{},
		},
		"ballot": {
			Ballot{Former: "for", Fields: SampleFields}, Ballot{}, Ballot{Fields: SampleFields}, Ballot{Before: true, Fields: SampleFields},
		},
		"summarizer": {Summarizer{Topic: topic, Participants: person, Language: "German", Fence: SampleFence}, Summarizer{}},
		"summary":    {Summary{Words: "300"}, Summary{}, Summary{Former: true}},
	}
}
