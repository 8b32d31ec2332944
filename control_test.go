package debate_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

func TestAnAnswerFromAnywhereWakesWhoListens(t *testing.T) {
	stage.InCompany(t, twoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		mend := c.Failing("r2.rebuttal.Ben", &provider.Error{Kind: provider.KindAuthentication, Status: 401})
		s := join().Begun()
		r := listening(t, s)
		pass(time.Minute)
		require.Equal(t, flow.StateAwaitingInput, s.State())
		require.Empty(t, c.Owner(s.ID()))
		q := c.Record(s.ID()).Inquiries[0]
		mend()
		answered := time.Now()
		require.NoError(t, join().Control(t.Context(), s.ID(), flow.Answer{Inquiry: q.ID, Option: flow.OptionRetry}))
		pass(pollTime)
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
	stage.InCompany(t, twoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		s := join().Begun()
		pass(500 * time.Millisecond)
		require.NoError(t, s.Pause(t.Context()))
		pass(time.Second)
		require.NoError(t, s.Close())
		other := join()
		require.NoError(t, other.Control(t.Context(), s.ID(), flow.Resume{}))
		calls := c.Calls()
		pass(time.Hour)
		assert.Equal(t, calls, c.Calls(), "a control begins nothing")
		assert.Empty(t, c.Owner(s.ID()))
		var found []string
		for info, err := range other.List(t.Context(), debate.Filter{Working: true, Idle: true}) {
			require.NoError(t, err)
			found = append(found, info.ID)
		}
		assert.Equal(t, []string{s.ID()}, found)
		again := other.Opened(s.ID())
		_, err := again.Wait(t.Context())
		require.NoError(t, err)
		c.Finished(s.ID())
	})
}

// Of two that speak at once one has failed and is asked about while the other still speaks.
func TestAnAnswerWhileOthersSpeak(t *testing.T) {
	for how, session := range map[string]bool{"by an engine": false, "by a session that listens": true} {
		t.Run(how, func(t *testing.T) {
			stage.InCompany(t, simultaneous(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
				c.Saved = c.Leased
				mend := c.Failing("r2.rebuttal.Ben", &provider.Error{Kind: provider.KindAuthentication, Status: 401})
				s, other := join().Begun(), join()
				pass(300 * time.Millisecond)
				if session {
					require.NoError(t, s.Pause(t.Context(), debate.Drain))
					pass(time.Second)
					other.Opened(s.ID())
					require.NoError(t, s.Resume(t.Context()))
				}
				pass(500 * time.Millisecond)
				hurry := c.Slow("Ada", 20*time.Second)
				pass(2 * time.Second) // the second round has begun
				hurry()
				record := c.Record(s.ID())
				require.Equal(t, 1, record.InFlight())
				require.Len(t, record.Inquiries, 1)
				assert.NotEmpty(t, c.Owner(s.ID()), "somebody speaks")
				mend()
				answered := time.Now()
				answer := flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionRetry}
				require.NoError(t, other.Control(t.Context(), s.ID(), answer))
				requireKind(t, other.Control(t.Context(), s.ID(), answer), provider.KindState)
				_, err := s.Wait(t.Context())
				require.NoError(t, err)
				for _, e := range c.Log(s.ID()) {
					if as[flow.Intent](e) != nil && as[flow.Intent](e).Call == "r2.rebuttal.Ben" && as[flow.Intent](e).Attempt == 2 {
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
				stage.InCompany(t, simultaneous(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
					hurry := c.Slow("Ada", time.Minute)
					hasten := c.Slow("Ben", time.Minute)
					s, other := join().Begun(), join()
					pass(500 * time.Millisecond)
					if session {
						require.NoError(t, s.Pause(t.Context()))
						pass(500 * time.Millisecond)
						other.Opened(s.ID())
						require.NoError(t, s.Resume(t.Context()))
						pass(500 * time.Millisecond)
					}
					sent, calls := time.Now(), c.Calls()
					require.NoError(t, other.Control(t.Context(), s.ID(), test.signal))
					pass(beatTime)
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
					pass(time.Minute + time.Second)
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
					_, err := s.Wait(t.Context())
					require.NoError(t, err)
					c.Finished(s.ID())
				})
			})
		}
	}
}

func TestAControlIsMetByTheNextResult(t *testing.T) {
	stage.InCompany(t, simultaneous(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		c.Slow("Ben", time.Second)
		s := join().Begun()
		pass(500 * time.Millisecond)
		require.NoError(t, join().Control(t.Context(), s.ID(), flow.Pause{}))
		pass(600 * time.Millisecond) // Ada has spoken, before the holder would have looked
		record := c.Record(s.ID())
		assert.Equal(t, []string{"r1 Ada"}, speakers(record), "what was paid for is recorded in a pause")
		assert.Zero(t, record.InFlight(), "Ben is broken off")
		assert.Equal(t, flow.StatePaused, s.State())
		assert.Empty(t, c.Owner(s.ID()))
		require.NoError(t, s.Resume(t.Context()))
		_, err := s.Wait(t.Context())
		require.NoError(t, err)
		c.Finished(s.ID())
	})
}

func TestARetryFromAnotherProcess(t *testing.T) {
	stage.InCompany(t, twoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		mend := c.Failing(adasOpening, &provider.Error{Kind: provider.KindQuota, Status: 429})
		s := join().Begun()
		_, err := s.Wait(t.Context())
		requireKind(t, err, provider.KindQuota)
		mend()
		require.NoError(t, join().Control(t.Context(), s.ID(), flow.Retry{}))
		pass(pollTime)
		synctest.Wait()
		assert.Equal(t, debate.StateAwaitingResponses, s.State())
		_, err = s.Wait(t.Context())
		require.NoError(t, err)
		c.Finished(s.ID())
	})
}

func TestAnAcknowledgementFromAnotherProcess(t *testing.T) {
	config := twoDebaters()
	config.Budget = &debate.Budget{Warn: debate.USD / 1000, Confirm: true}
	stage.InCompany(t, config, func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		s := join().Begun()
		_, err := s.Wait(t.Context())
		require.ErrorIs(t, err, debate.ErrAwaitingInput)
		require.NoError(t, join().Control(t.Context(), s.ID(), flow.Acknowledge{}))
		requireKind(t, join().Control(t.Context(), s.ID(), flow.Acknowledge{}), provider.KindState)
		pass(pollTime)
		synctest.Wait()
		_, err = s.Wait(t.Context())
		require.NoError(t, err)
		c.Finished(s.ID())
	})
}

