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
	fmt.Println(prompt.Fill(rebuttal, 2))
	fmt.Println(prompt.Fill(rebuttal, 3))
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
	head, _, _ := strings.Cut(system, "\n\n## How to speak")
	fmt.Println(head)
	// Output:
	// You are Ada, one of the speakers in a structured debate.
	//
	// Topic: Should cities ban cars from their centres?
	//
	// Your side: for
	//
	// Your position: Ban them.
	//
	// The other speakers:
	//
	// - Ben (against): Price them.
}

func ExampleFill() {
	fmt.Println(prompt.Fill("Round "+prompt.Round+" of 3", 2))
	// Output: Round 2 of 3
}
