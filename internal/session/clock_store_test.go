package session_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
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

// relay is a debate that several processes carry on one after the other. Each has a clock of its own, and a store that has
// another one, which all of them share.
type relay struct {
	config  debate.Config
	delay   time.Duration // of each reply
	passed  time.Duration // by the clock of the store, since the first process began
	log     []debate.Event
	without bool // the store shows no clock
	// befalls is what happens to the first attempts at some call; nil: nothing.
	befalls func(req *provider.Request) (scripted.Reply, bool)
}

// leg lets a process whose clock is off by some time carry the debate on, until do returns.
func (r *relay) leg(t *testing.T, off time.Duration, do func(t *testing.T, engine *debate.Engine)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { // each bubble begins at the same time
		const most = 48 * time.Hour // that a clock may be behind
		stage.Pass(most + r.passed + off)
		began := time.Now()
		engine, p := stage.Engine(r.config)
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			if r.befalls != nil {
				if own, ok := r.befalls(req); ok {
					own.Delay = r.delay
					return own
				}
			}
			answer := reply(req)
			answer.Delay = r.delay
			return answer
		}
		kept := &store.Memory{Now: func() time.Time { return time.Now().Add(-off) }}
		if engine.Store = kept; r.without {
			engine.Store = struct{ store.Store }{kept}
		}
		if len(r.log) > 0 {
			require.NoError(t, kept.Append(t.Context(), r.config.ID, 0, "former", r.log))
		}
		do(t, engine)
		require.NoError(t, engine.Shutdown(t.Context()))
		r.passed += time.Since(began)
		r.log = r.log[:0:0]
		for event, err := range kept.Read(t.Context(), r.config.ID, 0) {
			require.NoError(t, err)
			r.log = append(r.log, event)
		}
	})
}

// die ends a process by some time after it has begun to work on the debate.
func (r *relay) die(after time.Duration) func(t *testing.T, engine *debate.Engine) {
	return func(t *testing.T, engine *debate.Engine) {
		t.Helper()
		begin := engine.Open
		if len(r.log) == 0 {
			begin = func(ctx context.Context, _ string) (*debate.Session, error) { return engine.Start(ctx, r.config) }
		}
		session, err := begin(t.Context(), r.config.ID)
		require.NoError(t, err)
		stage.Pass(after)
		require.NoError(t, session.Close())
	}
}

// end carries the debate on to its end, and returns what it led to.
func (r *relay) end(t *testing.T, off time.Duration) (record *debate.Record) {
	t.Helper()
	r.leg(t, off, func(t *testing.T, engine *debate.Engine) {
		session, err := engine.Open(t.Context(), r.config.ID)
		require.NoError(t, err)
		record, err = session.Wait(t.Context())
		if err != nil {
			record, err = engine.Record(t.Context(), r.config.ID)
		}
		require.NoError(t, err)
	})
	return record
}

// A process whose clock is off by hours neither ends nor lengthens a debate that another one has begun.
func TestAClockThatIsOffEndsNothing(t *testing.T) {
	for _, off := range []time.Duration{time.Hour, -time.Hour, 30 * time.Hour, -30 * time.Hour, 0} {
		for name, budget := range map[string]*debate.Budget{
			"a soft limit": {SoftTime: 30 * time.Minute}, "a hard limit": {HardTime: 30 * time.Minute},
		} {
			t.Run(fmt.Sprint(name, " ", off), func(t *testing.T) {
				config := stage.TwoDebaters()
				config.ID, config.Budget = "relayed", budget
				r := &relay{config: config, delay: 20 * time.Second}
				r.leg(t, 0, r.die(50*time.Second))
				r.leg(t, off, r.die(30*time.Second))
				r.leg(t, -off, r.die(10*time.Second))
				record := r.end(t, off)
				assert.Equal(t, flow.StateCompleted, record.State)
				assert.Equal(t, flow.EndRounds, record.Reason)
				assert.Len(t, record.Turns, 6)
				assert.InDelta(t, r.passed, record.Duration(), float64(time.Second), "the clock of the store tells how long it took")
			})
		}
	}
}

