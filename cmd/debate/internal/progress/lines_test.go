package progress_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

var begun = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// shown returns the lines of events that come 100 ms after each other.
func shown(since time.Time, bodies ...flow.Body) string {
	var out strings.Builder
	lines := progress.New(&out, since)
	for i, body := range bodies {
		lines.Show(&flow.Event{Seq: int64(i + 1), At: begun.Add(time.Duration(i) * 100 * time.Millisecond), Body: body})
	}
	return out.String()
}

func ask(kind flow.CallKind, by, target string) *flow.Intent {
	return &flow.Intent{Call: id(kind, by, target), Attempt: 1, Kind: kind, By: by, Target: target, Model: "openai/m", Round: 1}
}

func id(kind flow.CallKind, by, target string) string { return fmt.Sprint(kind, ".", by, ".", target) }

func spend(kind flow.CallKind, by string) flow.Spend {
	return flow.Spend{
		Call: id(kind, by, ""), Attempt: 1, Model: "openai/m", Cost: flow.USD / 100,
		Usage: provider.Usage{Input: 1200, Output: 34}, Took: 1500 * time.Millisecond,
	}
}

func say(kind flow.CallKind, by string) *flow.Turn {
	return &flow.Turn{Spend: spend(kind, by), Round: 1, Kind: kind, Speaker: by}
}

func start(name string, people ...string) *flow.Start {
	return &flow.Start{Flow: name, Settings: flow.Settings{Topic: "T", Rounds: 3, Participants: people, Budget: &flow.Budget{Soft: flow.USD}}}
}

// TestLines: what a log file says of a deliberation with setbacks.
func TestLines(t *testing.T) {
	const proposal = deliberation.KindProposal
	limited := &flow.Error{Kind: provider.KindRateLimit, Op: "r1.propose.ada", Err: errors.New("slow down\x1b[2J")}
	got := shown(begun,
		start(deliberation.FlowName, "ada", "ben"), &flow.Transition{To: deliberation.StateProposing, Calls: 2}, &flow.Round{N: 1, Of: 3},
		ask(proposal, "ada", ""), ask(proposal, "ben", ""),
		&flow.Failure{Spend: spend(proposal, "ada"), By: "ada", Error: limited, RetryAt: begun.Add(20500 * time.Millisecond)},
		&flow.Failure{Spend: spend(proposal, "ben"), By: "ben", Error: limited, Next: "openai/other"},
		ask(proposal, "ada", ""), say(proposal, "ada"),
		&flow.Failure{Spend: spend(proposal, "ben"), By: "ben", Error: &flow.Error{Kind: provider.KindRefusal}, Final: true},
		&flow.Inquiry{ID: "f.1", Question: "What now?"}, &flow.Answer{Inquiry: "f.1", Option: flow.OptionDrop},
		&flow.Dropped{Participant: "ben", Reason: "a person has chosen it"},
		&flow.Warning{Kind: flow.WarnLeftOut, Evidence: "ben is left out\nof it"},
		&flow.Transition{To: deliberation.StateCritiquing, Calls: 1}, ask(deliberation.KindCritique, "ada", "ben"),
		&flow.Skipped{Call: id(deliberation.KindCritique, "ada", "ben"), Kind: deliberation.KindCritique, By: "ada", Reason: "its time was over"},
		&flow.Transition{From: deliberation.StateRefining, To: deliberation.StatePlanningRound}, &flow.Round{N: 2, Of: 3},
		&flow.Transition{To: deliberation.StateCritiquing}, ask(deliberation.KindCritique, "ada", "cyd"),
		&flow.Transition{To: flow.StatePaused, On: flow.TriggerPause}, &flow.Transition{To: deliberation.StateCritiquing, On: flow.TriggerResume},
		&flow.Transition{To: flow.StatePaused, On: flow.TriggerPause, Evidence: "paused by the host: lunch\x1b[2J"},
		&flow.Transition{To: flow.StateCompleting, Calls: 1, Evidence: "too few agents are left"},
		&flow.Transition{To: flow.StateError, On: flow.TriggerFail, Failure: &flow.Error{Kind: provider.KindAuthentication, Err: errors.New("401")}},
		&flow.RetriedNow{}, &flow.Amendment{}, &flow.Transition{To: flow.StateCanceled, Evidence: "canceled"},
		&flow.Failure{Spend: flow.Spend{Call: id(deliberation.KindCritique, "ada", "cyd"), Model: "openai/m", AtMost: flow.USD / 50, BrokenOff: true}, Void: true},
	)
	assert.Equal(t, strings.TrimPrefix(`
Round 1/3: Proposals (0/2)
  ada: openai limits the rate: slow down␛; trying again in 20s
  ben: the same; asking openai/other instead
  ada: proposal (1/2), 1,234 tokens, 1.5s
Failed: ben: m of openai has declined.
The question f.1 is decided: drop
  ben takes no further part: a person has chosen it
warning: ben is left out of it
  ada: critique is left out (1/1): its time was over
Round 2/3: Critiques; so far 4 calls, 4,936 tokens, $0.04 of $1
Paused.
Resumed.
The conversation is paused by the host: lunch␛.
The rounds end: too few agents are left
Failed: key refused: 401.
The calls that wait are made now.
The settings were changed.
Canceled. The calls in flight are broken off.
Canceled: canceled: 5 calls, 4,936 tokens, $0.04, and up to $0.02 for 1 call that was broken off, of $1, 2.9s
`, "\n"), got)
}

