package budget_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A soft limit of time lets those who speak finish; then comes the verdict.
func TestASoftLimitOfTime(t *testing.T) {
	config := stage.TwoDebaters()
	config.Budget = &debate.Budget{SoftTime: 3500 * time.Millisecond} // in Ada's second turn, after two turns and an assessment
	for _, mode := range []debate.Mode{debate.Sequential, debate.Simultaneous} {
		t.Run(string(mode), func(t *testing.T) {
			config := config
			config.Mode = mode
			stage.InBubble(t, config, func(t *testing.T, s *debate.Session, _ *scripted.Provider) {
				began := time.Now()
				record := stage.Ended(t, s)
				assert.Equal(t, flow.StateCompleted, record.State)
				assert.Equal(t, flow.EndSoftLimit, record.Reason)
				assert.Contains(t, record.Evidence, "3.5s")
				assert.NotNil(t, stage.View(record).Verdict)
				assert.Equal(t, 5*time.Second, time.Since(began), "a second for who speaks, and one for the verdict")
				assert.Len(t, record.Turns, map[debate.Mode]int{debate.Sequential: 3, debate.Simultaneous: 4}[mode])
			})
		})
	}
}

// Near a hard limit, those who speak at the same time wait for each other. Whoever is left out of a round for that reason is said to be.
func TestALateRoundNamesTheBudgetThatHasHeldItsCalls(t *testing.T) {
	late := 0
	for tokens := 0; tokens < 20_000; tokens += 500 {
		config := stage.Crew(3)
		config.Mode, config.Rounds, config.MaxTokens, config.Judging = debate.Simultaneous, 1, 4_000, nil
		config.RoundTimeout = 10 * time.Second
		if tokens > 0 {
			config.Budget = &debate.Budget{HardTokens: tokens}
		}
		if engine, _ := stage.Engine(config); engine.Validate(t.Context(), config) != nil {
			continue
		}
		events, _ := stage.OnClock(t, config, func(_ *debate.Engine, p *scripted.Provider) {
			p.Reply = func(*provider.Request) scripted.Reply {
				return scripted.Reply{Text: "So.", Delay: 6 * time.Second, Usage: provider.Usage{Input: 100, Output: 10}}
			}
		})
		begun := map[string]bool{}
		for _, event := range events {
			if in := body.As[flow.Intent](event); in != nil {
				begun[in.Call] = true
			} else if s := body.As[flow.Skipped](event); s != nil && len(begun) < 3 {
				late++
				assert.Equal(t, "the round's time of 10s is over, in which the limits of the budget had calls wait for each other", s.Reason)
			}
		}
		assert.True(t, tokens > 0 || len(begun) == 3)
	}
	assert.Positive(t, late)
}

func TestASoftLimitOfTimeDoesNotWaitForARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Budget = &debate.Budget{SoftTime: 10 * time.Second}
		engine, p := stage.Engine(config)
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			if strings.Contains(req.ID, "/r2.rebuttal.Ada/") {
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindRateLimit, Status: 429}}
			}
			return reply(req)
		}
		began := time.Now()
		record := stage.Run(t, engine, config)
		assert.Equal(t, 10*time.Second, time.Since(began))
		assert.Equal(t, flow.EndSoftLimit, record.Reason)
		assert.NotNil(t, stage.View(record).Verdict)
	})
}

// At a hard limit of time what is in flight is broken off, and charged.
func TestAHardLimitOfTime(t *testing.T) {
	for name, test := range map[string]struct {
		limit time.Duration
		turns int
	}{
		"in a turn": {3500 * time.Millisecond, 2},
		"between":   {3 * time.Second, 2},
		"verdict":   {9500 * time.Millisecond, 6},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Budget = &debate.Budget{HardTime: test.limit}
			stage.InBubble(t, config, func(t *testing.T, s *debate.Session, _ *scripted.Provider) {
				began := time.Now()
				record, err := s.Wait(t.Context())
				require.ErrorIs(t, err, &debate.Error{Kind: provider.KindCostLimit})
				assert.Equal(t, test.limit, time.Since(began))
				assert.Equal(t, flow.StateError, record.State)
				assert.Len(t, record.Turns, test.turns)
				synctest.Wait()
				record = stage.SessionRecord(t, s)
				assert.Zero(t, record.InFlight())
				assert.Zero(t, record.Reserved())
				assert.Equal(t, flow.WarnHard, record.Warnings[len(record.Warnings)-1].Kind)
			})
		})
	}
}

func TestAPauseDoesNotStopTheClockOfABudget(t *testing.T) {
	config := stage.TwoDebaters()
	for name, test := range map[string]struct {
		budget debate.Budget
		err    error
	}{
		"soft": {debate.Budget{SoftTime: time.Minute}, nil},
		"hard": {debate.Budget{HardTime: time.Minute}, &debate.Error{Kind: provider.KindCostLimit}},
	} {
		t.Run(name, func(t *testing.T) {
			config := config
			config.Budget = &test.budget
			stage.InBubble(t, config, func(t *testing.T, s *debate.Session, p *scripted.Provider) {
				stage.Pass(1500 * time.Millisecond)
				require.NoError(t, s.Pause(t.Context()))
				stage.Pass(time.Hour)
				calls := p.Calls()
				assert.Equal(t, flow.StatePaused, s.State(), "nothing happens in a pause")
				require.NoError(t, s.Resume(t.Context()))
				record, err := s.Wait(t.Context())
				require.ErrorIs(t, err, test.err)
				assert.Equal(t, []string{"r1 Ada"}, stage.Speakers(record))
				if test.err == nil {
					assert.Equal(t, flow.EndSoftLimit, record.Reason)
					assert.NotNil(t, stage.View(record).Verdict)
					assert.Equal(t, calls+1, p.Calls())
				}
			})
		})
	}
}