// A call that has to wait is made again in time, although the process that it has failed in has ended meanwhile, and the clocks of those
// that wait are off.
func TestACallIsMadeAgainInTimeByProcessesWhoseClocksAreOff(t *testing.T) {
	for name, tc := range map[string]struct {
		call    string
		reply   scripted.Reply // to the first attempt
		life    time.Duration  // of the first process, which ends while the call waits
		atLeast time.Duration
	}{
		"a retry": {
			call: "r1.opening.Ben", life: 50 * time.Second, atLeast: time.Minute,
			reply: scripted.Reply{Err: &provider.Error{Kind: provider.KindRateLimit, RetryAfter: time.Minute, NotSent: true}},
		},
		"an answer that is asked for again": {
			call: "r1.assessment.judge", life: 61 * time.Second, atLeast: 2 * time.Second, reply: scripted.Reply{Text: "Ada was better."},
		},
	} {
		for _, off := range []time.Duration{time.Hour, -time.Hour, 30 * time.Hour, -30 * time.Hour, 0} {
			t.Run(fmt.Sprint(name, " ", off), func(t *testing.T) {
				config := stage.TwoDebaters()
				config.ID, config.Budget = "relayed", &debate.Budget{HardTime: 30 * time.Minute}
				r := &relay{config: config, delay: 20 * time.Second}
				r.befalls = func(req *provider.Request) (scripted.Reply, bool) {
					return tc.reply, strings.HasSuffix(req.ID, "/"+tc.call+"/1")
				}
				r.leg(t, off, r.die(tc.life))
				r.leg(t, -off, r.die(500*time.Millisecond))
				record := r.end(t, off)
				assert.Equal(t, flow.StateCompleted, record.State)
				assert.Len(t, record.Turns, 6)
				var failed time.Time
				var waited []time.Duration
				for _, e := range r.log {
					switch body := e.Body.(type) {
					case *flow.Failure:
						failed = e.At
					case *flow.Rejection:
						failed = e.At
					case *flow.Intent:
						if body.Call == tc.call && body.Attempt > 1 {
							waited = append(waited, e.At.Sub(failed))
						}
					}
				}
				require.Len(t, waited, 1)
				assert.GreaterOrEqual(t, waited[0], tc.atLeast)
				assert.LessOrEqual(t, waited[0], tc.atLeast+2*time.Second, "with its jitter")
			})
		}
	}
}

// A person who is awaited has the time that the budget leaves, by the clock of the store, whatever the clocks of the processes say that
// await the answer in turn.
func TestAPersonIsAwaitedByProcessesWhoseClocksAreOff(t *testing.T) {
	for _, off := range []time.Duration{time.Hour, -time.Hour, 30 * time.Hour, -30 * time.Hour, 0} {
		for _, limit := range []time.Duration{30 * time.Minute, 5 * time.Minute} {
			t.Run(fmt.Sprint(limit, " ", off), func(t *testing.T) {
				config := stage.TwoDebaters()
				config.ID, config.Budget = "relayed", &debate.Budget{HardTime: limit}
				config.Judging = &debate.Judging{Judges: []debate.JudgeConfig{{Name: "Zoe", Person: true}}}
				r := &relay{config: config, delay: 20 * time.Second}
				r.leg(t, off, r.die(70*time.Second)) // she is asked after 40 s
				r.leg(t, -off, r.die(time.Minute))
				if limit == 30*time.Minute {
					r.leg(t, off, func(t *testing.T, engine *debate.Engine) {
						session := stage.Reopen(t, engine, config.ID)
						record := answered(t, session)
						assert.Equal(t, flow.StateCompleted, record.State)
						assert.Equal(t, flow.EndRounds, record.Reason)
						assert.Len(t, record.Turns, 6)
					})
					return
				}
				r.leg(t, off, r.die(10*time.Minute)) // she never answers
				var ended []time.Duration
				for _, e := range r.log {
					if to, ok := e.Body.(*flow.Transition); ok && to.To == flow.StateError {
						assert.Equal(t, flow.EndHardLimit, to.Reason)
						ended = append(ended, e.At.Sub(r.log[0].At))
					}
				}
				require.Len(t, ended, 1)
				assert.InDelta(t, limit, ended[0], float64(5*time.Second))
			})
		}
	}
}

// timed is a store that counts how often its clock is read.
type timed struct {
	*store.Memory

	read atomic.Int64
}

// Time implements [store.Clock].
func (s *timed) Time(ctx context.Context) (time.Time, error) {
	s.read.Add(1)
	return s.Memory.Time(ctx)
}

