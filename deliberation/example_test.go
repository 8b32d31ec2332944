package deliberation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Example plays a deliberation of two agents over one round. The provider here follows a script; a program gives
// one that asks models.
func Example() {
	config := deliberation.Config{
		Problem: "Design a URL shortener for 100 million links.",
		Agents: []deliberation.Agent{
			{ID: "ada", Role: deliberation.RoleArchitect, Model: "test/agent"},
			{ID: "ben", Role: deliberation.RoleSimplicity, Model: "test/agent"},
		},
		Judge:  deliberation.Judge{Model: "test/judge"},
		Rounds: 1,
	}
	solution := `{"solution": "A table.", "implementation": [], "tradeoffs": [], "recommendations": [], "openQuestions": [], "confidence": 82,
		"requirements": [{"text": "short links", "major": true, "fulfilled": true, "note": "in one table"}]}`
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{"test": &scripted.Provider{Replies: map[string][]scripted.Reply{"judge": {{Text: solution}}}}},
		Flows:     map[string]*debate.Flow{deliberation.FlowName: deliberation.Flow()},
	}
	record, err := engine.Play(context.Background(), config)
	if err != nil {
		fmt.Println(err)
		return
	}
	d, _ := deliberation.Of(record)
	for _, c := range d.Contributions() {
		fmt.Printf("%s by %s %q\n", c.Kind, c.Agent, c.Target)
	}
	_, by, ok := d.Solution()
	fmt.Println("solution by", by, ok)
	// Output:
	// proposal by ada ""
	// proposal by ben ""
	// critique by ada "ben"
	// critique by ben "ada"
	// refinement by ada ""
	// refinement by ben ""
	// solution by judge true
}

// A config is checked before anything is asked; the error names every field that is wrong.
func ExampleConfig_refused() {
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{"test": &scripted.Provider{}},
		Flows:     map[string]*debate.Flow{deliberation.FlowName: deliberation.Flow()},
	}
	fmt.Println(engine.Validate(context.Background(), deliberation.Config{
		Problem:     "Design a URL shortener.",
		Agents:      []deliberation.Agent{{ID: "ada", Model: "test/agent"}, {ID: "ben", Role: "wizard"}},
		Judge:       deliberation.Judge{Model: "test/judge"},
		Termination: deliberation.Termination{Kind: "boredom"},
	}))
	// Output:
	// debate: validation: config: termination.kind: "boredom" is not known: there are convergence, fixed, quality
	// debate: validation: config: agents[1].model: is empty: it must be "provider/model"
	// debate: validation: config: agents[1].role: no role "wizard" is known: there are architect, data-modeling, generalist, performance, security, simplicity, testing
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

