package flows

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// Before is called with each request before it is answered. Its error is the answer.
type Before func(ctx context.Context, req *provider.Request) error

// Slowly takes its time for each answer.
func Slowly(d time.Duration) Before {
	return func(ctx context.Context, _ *provider.Request) error { return stage.Sleep(ctx, d) }
}

// Provider answers everybody in every flow.
func Provider(before Before) debate.Provider {
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
				text = stage.JSON(own)
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
	call := stage.CallOf(req)
	switch kind, _, _ := strings.Cut(req.Schema.Name, "-"); kind {
	case "questions":
		return map[string]any{"questions": []string{}}
	case "confidence":
		return deliberation.Confidence{Confidence: 95, Reasoning: "they agree", Disagreements: []string{}}
	case "quality":
		return deliberation.Quality{
			Requirements: []deliberation.Requirement{{Text: "it works", Major: true, Fulfilled: true}}, Quality: 90, Reasoning: "sound",
		}
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