// A process reads the clock of its store once in a third of a lease, however many debates it works on.
func TestTheClockOfAStoreIsReadOnceInAThirdOfALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &timed{Memory: &store.Memory{}}
		engine, p := stage.Engine(stage.TwoDebaters())
		engine.Store = kept
		stage.Altered(p, func(_ *provider.Request, answer *scripted.Reply) {
			answer.Delay = 20 * time.Second
		})
		began := time.Now()
		sessions := make([]*debate.Session, 30)
		for i := range sessions {
			config := stage.TwoDebaters()
			config.ID = fmt.Sprint("d", i)
			var err error
			sessions[i], err = engine.Start(t.Context(), config)
			require.NoError(t, err)
			stage.Pass(time.Second)
		}
		for _, session := range sessions {
			stage.Ended(t, session)
			require.NoError(t, session.Close())
		}
		const third = 5 * time.Second
		assert.Positive(t, kept.read.Load())
		assert.LessOrEqual(t, kept.read.Load(), int64(time.Since(began)/third)+2)
		require.NoError(t, engine.Shutdown(t.Context()))
	})
}

// Without a clock that all share nobody can tell an hour that has passed from a clock that is ahead.
func TestAClockThatIsOffCountsWithoutThatOfAStore(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID, config.Budget = "relayed", &debate.Budget{SoftTime: 30 * time.Minute}
	r := &relay{config: config, delay: 20 * time.Second, without: true}
	r.leg(t, 0, r.die(50*time.Second))
	assert.Equal(t, flow.EndSoftLimit, r.end(t, time.Hour).Reason)
}

// Time in which no process works on a debate is time of the debate, by the clock of the store.
func TestTimeWithoutAProcessCounts(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID, config.Budget = "relayed", &debate.Budget{SoftTime: 30 * time.Minute}
	r := &relay{config: config, delay: 20 * time.Second}
	r.leg(t, 0, r.die(50*time.Second))
	r.passed += time.Hour
	record := r.end(t, -time.Hour)
	assert.Equal(t, flow.EndSoftLimit, record.Reason)
	assert.Greater(t, record.Duration(), time.Hour)
}

// A control from a process that holds nothing has the time of the store too: the debate that goes on after it has lost none.
func TestAControlHasTheTimeOfTheStore(t *testing.T) {
	for _, off := range []time.Duration{time.Hour, -time.Hour} {
		config := stage.TwoDebaters()
		config.ID, config.Budget = "relayed", &debate.Budget{SoftTime: 30 * time.Minute}
		r := &relay{config: config, delay: 20 * time.Second}
		r.leg(t, 0, func(t *testing.T, engine *debate.Engine) {
			session, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			stage.Pass(50 * time.Second)
			require.NoError(t, session.Pause(t.Context()))
		})
		r.leg(t, off, func(t *testing.T, engine *debate.Engine) {
			require.NoError(t, engine.Control(t.Context(), config.ID, flow.Resume{}))
		})
		assert.Equal(t, flow.EndRounds, r.end(t, 0).Reason)
		assert.Less(t, r.log[len(r.log)-1].At.Sub(r.log[0].At), 10*time.Minute)
	}
}

// Processes with any clocks, which end at any time, write the log that processes with one clock would write.
func TestClocksThatDifferChangeNothing(t *testing.T) {
	t.Parallel()
	for seed := range longform.Or[uint64](60, 12) {
		config := stage.TwoDebaters()
		config.ID = "relayed"
		dice := rand.New(rand.NewPCG(seed, 11))
		stage.Pausing(&config, time.Duration(dice.IntN(3))*20*time.Second)
		config.RoundTimeout = time.Duration(dice.IntN(3)) * 70 * time.Second
		if limit := time.Duration(1+dice.IntN(15)) * time.Minute; dice.IntN(2) == 0 {
			config.Budget = &debate.Budget{SoftTime: limit}
		} else if dice.IntN(2) == 0 {
			config.Budget = &debate.Budget{HardTime: limit}
		}
		lives := make([]time.Duration, 1+dice.IntN(4))
		for i := range lives {
			lives[i] = time.Duration(1 + dice.IntN(int(2*time.Minute)))
		}
		rest, replies := time.Duration(dice.IntN(5))*time.Minute, time.Duration(1+dice.IntN(40))*time.Second
		play := func(off func() time.Duration) (moments []string) {
			r := &relay{config: config, delay: replies}
			for _, life := range lives {
				r.leg(t, off(), r.die(life))
				r.passed += rest
			}
			r.end(t, off())
			began := r.log[0].At
			for _, e := range r.log {
				moments = append(moments, fmt.Sprint(e.At.Sub(began), " ", e.Kind()))
			}
			return moments
		}
		want := play(func() time.Duration { return 0 })
		got := play(func() time.Duration { return time.Duration(dice.IntN(3)-1) * time.Hour })
		require.Equal(t, want, got, "seed %d", seed)
	}
}
