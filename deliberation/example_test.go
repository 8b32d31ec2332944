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
	d, _ := deliberation.Of(record)
	for _, c := range d.Contributions() {
		fmt.Printf("%s by %s %q\n", c.Kind, c.Agent, c.Target)
	}
	solution, by, _ := d.Solution()
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
func ExampleConfig_refused() {
	engine, _ := engineFor(nil)
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
	// The models of this example: Ada counts on what is wrong until somebody tells her, and the checker finds it.
	models := func(call string, req *provider.Request) (scripted.Reply, bool) {
		switch told := strings.Contains(req.Last.Text, "takes seven"); call {
		case "r1.propose.ada":
			return scripted.Reply{Text: "A key takes four characters."}, true
		case "r1.check.ada":
			return scripted.Reply{Text: "It takes seven: four make 15 million keys."}, strings.Contains(req.Last.Text, "four characters")
		case "r1.refine.ada", "r2.refine.ada":
			return scripted.Reply{Text: fmt.Sprintf("A key takes %s characters.", map[bool]string{true: "seven", false: "four"}[told])}, true
		case "r2.check.ada":
			return scripted.Reply{Text: "That is right."}, strings.Contains(req.Last.Text, "seven characters")
		}
		return scripted.Reply{}, false
	}
	config := three()
	config.Agents = config.Agents[:2]
	for _, name := range []string{"without", "with"} {
		engine, _ := engineFor(models)
		if name == "with" {
			engine.Flows[deliberation.FlowName] = f
		}
		record, err := run(engine, config)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(name + " the node:")
		d, _ := deliberation.Of(record)
		for _, c := range d.Contributions() {
			if c.Agent == "ada" && c.Kind == deliberation.KindRefinement || c.Target == "ada" && c.Kind == "finding" {
				fmt.Printf("  round %d, %s by %s: %s\n", c.Round, c.Kind, c.Agent, c.Text)
			}
		}
	}
	// Output:
	// without the node:
	//   round 1, refinement by ada: A key takes four characters.
	//   round 2, refinement by ada: A key takes four characters.
	// with the node:
	//   round 1, finding by checker: It takes seven: four make 15 million keys.
	//   round 1, refinement by ada: A key takes seven characters.
	//   round 2, finding by checker: That is right.
	//   round 2, refinement by ada: A key takes seven characters.
}

// run plays a deliberation to its end.
func run(engine *debate.Engine, config deliberation.Config) (*debate.Record, error) {
	session, err := engine.Start(context.Background(), config)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	return session.Wait(context.Background())
}

// What only the engine knows is checked with it.
func ExampleConfig_registered() {
	config := three()
	config.Agents[2].Model = "nobody/model"
	config.Agents[0].Tools = &[]string{"list_files"}
	engine, _ := engineFor(nil)
	fmt.Println(engine.Validate(context.Background(), config))
	// Output:
	// debate: validation: config: agents[2].model: no provider "nobody" is registered: there is only test
	// debate: validation: config: agents[0].tools[0]: no tool "list_files" is registered: there is none
}

// From a record a report takes what was asked, and of whom.
func ExampleDeliberation_Config() {
	engine, _ := engineFor(nil)
	record, err := run(engine, three())
	if err != nil {
		fmt.Println(err)
		return
	}
	d, _ := deliberation.Of(record)
	config := d.Config()
	fmt.Println(config.Problem)
	for _, agent := range config.Agents {
		role, err := deliberation.FindRole(agent.Role, config.Roles)
		fmt.Println("-", agent.ID, role.Title, agent.Model, err)
	}
	fmt.Println(config.Rounds, "rounds, solution by", config.Synthesis)
	// Output:
	// Design a URL shortener.
	// It takes 100 million links.
	// - ada Architect test/agent <nil>
	// - ben Performance engineer test/agent <nil>
	// - cyd Advocate of simplicity test/agent <nil>
	// 2 rounds, solution by judge
}

// A synthesizer of the host's own makes the solution in Go.
func ExampleSynthesizerFunc() {
	engine, _ := engineFor(nil)
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
	config := three()
	config.Synthesis, config.Synthesizer = deliberation.SynthesisRegistered, "last-word"
	record, err := run(engine, config)
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
	engine, _ := engineFor(curious(map[string][]string{"clarify.1.ada": {"How many users?", "Which region?"}}))
	config := three()
	config.Clarification.On = true
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
