package session_test

import (
	"context"
	"encoding/json"
	"fmt"
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
	"github.com/agonist-dev/debate/store"
)

func TestAnAnswerFromAnywhereWakesWhoListens(t *testing.T) {
	stage.InCompany(t, stage.Attended(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		mend := c.Failing("r2.rebuttal.Ben", &provider.Error{Kind: provider.KindAuthentication, Status: 401})
		s := join().Begun()
		r := listening(t, s)
		stage.Pass(time.Minute)
		require.Equal(t, flow.StateAwaitingInput, s.State())
		require.Empty(t, c.Owner(s.ID()))
		q := c.Record(s.ID()).Inquiries[0]
		mend()
		answered := time.Now()
		require.NoError(t, join().Control(t.Context(), s.ID(), flow.Answer{Inquiry: q.ID, Option: flow.OptionRetry}))
		stage.Pass(pollTime)
		synctest.Wait()
		assert.NotEmpty(t, c.Owner(s.ID()), "who listens has taken the debate up")
		assert.Equal(t, debate.StateAwaitingResponses, s.State())
		r.sawAll(t, c, s.ID())
		assert.LessOrEqual(t, time.Since(answered), 7*time.Second, "six calls were left, and a look at the log")
		assert.Equal(t, 11, c.Calls(), "ten calls and the one that failed")
		c.Finished(s.ID())
	})
}

func TestAControlWaitsForWhoOpensTheDebate(t *testing.T) {
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		s := join().Begun()
		stage.Pass(500 * time.Millisecond)
		require.NoError(t, s.Pause(t.Context()))
		stage.Pass(time.Second)
		require.NoError(t, s.Close())
		other := join()
		require.NoError(t, other.Control(t.Context(), s.ID(), flow.Resume{}))
		calls := c.Calls()
		stage.Pass(time.Hour)
		assert.Equal(t, calls, c.Calls(), "a control begins nothing")
		assert.Empty(t, c.Owner(s.ID()))
		var found []string
		for info, err := range other.List(t.Context(), debate.Filter{Working: true, Idle: true}) {
			require.NoError(t, err)
			found = append(found, info.ID)
		}
		assert.Equal(t, []string{s.ID()}, found)
		again := other.Opened(s.ID())
		stage.Ended(t, again)
		c.Finished(s.ID())
	})
}

// Of two that speak at once one has failed and is asked about while the other still speaks.
func TestAnAnswerWhileOthersSpeak(t *testing.T) {
	for how, session := range map[string]bool{"by an engine": false, "by a session that listens": true} {
		t.Run(how, func(t *testing.T) {
			config := stage.Simultaneous()
			config.Unattended = false
			stage.InCompany(t, config, func(t *testing.T, c *stage.Company, join func() *stage.Member) {
				c.Saved = c.Leased
				mend := c.Failing("r2.rebuttal.Ben", &provider.Error{Kind: provider.KindAuthentication, Status: 401})
				s, other := join().Begun(), join()
				stage.Pass(300 * time.Millisecond)
				if session {
					require.NoError(t, s.Control(t.Context(), flow.Pause{Drain: true}))
					stage.Pass(time.Second)
					other.Opened(s.ID())
					require.NoError(t, s.Resume(t.Context()))
				}
				stage.Pass(500 * time.Millisecond)
				hurry := c.Slow("Ada", 20*time.Second)
				stage.Pass(2 * time.Second) // the second round has begun
				hurry()
				record := c.Record(s.ID())
				require.Equal(t, 1, record.InFlight())
				require.Len(t, record.Inquiries, 1)
				assert.NotEmpty(t, c.Owner(s.ID()), "somebody speaks")
				mend()
				answered := time.Now()
				answer := flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionRetry}
				require.NoError(t, other.Control(t.Context(), s.ID(), answer))
				stage.RequireKind(t, other.Control(t.Context(), s.ID(), answer), provider.KindState)
				stage.Ended(t, s)
				for _, e := range c.Log(s.ID()) {
					if body.As[flow.Intent](e) != nil && body.As[flow.Intent](e).Call == "r2.rebuttal.Ben" && body.As[flow.Intent](e).Attempt == 2 {
						assert.LessOrEqual(t, e.At.Sub(answered), beatTime, "the holder looks when it renews its lease")
					}
				}
				assert.Equal(t, 11, c.Calls(), "ten calls and the one that failed: nobody was broken off")
				c.Finished(s.ID())
			})
		})
	}
}