// TestALatePersonHasNotFailed: who has not answered in time is named, and is no failure.
func TestALatePersonHasNotFailed(t *testing.T) {
	const proposal = deliberation.KindProposal
	got := shown(begun,
		start(deliberation.FlowName, "ada", "ben"), &flow.Transition{To: deliberation.StateProposing, Calls: 2}, &flow.Round{N: 1, Of: 3},
		ask(proposal, "ada", ""),
		&flow.Failure{Spend: flow.Spend{Call: id(proposal, "ada", ""), Attempt: 1}, By: "ada", Final: true, Error: &flow.Error{
			Kind: provider.KindTimeout, Field: "within", Err: errors.New("ada has not answered within 8s"),
		}},
		&flow.Answer{Inquiry: "f.1", Option: flow.OptionStandIn, Rule: true},
	)
	assert.Contains(t, got, "\nada: no answer in time.\n")
	assert.NotContains(t, got, "Failed")
}

// TestTheEndingCountsWhatIsInFlight: the process that makes a call may have died, and then its end is never recorded.
func TestTheEndingCountsWhatIsInFlight(t *testing.T) {
	var out strings.Builder
	lines, seq := progress.New(&out, begun), int64(0)
	show := func(body flow.Body) string {
		seq++
		lines.Show(&flow.Event{Seq: seq, At: begun, Body: body})
		return lines.Course().Paid()
	}
	asked := ask(deliberation.KindProposal, "ada", "")
	asked.Reserve = flow.USD / 50
	show(start(deliberation.FlowName, "ada"))
	show(&flow.Transition{To: deliberation.StateProposing, Calls: 1})
	const doubt = "$0, and up to $0.02 for 1 call that was broken off, of $1"
	assert.Equal(t, "$0 of $1", show(asked))
	assert.Equal(t, doubt, show(&flow.Transition{To: flow.StatePaused, On: flow.TriggerPause}))
	assert.Equal(t, "$0 of $1", show(&flow.Transition{To: deliberation.StateProposing, On: flow.TriggerResume}))
	assert.Equal(t, doubt, show(&flow.Transition{To: flow.StateCanceled}))
	assert.NotContains(t, out.String(), "0 calls")
	lines.End()
	lines.End()
	assert.Equal(t, 1, strings.Count(out.String(), "Canceled: 0 calls, 0 tokens, "+doubt))
	known := spend(deliberation.KindProposal, "ada")
	assert.Equal(t, "$0.01 of $1", show(&flow.Failure{Spend: known, Void: true}))
	lines.End()
	assert.Equal(t, 1, strings.Count(out.String(), "0 tokens"))

	asked = ask(deliberation.KindProposal, "ben", "")
	asked.Reserve = flow.USD / 50
	show(asked)
	lost := flow.Spend{Call: asked.Call, Attempt: 1, Model: "openai/m", AtMost: asked.Reserve, BrokenOff: true}
	assert.Equal(t, "$0.01, and up to $0.02 for 1 call that was broken off, of $1", show(&flow.Failure{Spend: lost, Void: true}))
	late := &flow.Late{Call: asked.Call, Attempt: 1, Cost: flow.USD / 100, Settled: asked.Reserve, Usage: provider.Usage{Input: 1}}
	assert.Equal(t, "$0.02 of $1", show(late), "what comes late says what it has cost")
}

