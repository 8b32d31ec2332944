package session_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// setStore is a store whose clock is set while debates run: by some time, at some time after it was made.
func setStore(at, by time.Duration) *store.Memory {
	began := time.Now()
	return &store.Memory{Now: func() time.Time {
		now := time.Now()
		if now.Sub(began) >= at {
			now = now.Add(by)
		}
		return now
	}}
}

// waits is what a debate may wait for, or may take no longer than.
func waits() map[string]func(*debate.Config) {
	return map[string]func(*debate.Config){
		"a hard limit":    func(c *debate.Config) { c.Budget = &debate.Budget{HardTime: 30 * time.Minute} },
		"a soft limit":    func(c *debate.Config) { c.Budget = &debate.Budget{SoftTime: 30 * time.Minute} },
		"a round's time":  func(c *debate.Config) { c.RoundTimeout = 5 * time.Minute },
		"a round's delay": func(c *debate.Config) { stage.Pausing(c, 20*time.Second) },
		"a retry":         func(*debate.Config) {},
		"a person": func(c *debate.Config) {
			c.Budget = &debate.Budget{HardTime: 30 * time.Minute}
			c.Judging = &debate.Judging{Judges: []debate.JudgeConfig{{Name: "Zoe", Person: true}}}
		},
	}
}

// limited returns a debate that waits for something, and an engine on the store whose replies take 20 s.
func limited(wait string, on store.Store) (debate.Config, *debate.Engine) {
	config := stage.TwoDebaters()
	config.ID, config.Patience = "d", 0
	waits()[wait](&config)
	engine, p := stage.Engine(config)
	engine.Store = on
	reply := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		if wait == "a retry" && strings.HasSuffix(req.ID, "Ben/1") {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindRateLimit, RetryAfter: 20 * time.Second, NotSent: true}}
		}
		answer := reply(req)
		answer.Delay = 20 * time.Second
		return answer
	}
	return config, engine
}

// exampleOf is the answer that a question gives as an example, after the time that a person takes.
func exampleOf(q flow.Inquiry) flow.Answer {
	stage.Pass(time.Minute)
	_, example, _ := strings.Cut(q.Question, "looks like this: ")
	return flow.Answer{Inquiry: q.ID, Text: example}
}

// inSession plays a debate in a session.
func inSession(t *testing.T, config debate.Config, engine *debate.Engine) *debate.Record {
	t.Helper()
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	return answered(t, session)
}

// submitted plays a debate that the same process has submitted before.
func submitted(t *testing.T, config debate.Config, engine *debate.Engine) *debate.Record {
	t.Helper()
	id, err := engine.Submit(t.Context(), config)
	require.NoError(t, err)
	session := stage.Reopen(t, engine, id)
	return answered(t, session)
}

// answered answers whatever a debate asks until it is over, and closes the session.
func answered(t *testing.T, session *debate.Session) *debate.Record {
	t.Helper()
	defer session.Close()
	for {
		record, err := session.Wait(t.Context())
		if !errors.Is(err, debate.ErrAwaitingInput) {
			require.NoError(t, err)
			return record
		}
		for _, q := range record.Inquiries {
			answer := exampleOf(q)
			require.NoError(t, session.Answer(t.Context(), answer))
		}
	}
}

// byARuntime plays a debate by [debate.Engine.Advance] and [debate.Engine.Call].
func byARuntime(t *testing.T, config debate.Config, engine *debate.Engine) *debate.Record {
	t.Helper()
	n := &stage.Nomad{T: t, Config: config, Store: engine.Store, Same: engine}
	n.Begin()
	next := n.Advance(flow.Opened{})
	for {
		record, err := engine.Record(t.Context(), config.ID)
		require.NoError(t, err)
		switch {
		case next.Over:
			return record
		case len(next.Calls) > 0:
			next, err = engine.Call(t.Context(), config.ID, "nomad", next.Calls[0], nil)
			require.NoError(t, err)
		case len(record.Inquiries) > 0:
			next = n.Advance(exampleOf(record.Inquiries[0]))
		default:
			require.NotZero(t, next.Wait, "nothing is due in state %s", next.State)
			stage.Pass(next.Wait)
			next = n.Advance(flow.Tick{Seq: next.Seq})
		}
	}
}

