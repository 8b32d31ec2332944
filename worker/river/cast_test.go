package river_test

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// asked is called with each request before it is answered.
type asked func(ctx context.Context, req *provider.Request) error

// slowly takes its time for each answer.
func slowly(d time.Duration) asked {
	return func(ctx context.Context, _ *provider.Request) error {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// cast answers everybody in every flow, by the request alone.
func cast(before asked) debate.Provider {
	debaters := stage.Script([]string{"Ada", "Ben"})
	return stage.ProviderFunc(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
		if before != nil {
			if err := before(ctx, req); err != nil {
				return nil, err
			}
		}
		text := debaters(req).Text
		if req.Schema != nil {
			if own := schemed(req); own != nil {
				data, err := json.Marshal(own)
				if err != nil {
					return nil, err
				}
				text = string(data)
			}
		}
		emit(provider.Chunk{Text: text})
		return &provider.Response{Text: text, Stop: provider.StopEnd, Usage: provider.Usage{Input: 100, Output: 50}}, nil
	})
}

// proposer finds whose proposals a voter is shown.
var proposer = regexp.MustCompile(`<<<\d+ (\w+): proposal>>>`)

// schemed answers the requests of deliberations and arbiters that have a schema; nil: the request is a debate's.
func schemed(req *provider.Request) any {
	call := callOf(req.ID)
	switch kind, _, _ := strings.Cut(req.Schema.Name, "-"); kind {
	case "questions":
		return map[string]any{"questions": []string{}}
	case "confidence":
		return deliberation.Confidence{Confidence: 95, Reasoning: "they agree", Disagreements: []string{}}
	case "quality":
		return deliberation.Quality{Requirements: []deliberation.Requirement{{Text: "it works", Major: true, Fulfilled: true}}, Quality: 90, Reasoning: "sound"}
	case "vote":
		var names []string
		for _, m := range proposer.FindAllStringSubmatch(req.Last.Text, -1) {
			names = append(names, m[1])
		}
		return deliberation.Vote{Ranking: names, Reasoning: "in this order"}
	case "solution":
		return deliberation.Solution{
			Description: "The solution of " + call + ".", Implementation: []string{"a service"}, Tradeoffs: []string{}, Recommendations: []string{},
			Requirements: []deliberation.Requirement{{Text: "it works", Major: true, Fulfilled: true}}, OpenQuestions: []string{}, Confidence: 90,
		}
	case "result":
		return arbiter.Result{Success: true, Output: "What " + call + " has done."}
	default:
		return ruling(call)
	}
}

// decision is the id of an arbiter's call.
var decision = regexp.MustCompile(`^d\d+$`)

// ruling is what the arbiter decides: Ada, Ben and Ada again work, and then it is done; nil: the call is not the arbiter's.
func ruling(call string) any {
	switch agents := map[string]string{"d1": "Ada", "d2": "Ben", "d4": "Ada"}; {
	case !decision.MatchString(call):
		return nil
	case agents[call] == "":
		return arbiter.Ruling{Move: arbiter.MoveComplete, Agents: []string{}, Reason: "it is done", Summary: "All is done."}
	default:
		return arbiter.Ruling{Move: arbiter.MoveSelect, Agents: []string{agents[call]}, Reason: "it is their part"}
	}
}

// callOf is the id of the call that a request is made for.
func callOf(id string) string {
	_, rest, _ := strings.Cut(id, "/")
	call, _, _ := strings.Cut(rest, "/")
	return call
}

// engineOn returns an engine of all flows.
func engineOn(s store.Store, before asked) *debate.Engine {
	return &debate.Engine{
		Store: s, Providers: map[string]debate.Provider{"test": cast(before)}, TrustModels: true,
		Flows: map[string]*flow.Flow{deliberation.FlowName: deliberation.Flow(), arbiter.FlowName: arbiter.Flow()},
	}
}

// debating is the config of a debate of two rounds.
func debating(id string) debate.Config {
	c := stage.TwoDebaters()
	c.ID, c.Rounds, c.Patience = id, 2, time.Nanosecond
	return c
}

// deliberating is the config of a deliberation.
func deliberating(id string) deliberation.Config {
	return deliberation.Config{
		ID: id, Problem: "Design a URL shortener.", Rounds: 1, Unattended: true,
		Agents: []deliberation.Agent{
			{ID: "ada", Role: deliberation.RoleArchitect, Model: "test/agent"},
			{ID: "ben", Role: deliberation.RolePerformance, Model: "test/agent"},
		},
		Judge: deliberation.Judge{Model: "test/judge"}, Patience: time.Nanosecond,
	}
}

// arbitrating is the config of an arbiter's work.
func arbitrating(id string) arbiter.Config {
	return arbiter.Config{
		ID: id, Task: "Write a function.", Unattended: true, Arbiter: arbiter.Arbiter{Model: "test/m"}, Patience: time.Nanosecond,
		Agents: []arbiter.Agent{{Name: "Ada", Description: "plans", Model: "test/m"}, {Name: "Ben", Description: "writes", Model: "test/m"}},
	}
}

// submit stores a conversation, and makes no call of it.
func submit(t testing.TB, engine *debate.Engine, config flow.Config) {
	t.Helper()
	_, err := engine.Submit(t.Context(), config)
	require.NoError(t, err)
}