// TestLinesOfWork: arbitrated work shows decisions, executions, tools and how much of the plan is done.
func TestLinesOfWork(t *testing.T) {
	const work = arbiter.KindExecution
	planned := say(work, "ada")
	planned.Data = []byte(`{"success":true,"output":"x","planUpdates":{"steps":[{"index":0,"description":"a","status":"complete"},{"index":1,"description":"b"},` +
		`{"index":7,"description":"nowhere"}]}}`)
	got := shown(begun,
		start(arbiter.FlowName, "ada", "ben"), &flow.Transition{To: arbiter.StateSelecting, Calls: 1},
		ask(arbiter.KindDecision, "arbiter", ""),
		&arbiter.Decision{
			Spend: spend(arbiter.KindDecision, "arbiter"), Ruling: arbiter.Ruling{Move: arbiter.MoveSelect, Agents: []string{"ada"}, Reason: "she plans"},
		},
		&flow.Transition{To: arbiter.StateExecuting, Calls: 1}, &flow.Round{N: 1, Of: 50}, ask(work, "ada", ""),
		&flow.ToolCalls{Spend: spend(work, "ada"), By: "ada"},
		&flow.Intent{Call: id(work, "ada", "") + ".tool.1", Attempt: 1, Kind: flow.KindTool, By: "ada", Tool: "read", For: id(work, "ada", "")},
		&flow.ToolResult{Spend: flow.Spend{Call: id(work, "ada", "") + ".tool.1"}, By: "ada", Tool: "read", Text: "no such file", Failed: true},
		ask(work, "ada", ""), &flow.Continued{Spend: spend(work, "ada"), By: "ada"}, ask(work, "ada", ""), planned, &flow.Transition{To: arbiter.StateEvaluating, Calls: 1},
		ask(arbiter.KindDecision, "arbiter", ""), &arbiter.Decision{
			Spend: spend(arbiter.KindDecision, "arbiter"), Ruling: arbiter.Ruling{Move: arbiter.MoveComplete, Reason: "all is done"},
		},
		&flow.Transition{To: flow.StateCompleted},
	)
	assert.Equal(t, strings.TrimPrefix(`
  The arbiter decides: select ada: she plans
Round 1/50
  ada: the tool read has failed: no such file
  ada: execution (1/1), 1,234 tokens, 1.5s
  The arbiter decides: complete: all is done
  Plan: 1 of 2 steps are done.
Completed: 5 calls, 6,170 tokens, $0.05 of $1, 1.7s
`, "\n"), got)
}

// TestLinesSince: what was before the reader came is folded in silence.
func TestLinesSince(t *testing.T) {
	got := shown(begun.Add(450*time.Millisecond),
		start(deliberation.FlowName, "ada"), &flow.Transition{To: deliberation.StateProposing, Calls: 2}, &flow.Round{N: 1, Of: 3},
		ask(deliberation.KindProposal, "ada", ""), say(deliberation.KindProposal, "ada"), ask(deliberation.KindProposal, "ben", ""))
	assert.Equal(t, "Round 1/3: Proposals (1/2)\n", got)
}