// ways are those to play a debate to its end.
func ways() map[string]func(*testing.T, debate.Config, *debate.Engine) *debate.Record {
	return map[string]func(*testing.T, debate.Config, *debate.Engine) *debate.Record{
		"in a session": inSession, "submitted": submitted, "by a runtime": byARuntime,
	}
}

// A clock of the store that is set while a process works on a debate changes nothing: only the time counts that really passes.
func TestAClockThatIsSetWhileADebateRuns(t *testing.T) {
	t.Parallel()
	for way, play := range ways() {
		for wait := range waits() {
			t.Run(way+"/"+wait, func(t *testing.T) {
				t.Parallel()
				end := func(at, by time.Duration) (took time.Duration) {
					synctest.Test(t, func(t *testing.T) {
						began := time.Now()
						config, engine := limited(wait, setStore(at, by))
						record := play(t, config, engine)
						took = time.Since(began)
						name := fmt.Sprint(by, " after ", at)
						assert.Equal(t, flow.StateCompleted, record.State, name)
						assert.Equal(t, flow.EndRounds, record.Reason, name)
						assert.Len(t, record.Turns, 6, name)
						assert.Empty(t, record.SkippedCalls, name)
						assert.InDelta(t, took, record.Duration(), float64(time.Second), name)
						require.NoError(t, engine.Shutdown(t.Context()))
					})
					return took
				}
				undisturbed := end(0, 0)
				assert.Greater(t, undisturbed, 2*time.Minute)
				for at := 10 * time.Second; at < 2*time.Minute; at += longform.Sized(15*time.Second, 15*time.Second, time.Minute) {
					for _, by := range []time.Duration{time.Hour, -time.Hour} {
						assert.InDelta(t, undisturbed, end(at, by), float64(10*time.Second), "the clock is set by %s after %s", by, at)
					}
				}
			})
		}
	}
}

// A control that another process appends does not bring its clock to the process that works.
func TestAControlAfterTheClockWasSet(t *testing.T) {
	t.Parallel()
	for way, play := range ways() {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				kept := setStore(30*time.Second, time.Hour)
				config, engine := limited("a hard limit", kept)
				_, another := limited("a hard limit", kept)
				time.AfterFunc(70*time.Second, func() {
					amendment := flow.Amendment{TurnTimeout: new(flow.Duration(2 * time.Minute))}
					assert.NoError(t, another.Control(t.Context(), config.ID, amendment))
				})
				record := play(t, config, engine)
				assert.Equal(t, flow.StateCompleted, record.State)
				assert.Equal(t, 2*time.Minute, record.Settings().TurnTimeout)
				assert.Less(t, record.Duration(), 10*time.Minute)
				require.NoError(t, engine.Shutdown(t.Context()))
				require.NoError(t, another.Shutdown(t.Context()))
			})
		})
	}
}

// A process that takes a debate over reads the clock of the store, and cannot tell a clock that was set from time that has passed.
func TestTheNextHolderReadsTheClockOfTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := setStore(30*time.Second, time.Hour)
		config, engine := limited("a soft limit", kept)
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		stage.Pass(90 * time.Second)
		record := stage.SessionRecord(t, session)
		assert.Less(t, record.Duration(), 2*time.Minute, "it was set while this process works")
		require.NoError(t, session.Close())
		_, another := limited("a soft limit", kept)
		session = stage.Reopen(t, another, config.ID)
		record = stage.Ended(t, session)
		assert.Equal(t, flow.EndSoftLimit, record.Reason)
		assert.Greater(t, record.Duration(), time.Hour)
	})
}
