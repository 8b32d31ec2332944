package debates_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Where somebody has ended a debate early, the outcome names what that has cost of what the config asked for.
func TestTheOutcomeNamesWhatIsMissing(t *testing.T) {
	stop := func(t *testing.T, s *debate.Session) { require.NoError(t, s.Stop(t.Context())) }
	cancel := func(t *testing.T, s *debate.Session) { require.NoError(t, s.Cancel(t.Context())) }
	same := func(*debate.Config) {}
	for name, tc := range map[string]struct {
		change func(*debate.Config)
		spoil  func(*scripted.Provider)
		after  time.Duration // each call takes a second
		host   func(*testing.T, *debate.Session)
		want   []string
	}{
		"nothing": {change: same},
		"stopped within a round": {
			same, nil, 2500 * time.Millisecond, stop,
			[]string{"ended after 0 of 3 rounds: stopped by the host", "missing: in round 1 the speeches of Cyd", "missing: rounds 2 to 3"},
		},
		"stopped before anybody has spoken": {
			same, nil, 500 * time.Millisecond, stop,
			[]string{
				"ended after 0 of 3 rounds: stopped by the host", "there is no verdict",
				"missing: in round 1 the speeches of Ada, Ben, Cyd", "missing: rounds 2 to 3",
			},
		},
		"canceled within the last round": {
			func(c *debate.Config) { c.Rounds = 2 }, nil, 5500 * time.Millisecond, cancel,
			[]string{
				"ended after 1 of 2 rounds: canceled by the host", "there is no verdict",
				"missing: in round 2 the speeches of Ben, Cyd", "missing: the verdict of judge",
			},
		},
		"canceled before the second of two verdicts": {
			func(c *debate.Config) {
				c.Rounds, c.Judging.When = 1, debate.AtEnd
				c.Judging.Judges = []debate.JudgeConfig{{Model: "test/judge"}, {Model: "test/judge"}}
				c.Judging.BothOrders = true
			},
			func(p *scripted.Provider) {
				stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
					if strings.Contains(req.ID, "verdict.judge-2") {
						r.Delay = time.Hour
					}
				})
			}, 10 * time.Second, cancel,
			[]string{
				"ended after 1 of 1 round: canceled by the host", "1 of 2 judges have given a verdict: fewer than the quorum of 2",
				"missing: the verdict of judge-2",
			},
		},
		"whoever has left, or was skipped, is named by itself": {
			func(c *debate.Config) { c.OnFailure = []debate.FailureRule{{Do: flow.OptionDrop}} },
			func(p *scripted.Provider) { stage.Befall(p, provider.KindRefusal, stage.Said("Cyd", 2)) }, 6500 * time.Millisecond, stop,
			[]string{"ended after 2 of 3 rounds: stopped by the host", "Cyd has taken no further part", "missing: round 3"},
		},
		"a soft limit": {
			func(c *debate.Config) { c.Format, c.Budget = format.FreeForm, &debate.Budget{SoftCalls: 5} }, nil, 0, nil,
			[]string{
				"ended after 1 of 3 rounds by the soft limit of 5 calls: raise it to about 17 calls",
				"missing: in round 2 the speeches of Ben, Cyd", "missing: round 3",
			},
		},
		"the judge": {
			func(c *debate.Config) { c.Format = format.FreeForm },
			func(p *scripted.Provider) {
				stage.Altered(p, func(_ *provider.Request, r *scripted.Reply) {
					r.Text = strings.Replace(r.Text, `"shouldContinue":true`, `"shouldContinue":false,"ending":"It is settled."`, 1)
				})
			}, 0, nil,
			[]string{"missing: rounds 2 to 3"},
		},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.Crew(3)
			tc.change(&config)
			engine, p := stage.Engine(config)
			stage.Abiding(p)
			stage.Slowly(p)
			if tc.spoil != nil {
				tc.spoil(p)
			}
			session := stage.Started(t, engine, config)
			if tc.host != nil {
				stage.Pass(tc.after)
				tc.host(t, session)
			}
			record := stage.Ended(t, session)
			assert.Equal(t, tc.want, stage.View(record).Outcome().Degraded)
			assert.Equal(t, tc.want != nil, record.EndedEarlyBy != "")
		}))
	}
}