// TestFailuresAreToldOnce: one line names all who have failed for the same cause, and says what the vendor has answered.
func TestFailuresAreToldOnce(t *testing.T) {
	const proposal = deliberation.KindProposal
	unknown := &flow.Error{
		Kind: provider.KindValidation, Op: "r1.propose.ada", Participant: "ada", Attempt: 1,
		Err: errors.New("status 404, model_not_found: The model `m` does not exist."), //nolint:revive // as the vendor says it
	}
	fails := func(by string) *flow.Failure {
		return &flow.Failure{Spend: spend(proposal, by), By: by, Error: unknown, Final: true}
	}
	got := shown(begun,
		start(deliberation.FlowName, "ada", "ben"), &flow.Transition{To: deliberation.StateProposing, Calls: 2}, &flow.Round{N: 1, Of: 3},
		ask(proposal, "ada", ""), ask(proposal, "ben", ""), fails("ben"), fails("ada"),
		&flow.Transition{To: flow.StateError, On: flow.TriggerFail, Failure: unknown},
	)
	assert.Equal(t, "Round 1/3: Proposals (0/2)\nFailed: ben, ada: openai does not know the model m (404 model_not_found).\n", got)
}

// TestSetbacksAreToldOnce: a cause is told in full once until a call has its result, and once more for each whom it strikes.
func TestSetbacksAreToldOnce(t *testing.T) {
	const proposal = deliberation.KindProposal
	down := &flow.Error{Kind: provider.KindNetwork, Err: errors.New("dial tcp 127.0.0.1:1: connect: connection refused")}
	fails := func(by string, waits bool) *flow.Failure {
		return &flow.Failure{Spend: spend(proposal, by), By: by, Error: down, Waits: waits}
	}
	got := shown(begun,
		start(deliberation.FlowName, "ada", "ben", "cyd"), &flow.Transition{To: deliberation.StateProposing, Calls: 3}, &flow.Round{N: 1, Of: 3},
		ask(proposal, "ada", ""), ask(proposal, "ben", ""), fails("ada", false), fails("ben", false), ask(proposal, "ada", ""),
		fails("ada", false), fails("ben", false), fails("ada", true), ask(proposal, "cyd", ""), say(proposal, "cyd"), fails("ben", false),
	)
	assert.Equal(t, strings.TrimPrefix(`
Round 1/3: Proposals (0/3)
  ada: openai cannot be reached: connection refused; trying again
  ben: the same; trying again
  ada: the same; waiting for the outage to pass
  cyd: proposal (1/3), 1,234 tokens, 1.5s
  ben: openai cannot be reached: connection refused; trying again
`, "\n"), got)
}

// TestALateFailureIsToldWithTheOthers: a call in flight may fail for the cause that has stopped the conversation already.
func TestALateFailureIsToldWithTheOthers(t *testing.T) {
	const proposal = deliberation.KindProposal
	refused := &flow.Error{Kind: provider.KindAuthentication, Err: errors.New("status 401")}
	fails := func(by string) *flow.Failure {
		return &flow.Failure{Spend: spend(proposal, by), By: by, Error: refused, Final: true}
	}
	got := shown(begun,
		start(deliberation.FlowName, "ada", "ben"), &flow.Transition{To: deliberation.StateProposing, Calls: 2}, &flow.Round{N: 1, Of: 3},
		ask(proposal, "ada", ""), ask(proposal, "ben", ""), fails("ben"),
		&flow.Transition{To: flow.StateError, On: flow.TriggerFail, Failure: refused}, fails("ada"),
	)
	assert.Equal(t, "Round 1/3: Proposals (0/2)\nFailed: ben, ada: openai refuses the key (401).\n", got)
}

// TestAFailureThatIsAskedAbout: the question tells it, unless a rule answers before a person reads it.
func TestAFailureThatIsAskedAbout(t *testing.T) {
	const proposal = deliberation.KindProposal
	refused := &flow.Error{Kind: provider.KindRefusal}
	asked := &flow.Inquiry{
		ID: "ask.1", Question: "ada: refusal. Reword it.", Failure: refused, About: []flow.FailedCall{{Call: id(proposal, "ada", ""), By: "ada"}},
	}
	begin := []flow.Body{
		start(deliberation.FlowName, "ada", "ben"), &flow.Transition{To: deliberation.StateProposing, Calls: 2}, &flow.Round{N: 1, Of: 3},
		ask(proposal, "ada", ""), &flow.Failure{Spend: spend(proposal, "ada"), By: "ada", Error: refused, Final: true}, asked,
	}
	assert.Equal(t, "ada: m of openai has declined", fold(begin...).Asks(asked, nil))
	const head = "Round 1/3: Proposals (0/2)\n"
	assert.Equal(t, head, shown(begun, append(slices.Clip(begin), &flow.Transition{To: flow.StateAwaitingInput})...))
	assert.Equal(t, head+"Failed: ada: m of openai has declined.\nA rule has decided: drop\n",
		shown(begun, append(slices.Clip(begin), &flow.Answer{Inquiry: "ask.1", Option: flow.OptionDrop, Rule: true})...))
}

