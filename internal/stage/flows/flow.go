// Package flows is the stage of tests that play conversations of all flows: an engine that has them, a config of each, and a provider
// that answers everybody by the request alone. So a conversation is the same whatever is repeated, and whichever process repeats it.
package flows

import (
	"log/slog"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
)

// Engine returns an engine of all flows, whose provider calls before with each request; nil: it answers at once.
func Engine(s store.Store, before Before) *debate.Engine {
	return &debate.Engine{
		Logger: slog.New(slog.DiscardHandler),
		Store:  s, Providers: map[string]debate.Provider{"test": Provider(before)}, SkipModelCheck: true,
		Flows: map[string]*flow.Flow{
			debate.FlowName: stage.Paced(), deliberation.FlowName: deliberation.Flow(), arbiter.FlowName: arbiter.Flow(),
		},
	}
}

// Debate returns the config of a debate of two rounds.
func Debate(id string) debate.Config {
	c := stage.TwoDebaters()
	c.ID, c.Rounds = id, 2
	return c
}

// Deliberation returns the config of a deliberation.
func Deliberation(id string) deliberation.Config {
	return deliberation.Config{
		ID: id, Problem: "Design a URL shortener.", Rounds: 1, Unattended: true,
		Agents: []deliberation.Agent{
			{ID: "ada", Role: deliberation.RoleArchitect, Model: "test/agent"},
			{ID: "ben", Role: deliberation.RolePerformance, Model: "test/agent"},
		},
		Judge: deliberation.Judge{Model: "test/judge"}, Patience: time.Nanosecond,
	}
}

// Arbitration returns the config of an arbiter's work.
func Arbitration(id string) arbiter.Config {
	return arbiter.Config{
		ID: id, Task: "Write a function.", Unattended: true, Arbiter: arbiter.Arbiter{Model: "test/m"}, Patience: time.Nanosecond,
		Agents: []arbiter.Agent{{Name: "Ada", Description: "plans", Model: "test/m"}, {Name: "Ben", Description: "writes", Model: "test/m"}},
	}
}

// Results returns what the calls of a log have come to, by call: the text of a turn, and "" for a result of another kind.
func Results(log []flow.Event) map[string]string {
	all := make(map[string]string)
	for _, e := range log {
		switch body := e.Body.(type) {
		case *flow.Failure:
		case *flow.Turn:
			all[body.Call] = body.Text
		default:
			if spend := flow.SpendOf(body); spend != nil {
				all[spend.Call] = ""
			}
		}
	}
	return all
}
