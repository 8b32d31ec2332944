package failure_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// often is a debate of three in which everybody speaks three times in a round, one after the other.
func often() debate.Config {
	slot := func(text string) format.Slot { return format.Slot{Who: format.Everyone, Instruction: text} }
	c := stage.Crew(3)
	c.Judging, c.Rounds, c.Format = nil, 2, ""
	c.CustomFormat = &format.Format{
		Name: "often", End: format.EndByRounds, Decide: format.NoWinner,
		Phases: []format.Phase{{Name: "talk", First: 1, Last: -1, Slots: []format.Slot{slot("One."), slot("Two."), slot("Three.")}}},
	}
	return c
}

// A rule leaves out no speaker in a second round in a row. The calls of one round are one time.
func TestASecondSkipInARowIsAnError(t *testing.T) {
	for name, tc := range map[string]struct {
		fails []string // of Ben's speeches, by round and number
		skips int
		again bool // the second one is an error
	}{
		"two in a round":                {[]string{"1.1", "1.2"}, 2, false},
		"all in a round":                {[]string{"1.1", "1.2", "1.3"}, 3, false},
		"two in a later round":          {[]string{"2.2", "2.3"}, 2, false},
		"over the end of a round":       {[]string{"1.3", "2.1"}, 1, true},
		"a round, and the next one":     {[]string{"1.1", "1.2", "1.3", "2.1"}, 3, true},
		"one between them":              {[]string{"1.1", "1.3", "2.2"}, 3, false},
		"the first ones of both rounds": {[]string{"1.1", "2.1"}, 2, false},
		"all":                           {[]string{"1.1", "1.2", "1.3", "2.1", "2.2", "2.3"}, 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			config := often()
			config.Unattended, config.OnFailure = true, stage.Rules(debate.FailureRule{Do: flow.OptionSkip})
			engine, p := stage.Engine(config)
			stage.Abiding(p)
			var asked []string // of Ben, by the ids of the calls
			o := stage.Befall(p, provider.KindRefusal, func(req *provider.Request) bool {
				if req.Self != "Ben" {
					return false
				}
				call := stage.CallOf(req)
				if !slices.Contains(asked, call) {
					asked = append(asked, call)
				}
				n := slices.Index(asked, call)
				return slices.Contains(tc.fails, fmt.Sprintf("%d.%d", n/3+1, n%3+1))
			})
			session := stage.Started(t, engine, config)
			record, err := session.Wait(t.Context())
			assert.Len(t, record.SkippedCalls, tc.skips)
			if !tc.again {
				require.NoError(t, err)
				assert.Len(t, record.Turns, 18-tc.skips)
				return
			}
			stage.RequireKind(t, err, provider.KindRefusal)
			require.NoError(t, session.Retry(t.Context()))
			_, err = session.Wait(t.Context())
			stage.RequireKind(t, err, provider.KindRefusal)
			o.Over.Store(true)
			require.NoError(t, session.Retry(t.Context()))
			record = stage.Ended(t, session)
			assert.Len(t, record.Turns, 18-tc.skips)
		})
	}
}

// Calls of one actor that are made side by side are one miss, and the next one is the second.
func TestSkipsSideBySideAreOne(t *testing.T) {
	for _, later := range []bool{false, true} {
		engine, source, config := stage.WithFlow(stage.OneState(func(r *debate.Record) []*flow.Call {
			var calls []*flow.Call
			ask := func(id string) {
				if !r.Done(id) && !r.Skipped(id) {
					calls = append(calls, &flow.Call{ID: id, Kind: "word", By: "Ada", Model: stage.ModelOf(r, "Ada"), OnFail: flow.OnFail{Skip: flow.RuleToo}})
				}
			}
			ask("say.1")
			ask("say.2")
			ask("say.3")
			if later && len(calls) == 0 {
				ask("say.4")
			}
			return calls
		}))
		config.Unattended, config.OnFailure = true, stage.Rules(debate.FailureRule{Do: flow.OptionSkip})
		stage.Befall(source, provider.KindRefusal, func(req *provider.Request) bool { return strings.Contains(req.ID, "/say.") })
		session, err := engine.Start(t.Context(), stage.InFlow(engine, config))
		require.NoError(t, err)
		record, err := session.Wait(t.Context())
		assert.Len(t, record.SkippedCalls, 3)
		if later {
			assert.Equal(t, "say.4", stage.RequireKind(t, err, provider.KindRefusal).Op)
		} else {
			require.NoError(t, err)
		}
		require.NoError(t, session.Close())
	}
}
