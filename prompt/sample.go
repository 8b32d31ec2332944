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

// A topic and a language in the samples.
const (
	sampleTopic    = "Topic"
	sampleLanguage = "German"
)

// samples returns data for each template that reaches all its branches: with every value, with none, and
// with each choice that the embedded templates make. The first has every value.
func samples() map[string][]any {
	person := []Person{{Name: "Ben", Side: "against", Position: "No."}, {Name: "Cy", Persona: "Persona"}}
	names := []string{"Ada", "Ben"}
	rubric := []Criterion{{Name: "wit", Weight: 60, Low: "none", High: "sparkling"}, {Name: "courage"}}
	stance, speakers := speakerSamples(person, names)
	full := Turn{Phase: "opening", Instruction: "Instruction", Target: names[1], Words: 300, Rounds: 3, First: true, Released: "side"}
	judges := judgeSamples(person, names, rubric)
	return map[string][]any{
		"debater":    speakers,
		partStance:   stance,
		partFence:    {Fence{SampleFence}},
		partAim:      judges,
		partLanguage: {Language{sampleLanguage}, Language{}},
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
			Turn{Released: "both"},
			Turn{Released: "view"},
			Turn{Released: "critic"},
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
				Topic: sampleTopic, FormatGuidance: "Guidance", Count: 2, Diversity: "binary", Open: person, Taken: person,
				Instructions: SampleInstructions, Language: sampleLanguage, Fields: SampleFields,
			},
			AssignPositions{Diversity: "binary", Fields: SampleFields},
			AssignPositions{},
			AssignPositions{Diversity: "spectrum", Fields: SampleFields},
			AssignPositions{Diversity: "multi-perspective", Fields: SampleFields},
		},
		"findings": {Findings{Items: names}, Findings{}},
		"voter": {
			Voter{
				Topic: sampleTopic, Name: "Vera", Persona: "Persona", For: "Yes.", Against: "No.", Format: "oxford",
				FormatGuidance: "Guidance", Participants: person, Instructions: SampleInstructions, Language: sampleLanguage,
				Fence: SampleFence,
			},
			Voter{},
		},
		"ballot": {
			Ballot{Former: "for", Fields: SampleFields}, Ballot{}, Ballot{Fields: SampleFields}, Ballot{Before: true, Fields: SampleFields},
		},
		"summarizer": {Summarizer{Topic: sampleTopic, Participants: person, Language: sampleLanguage, Fence: SampleFence}, Summarizer{}},
		"summary":    {Summary{Words: "300"}, Summary{}, Summary{Former: true}},
	}
}

// speakerSamples returns data for the part "stance", and for "debater", which has all of them.
func speakerSamples(person []Person, names []string) (stance, all []any) {
	debater := Debater{
		Topic: sampleTopic, Name: "Ada", Stance: "advocate", Side: "for", Position: "Yes.", Persona: "Persona", KeyArguments: names,
		Instructions: SampleInstructions, Format: "free-form", FormatGuidance: "Guidance", Role: "Role", Others: person,
		Means: "you say yes to the topic", Place: "number 1 of 2", Language: sampleLanguage, Rounds: 3, Fence: SampleFence,
		Released: true, Sources: true,
	}
	chair := debater
	chair.Chair = true
	stance = []any{debater, Debater{}}
	for _, name := range stances() {
		stance = append(stance,
			Debater{Stance: name, Fence: SampleFence}, Debater{Stance: name, Position: "Yes.", Fence: SampleFence},
			Debater{Stance: name, Side: "for", Fence: SampleFence}, Debater{Stance: name, Place: "number 1 of 2", Fence: SampleFence})
	}
	return stance, append(stance,
		Debater{Side: "against", Fence: SampleFence},
		Debater{Side: "neutral", Means: "neither", Fence: SampleFence},
		Debater{Role: "Role", Fence: SampleFence},
		chair.clean(),
		Debater{Chair: true, Fence: SampleFence},
	)
}

// judgeSamples returns data for "judge", and for its part "aim".
func judgeSamples(person []Person, names []string, rubric []Criterion) []any {
	judge := Judge{
		Name: "Judge", Topic: sampleTopic, Format: "free-form", FormatGuidance: "Guidance",
		Participants: person, Chairs: names, Criteria: names, Roles: names, Instructions: SampleInstructions, Language: sampleLanguage,
		Rounds: 3, Fence: SampleFence,
	}
	scoring := judge
	scoring.Rubric, scoring.NoWinner, scoring.Sources, scoring.Closing = rubric, true, true, true
	judges := []any{judge, Judge{Fence: SampleFence}.clean(), scoring.clean()}
	for _, aim := range []string{"argument", "truth", "understanding"} {
		for _, none := range []bool{false, true} {
			judge.Aim, judge.NoWinner = aim, none
			judges = append(judges, judge)
		}
	}
	return judges
}
