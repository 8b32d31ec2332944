package debate_test

import (
	"context"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// inBubble runs a test of a started debate on a clock of its own.
func inBubble(t *testing.T, config debate.Config, test func(t *testing.T, s *debate.Session, p *scripted.Provider)) {
	synctest.Test(t, func(t *testing.T) {
		engine, p := engineFor(config)
		slowly(p)
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		defer session.Close()
		test(t, session, p)
	})
}

func TestPauseBreaksStreamsOffAndResumeAsksAgain(t *testing.T) {
	inBubble(t, twoDebaters(), func(t *testing.T, s *debate.Session, p *scripted.Provider) {
		pass(1500 * time.Millisecond) // Ben is speaking
		require.NoError(t, s.Pause(t.Context()))
		synctest.Wait()
		assert.Equal(t, flow.StatePaused, s.State())
		calls := p.Calls()
		pass(time.Hour)
		assert.Equal(t, calls, p.Calls(), "nothing is asked in a pause")

		paused, err := s.Record(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{"r1 Ada"}, speakers(paused))
		assert.Zero(t, paused.InFlight())
		assert.Positive(t, int64(paused.SpentByParticipant()[1].Cost), "what was broken off is charged")

		require.NoError(t, s.Resume(t.Context()))
		record, err := s.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, undisturbed(t, twoDebaters()), canonical(t, record))
	})
}

func TestADrainingPauseLetsTheSpeakerFinish(t *testing.T) {
	inBubble(t, twoDebaters(), func(t *testing.T, s *debate.Session, p *scripted.Provider) {
		pass(1500 * time.Millisecond)
		require.NoError(t, s.Pause(t.Context(), debate.Drain))
		pass(time.Hour)
		paused, err := s.Record(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{"r1 Ada", "r1 Ben"}, speakers(paused))
		assert.Equal(t, 2, p.Calls())
		require.NoError(t, s.Resume(t.Context()))
		record, err := s.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 10, p.Calls(), "six turns, three assessments, a verdict: nothing was repeated")
		assert.Equal(t, undisturbed(t, twoDebaters()), canonical(t, record))
	})
}

func TestStopGoesToTheVerdict(t *testing.T) {
	inBubble(t, twoDebaters(), func(t *testing.T, s *debate.Session, p *scripted.Provider) {
		pass(1500 * time.Millisecond)
		require.NoError(t, s.Stop(t.Context()))
		record, err := s.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, flow.StateCompleted, record.State)
		assert.Equal(t, []string{"r1 Ada"}, speakers(record))
		require.NotNil(t, view(record).Verdict)
		assert.Equal(t, "stopped by the host", record.Evidence)
		requests := p.Requests()
		assert.Contains(t, requests[len(requests)-1].Last.Text, "cut short")
	})
}

func TestStopBeforeTheFirstTurnEndsWithoutAVerdict(t *testing.T) {
	inBubble(t, twoDebaters(), func(t *testing.T, s *debate.Session, _ *scripted.Provider) {
		pass(500 * time.Millisecond)
		require.NoError(t, s.Stop(t.Context()))
		record, err := s.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, flow.StateCompleted, record.State)
		assert.Nil(t, view(record).Verdict)
		assert.Zero(t, record.InFlight())
	})
}

func TestCancelEndsWithoutAVerdict(t *testing.T) {
	inBubble(t, twoDebaters(), func(t *testing.T, s *debate.Session, _ *scripted.Provider) {
		pass(2500 * time.Millisecond)
		began := time.Now()
		require.NoError(t, s.Cancel(t.Context()))
		record, err := s.Wait(t.Context())
		require.NoError(t, err)
		assert.Zero(t, time.Since(began))
		assert.Equal(t, flow.StateCanceled, record.State)
		assert.Nil(t, view(record).Verdict)
		assert.Positive(t, int64(record.Spent().Cost))

		err = s.Resume(t.Context())
		var refused *debate.Error
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, provider.KindState, refused.Kind)
		assert.Contains(t, err.Error(), "resume")
		assert.Contains(t, err.Error(), "canceled")
	})
}

func TestCloseLeavesTheDebateForTheNextOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := twoDebaters()
		engine, p := engineFor(config)
		slowly(p)
		store := &store.Memory{}
		engine.Store = store
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		pass(2500 * time.Millisecond) // the judge is at work
		session.Close()
		_, err = session.Wait(t.Context())
		require.ErrorIs(t, err, flow.ErrClosed)
		require.ErrorIs(t, session.Pause(t.Context()), flow.ErrClosed)

		other, q := engineFor(config)
		other.Store = store
		again, err := other.Open(t.Context(), session.ID())
		require.NoError(t, err)
		record, err := again.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, undisturbed(t, config), canonical(t, record))
		assert.Equal(t, 8, q.Calls(), "the two turns that are recorded are not asked again")
		again.Close()
	})
}

func TestAHeldDebateIsNotOpenedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := twoDebaters()
		engine, p := engineFor(config)
		slowly(p)
		store := &store.Memory{}
		engine.Store = store
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		defer session.Close()

		same, err := engine.Open(t.Context(), session.ID())
		require.NoError(t, err)
		assert.Same(t, session, same)

		other, _ := engineFor(config)
		other.Store = store
		_, err = other.Open(t.Context(), session.ID())
		require.ErrorIs(t, err, debate.ErrLeased)
		var conflict *debate.Error
		require.ErrorAs(t, err, &conflict)
		assert.Equal(t, provider.KindConflict, conflict.Kind)
	})
}

func TestStartingAnExistingID(t *testing.T) {
	config := twoDebaters()
	config.ID = "ban-cars"
	engine, p := engineFor(config)
	run(t, engine, config)
	calls := p.Calls()

	again, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	record, err := again.Wait(t.Context())
	require.NoError(t, err)
	assert.Equal(t, flow.StateCompleted, record.State)
	assert.Equal(t, calls, p.Calls(), "the debate was opened, not repeated")
	again.Close()

	config.Topic = "Something else"
	_, err = engine.Start(t.Context(), config)
	var conflict *debate.Error
	require.ErrorAs(t, err, &conflict)
	assert.Equal(t, provider.KindConflict, conflict.Kind)
	assert.Equal(t, "topic", conflict.Field)
}

// unreadable is a store whose logs cannot be read for a while.
type unreadable struct {
	*store.Memory

	broken bool
}

func (s *unreadable) Read(ctx context.Context, id string, after int64) iter.Seq2[debate.Event, error] {
	if s.broken {
		return func(yield func(debate.Event, error) bool) { yield(debate.Event{}, errDeaf) }
	}
	return s.Memory.Read(ctx, id, after)
}

// Neither a claim in the engine nor a lease in the store is left: whoever comes next need not wait.
func TestAStartThatFailsLeavesNothingBehind(t *testing.T) {
	config := twoDebaters()
	config.ID = "ban-cars"
	fails := map[string]struct {
		change func(*debate.Config, *unreadable)
		err    error
	}{
		"a conflict":                  {func(c *debate.Config, _ *unreadable) { c.Topic = "Something else" }, &debate.Error{Kind: provider.KindConflict}},
		"a store that cannot be read": {func(_ *debate.Config, s *unreadable) { s.broken = true }, errDeaf},
	}
	goesOn := map[string]func(context.Context, *debate.Engine) (*debate.Session, error){
		"opened":  func(ctx context.Context, e *debate.Engine) (*debate.Session, error) { return e.Open(ctx, config.ID) },
		"started": func(ctx context.Context, e *debate.Engine) (*debate.Session, error) { return e.Start(ctx, config) },
	}
	for name, failing := range fails {
		for how, goOn := range goesOn {
			for where, elsewhere := range map[string]bool{"here": false, "elsewhere": true} {
				t.Run(name+"/"+how+" "+where, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						engine, p := engineFor(config)
						slowly(p)
						store := &unreadable{Memory: &store.Memory{}}
						engine.Store = store
						first, err := engine.Start(t.Context(), config)
						require.NoError(t, err)
						pass(2500 * time.Millisecond)
						require.NoError(t, first.Close())

						next, other := twin(engine), config
						failing.change(&other, store)
						_, err = next.Start(t.Context(), other)
						require.ErrorIs(t, err, failing.err, "%v", err)
						store.broken = false

						if elsewhere {
							next = twin(engine)
						}
						ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
						defer cancel()
						began := time.Now()
						session, err := goOn(ctx, next)
						require.NoError(t, err)
						defer session.Close()
						assert.Zero(t, time.Since(began))
						record, err := session.Wait(ctx)
						require.NoError(t, err)
						assert.Equal(t, undisturbed(t, config), canonical(t, record))
					})
				})
			}
		}
	}
}