// TestAPersonWhoIsLate: who stands in is told at once, and as no failure. Where nobody does, what stops the conversation is told too.
func TestAPersonWhoIsLate(t *testing.T) {
	asked := func(by string) []flow.Body {
		return []flow.Body{
			&flow.Intent{Call: by, Attempt: 1, Kind: "opening", By: by, Round: 1},
			&flow.Inquiry{ID: by, Kind: "opening", To: by, Question: "Your turn."},
		}
	}
	why := func(by string) *flow.Error {
		return &flow.Error{Kind: provider.KindTimeout, Field: "within", Err: errors.New(by + " has not answered within 8s")}
	}
	late := func(by string) flow.Body {
		return &flow.Failure{Spend: flow.Spend{Call: by, Attempt: 1}, By: by, Final: true, Error: why(by)}
	}
	replaced := func(by string) []flow.Body {
		return []flow.Body{
			&flow.Inquiry{ID: "ask." + by, To: by, About: []flow.FailedCall{{Call: by, By: by}}, Options: []flow.Option{flow.OptionStandIn}},
			&flow.Answer{Inquiry: "ask." + by, Option: flow.OptionStandIn, Model: "demo/" + by, Rule: true},
		}
	}
	begin := slices.Concat(
		[]flow.Body{start("debate", "Ada", "Ben"), &flow.Transition{To: "awaitingResponses"}}, asked("Ada"), asked("Ben"),
		[]flow.Body{late("Ada"), late("Ben"), &flow.Transition{From: flow.StateAwaitingInput, To: "awaitingResponses", On: flow.TriggerOverdue}},
	)
	got := shown(begun, slices.Concat(begin, replaced("Ada"), replaced("Ben"))...)
	assert.True(t, strings.HasSuffix(got, "Speeches\n"+
		"Ada: no answer in time; a model stands in, this once.\nBen: no answer in time; a model stands in, this once.\n"), got)
	got = shown(begun, append(slices.Clip(begin), &flow.Transition{To: flow.StateError, On: flow.TriggerFail, Failure: why("Ada")})...)
	assert.Contains(t, got, "Failed: no reply in time: Ada has not answered within 8s.\n")
}

// TestTold: of what the library refuses, the field and the cause are told.
func TestTold(t *testing.T) {
	refused := func(field, why string) error {
		return &flow.Error{Kind: provider.KindValidation, Op: "amend", Field: field, Err: errors.New(why)}
	}
	both := errors.Join(refused("rounds", "cannot be 0"), refused("models.eve", "nobody"))
	assert.Equal(t, "x: rounds: cannot be 0\nmodels.eve: nobody; see y", progress.Told(fmt.Errorf("x: %w; see y", both)))
	assert.Equal(t, "no such file", progress.Told(errors.New("no such file")))
}

