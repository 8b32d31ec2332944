package deliberation_test

import (
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// fewer divides the numbers of runs.
var fewer = longform.Fewer()

// said is what a scripted agent writes: a pure function of the call, so that a debate is the same whatever is
// repeated.
func said(call string) string { return "What " + call + " brings." }

// What the tests of all flows share.
var (
	toJSON = stage.JSON   // of a value that always has a JSON
	callOf = stage.CallOf // the id of the call that a request is made for: "r1.critique.ada.ben"
	play   = stage.Run    // to the end of a conversation
)

// solution is a well-formed answer.
func solution(text string) deliberation.Solution {
	return deliberation.Solution{
		Description: text, Implementation: []string{"start small"}, Tradeoffs: []string{"cost for speed"}, Recommendations: []string{"measure"},
		Requirements: []deliberation.Requirement{
			{Text: "short links", Major: true, Fulfilled: true, Note: "by the table"}, {Text: "statistics", Note: "left out"},
		},
		OpenQuestions: []string{"how long links live"}, Confidence: 82,
	}
}

// reasked reports whether a request asks again for an answer that was rejected.
func reasked(req *provider.Request) bool { return strings.Contains(req.Last.Text, ", was refused") }

// answers answer requests by their calls; what no function takes is answered as usual.
type answers func(call string, req *provider.Request) (scripted.Reply, bool)

// script answers for everybody, by the call alone.
func script(own answers) func(*provider.Request) scripted.Reply {
	return func(req *provider.Request) scripted.Reply {
		call := callOf(req)
		if own != nil {
			if reply, ok := own(call, req); ok {
				return reply
			}
		}
		return scripted.Reply{Text: usual(call, req)}
	}
}

func usual(call string, req *provider.Request) string {
	if req.Schema == nil {
		return said(call)
	}
	switch kind, _, _ := strings.Cut(req.Schema.Name, "-"); kind { // a vote's names the seat
	case "questions":
		return toJSON(map[string]any{"questions": []string{}})
	case "confidence":
		return toJSON(deliberation.Confidence{Confidence: 50, Reasoning: "they differ", Disagreements: []string{"the cache"}})
	case "quality":
		return toJSON(deliberation.Quality{
			Requirements: []deliberation.Requirement{{Text: "short links", Major: true, Fulfilled: true}}, Quality: 60, Reasoning: "thin",
		})
	case "vote":
		return toJSON(deliberation.Vote{Ranking: others(req), Reasoning: "in this order"})
	default:
		return toJSON(solution("The solution of " + call + "."))
	}
}

var proposalBy = regexp.MustCompile(`<<<\d+ (\w+): proposal>>>`)

// others returns whose proposals a voter is shown, by their names.
func others(req *provider.Request) []string {
	shown := map[string]bool{}
	for _, m := range proposalBy.FindAllStringSubmatch(req.Last.Text, -1) {
		shown[m[1]] = true
	}
	var out []string
	for _, name := range []string{"ada", "ben", "cyd", "dan", "eve"} {
		if shown[name] {
			out = append(out, name)
		}
	}
	return out
}

// three is a config of three agents and two rounds.
func three() deliberation.Config {
	return deliberation.Config{
		Problem: "Design a URL shortener.\nIt takes 100 million links.",
		Context: "The team runs PostgreSQL.",
		Rounds:  2,
		Agents: []deliberation.Agent{
			{ID: "ada", Role: deliberation.RoleArchitect, Model: "test/agent"},
			{ID: "ben", Role: deliberation.RolePerformance, Model: "test/agent"},
			{ID: "cyd", Role: deliberation.RoleSimplicity, Model: "test/agent"},
		},
		Judge: deliberation.Judge{Model: "test/judge"},
		Retry: &flow.RetryPolicy{Base: 1},
		// What has failed is left out where that is possible, unless a test is about something else.
		OnFailure: []flow.FailureRule{{Do: flow.OptionSkip}}, Patience: time.Nanosecond,
	}
}

// engineFor is an engine whose only provider follows the script.
func engineFor(own answers) (*debate.Engine, *scripted.Provider) {
	p := &scripted.Provider{Reply: script(own), Record: true}
	return &debate.Engine{
		Logger:    slog.New(slog.DiscardHandler),
		Providers: map[string]debate.Provider{"test": p},
		Flows:     map[string]*flow.Flow{deliberation.FlowName: deliberation.Flow()},
		Seed:      func() string { return "0123456789abcdef0123456789abcdef" },
	}, p
}

// view returns the deliberation of a record.
func view(r *flow.Record) *deliberation.Deliberation {
	d, _ := deliberation.Of(r)
	return d
}

// solved returns the solution of a record.
func solved(r *flow.Record) (solution *deliberation.Solution, by string, ok bool) {
	return view(r).Solution()
}

// calls returns the ids of the calls that were made, in the order in which they were answered.
func calls(r *flow.Record) []string {
	out := make([]string, len(r.Turns))
	for i, turn := range r.Turns {
		out[i] = turn.Call
	}
	return out
}

// prompt returns the request of a call, system prompt and all.
func prompt(t testing.TB, p *scripted.Provider, call string) string {
	t.Helper()
	for _, req := range p.Requests() {
		if callOf(&req) == call {
			return req.System + "\n\n----\n\n" + req.Last.Text
		}
	}
	require.Fail(t, "there is no call "+call)
	return ""
}

// events returns the log of a debate.
func events(t testing.TB, engine *debate.Engine, id string) []flow.Event {
	t.Helper()
	var out []flow.Event
	for event, err := range engine.Events(t.Context(), id, 0) {
		require.NoError(t, err)
		out = append(out, event)
	}
	return out
}

// path returns the states that a debate went through, with the trigger that led there and the calls announced.
func path(all []flow.Event) []string {
	var out []string
	for _, e := range all {
		if body.As[flow.Transition](e) != nil {
			line := fmt.Sprintf("%s → %s", body.As[flow.Transition](e).On, body.As[flow.Transition](e).To)
			if body.As[flow.Transition](e).Calls > 0 {
				line += " (" + strconv.Itoa(body.As[flow.Transition](e).Calls) + ")"
			}
			out = append(out, line)
		}
	}
	return out
}