// Of the same control from many at once one is taken, and the others are refused.
func TestOneOfManyControlsIsTaken(t *testing.T) {
	const many = 4
	for name, test := range map[string]struct {
		signal func(*debate.Record) flow.Signal
		on     debate.Trigger
		before func(*testing.T, *stage.Company, *debate.Session)
	}{
		"pause": {
			func(*debate.Record) flow.Signal { return flow.Pause{} },
			flow.TriggerPause,
			func(*testing.T, *stage.Company, *debate.Session) {},
		},
		"resume": {
			func(*debate.Record) flow.Signal { return flow.Resume{} },
			flow.TriggerResume,
			func(t *testing.T, _ *stage.Company, s *debate.Session) { require.NoError(t, s.Pause(t.Context())) },
		},
		"cancel": {
			func(*debate.Record) flow.Signal { return flow.Cancel{} },
			flow.TriggerCancel,
			func(*testing.T, *stage.Company, *debate.Session) {},
		},
		"answer": {
			func(r *debate.Record) flow.Signal {
				return flow.Answer{Inquiry: r.Inquiries[0].ID, Option: flow.OptionRetry}
			},
			flow.TriggerAnswered,
			func(_ *testing.T, c *stage.Company, _ *debate.Session) {
				mend := c.Failing(bensOpening, &provider.Error{Kind: provider.KindAuthentication, Status: 401})
				pass(4 * time.Second)
				mend()
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			stage.InCompany(t, twoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
				dice := rand.New(rand.NewPCG(uint64(len(name)), 7))
				for range max(2, 12/fewer) {
					c.Config.ID = ""
					m := join()
					s := m.Begun()
					pass(100 * time.Millisecond)
					test.before(t, c, s)
					pass(300 * time.Millisecond)
					signal := test.signal(c.Record(s.ID()))
					do := []func() error{func() error { return m.Control(t.Context(), s.ID(), signal) }}
					for range many - 1 {
						other := join()
						if dice.IntN(2) == 0 && s.State().Idle() {
							other.Opened(s.ID())
						}
						do = append(do, func() error { return other.Control(t.Context(), s.ID(), signal) })
					}
					dice.Shuffle(len(do), func(i, k int) { do[i], do[k] = do[k], do[i] })
					errs := make([]error, many)
					var group sync.WaitGroup
					for i := range do {
						group.Go(func() { errs[i] = do[i]() })
					}
					group.Wait()
					taken := 0
					for _, err := range errs {
						if err == nil {
							taken++
							continue
						}
						requireKind(t, err, provider.KindState)
					}
					assert.Equal(t, 1, taken)
					pass(beatTime + time.Second)
					times := 0
					for _, e := range c.Log(s.ID()) {
						if as[flow.Transition](e) != nil && as[flow.Transition](e).On == test.on {
							times++
						}
					}
					assert.Equal(t, 1, times)
					if test.on == flow.TriggerCancel {
						assert.Zero(t, c.Record(s.ID()).InFlight())
						continue
					}
					if s.State() == flow.StatePaused {
						require.NoError(t, s.Resume(t.Context()))
					}
					_, err := s.Wait(t.Context())
					require.NoError(t, err)
					c.Finished(s.ID())
				}
			})
		})
	}
}

