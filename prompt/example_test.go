package prompt_test

import (
	"fmt"
	"strings"

	"github.com/agonist-dev/debate/prompt"
)

// A host replaces a template by its name; the others stay.
func ExampleParse() {
	set, err := prompt.Parse(map[string]string{
		"turn": "Runde {{.Round}} von {{.Rounds}}: {{.Phase}}",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	rebuttal, err := set.Turn(prompt.Turn{Phase: "Erwiderung", Rounds: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(prompt.Fill(rebuttal, 2, 4))
	fmt.Println(prompt.Fill(rebuttal, 3, 4))
	// Output:
	// Runde 2 von 4: Erwiderung
	// Runde 3 von 4: Erwiderung
}

// Each replacement that can not be used is named.
func ExampleParse_error() {
	_, err := prompt.Parse(map[string]string{
		"judge":   "Be fair to {{.Speakers}}.",
		"referee": "Be fair.",
	})
	for line := range strings.Lines(err.Error()) {
		fmt.Println(strings.Contains(line, "referee"), strings.Contains(line, "Speakers"))
	}
	// Output:
	// true false
	// false true
}

func ExampleSet_Debater() {
	set, err := prompt.Parse(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	system, err := set.Debater(prompt.Debater{
		Topic:    "Should cities ban cars from their centres?",
		Name:     "Ada",
		Side:     "for",
		Position: "Ban them.",
		Others:   []prompt.Person{{Name: "Ben", Side: "against", Position: "Price them."}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	head, _, _ := strings.Cut(system, "\n\nWhat you argue")
	fmt.Println(head)
	// Output:
	// You are Ada, one of the speakers in a discussion.
	//
	// Topic: Should cities ban cars from their centres?
	//
	// Your side: for
	//
	// Your position: Ban them.
	//
	// The others:
	//
	// - Ben (against): Price them.
}

func ExampleFill() {
	fmt.Println(prompt.Fill("Round "+prompt.Round+" of 3", 2, 3))
	// Output: Round 2 of 3
}

// A question and its answer are turns of their own.
func ExampleSet_Turn() {
	set, err := prompt.Parse(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	question, err := set.Turn(prompt.Turn{Phase: "cross-examination", Question: true, Target: "Ben", Words: 40})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(prompt.Fill(question, 1, 3))
	// Output:
	// Round 1.
	//
	// Put one short question to Ben that can be answered in a few sentences, about something that was said or left open. Only the question, and only one.
	// At most 40 words.
}

func ExampleCriterion() {
	fmt.Println(prompt.Criterion{Name: "evidence quality", Weight: 20, Low: "none", High: "strong throughout"})
	// Output: evidence quality (weight 20 %; 0: none, 10: strong throughout)
}

// A member of the audience votes before the debate and after it.
func ExampleSet_Ballot() {
	set, err := prompt.Parse(map[string]string{
		"ballot": "{{if .Before}}Wie stimmen Sie?{{else}}Wie stimmen Sie jetzt?{{end}} {{.Fields}}",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, before := range []bool{true, false} {
		text, err := set.Ballot(prompt.Ballot{Before: before})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(text)
	}
	// Output:
	// Wie stimmen Sie?
	// Wie stimmen Sie jetzt?
}

// What the program measured is told to a judge beside the instruction.
func ExampleSet_Findings() {
	set, err := prompt.Parse(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := set.Findings(prompt.Findings{Items: []string{"Ada: 41 % of this speech repeats an earlier one."}})
	if err != nil {
		fmt.Println(err)
		return
	}
	list, _, _ := strings.Cut(text, "\n\nThe program")
	fmt.Println(list)
	// Output:
	// What was measured:
	//
	// - Ada: 41 % of this speech repeats an earlier one.
}

// Each summary replaces the one before it.
func ExampleSet_Summary() {
	set, err := prompt.Parse(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := set.Summary(prompt.Summary{Words: "300", Former: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	task, _, _ := strings.Cut(text, "\n")
	fmt.Println(task)
	// Output: Condense these turns, so that the discussion can go on without them. The first block is the summary so far: yours replaces it and covers both.
}
