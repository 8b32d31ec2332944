package arbiter

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
)

// Func decides in Go: by a rule, in turns, or through a service. It is a [flow.Function]. Register it in Engine.Functions under
// the name in Arbiter.Function. Its ruling is checked like the answer of a model: if it is not legal, the function is called
// once more.
type Func func(ctx context.Context, s Situation) (Ruling, error)

// Situation is what a [Func] decides from. It belongs to the function. Texts of agents and of notes in it are hostile.
type Situation struct {
	Work       string     // the ID of the conversation
	Call       string     // deterministic; with Attempt it is an idempotency key
	Attempt    int        // from 1
	State      flow.State // StateSelecting or StateEvaluating
	Task       string
	Agents     []Agent // without their models
	Legal      []Move
	Parallel   int // how many agents may be selected at once
	Plan       *Plan
	Executions []Execution
	Last       []Execution  // those that were selected together last
	Left       int          // iterations
	Failures   int          // all so far
	InARow     int          // failures in a row
	Notes      []*flow.Note // what was said in between by those who take no part
	Labels     map[string]string
	// Instruction is what a model would be told, including the problems of a ruling that was not accepted.
	Instruction string
}

// Call implements [flow.Function].
func (f Func) Call(ctx context.Context, task any) (json.RawMessage, error) {
	s, err := flow.TaskOf[Situation](task)
	if err != nil {
		return nil, err
	}
	ruling, err := f(ctx, *s)
	if err != nil {
		return nil, err
	}
	if ruling.Agents == nil {
		ruling.Agents = []string{}
	}
	return json.Marshal(ruling)
}

// RoundRobin selects the agents one after the other, and declares the task complete after the given number of turns of each.
// An agent that has failed is retried once.
func RoundRobin(turns int) Func {
	return func(_ context.Context, s Situation) (Ruling, error) {
		n := len(s.Executions)
		switch {
		case len(s.Last) == 1 && s.Last[0].Result == Failed && s.Last[0].Retries == "" && s.Left > 0 && s.allows(MoveRetry):
			return Ruling{Move: MoveRetry, Reason: "it has failed"}, nil
		case s.allows(MoveComplete) && s.Succeeded() >= turns*len(s.Agents):
			return Ruling{Move: MoveComplete, Reason: "everybody has acted", Summary: prompt.Count(n, "execution")}, nil
		default:
			return Ruling{Move: MoveSelect, Agents: []string{s.after()}, Reason: "it is next"}, nil
		}
	}
}

// Succeeded returns how many executions were a success.
func (s *Situation) Succeeded() int {
	n := 0
	for i := range s.Executions {
		if s.Executions[i].Result == Success {
			n++
		}
	}
	return n
}

// after returns the agent behind the one that has acted last.
func (s *Situation) after() string {
	if len(s.Last) > 0 {
		for i := range s.Agents {
			if s.Agents[i].Name == s.Last[len(s.Last)-1].Agent {
				return s.Agents[(i+1)%len(s.Agents)].Name
			}
		}
	}
	return s.Agents[0].Name
}

func (s *Situation) allows(m Move) bool { return slices.Contains(s.Legal, m) }

// task makes what a registered function is asked.
func task(r *flow.Record, asked flow.Asked) any {
	w, settings := of(r), r.Settings()
	total, row := w.Failures()
	s := &Situation{
		Work: r.ID, Call: asked.Call.ID, Attempt: asked.Attempt, State: flow.State(asked.Call.Tag), Task: w.config.Task,
		Legal: w.legal(), Parallel: w.config.Parallel, Plan: w.Plan(),
		Executions: w.Executions(), Left: w.left(), Failures: total, InARow: row, Labels: maps.Clone(settings.Labels),
		Instruction: asked.Instruction, Agents: w.config.clone().Agents, Notes: r.ReadableNotes(asked.Call.By),
	}
	for i := range s.Agents {
		s.Agents[i].Model, s.Agents[i].Fallbacks = "", nil
	}
	s.Last = slices.Clone(s.Executions[len(s.Executions)-len(w.batch):]) // the latest ones
	return s
}
