package failure_test

import (
	"cmp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

func TestAFailureIsRetriedByItsKind(t *testing.T) {
	for kind, attempts := range map[debate.Kind]int{
		provider.KindNetwork: 4, provider.KindRateLimit: 6, provider.KindAPI: 3, provider.KindTimeout: 3, provider.KindInvalidResponse: 2,
		provider.KindQuota: 1, provider.KindAuthentication: 1, provider.KindRefusal: 1, provider.KindContentFilter: 1, provider.KindContextOverflow: 1,
	} {
		t.Run(string(kind), func(t *testing.T) {
			for _, attended := range []bool{false, true} {
				config := stage.TwoDebaters()
				config.MaxTokens = 500 // too little to be lowered after an overflow
				config.Unattended, config.OnFailure = !attended, nil
				if !attended {
					config.OnFailure = stage.Rules(debate.FailureRule{Do: flow.OptionFail})
				}
				events, err := stage.OnClock(t, config, func(_ *debate.Engine, p *scripted.Provider) { stage.Befall(p, kind, stage.Said("Ada", 1)) })
				require.Error(t, err)
				assert.Len(t, intents(events), attempts)
				var last *flow.Transition
				for i := range events {
					last = cmp.Or(body.As[flow.Transition](events[i]), last)
				}
				require.NotNil(t, last)
				if attended {
					assert.Equal(t, flow.StateAwaitingInput, last.To, "a person decides, whatever the kind")
					continue
				}
				require.Equal(t, flow.StateError, last.To)
				assert.Equal(t, kind, last.Failure.Kind)
				assert.NotEmpty(t, last.Failure.Hint())
			}
		})
	}
}

// An error is left by a retry to the state in which it happened, and nothing that has a result is asked again.
func TestRetryReturnsToTheStateOfTheError(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*debate.Config)
		call   string
		work   debate.State
	}{
		"positions": {func(c *debate.Config) {
			c.Participants[1].Position = ""
			c.AssignPositions = &debate.AssignPositions{}
		}, "assign", flow.StateInitializing},
		"first turn":   {func(*debate.Config) {}, "r1.opening.Ada", debate.StateAwaitingResponses},
		"second turn":  {func(*debate.Config) {}, "r1.opening.Ben", debate.StateAwaitingResponses},
		"simultaneous": {func(c *debate.Config) { c.Mode = debate.Simultaneous }, "r1.opening.Ada", debate.StateAwaitingResponses},
	} {
		for how, hand := range handovers() {
			t.Run(name+"/"+how, stage.Bubbled(func(t *testing.T) {
				config := stage.TwoDebaters()
				tc.change(&config)
				engine, p := stage.Engine(config)
				engine.Store = &store.Memory{}
				p.Reply = planning(p.Reply)
				whole, entire := stage.Engine(config)
				entire.Reply = planning(entire.Reply)
				cut := stage.Befall(p, provider.KindQuota, func(req *provider.Request) bool { return strings.Contains(req.ID, "/"+tc.call) })
				session := stage.Started(t, engine, config)
				_, err := session.Wait(t.Context())
				stage.RequireKind(t, err, provider.KindQuota)
				synctest.Wait() // who spoke at the same time has done
				engine, session = hand(t, engine, session)
				record, err := session.Wait(t.Context())
				failure := stage.RequireKind(t, err, provider.KindQuota)
				assert.Equal(t, tc.call, failure.Op)
				assert.Equal(t, flow.StateError, record.State)
				assert.Equal(t, tc.work, record.Working())
				assert.Contains(t, record.Failure.Hint(), "then retry")
				cut.Over.Store(true)
				require.NoError(t, session.Retry(t.Context()))
				record = stage.Ended(t, session)
				assert.Equal(t, stage.Canonical(t, stage.Run(t, whole, config)), stage.Canonical(t, record))
				events := stage.Logged(t, engine, record.ID)
				asksOnce(t, events)
				assert.Equal(t, entire.Calls()+1, p.Calls())
				for i := range events {
					if change := body.As[flow.Transition](events[i]); change != nil && change.On == flow.TriggerRetry {
						assert.Equal(t, tc.work, change.To)
					}
				}
			}))
		}
	}
}

// A host program may retry for as long as the failure can pass, however often that was in vain before.
func TestRetryHasNoNumberOfTries(t *testing.T) {
	engine, p, config := stage.WithFlow(stage.OneState(stage.CallsOf(func(*flow.Call) {})))
	cut := stage.Befall(p, provider.KindQuota, stage.Said("Ben", 0))
	session, err := engine.Start(t.Context(), stage.InFlow(engine, config))
	require.NoError(t, err)
	defer session.Close()
	for range 12 {
		_, err = session.Wait(t.Context())
		stage.RequireKind(t, err, provider.KindQuota)
		require.NoError(t, session.Retry(t.Context()))
	}
	_, err = session.Wait(t.Context())
	stage.RequireKind(t, err, provider.KindQuota)
	cut.Over.Store(true)
	require.NoError(t, session.Retry(t.Context()))
	record := stage.Ended(t, session)
	assert.Len(t, record.Turns, 2)
}

// A retry that could only fail again is refused, and the refusal says why. That is so at the budget's limit alone: the cause
// of any other failure may be gone.
func TestARefusedRetrySaysWhy(t *testing.T) {
	for kind, refused := range map[debate.Kind]bool{
		provider.KindRefusal: false, provider.KindContentFilter: false, provider.KindContextOverflow: false, provider.KindValidation: false,
		provider.KindCostLimit: true,
	} {
		t.Run(string(kind), func(t *testing.T) {
			engine, p, config := stage.WithFlow(stage.OneState(stage.CallsOf(func(*flow.Call) {})))
			cut := stage.Befall(p, kind, stage.Said("Ben", 0))
			if refused {
				cut.Over.Store(true)
				config.Budget = &debate.Budget{HardCalls: 1}
			}
			config.OnFailure = stage.Rules(debate.FailureRule{Do: flow.OptionFail})
			session := stage.Started(t, engine, stage.InFlow(engine, config))
			_, err := session.Wait(t.Context())
			stage.RequireKind(t, err, kind)
			if refused {
				err = session.Retry(t.Context())
				stage.RequireKind(t, err, provider.KindState)
				assert.ErrorContains(t, err, "canRetry")
				assert.ErrorContains(t, err, "a failure of kind cost_limit")
				return
			}
			cut.Over.Store(true)
			require.NoError(t, session.Retry(t.Context()))
			record := stage.Ended(t, session)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Len(t, record.Turns, 2)
		})
	}
}

// planning answers also for whoever finds positions.
func planning(reply func(*provider.Request) scripted.Reply) func(*provider.Request) scripted.Reply {
	return func(req *provider.Request) scripted.Reply {
		if req.Schema != nil && req.Schema.Name == "assign" {
			return scripted.Reply{Text: stage.Placed(req, stage.JSON(stage.PlanOf("Close every street at noon.")))}
		}
		return reply(req)
	}
}
