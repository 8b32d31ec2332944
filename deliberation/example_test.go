package deliberation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
)

// Example plays a deliberation of two agents over one round. The provider here follows a script; a program gives
// one that asks models.
func Example() {
	config, err := deliberation.Config{
		Problem: "Design a URL shortener for 100 million links.",
		Agents: []deliberation.Agent{
			{ID: "ada", Role: deliberation.RoleArchitect, Model: "test/agent"},
			{ID: "ben", Role: deliberation.RoleSimplicity, Model: "test/agent"},
		},
		Judge:  deliberation.Judge{Model: "test/judge"},
		Rounds: 1,
	}.Debate()
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, _ := engineFor(nil)
	session, err := engine.Start(context.Background(), config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	record, err := session.Wait(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range deliberation.Contributions(record) {
		fmt.Printf("%s by %s %q\n", c.Kind, c.Agent, c.Target)
	}
	solution, by, _ := deliberation.Final(record)
	fmt.Println(by, "is confident by", solution.Confidence)
	// Output:
	// proposal by ada ""
	// proposal by ben ""
	// critique by ada "ben"
	// critique by ben "ada"
	// refinement by ada ""
	// refinement by ben ""
	// judge is confident by 82
}

// A config is checked before anything is asked; the error names every field that is wrong.
func ExampleConfig_Debate() {
	_, err := deliberation.Config{
		Problem:     "Design a URL shortener.",
		Agents:      []deliberation.Agent{{ID: "ada", Model: "test/agent"}, {ID: "ben", Role: "wizard"}},
		Judge:       deliberation.Judge{Model: "test/judge"},
		Termination: deliberation.Termination{Kind: "boredom"},
	}.Debate()
	fmt.Println(err)
	// Output:
	// debate: validation: deliberation: termination.kind: "boredom" is not known: it is fixed, convergence, quality
	// debate: validation: deliberation: agents[1].model: is empty: it is "provider/model"
	// debate: validation: deliberation: agents[1].role: no role "wizard" is known: there are architect, security, performance, testing, data-modeling, simplicity, generalist
}

// A config can be a file.
func ExampleConfig() {
	var config deliberation.Config
	err := json.Unmarshal([]byte(`{
		"problem": "Design a URL shortener.",
		"agents": [
			{"id": "ada", "role": "architect", "model": "openai/gpt-5-mini"},
			{"id": "ben", "role": "performance", "model": "openai/gpt-5-mini"}
		],
		"judge": {"model": "openai/gpt-5"},
		"rounds": 5,
		"termination": {"kind": "convergence", "threshold": 85},
		"clarification": {"on": true},
		"roundTimeout": "10m"
	}`), &config)
	fmt.Println(len(config.Agents), *config.Termination.Threshold, config.RoundTimeout, err)
	// Output: 2 85 10m0s <nil>
}

// ExampleInsert adds a state in which somebody checks the facts of every critiqued proposal. What is found is read
// when the agents refine.
func ExampleInsert() {
	flow := deliberation.Flow()
	err := deliberation.Insert(flow, deliberation.StateCritiquing, deliberation.Node{
		State: "factChecking",
		Step: debate.Step{Calls: func(r *debate.Record) []debate.Call {
			var calls []debate.Call
			for _, agent := range r.Active() {
				id := fmt.Sprintf("r%d.check.%s", r.Round, agent.Name)
				if r.Done(id) || r.Failed(id) {
					continue
				}
				calls = append(calls, debate.Call{
					ID: id, Kind: "finding", By: "checker", Target: agent.Name, Round: r.Round, Model: "test/agent",
					View: debate.View{None: true}, OnFail: debate.OnFail{Skip: true},
					Last: func(r *debate.Record) string {
						for _, c := range deliberation.Contributions(r) {
							if c.Kind == deliberation.KindProposal && c.Agent == agent.Name {
								return r.Quote(c.Agent, c.Text) + "\nCheck the facts of this proposal."
							}
						}
						return "There is nothing to check."
					},
				})
			}
			return calls
		}},
	})
	for _, rule := range flow.Rules {
		if rule.From == "factChecking" || rule.To == "factChecking" {
			fmt.Println(rule.From, "→", rule.To)
		}
	}
	fmt.Println(err)
	// Output:
	// critiquing → factChecking
	// factChecking → refining
	// <nil>
}

// A synthesizer of the host's own makes the solution in Go.
func ExampleSynthesizerFunc() {
	engine, _ := engineFor(nil)
	engine.Judges = map[string]debate.Judge{
		"last-word": deliberation.SynthesizerFunc(func(_ context.Context, task debate.JudgeTask) (*deliberation.Solution, error) {
			for _, turn := range slices.Backward(task.Turns) {
				if turn.Kind == deliberation.KindRefinement {
					return &deliberation.Solution{Description: turn.Text, Confidence: 40}, nil
				}
			}
			return nil, errors.New("nothing was refined")
		}),
	}
	config := three()
	config.Synthesis, config.Synthesizer = deliberation.SynthesisRegistered, "last-word"
	made, err := config.Debate()
	if err != nil {
		fmt.Println(err)
		return
	}
	session, err := engine.Start(context.Background(), made)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	record, err := session.Wait(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	solution, by, _ := deliberation.Final(record)
	fmt.Println(by+":", solution.Confidence)
	// Output: synthesizer: 40
}

// ExampleClarifications shows what the agents asked, and what they were told.
func ExampleClarifications() {
	engine, _ := engineFor(curious(map[string][]string{"clarify.1.ada": {"How many users?", "Which region?"}}))
	config := three()
	config.Clarification.On = true
	made, err := config.Debate()
	if err != nil {
		fmt.Println(err)
		return
	}
	session, err := engine.Start(context.Background(), made)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	record, err := session.Wait(context.Background())
	for errors.Is(err, debate.ErrAwaitingInput) {
		for i, question := range record.Inquiries {
			if err := session.Answer(context.Background(), question.ID, []string{"A thousand.", deliberation.NotAnswered}[i%2]); err != nil {
				fmt.Println(err)
				return
			}
		}
		record, err = session.Wait(context.Background())
	}
	for _, c := range deliberation.Clarifications(record) {
		fmt.Println(c.Agent, "asks:", c.Question, c.Answer, c.Skipped)
	}
	// Output:
	// ada asks: How many users? A thousand. false
	// ada asks: Which region? NA true
}
