package progress_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/progress"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/store"
)

// A display of the rounds and phases of a deliberation.
func ExampleHooks() {
	engine := flows.Engine(&store.Memory{}, nil)
	hooks := progress.Hooks{
		OnRound: func(round flow.Round) { fmt.Printf("Round %d of %d\n", round.N, round.Of) },
		OnPhase: func(phase progress.Phase) {
			if phase.Expected > 0 {
				fmt.Printf("%s: %d calls\n", phase.State, phase.Expected)
			}
		},
		OnDone: func(job progress.Job) {
			var solution deliberation.Solution
			if turn, ok := job.Result.(*flow.Turn); ok && job.Kind == deliberation.KindSynthesis && json.Unmarshal(turn.Data, &solution) == nil {
				fmt.Println(solution.Description)
			}
		},
	}
	for _, err := range hooks.Events(engine.Run(context.Background(), flows.Deliberation("links"))) {
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