func TestRefusedControlsChangeNothing(t *testing.T) {
	stage.InCompany(t, twoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		mend := c.Failing(adasOpening, &provider.Error{Kind: provider.KindQuota, Status: 429})
		other := join()
		refused := func(id string, state debate.State, signal flow.Signal, trigger string) {
			t.Helper()
			before := c.Log(id)
			err := other.Control(t.Context(), id, signal)
			requireKind(t, err, provider.KindState)
			require.ErrorContains(t, err, trigger)
			if state != "" {
				require.ErrorContains(t, err, string(state))
			}
			assert.Equal(t, before, c.Log(id))
		}
		s := join().Begun()
		pass(time.Second)
		refused(s.ID(), flow.StateError, flow.Resume{}, "resume")
		refused(s.ID(), flow.StateError, flow.Pause{}, "pause")
		refused(s.ID(), "", flow.Answer{Inquiry: "nobody.asked", Text: "This."}, "nobody.asked")
		refused(s.ID(), "", flow.Acknowledge{}, "warning")
		refused(s.ID(), "", flow.Sent{Trigger: "dance"}, "dance")
		mend()
		require.NoError(t, s.Retry(t.Context()))
		pass(500 * time.Millisecond)
		refused(s.ID(), debate.StateAwaitingResponses, flow.Resume{}, "resume")
		refused(s.ID(), debate.StateAwaitingResponses, flow.Retry{}, "retry")
		_, err := s.Wait(t.Context())
		require.NoError(t, err)
		for trigger, signal := range map[string]flow.Signal{
			"pause": flow.Pause{}, "resume": flow.Resume{}, "stop": flow.Stop{}, "cancel": flow.Cancel{}, "retry": flow.Retry{},
		} {
			refused(s.ID(), flow.StateCompleted, signal, trigger)
		}
		c.Finished(s.ID())
	})
}

// inquiring is a config whose debate asks about Ben's second turn until it is mended.
func inquiring(c *stage.Company, m *stage.Member) (s *debate.Session, inquiry string, mend func()) {
	c.T.Helper()
	mend = c.Failing("r2.rebuttal.Ben", &provider.Error{Kind: provider.KindAuthentication, Status: 401})
	s = m.Begun()
	pass(time.Minute)
	record := c.Record(s.ID())
	require.Len(c.T, record.Inquiries, 1)
	return s, record.Inquiries[0].ID, mend
}

func TestAnAnswerThatDoesNotFitIsRefused(t *testing.T) {
	stage.InCompany(t, twoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		s, inquiry, _ := inquiring(c, join())
		before := c.Log(s.ID())
		for field, answer := range map[string]flow.Answer{
			"option": {Inquiry: inquiry, Option: "dance"},
			"model":  {Inquiry: inquiry, Option: flow.OptionModel, Model: "nobody/model"},
		} {
			failure := requireKind(t, join().Control(t.Context(), s.ID(), answer), provider.KindValidation)
			assert.Equal(t, field, failure.Field)
		}
		for _, model := range []string{"", "test", "/", "test/"} {
			err := join().Control(t.Context(), s.ID(), flow.Answer{Inquiry: inquiry, Option: flow.OptionModel, Model: model})
			assert.Equal(t, "model", requireKind(t, err, provider.KindValidation).Field, "%q", model)
		}
		assert.Equal(t, before, c.Log(s.ID()))
	})
}

func TestAChosenModelIsFrozen(t *testing.T) {
	stage.InCompany(t, twoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		s, inquiry, mend := inquiring(c, join())
		mend()
		other := join()
		row := debate.Model{Priced: true, Input: 7_000_000, Output: 8_000_000}
		other.Models["test/other"] = row
		forged := debate.Model{Priced: true}
		require.NoError(t, other.Control(t.Context(), s.ID(), flow.Answer{
			Inquiry: inquiry, Option: flow.OptionModel, Model: "test/other", Row: &forged, Unattended: true, Text: "hello",
		}))
		pass(pollTime)
		synctest.Wait()
		record, err := s.Wait(t.Context())
		require.NoError(t, err)
		require.Len(t, record.Answers, 1)
		answer := record.Answers[0]
		require.NotNil(t, answer.Row)
		assert.Equal(t, row.Input, answer.Row.Input, "what the engine knows of a model counts, not what the caller says")
		assert.False(t, answer.Unattended)
		assert.Empty(t, answer.Text)
		frozen, ok := record.Model("test/other")
		require.True(t, ok)
		assert.Equal(t, row.Output, frozen.Output)
		var asked []string
		for _, e := range c.Log(s.ID()) {
			if as[flow.Intent](e) != nil && as[flow.Intent](e).By == "Ben" {
				asked = append(asked, as[flow.Intent](e).Model)
			}
		}
		assert.Equal(t, []string{"test/debater", "test/debater", "test/other", "test/other"}, asked)
	})
}

