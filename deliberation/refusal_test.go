package deliberation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// TestAnswersThatAreRefused: the first answer is refused for what its schema cannot say, the second is accepted.
func TestAnswersThatAreRefused(t *testing.T) {
	blank, unnamed := solution(" "), solution("Fine.")
	unnamed.Requirements[1].Text = ""
	unasked := solution("Fine.")
	unasked.Requirements = []deliberation.Requirement{}
	votes := func(ids ...string) string { return toJSON(deliberation.Vote{Ranking: ids}) }
	for name, test := range map[string]struct {
		call, answer, problem string
	}{
		"blank solution":                {"synthesis.ada", toJSON(blank), "solution: is blank"},
		"blank requirement":             {"synthesis.ada", toJSON(unnamed), "requirements[1].text: is blank"},
		"confidence above 100":          {"synthesis.ada", strings.Replace(toJSON(solution("x")), `"confidence":82`, `"confidence":820`, 1), "confidence"},
		"vote for nobody":               {"vote.ada", votes("ben", "eve"), "ranking[1]: is the id of no proposal"},
		"vote twice":                    {"vote.ada", votes("ben", "ben"), "ranking[1]: is a duplicate"},
		"vote that is short":            {"vote.ada", votes("ben"), "ranking: the proposal of cyd, that you have been shown, is missing"},
		"vote for oneself":              {"vote.ada", votes("ada", "ben", "cyd"), "ranking[0]: is your own proposal"},
		"vote with oneself for another": {"vote.ada", votes("ada", "ben"), "ranking: the proposal of cyd, that you have been shown, is missing"},
		"judge's vote that is short":    {"vote.judge", votes("cyd", "ben"), "ranking: the proposal of ada, that you have been shown, is missing"},
		"no requirement":                {"synthesis.ada", toJSON(unasked), "requirements: is empty"},
		"a question that is long":       {"clarify.1.ada", toJSON(map[string]any{"questions": []string{strings.Repeat("x", 2001)}}), "longer than 2000 bytes"},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := three()
			config.Synthesis, config.Clarification.On = deliberation.SynthesisVoting, true
			engine, _ := engineFor(func(call string, req *provider.Request) (scripted.Reply, bool) {
				return scripted.Reply{Text: test.answer}, call == test.call && !reasked(req)
			})
			r := play(t, engine, config)
			require.Len(t, r.Rejections, 1)
			assert.Contains(t, strings.Join(r.Rejections[0].Problems, "\n"), test.problem)
			assert.Empty(t, r.Warnings)
			_, _, ok := solved(r)
			assert.True(t, ok)
		}))
	}
}

// TestWhatIsAimedAtNobodyIsReadBySynthesis: so is what comes in any other round.
func TestWhatIsAimedAtNobodyIsReadBySynthesis(t *testing.T) {
	f := deliberation.Flow()
	node := checking()
	some := node.Step.Calls
	node.Step.Calls = func(r *flow.Record) []*flow.Call {
		made := some(r)
		for i := range made {
			made[i].Target, made[i].Kind = "", "remark"
		}
		return made
	}
	require.NoError(t, deliberation.Insert(f, deliberation.StateRefining, node))
	engine, p := engineFor(nil)
	engine.Flows[deliberation.FlowName] = f
	play(t, engine, three())
	assert.Contains(t, prompt(t, p, "synthesis"), "checker: remark, round 1>>>\n"+said("r1.check.ada"))
	assert.NotContains(t, prompt(t, p, "r2.refine.ada"), said("r1.check.ada"))
}

// TestHolesAreNotForHosts: the runes that mark holes in prompts are taken out of what a host gives.
func TestHolesAreNotForHosts(t *testing.T) {
	config := three()
	config.Problem, config.Context = "Design \uE001fence\uE001 it.", "A\uE000round\uE000"
	engine, p := engineFor(nil)
	play(t, engine, config)
	assert.Contains(t, prompt(t, p, "r1.propose.ada"), "Design fence it.")
	assert.Contains(t, prompt(t, p, "r1.propose.ada"), "\nAround\n")
}

// TestOneRoundIsADeliberationToo: no evaluation could change anything.
func TestOneRoundIsADeliberationToo(t *testing.T) {
	config := three()
	config.Rounds, config.Termination.Kind = 1, deliberation.TerminationConvergence
	engine, _ := engineFor(nil)
	r := play(t, engine, config)
	assert.Empty(t, view(r).Evaluations(), "the first round is the last")
	assert.Equal(t, flow.EndRounds, r.Reason)
}
