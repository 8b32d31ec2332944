package deliberation_test

import (
	"context"
	"fmt"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A display of the rounds and phases of a deliberation.
func ExampleHooks() {
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{"acme": &scripted.Provider{Reply: script(nil)}},
		Flows:     map[string]*flow.Flow{deliberation.FlowName: deliberation.Flow()},
	}
	config := deliberation.Config{
		Problem: "Shorten links.", Rounds: 1, Judge: deliberation.Judge{Model: "acme/large"},
		Agents: []deliberation.Agent{{ID: "ada", Role: "architect", Model: "acme/large"}, {ID: "ben", Role: "security", Model: "acme/large"}},
	}
	hooks := deliberation.Hooks{
		OnRoundStart: func(round, of int) { fmt.Printf("Round %d of %d\n", round, of) },
		OnPhaseStart: func(_ int, phase flow.State, expected int) {
			if expected > 0 {
				fmt.Printf("%s: %d calls\n", phase, expected)
			}
		},
		OnSynthesisComplete: func(s *deliberation.Solution) { fmt.Println(s.Description) },
	}
	for _, err := range hooks.Events(engine.Run(context.Background(), config)) {
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// Round 1 of 1
	// proposing: 2 calls
	// critiquing: 2 calls
	// refining: 2 calls
	// completing: 1 calls
	// The solution of synthesis.
}
