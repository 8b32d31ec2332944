package deliberation_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// TestTheJSONIsTheWholeState: what was asked, of whom, all that was said, and what each call has taken.
func TestTheJSONIsTheWholeState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := three()
		config.Rounds, config.Termination.Kind, config.Synthesis = 4, deliberation.TerminationConvergence, deliberation.SynthesisVoting
		config.Summaries = deliberation.Summaries{Threshold: 1000, MaxLength: 500}
		config.Agents[0].Name, config.Agents[1].Prompt = "Ada Lovelace", "You are Ben, who counts."
		config.Clarification = deliberation.Clarification{Known: []deliberation.KnownAnswer{{Question: "How many?", Answer: "Many."}}}
		engine, p := engineFor(nil)
		pad := sized(func(string) int { return replyLength })
		p.Reply = script(func(call string, req *provider.Request) (scripted.Reply, bool) {
			reply, ok := pad(call, req)
			reply.Delay = time.Second
			return reply, ok
		})
		record := play(t, engine, config)
		d := view(record)
		data, err := json.Marshal(d)
		require.NoError(t, err)
		var shown struct {
			Config deliberation.Config
			Rounds []struct {
				Round     int
				StartedAt time.Time
			}
			Turns            []flow.Turn
			Calls            []flow.CallUsage
			Contributions    []deliberation.Contribution
			HistorySummaries []deliberation.Summary
			Clarifications   []deliberation.Asked
			Evaluations      []deliberation.Evaluation
			Votes            []deliberation.Ballot
			Scores           []deliberation.Score
		}
		require.NoError(t, json.Unmarshal(data, &shown))

		assert.Equal(t, config.Problem, shown.Config.Problem, "all its lines")
		assert.Equal(t, config.Context, shown.Config.Context)
		assert.Equal(t, config.Termination.Kind, shown.Config.Termination.Kind)
		require.Len(t, shown.Config.Agents, 3)
		assert.Equal(t, "Ada Lovelace", shown.Config.Agents[0].Name)
		assert.Equal(t, deliberation.RoleArchitect, shown.Config.Agents[0].Role)
		assert.Equal(t, deliberation.SourceBuiltIn, shown.Config.Agents[0].Origin.Source)
		assert.Equal(t, deliberation.SourceConfig, shown.Config.Agents[1].Origin.Source)

		require.Len(t, shown.Rounds, 4)
		for i, round := range shown.Rounds {
			assert.Equal(t, i+1, round.Round)
			assert.Equal(t, record.RoundStarts[i].UnixNano(), round.StartedAt.UnixNano())
		}
		assert.True(t, shown.Rounds[1].StartedAt.After(shown.Rounds[0].StartedAt))

		assert.JSONEq(t, toJSON(d.Contributions()), toJSON(shown.Contributions))
		require.NotEmpty(t, shown.Contributions)
		first := shown.Contributions[0]
		call, known := record.CallUsage(first.Call)
		require.True(t, known)
		assert.Equal(t, deliberation.RoleArchitect, first.Role)
		assert.Equal(t, call.EndedAt.UnixNano(), first.At.UnixNano())
		require.NotEmpty(t, shown.HistorySummaries)
		assert.JSONEq(t, toJSON(d.Summaries()), toJSON(shown.HistorySummaries))
		assert.Greater(t, shown.HistorySummaries[0].Before, shown.HistorySummaries[0].After)
		assert.JSONEq(t, toJSON(d.Clarifications()), toJSON(shown.Clarifications))
		assert.Len(t, shown.Clarifications, 1)
		assert.JSONEq(t, toJSON(d.Evaluations()), toJSON(shown.Evaluations))
		assert.NotEmpty(t, shown.Evaluations)
		votes, scores := d.Votes()
		assert.JSONEq(t, toJSON(votes), toJSON(shown.Votes))
		assert.JSONEq(t, toJSON(scores), toJSON(shown.Scores))
		assert.Len(t, shown.Scores, 3)

		took := make(map[string]flow.CallUsage)
		for _, c := range shown.Calls {
			took[c.Call] = c
		}
		for _, turn := range record.Turns {
			if turn.Data == nil {
				assert.Equal(t, time.Second, took[turn.Call].Took, turn.Call)
			}
		}
	})
}
