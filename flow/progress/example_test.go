package progress_test

import (
	"context"
	"fmt"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/progress"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A display of the rounds and phases of a deliberation.
func ExampleHooks() {
	solution := `{"solution": "A table.", "implementation": [], "tradeoffs": [], "recommendations": [], "openQuestions": [], "confidence": 82,
		"requirements": [{"text": "short links", "major": true, "fulfilled": true, "note": "in one table"}]}`
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{"acme": &scripted.Provider{Replies: map[string][]scripted.Reply{"judge": {{Text: solution}}}}},
		Flows:     map[string]*debate.Flow{deliberation.FlowName: deliberation.Flow()},
	}
	config := deliberation.Config{
		Problem: "Design a URL shortener.", Rounds: 1,
		Agents: []deliberation.Agent{
			{ID: "ada", Role: deliberation.RoleArchitect, Model: "acme/agent"}, {ID: "ben", Role: deliberation.RoleSimplicity, Model: "acme/agent"},
		},
		Judge: deliberation.Judge{Model: "acme/judge"},
	}
	done := 0
	hooks := progress.Hooks{
		OnRound: func(round flow.Round) { fmt.Printf("Round %d of %d\n", round.N, round.Of) },
		OnPhase: func(phase progress.Phase) {
			if phase.Expected > 0 {
				fmt.Printf("%s: %d calls\n", phase.State, phase.Expected)
			}
		},
		OnDone: func(progress.Job) { done++ },
	}
	for _, err := range hooks.Events(engine.Run(context.Background(), config)) {
		if err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(done, "calls are done")
	// Output:
	// Round 1 of 1
	// proposing: 2 calls
	// critiquing: 2 calls
	// refining: 2 calls
	// completing: 1 calls
	// 7 calls are done
}