func TestStartingADebateThatIsOpenHere(t *testing.T) {
	config := twoDebaters()
	config.ID = "twice"
	synctest.Test(t, func(t *testing.T) {
		engine, p := engineFor(config)
		slowly(p)
		first, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		defer first.Close()
		second, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		assert.Same(t, first, second)
		other := config
		other.Rounds = 9
		_, err = engine.Start(t.Context(), other)
		require.ErrorIs(t, err, &debate.Error{Kind: provider.KindConflict}, "%v", err)
		assert.ErrorContains(t, err, "rounds")
	})
}

func TestErrorAndRetryRepeatNothing(t *testing.T) {
	for name, c := range map[string]struct {
		call  string
		kind  debate.Kind
		round int
		turns []string
		again func(t *testing.T, s *debate.Session, record *debate.Record, err error) *debate.Error
	}{
		"after an error": {"r1.opening.Ben", provider.KindQuota, 1, []string{"r1 Ada"}, func(t *testing.T, s *debate.Session, record *debate.Record, err error) *debate.Error {
			t.Helper()
			failure := requireKind(t, err, provider.KindQuota)
			assert.Equal(t, flow.StateError, record.State)
			require.NoError(t, s.Retry(t.Context()))
			return failure
		}},
		"after a question": {"r2.rebuttal.Ben", provider.KindAuthentication, 2, []string{"r1 Ada", "r1 Ben", "r2 Ada"}, func(t *testing.T, s *debate.Session, record *debate.Record, err error) *debate.Error {
			t.Helper()
			q := question(t, record, err)
			assert.Equal(t, []debate.Option{flow.OptionRetry, flow.OptionModel, flow.OptionDrop, flow.OptionEnd}, q.Options)
			require.NoError(t, s.Choose(t.Context(), q.ID, flow.OptionRetry))
			return q.Failure
		}},
	} {
		t.Run(name, func(t *testing.T) {
			config := twoDebaters()
			engine, p := engineFor(config)
			reply := p.Reply
			var broken atomic.Bool
			broken.Store(true)
			p.Reply = func(req *provider.Request) scripted.Reply {
				if broken.Load() && strings.Contains(req.ID, c.call) {
					return scripted.Reply{Err: &provider.Error{Kind: c.kind, Status: 401, Message: "bad key"}}
				}
				return reply(req)
			}
			session, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			defer session.Close()
			record, err := session.Wait(t.Context())
			assert.Equal(t, c.turns, speakers(record))
			broken.Store(false)
			failure := c.again(t, session, record, err)
			assert.Equal(t, c.kind, failure.Kind)
			assert.Equal(t, "Ben", failure.Participant)
			assert.Equal(t, c.round, failure.Round)

			record, err = session.Wait(t.Context())
			require.NoError(t, err)
			assert.Equal(t, undisturbed(t, config), canonical(t, record))
			assert.Equal(t, 11, p.Calls(), "ten calls and the one that failed")
		})
	}
}

func TestRunEndsWithTheReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the bubble fails if anything is left running
		config := twoDebaters()
		config.ID = "left"
		engine, p := engineFor(config)
		slowly(p)
		for event, err := range engine.Run(t.Context(), config) {
			require.NoError(t, err)
			if event.Kind() == flow.EventChunk {
				break
			}
		}
		record, err := engine.Record(t.Context(), "left")
		require.NoError(t, err)
		assert.Equal(t, flow.StateCanceled, record.State)
		assert.Equal(t, 1, p.Calls())
		assert.Zero(t, record.InFlight())
		assert.Equal(t, 1, record.Spent().Requests)
		assert.Positive(t, int64(record.Spent().Cost), "what the call that was broken off has cost is recorded")
		events := logged(t, engine, "left")
		last := events[len(events)-2:]
		require.Equal(t, []flow.EventKind{flow.EventTransition, flow.EventSpend}, told(last))
		assert.Equal(t, flow.StateCanceled, as[flow.Transition](last[0]).To)
		assert.Equal(t, adasOpening, as[flow.Charge](last[1]).Call)
	})
}

func TestRunEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := twoDebaters()
		config.ID = "detached"
		engine, p := engineFor(config)
		slowly(p)
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		var last error
		for _, err := range engine.Run(ctx, config) {
			last = err
		}
		require.ErrorIs(t, last, context.DeadlineExceeded)
		session, err := engine.Open(t.Context(), "detached")
		require.NoError(t, err)
		record, err := session.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, undisturbed(t, config), canonical(t, record))
	})
}

func TestRunYieldsTheErrorOfADebateThatStops(t *testing.T) {
	config := twoDebaters()
	engine, p := engineFor(config)
	p.Reply = func(*provider.Request) scripted.Reply {
		return scripted.Reply{Err: &provider.Error{Kind: provider.KindQuota, Status: 429}}
	}
	var last error
	for _, err := range engine.Run(t.Context(), config) {
		last = err
	}
	var failure *debate.Error
	require.ErrorAs(t, last, &failure)
	assert.Equal(t, provider.KindQuota, failure.Kind)
	assert.Equal(t, 1, p.Calls())
}

func TestShutdownLetsGoOfEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := twoDebaters()
		engine, p := engineFor(config)
		slowly(p)
		var sessions []*debate.Session
		for range 20 {
			s, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			sessions = append(sessions, s)
		}
		pass(500 * time.Millisecond)
		require.NoError(t, engine.Shutdown(t.Context()))
		for _, s := range sessions {
			_, err := s.Wait(t.Context())
			require.ErrorIs(t, err, flow.ErrClosed)
		}
	})
}

func TestASessionIsEditedUntilItIsValid(t *testing.T) {
	config := twoDebaters()
	engine, p := engineFor(config)
	bad := config
	bad.Topic = ""
	session, err := engine.New(bad)
	require.NoError(t, err)
	defer session.Close()
	assert.Equal(t, flow.StateConfiguring, session.State())
	require.Error(t, session.Start(t.Context()))

	require.ErrorContains(t, session.Validate(t.Context()), "topic")
	assert.Equal(t, flow.StateConfiguring, session.State())
	require.NoError(t, session.Edit(config))
	require.NoError(t, session.Validate(t.Context()))
	assert.Equal(t, flow.StateReady, session.State())
	require.NoError(t, session.Edit(config))
	assert.Equal(t, flow.StateConfiguring, session.State(), "an edit has to be validated")
	require.Error(t, session.Start(t.Context()))
	assert.Zero(t, p.Calls())
	require.NoError(t, session.Validate(t.Context()))
	require.NoError(t, session.Start(t.Context()))
	record, err := session.Wait(t.Context())
	require.NoError(t, err)
	assert.Equal(t, session.ID(), record.ID)
	require.Error(t, session.Edit(config), "what has started is not edited")
}

func TestSimultaneousSpeakersDoNotHearEachOther(t *testing.T) {
	config := twoDebaters()
	config.Mode = debate.Simultaneous
	synctest.Test(t, func(t *testing.T) {
		engine, p := engineFor(config)
		slowly(p)
		began := time.Now()
		record := run(t, engine, config)
		assert.Equal(t, 7*time.Second, time.Since(began), "three rounds of one turn and one assessment, and the verdict")
		assert.Len(t, record.Turns, 6)
		for _, req := range p.Requests() {
			if req.Schema != nil {
				continue
			}
			own := 0
			for _, m := range req.Messages {
				if m.Speaker == req.Self {
					own++
				}
			}
			assert.Len(t, req.Messages, 2*own, "%s has heard as much of the other as of itself", req.ID)
		}
	})
}