// A control of another process reaches the calls in flight within a third of the lease, or with the next
// result.
func TestControlsReachTheCallsInFlight(t *testing.T) {
	for name, test := range map[string]struct {
		signal flow.Signal
		breaks bool
		state  debate.State // once nothing is in flight
	}{
		"pause":  {flow.Pause{}, true, flow.StatePaused},
		"drain":  {flow.Pause{Drain: true}, false, flow.StatePaused},
		"stop":   {flow.Stop{}, true, flow.StateCompleted}, // nobody has spoken
		"cancel": {flow.Cancel{}, true, flow.StateCanceled},
	} {
		for how, session := range map[string]bool{"by an engine": false, "by a session that listens": true} {
			t.Run(name+" "+how, func(t *testing.T) {
				stage.InCompany(t, stage.Simultaneous(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
					hurry := c.Slow("Ada", time.Minute)
					hasten := c.Slow("Ben", time.Minute)
					s, other := join().Begun(), join()
					stage.Pass(500 * time.Millisecond)
					if session {
						require.NoError(t, s.Pause(t.Context()))
						stage.Pass(500 * time.Millisecond)
						other.Opened(s.ID())
						require.NoError(t, s.Resume(t.Context()))
						stage.Pass(500 * time.Millisecond)
					}
					sent, calls := time.Now(), c.Calls()
					require.NoError(t, other.Control(t.Context(), s.ID(), test.signal))
					stage.Pass(beatTime)
					synctest.Wait()
					record := c.Record(s.ID())
					assert.Equal(t, test.state, record.State)
					assert.Equal(t, test.state, s.State())
					if test.breaks {
						assert.Zero(t, record.InFlight(), "the calls are broken off")
						assert.Empty(t, record.Turns)
					} else {
						assert.Equal(t, 2, record.InFlight(), "the calls go on")
						assert.NotEmpty(t, c.Owner(s.ID()))
					}
					stage.Pass(time.Minute + time.Second)
					assert.Empty(t, c.Owner(s.ID()))
					assert.Equal(t, calls, c.Calls(), "nothing else was asked")
					if !test.breaks {
						assert.Len(t, c.Record(s.ID()).Turns, 2)
					}
					assert.Less(t, c.Record(s.ID()).LastAt.Sub(sent), time.Minute+time.Second)
					hurry()
					hasten()
					if test.state != flow.StatePaused {
						return
					}
					require.NoError(t, other.Control(t.Context(), s.ID(), flow.Resume{}))
					stage.Ended(t, s)
					c.Finished(s.ID())
				})
			})
		}
	}
}

// A store that can be watched tells the holder of a control long before it renews its lease.
func TestAControlIsHeardWithinASecond(t *testing.T) {
	for name, signal := range map[string]flow.Signal{"pause": flow.Pause{}, "stop": flow.Stop{}, "cancel": flow.Cancel{}} {
		for _, at := range []time.Duration{10 * time.Millisecond, 290 * time.Millisecond, 2 * time.Second} {
			t.Run(fmt.Sprint(name, " after ", at), stage.Bubbled(func(t *testing.T) {
				c := stage.NewCompany(t, stage.Simultaneous())
				hurry := c.Slow("Ada", time.Minute)
				hasten := c.Slow("Ben", time.Minute)
				m := c.Member(false)
				m.Begun()
				stage.Pass(130 * time.Millisecond) // the engine has looked after the first debate for a while
				s := m.Begun()
				stage.Pass(at)
				require.NoError(t, c.Member(false).Control(t.Context(), s.ID(), signal))
				stage.Pass(time.Second)
				synctest.Wait()
				assert.Zero(t, c.Record(s.ID()).InFlight(), "the calls are broken off")
				assert.Empty(t, c.Owner(s.ID()))
				hurry()
				hasten()
			}))
		}
	}
}

// unmovedWatcher is a store that begins to watch a log only when nobody wants that any more.
type unmovedWatcher struct{ *store.Memory }

func (s unmovedWatcher) Watch(ctx context.Context, _ string) <-chan struct{} {
	<-ctx.Done()
	return nil
}

// A debate does not wait for its store to watch the log.
func TestAStoreThatIsSlowToWatchDelaysNoDebate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		engine.Store = unmovedWatcher{&store.Memory{}}
		began := time.Now()
		session := stage.Started(t, engine, config)
		stage.Ended(t, session)
		assert.Less(t, time.Since(began), 15*time.Second, "ten calls of a second")
	})
}

func TestAControlIsMetByTheNextResult(t *testing.T) {
	stage.InCompany(t, stage.Simultaneous(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		c.Slow("Ben", time.Second)
		s := join().Begun()
		stage.Pass(950 * time.Millisecond)
		require.NoError(t, join().Control(t.Context(), s.ID(), flow.Pause{}))
		stage.Pass(150 * time.Millisecond) // Ada has spoken, before the holder would have looked
		record := c.Record(s.ID())
		assert.Equal(t, []string{"r1 Ada"}, stage.Speakers(record), "what was paid for is recorded in a pause")
		assert.Zero(t, record.InFlight(), "Ben is broken off")
		assert.Equal(t, flow.StatePaused, s.State())
		assert.Empty(t, c.Owner(s.ID()))
		require.NoError(t, s.Resume(t.Context()))
		stage.Ended(t, s)
		c.Finished(s.ID())
	})
}