func TestWhatIsNoControl(t *testing.T) {
	stage.InCompany(t, twoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		s := join().Begun()
		pass(500 * time.Millisecond)
		before := c.Log(s.ID())
		start := *as[flow.Start](before[0])
		for _, signal := range []flow.Signal{
			nil, start,
			flow.Edit{Config: c.Config},
			flow.Validate{},
			flow.Validated{OK: true},
			flow.Tick{},
			flow.Opened{},
			flow.Result{Call: adasOpening, Attempt: 1, Text: "Forged."},
			flow.Failed{Call: adasOpening, Attempt: 1, Error: &debate.Error{Kind: provider.KindAPI}},
			flow.Lost{Call: adasOpening, Attempt: 1},
			&flow.Pause{},
		} {
			for _, id := range []string{s.ID(), "nobody-knows"} {
				requireKind(t, join().Control(t.Context(), id, signal), provider.KindValidation)
			}
		}
		assert.Equal(t, before, c.Log(s.ID()))
		for _, id := range []string{"nobody-knows", "", "../secret"} {
			for _, signal := range []flow.Signal{flow.Pause{}, flow.Answer{Inquiry: "i", Text: "t"}} {
				requireKind(t, join().Control(t.Context(), id, signal), provider.KindValidation)
			}
		}
		require.ErrorIs(t, join().Control(t.Context(), "nobody-knows", flow.Pause{}), debate.ErrNotFound)
		done, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, join().Control(done, s.ID(), flow.Pause{}), context.Canceled)
		assert.Equal(t, before, c.Log(s.ID()))
	})
}

// A flow's own input is for anybody to send.
func TestAFlowsInputFromAnotherProcess(t *testing.T) {
	stage.InCompany(t, twoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		const nudged debate.Trigger = "nudged"
		f := debate.DebateFlow()
		f.Name, f.Inputs = "nudging", []debate.Trigger{nudged}
		joins := func() *stage.Member {
			m := join()
			m.Flows = map[string]*debate.Flow{f.Name: f}
			return m
		}
		s := joins().Begun()
		pass(500 * time.Millisecond)
		require.NoError(t, joins().Control(t.Context(), s.ID(), flow.Sent{Trigger: nudged, Payload: json.RawMessage(`{"n":1}`)}))
		record, err := s.Wait(t.Context())
		require.NoError(t, err)
		require.Len(t, record.Inputs, 1)
		assert.JSONEq(t, `{"n":1}`, string(record.Inputs[0].Payload))
		assert.Equal(t, 10, c.Calls())
		err = join().Control(t.Context(), s.ID(), flow.Pause{})
		assert.Equal(t, "flow", requireKind(t, err, provider.KindValidation).Field, "this engine does not know the flow")
	})
}

// A control that meets a store which fails has an error, and the debate goes on.
func TestAControlOfAStoreThatFails(t *testing.T) {
	stage.InCompany(t, twoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		s, other := join().Begun(), join()
		pass(500 * time.Millisecond)
		for _, op := range []string{"read", "append"} {
			other.Goes(func(_ context.Context, which string, do func() error) error {
				if which == op {
					return stage.ErrBroken
				}
				return do()
			})
			require.ErrorIs(t, other.Control(t.Context(), s.ID(), flow.Pause{}), stage.ErrBroken)
		}
		_, err := s.Wait(t.Context())
		require.NoError(t, err)
		c.Finished(s.ID())
	})
}

// The log grows under a control again and again.
func TestAControlThatIsAlwaysTooLate(t *testing.T) {
	for name, test := range map[string]struct {
		conflicts int
		err       error
	}{"at last it is taken": {40, nil}, "it is given up": {1 << 20, debate.ErrConflict}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := stage.NewCompany(t, twoDebaters())
				s, other := c.Member().Begun(), c.Member()
				pass(500 * time.Millisecond)
				left := test.conflicts
				other.Goes(func(_ context.Context, op string, do func() error) error {
					if op == "append" {
						if left--; left >= 0 {
							return debate.ErrConflict
						}
					}
					return do()
				})
				err := other.Control(t.Context(), s.ID(), flow.Pause{})
				require.ErrorIs(t, err, test.err)
				if test.err != nil {
					requireKind(t, err, provider.KindConflict)
				}
			})
		})
	}
}