func TestTheBudget(t *testing.T) {
	t.Run("warns once", func(t *testing.T) {
		config := twoDebaters()
		config.Budget = &debate.Budget{Warn: debate.USD / 1000}
		engine, _ := engineFor(config)
		record := run(t, engine, config)
		require.Len(t, record.Warnings, 1)
		assert.Equal(t, flow.WarnCost, record.Warnings[0].Kind)
	})
	t.Run("waits to be acknowledged", func(t *testing.T) {
		config := twoDebaters()
		config.Budget = &debate.Budget{Warn: debate.USD / 1000, Confirm: true}
		engine, _ := engineFor(config)
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		defer session.Close()
		_, err = session.Wait(t.Context())
		require.ErrorIs(t, err, debate.ErrAwaitingInput)
		require.NoError(t, session.Acknowledge(t.Context()))
		require.Error(t, session.Acknowledge(t.Context()))
		record, err := session.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, undisturbed(t, config), canonical(t, record))
	})
	// Everybody speaks for as long as is allowed, and each call uses about what it may use at most.
	lavish := func(config debate.Config) (*debate.Engine, debate.Money) {
		engine, p := engineFor(config)
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			r := reply(req)
			if req.Schema == nil {
				r.Text = strings.Repeat(r.Text, 1+8*req.MaxTokens/len(r.Text))
			}
			r.Usage = provider.Usage{Output: req.MaxTokens}
			for _, text := range req.Chat() {
				r.Usage.Input += len(text)
			}
			return r
		}
		estimate, err := engine.Estimate(t.Context(), config)
		require.NoError(t, err)
		return engine, estimate.FirstRound
	}
	t.Run("a soft limit concludes", func(t *testing.T) {
		config := twoDebaters()
		config.MaxTokens, config.Rounds = 300, 12
		engine, least := lavish(config)
		config.Budget = &debate.Budget{Soft: least}
		record := run(t, engine, config)
		assert.Equal(t, flow.StateCompleted, record.State)
		assert.NotNil(t, view(record).Verdict)
		assert.GreaterOrEqual(t, len(record.Turns), 2, "one round is certain")
		assert.Less(t, len(record.Turns), 24)
		assert.Equal(t, flow.EndSoftLimit, record.Reason)
	})
	t.Run("a hard limit is never passed", func(t *testing.T) {
		config := twoDebaters()
		config.MaxTokens, config.Rounds = 300, 12
		engine, least := lavish(config)
		stopped, completed := 0, 0
		for limit := least; limit < 80*least; limit += 3 * least {
			config.Budget = &debate.Budget{Hard: limit}
			session, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			record, err := session.Wait(t.Context())
			assert.LessOrEqual(t, record.Spent().Cost, limit)
			if err != nil {
				require.ErrorIs(t, err, &debate.Error{Kind: provider.KindCostLimit})
				assert.GreaterOrEqual(t, len(view(record).Assessments), 1, "one round is certain")
				stopped++
			} else {
				completed++
			}
			session.Close()
		}
		assert.Positive(t, stopped)
		assert.Positive(t, completed)
	})
}

func TestARecordThatWasGivenAwayIsNotWrittenAnyMore(t *testing.T) { // for the race detector
	config := twoDebaters()
	engine, _ := engineFor(config)
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	record, err := session.Wait(t.Context())
	require.NoError(t, err)

	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for range 100 {
				assert.Equal(t, "Ada", view(record).Outcome().Winner)
				assert.Len(t, record.Turns, 6)
			}
		})
	}
	for range 100 {
		requireKind(t, session.Stop(t.Context()), provider.KindState)
	}
	readers.Wait()
}

// Whoever could not have a debate because somebody else holds it can try again.
func TestAStartThatIsRefusedTheLeaseCanBeTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := twoDebaters()
		config.ID = "held"
		engine, p := engineFor(config)
		slowly(p)
		engine.Store = &store.Memory{}
		first, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		next := twin(engine)
		_, err = next.Start(t.Context(), config)
		require.ErrorIs(t, err, debate.ErrLeased)
		require.NoError(t, first.Close())

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		session, err := next.Start(ctx, config)
		require.NoError(t, err)
		require.NoError(t, session.Close())
	})
}

// A session that is being closed says so at once, however slow its provider is to obey.
func TestStartingAClosedSessionDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := twoDebaters()
		engine, p := engineFor(config)
		slowly(p)
		engine.Providers["test"] = heedless{p}
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		pass(time.Second)
		closed := make(chan struct{})
		go func() {
			_ = session.Close()
			close(closed)
		}()
		synctest.Wait()
		began := time.Now()
		require.ErrorIs(t, session.Start(t.Context()), flow.ErrClosed)
		assert.Zero(t, time.Since(began))
		<-closed
	})
}

// heedless does not listen to its context.
type heedless struct{ *scripted.Provider }

func (p heedless) Generate(_ context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	return p.Provider.Generate(context.Background(), req, emit)
}
