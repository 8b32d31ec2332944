package session_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// A process that takes over from one whose clock was an hour ahead waits as long as the other would have waited.
func TestAClockAheadDelaysNothing(t *testing.T) {
	const ahead, within = time.Hour, 10 * time.Second
	for name, c := range map[string]struct {
		change func(*debate.Config)
		reply  func(*provider.Request) (scripted.Reply, bool) // what disturbs the former holder
		hangs  bool                                           // with the one that takes over too
	}{
		"a retry": {
			change: func(*debate.Config) {},
			reply: func(*provider.Request) (scripted.Reply, bool) {
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindNetwork, NotSent: true}}, true
			},
		},
		"a round's delay": {
			change: func(c *debate.Config) { stage.Pausing(c, 3*time.Second) },
			reply:  func(*provider.Request) (scripted.Reply, bool) { return scripted.Reply{}, false },
		},
		"a round's time": {
			change: func(c *debate.Config) { c.RoundTimeout = 5 * time.Second },
			reply: func(*provider.Request) (scripted.Reply, bool) {
				return scripted.Reply{Text: "At last.", Delay: time.Minute}, true
			},
			hangs: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.ID = "ahead"
			c.change(&config)
			disturbed := func() *debate.Engine {
				engine, p := stage.Engine(config)
				engine.Store = &store.Memory{}
				reply := p.Reply
				p.Reply = func(req *provider.Request) scripted.Reply {
					if r, ok := c.reply(req); ok {
						return r
					}
					return reply(req)
				}
				return engine
			}
			var log []debate.Event
			synctest.Test(t, func(t *testing.T) {
				stage.Pass(ahead) // each bubble begins at the same time
				engine := disturbed()
				session := stage.Started(t, engine, config)
				stage.Pass(500 * time.Millisecond)
				require.NoError(t, session.Close())
				for event, err := range engine.Store.Read(t.Context(), config.ID, 0) {
					require.NoError(t, err)
					log = append(log, event)
				}
			})
			synctest.Test(t, func(t *testing.T) {
				engine, _ := stage.Engine(config)
				if c.hangs {
					engine = disturbed()
				}
				engine.Store = &store.Memory{}
				require.NoError(t, engine.Store.Append(t.Context(), config.ID, 0, "former", log))
				began := time.Now()
				session := stage.Reopen(t, engine, config.ID)
				defer session.Close()
				_, err := session.Wait(t.Context())
				assert.Equal(t, c.hangs, err != nil)
				assert.Less(t, time.Since(began), within)
				assert.Greater(t, time.Since(began), time.Second, "it waits all the same")
				var last time.Time
				for event, err := range engine.Store.Read(t.Context(), config.ID, 0) {
					require.NoError(t, err)
					assert.False(t, event.At.Before(last), "the times of facts never decrease")
					last = event.At
				}
			})
		})
	}
}

// A control from a machine whose clock is an hour ahead ends nothing that the holder waits for.
func TestAControlWithAClockAheadEndsNothing(t *testing.T) {
	for name, change := range map[string]func(*debate.Config){
		"a round's time": func(c *debate.Config) { c.RoundTimeout = 30 * time.Minute },
		"an outage":      func(c *debate.Config) { c.Patience = 10 * time.Minute },
		"a soft limit":   func(c *debate.Config) { c.Budget = &debate.Budget{SoftTime: 30 * time.Minute} },
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Mode = debate.Simultaneous
			change(&config)
			engine, p := stage.Engine(config)
			engine.Store = &store.Memory{}
			reply, began := p.Reply, time.Now()
			p.Reply = func(req *provider.Request) scripted.Reply {
				r := reply(req)
				if r.Delay = 20 * time.Second; name == "an outage" && req.Self == "Ben" && time.Since(began) < 3*time.Minute {
					r.Err = &provider.Error{Kind: provider.KindNetwork}
				}
				return r
			}
			session := stage.Started(t, engine, config)
			stage.Pass(90 * time.Second)
			elsewhere(t, engine, session.ID(), flow.Amendment{TurnTimeout: new(flow.Duration(2 * time.Minute))})
			record := stage.Ended(t, session)
			assert.Len(t, record.Turns, 6)
			assert.Equal(t, flow.EndRounds, record.Reason)
			assert.Equal(t, 2*time.Minute, record.Settings().TurnTimeout)
		}))
	}
}

// elsewhere does what Engine.Control does on a machine whose clock is an hour ahead.
func elsewhere(t *testing.T, engine *debate.Engine, id string, signal flow.Signal) {
	t.Helper()
	var log []debate.Event
	for event, err := range engine.Store.Read(t.Context(), id, 0) {
		require.NoError(t, err)
		log = append(log, event)
	}
	core := stage.CoreOf(t, engine, id, log)
	out, err := core.StepRemote(flow.Input{At: time.Now().Add(time.Hour), Signal: signal})
	require.NoError(t, err)
	require.NoError(t, engine.Store.Append(t.Context(), id, out.Events[0].Seq-1, "elsewhere", out.Events))
}