// TestFailed: what is said of each kind of failure.
func TestFailed(t *testing.T) {
	for text, err := range map[string]flow.Error{
		"openai at X refuses the key (401)": {Kind: provider.KindAuthentication, Err: errors.New("status 401")},
		"openai refuses the key: no key":    {Kind: provider.KindAuthentication, Err: errors.New("no key")},
		"openai at X cannot be reached: connection refused": {
			Kind: provider.KindNetwork, Err: errors.New("dial tcp 127.0.0.1:1: connect: connection refused"),
		},
		"the connection to openai at X was lost: unexpected EOF": {Kind: provider.KindNetwork, Err: errors.New("unexpected EOF")},
		"the answer of openai at X ended before it was complete": {
			Kind: provider.KindNetwork, Err: errors.New("truncated: the answer ended before the reply was complete"),
		},
		"openai at X does not answer as the API does: the server has nothing at /a: check the path of its address": {
			Kind: provider.KindInvalidResponse, Err: errors.New("the server has nothing at /a below BaseURL: check the path of BaseURL"),
		},
		"openai at X has sent no reply in time":                    {Kind: provider.KindTimeout, Err: errors.New("no reply in time")},
		"the quota at openai is used up (429 quota): Pay.":         {Kind: provider.KindQuota, Err: errors.New("status 429, quota: Pay.")}, //nolint:revive // as the vendor says it
		"openai at X has failed (500)":                             {Kind: provider.KindAPI, Err: errors.New("status 500")},
		"this is too long for m of openai":                         {Kind: provider.KindContextOverflow},
		"openai refuses the request (400 bad): No such parameter.": {Kind: provider.KindValidation, Err: errors.New("status 400, bad: No such parameter.")}, //nolint:revive // as the vendor says it
		"limit of the budget":                                      {Kind: provider.KindCostLimit},
	} {
		where := func(vendor string) string {
			assert.Equal(t, "openai", vendor)
			return " at X"
		}
		if strings.Contains(text, "no key") {
			where = nil
		}
		assert.Equal(t, text, progress.Failed(&err, "openai/m", where))
	}
	away := &flow.Error{Kind: provider.KindNetwork, Err: errors.New("cannot reach https://api.openai.com: dial tcp: lookup api.openai.com: no such host")}
	assert.Equal(t, "openai at https://api.openai.com cannot be reached: no such host", progress.Failed(away, "openai/m", nil))
	assert.Equal(t, "key refused", progress.Failed(&flow.Error{Kind: provider.KindAuthentication}, "", nil))
}

// TestSilence: once per attempt the lines say that nothing comes of it.
func TestSilence(t *testing.T) {
	var out strings.Builder
	lines := progress.New(&out, begun)
	show := func(after time.Duration, body flow.Body) { lines.Show(&flow.Event{At: begun.Add(after), Body: body}) }
	begin := start(deliberation.FlowName, "ada")
	begin.Settings.TurnTimeout = 2 * time.Minute
	show(0, begin)
	show(0, &flow.Transition{To: deliberation.StateProposing, Calls: 1})
	show(0, ask(deliberation.KindProposal, "ada", ""))
	lines.Tick(begun.Add(9 * time.Second))
	assert.Empty(t, out.String())
	show(9*time.Second, chunk(0, "one"))
	lines.Tick(begun.Add(18 * time.Second))
	assert.Empty(t, out.String())
	lines.Tick(begun.Add(19 * time.Second))
	lines.Tick(begun.Add(30 * time.Second))
	assert.Equal(t, "  ada: nothing from openai for 10s; given up after 2m0s\n", out.String())
	show(31*time.Second, ask(deliberation.KindProposal, "ada", ""))
	lines.Tick(begun.Add(50 * time.Second))
	assert.Equal(t, 2, strings.Count(out.String(), "nothing from openai"))

	show(60*time.Second, &flow.Intent{Call: "r1.ben", Attempt: 1, By: "ben"})
	show(60*time.Second, &flow.Inquiry{ID: "r1.ben", To: "ben", Question: "What do you say?"})
	lines.Tick(begun.Add(4 * time.Minute))
	assert.NotContains(t, out.String(), "ben", "a person may think")
}

// TestSaid: what was said is kept, the newest of it.
func TestSaid(t *testing.T) {
	bodies := []flow.Body{start(deliberation.FlowName, "ada", "ben")}
	for range 3 {
		turn := say(deliberation.KindCritique, "ada")
		turn.Target, turn.Text = "ben", strings.Repeat("words ", 100_000)
		bodies = append(bodies, turn)
	}
	c := fold(bodies...)
	require.Len(t, c.Said, 1)
	assert.Equal(t, 2, c.Forgotten)
	assert.Equal(t, "ada, critique of ben, 1", fmt.Sprintf("%s, %s, %d", c.Said[0].Who, c.Said[0].What, c.Said[0].Round))
}