// ExampleInsert adds a state in which somebody checks the facts of what stands, between critiques and refinements.
// A finding has an agent as its target: that is all it takes for the agent to read it, and to refine otherwise.
func ExampleInsert() {
	f := deliberation.Flow()
	f.Version, f.Accepts = 1001, 1001 // logs of the plain flow are not continued by this one, nor the other way round
	err := deliberation.Insert(f, deliberation.StateCritiquing, deliberation.Node{
		State: "factChecking",
		Step: flow.Step{Calls: func(r *flow.Record) []*flow.Call {
			var calls []*flow.Call
			d, _ := deliberation.Of(r)
			for _, proposal := range d.Standing() { // in later rounds what was refined before
				id := fmt.Sprintf("r%d.check.%s", r.Round, proposal.Agent)
				if r.Done(id) || r.Skipped(id) {
					continue
				}
				calls = append(calls, &flow.Call{
					ID: id, Kind: "finding", By: "checker", Target: proposal.Agent, Round: r.Round, Model: "test/agent",
					View: flow.View{None: true}, OnFail: flow.OnFail{Skip: flow.RuleToo},
					Last: func(r *flow.Record) string {
						return r.Quote(proposal.Agent, proposal.Text) + "\nCheck the facts of this proposal."
					},
				})
			}
			return calls
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(f.Mermaid()) {
		if strings.Contains(line, "factChecking") {
			fmt.Println(strings.TrimSpace(line))
		}
	}
	// Output:
	// critiquing --> factChecking: critiqued
	// factChecking --> refining: factCheckingDone
}

// What only the engine knows is checked with it.
func ExampleConfig_registered() {
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{"test": &scripted.Provider{}},
		Flows:     map[string]*debate.Flow{deliberation.FlowName: deliberation.Flow()},
	}
	config := deliberation.Config{
		Problem: "Design a URL shortener.\nIt takes 100 million links.", Rounds: 2,
		Agents: []deliberation.Agent{
			{ID: "ada", Role: deliberation.RoleArchitect, Model: "test/agent", Tools: &[]string{"list_files"}},
			{ID: "ben", Role: deliberation.RoleSimplicity, Model: "nobody/model"},
		},
		Judge: deliberation.Judge{Model: "test/judge"},
	}
	fmt.Println(engine.Validate(context.Background(), config))
	// Output:
	// debate: validation: config: agents[1].model: no provider "nobody" is registered: there is only test
	// debate: validation: config: agents[0].tools[0]: no tool "list_files" is registered: there is none
}

// From a record a report takes what was asked, and of whom.
func ExampleDeliberation_Config() {
	solution := `{"solution": "A table.", "implementation": [], "tradeoffs": [], "recommendations": [], "openQuestions": [], "confidence": 82,
		"requirements": [{"text": "short links", "major": true, "fulfilled": true, "note": "in one table"}]}`
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{"test": &scripted.Provider{Replies: map[string][]scripted.Reply{"judge": {{Text: solution}}}}},
		Flows:     map[string]*debate.Flow{deliberation.FlowName: deliberation.Flow()},
	}
	config := deliberation.Config{
		Problem: "Design a URL shortener.\nIt takes 100 million links.", Rounds: 2,
		Agents: []deliberation.Agent{
			{ID: "ada", Role: deliberation.RoleArchitect, Model: "test/agent"},
			{ID: "ben", Role: deliberation.RoleSimplicity, Model: "test/agent"},
		},
		Judge: deliberation.Judge{Model: "test/judge"},
	}
	record, err := engine.Play(context.Background(), config)
	if err != nil {
		fmt.Println(err)
		return
	}
	d, _ := deliberation.Of(record)
	asked := d.Config()
	fmt.Println(asked.Problem)
	for _, agent := range asked.Agents {
		role, err := deliberation.FindRole(agent.Role, asked.Roles)
		fmt.Println("-", agent.ID, role.Title, agent.Model, err)
	}
	fmt.Println(asked.Rounds, "rounds, solution by", asked.Synthesis)
	// Output:
	// Design a URL shortener.
	// It takes 100 million links.
	// - ada Architect test/agent <nil>
	// - ben Advocate of simplicity test/agent <nil>
	// 2 rounds, solution by judge
}

// A synthesizer of the host's own makes the solution in Go.
func ExampleSynthesizerFunc() {
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{"test": &scripted.Provider{}},
		Flows:     map[string]*debate.Flow{deliberation.FlowName: deliberation.Flow()},
	}
	engine.Functions = map[string]flow.Function{
		"last-word": deliberation.SynthesizerFunc(func(_ context.Context, task deliberation.SynthesisTask) (*deliberation.Solution, error) {
			for _, turn := range slices.Backward(task.Turns) {
				if turn.Kind == deliberation.KindRefinement {
					return &deliberation.Solution{
						Description: turn.Text, Confidence: 70,
						Requirements: []deliberation.Requirement{{Text: "short links", Major: true, Fulfilled: true, Note: "as refined"}},
					}, nil
				}
			}
			return nil, errors.New("nothing was refined")
		}),
	}
	config := deliberation.Config{
		Problem: "Design a URL shortener.\nIt takes 100 million links.", Rounds: 2,
		Agents: []deliberation.Agent{
			{ID: "ada", Role: deliberation.RoleArchitect, Model: "test/agent"},
			{ID: "ben", Role: deliberation.RoleSimplicity, Model: "test/agent"},
		},
		Judge: deliberation.Judge{Model: "test/judge"},
	}
	config.Synthesis, config.Synthesizer = deliberation.SynthesisRegistered, "last-word"
	record, err := engine.Play(context.Background(), config)
	if err != nil {
		fmt.Println(err)
		return
	}
	d, _ := deliberation.Of(record)
	solution, by, _ := d.Solution()
	fmt.Println(by+":", solution.Confidence)
	// Output: synthesizer: 70
}

// What the agents asked, and what they were told.
func ExampleDeliberation_Clarifications() {
	models := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		switch strings.Split(req.ID, "/")[1] { // the call, between the deliberation and the attempt
		case "clarify.1.ada":
			return scripted.Reply{Text: `{"questions": ["How many users?", "Which region?"]}`}
		case "synthesis":
			return scripted.Reply{Text: `{"solution": "A table.", "implementation": [], "tradeoffs": [], "recommendations": [], "openQuestions": [],
				"requirements": [{"text": "short links", "major": true, "fulfilled": true, "note": "in one table"}], "confidence": 80}`}
		}
		if req.Schema != nil {
			return scripted.Reply{Text: `{"questions": []}`}
		}
		return scripted.Reply{Text: "One table."}
	}}
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{"test": models},
		Flows:     map[string]*debate.Flow{deliberation.FlowName: deliberation.Flow()},
	}
	config := deliberation.Config{
		Problem: "Design a URL shortener.\nIt takes 100 million links.", Rounds: 2,
		Agents: []deliberation.Agent{
			{ID: "ada", Role: deliberation.RoleArchitect, Model: "test/agent"},
			{ID: "ben", Role: deliberation.RoleSimplicity, Model: "test/agent"},
		},
		Judge:         deliberation.Judge{Model: "test/judge"},
		Clarification: deliberation.Clarification{On: true},
	}
	session, err := engine.Start(context.Background(), config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	record, err := session.Wait(context.Background())
	for errors.Is(err, debate.ErrAwaitingInput) {
		for i, question := range record.Inquiries {
			if err := session.Answer(context.Background(), flow.Answer{Inquiry: question.ID, Text: []string{"A thousand.", deliberation.NotAnswered}[i%2]}); err != nil {
				fmt.Println(err)
				return
			}
		}
		record, err = session.Wait(context.Background())
	}
	d, _ := deliberation.Of(record)
	for _, c := range d.Clarifications() {
		fmt.Println(c.Agents[0], "asks:", c.Question, c.Answer, c.Skipped)
	}
	// Output:
	// ada asks: How many users? A thousand. false
	// ada asks: Which region? NA true
}