func TestARetryFromAnotherProcess(t *testing.T) {
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		mend := c.Failing(stage.AdasOpening, &provider.Error{Kind: provider.KindQuota, Status: 429})
		s := join().Begun()
		_, err := s.Wait(t.Context())
		stage.RequireKind(t, err, provider.KindQuota)
		mend()
		require.NoError(t, join().Control(t.Context(), s.ID(), flow.Retry{}))
		stage.Pass(pollTime)
		synctest.Wait()
		assert.Equal(t, debate.StateAwaitingResponses, s.State())
		stage.Ended(t, s)
		c.Finished(s.ID())
	})
}

func TestAnAcknowledgementFromAnotherProcess(t *testing.T) {
	config := stage.Attended()
	config.Budget = &debate.Budget{Warn: debate.USD / 1000, Confirm: true}
	stage.InCompany(t, config, func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		s := join().Begun()
		stage.AwaitsInput(t, s)
		require.NoError(t, join().Control(t.Context(), s.ID(), flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}))
		stage.RequireKind(t, join().Control(t.Context(), s.ID(), flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}), provider.KindState)
		stage.Pass(pollTime)
		synctest.Wait()
		stage.Ended(t, s)
		c.Finished(s.ID())
	})
}

// inquiring is an attended debate that asks about Ben's second turn until it is mended.
func inquiring(c *stage.Company, m *stage.Member) (s *debate.Session, inquiry string, mend func()) {
	c.T.Helper()
	mend = c.Failing("r2.rebuttal.Ben", &provider.Error{Kind: provider.KindAuthentication, Status: 401})
	s = m.Begun()
	stage.Pass(time.Minute)
	record := c.Record(s.ID())
	require.Len(c.T, record.Inquiries, 1)
	return s, record.Inquiries[0].ID, mend
}

func TestAChosenModelIsFrozen(t *testing.T) {
	stage.InCompany(t, stage.Attended(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		s, inquiry, mend := inquiring(c, join())
		mend()
		other := join()
		row := debate.Model{Priced: true, Input: 7_000_000, Output: 8_000_000}
		other.Models["test/other"] = row
		forged := debate.Model{Priced: true}
		require.NoError(t, other.Control(t.Context(), s.ID(), flow.Answer{
			Inquiry: inquiry, Option: flow.OptionModel, Model: "test/other", Row: &forged, Rule: true, Text: "hello",
		}))
		stage.Pass(pollTime)
		synctest.Wait()
		record := stage.Ended(t, s)
		require.Len(t, record.Answers, 1)
		answer := record.Answers[0]
		require.NotNil(t, answer.Row)
		assert.Equal(t, row.Input, answer.Row.Input, "what the engine knows of a model counts, not what the caller says")
		assert.False(t, answer.Rule)
		assert.Empty(t, answer.Text)
		frozen, ok := record.Model("test/other")
		require.True(t, ok)
		assert.Equal(t, row.Output, frozen.Output)
		var asked []string
		for _, e := range c.Log(s.ID()) {
			if body.As[flow.Intent](e) != nil && body.As[flow.Intent](e).By == "Ben" {
				asked = append(asked, body.As[flow.Intent](e).Model)
			}
		}
		assert.Equal(t, []string{"test/debater", "test/debater", "test/other", "test/other"}, asked)
	})
}

// A flow's own input is for anybody to send.
func TestAFlowsInputFromAnotherProcess(t *testing.T) {
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		const nudged debate.Trigger = "nudged"
		f := stage.Recording(debate.DebateFlow(), nudged)
		f.Name = "nudging"
		joins := func() *stage.Member {
			m := join()
			m.Flows = map[string]*debate.Flow{f.Name: f}
			return m
		}
		s := joins().Begun()
		stage.Pass(500 * time.Millisecond)
		require.NoError(t, joins().Control(t.Context(), s.ID(), flow.Sent{Trigger: nudged, Payload: json.RawMessage(`{"n":1}`)}))
		record := stage.Ended(t, s)
		require.Len(t, record.Inputs, 1)
		assert.JSONEq(t, `{"n":1}`, string(record.Inputs[0].Payload))
		assert.Equal(t, 10, c.Calls())
		err := join().Control(t.Context(), s.ID(), flow.Pause{})
		assert.Equal(t, "flow", stage.RequireKind(t, err, provider.KindValidation).Field, "this engine does not know the flow")
	})
}