// TestLinesOfADefaultRun: three agents in three rounds fill no more than a screen and a half.
func TestLinesOfADefaultRun(t *testing.T) {
	agents := []string{"ada", "ben", "cyd"}
	bodies := []flow.Body{start(deliberation.FlowName, agents...)}
	call := func(kind flow.CallKind, by, target string) {
		asked, said := ask(kind, by, target), say(kind, by)
		said.Call, said.Target = asked.Call, target
		bodies = append(bodies, asked, said)
	}
	for n := range 3 {
		if n == 0 {
			bodies = append(bodies, &flow.Transition{To: deliberation.StateProposing, Calls: 3}, &flow.Round{N: 1, Of: 3})
			for _, by := range agents {
				call(deliberation.KindProposal, by, "")
			}
		} else {
			bodies = append(bodies, &flow.Round{N: n + 1, Of: 3})
		}
		bodies = append(bodies, &flow.Transition{To: deliberation.StateCritiquing, Calls: 6})
		for _, by := range agents {
			for _, of := range agents {
				if of != by {
					call(deliberation.KindCritique, by, of)
				}
			}
		}
		bodies = append(bodies, &flow.Transition{To: deliberation.StateRefining, Calls: 3})
		for _, by := range agents {
			call(deliberation.KindRefinement, by, "")
		}
	}
	bodies = append(bodies, &flow.Transition{To: flow.StateCompleting, Calls: 1, Evidence: "all 3 rounds are done"})
	call(deliberation.KindSynthesis, "judge", "")
	bodies = append(bodies, &flow.Transition{To: flow.StateCompleted})
	got := shown(begun, bodies...)
	assert.Equal(t, 40, strings.Count(got, "\n"), got)
}

// TestWhateverCountsHasALine: summaries are calls of a phase, too.
func TestWhateverCountsHasALine(t *testing.T) {
	const digest, critique = deliberation.KindDigest, deliberation.KindCritique
	got := shown(begun, start(deliberation.FlowName, "ada"), &flow.Transition{To: deliberation.StateCritiquing, Calls: 2}, &flow.Round{N: 2, Of: 3},
		ask(digest, "ada", ""), say(digest, "ada"), ask(critique, "ada", ""), say(critique, "ada"))
	assert.Equal(t, `Round 2/3: Critiques (0/2)
  ada: summary (1/2), 1,234 tokens, 1.5s
  ada: critique (2/2), 1,234 tokens, 1.5s
`, got)
}

// TestAReasonThatWasTold: why somebody is left out is told as the failure, and not once more in words of the library.
func TestAReasonThatWasTold(t *testing.T) {
	reason := (&flow.Error{Kind: provider.KindInvalidResponse, Op: "r1.assessment.judge", Err: errors.New("no JSON")}).Error()
	assert.Equal(t, "  judge: assessment is left out (1)\n  ben takes no further part\n", shown(begun,
		&flow.Skipped{By: "judge", Kind: "assessment", Reason: reason}, &flow.Dropped{Participant: "ben", Reason: reason}))
}

// TestWarningsSayWhatTheyAre: the evidence of a cost warning is two amounts, and that of an outage has a word of the library.
func TestWarningsSayWhatTheyAre(t *testing.T) {
	const evidence = "$0.004068 of $0.003"
	assert.Equal(t, "the cost warning is reached: "+evidence, progress.Warning(&flow.Warning{Kind: flow.WarnCost, Evidence: evidence}))
	assert.Equal(t, evidence, progress.Warning(&flow.Warning{Kind: flow.WarnOver, Evidence: evidence}))
	for evidence, want := range map[string]string{
		"api_error: openai is waited for, for up to 10m0s, until T": "openai is waited for, for up to 10m0s; no attempt begins after T",
		"rate_limit: openai is waited for, until T":                 "openai is waited for, until T",
	} {
		assert.Equal(t, want, progress.Warning(&flow.Warning{Kind: flow.WarnOutage, Evidence: evidence}))
	}
}
