package engine_test

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"os"
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
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// lister counts the lists of a store.
type lister struct {
	*store.Memory

	lists atomic.Int64
	fails atomic.Bool
}

func (s *lister) List(ctx context.Context, filter debate.Filter) iter.Seq2[debate.Info, error] {
	s.lists.Add(1)
	if s.fails.Load() {
		return func(yield func(debate.Info, error) bool) { yield(debate.Info{}, stage.ErrDeaf) }
	}
	return s.Memory.List(ctx, filter)
}

// listed describes a debate.
func listed(t *testing.T, kept store.Store, id string) debate.Info {
	t.Helper()
	info, err := store.InfoOf(t.Context(), kept, id)
	require.NoError(t, err)
	return info
}

// A worker that has nothing to do looks six times in the time of a lease, and learns at once of what comes.
func TestAWorkerLooksForEndedLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, _ := stage.Engine(stage.TwoDebaters())
		kept := &lister{Memory: &store.Memory{}}
		engine.Store = kept
		w := stage.Works(t.Context(), stage.Twin(engine), debate.Work{})
		stage.Pass(time.Hour)
		lists := kept.lists.Load()
		t.Logf("%.3f lists per second while there is nothing to do", float64(lists)/time.Hour.Seconds())
		assert.LessOrEqual(t, lists, int64(time.Hour/(2500*time.Millisecond))+1)
		began := time.Now()
		stage.Submitted(t, engine, "a")
		stage.Pass(time.Second)
		require.Len(t, w.Opened("a"), 1)
		assert.LessOrEqual(t, w.Opened("a")[0].Sub(began), 100*time.Millisecond)
		require.NoError(t, w.End())
	})
}

// A worker dies without a word, and nobody says anything. Another one continues its debate within a lease and a sixth of one.
func TestADeadWorkersDebateIsContinued(t *testing.T) {
	for _, lease := range []time.Duration{3 * time.Second, 15 * time.Second, 2 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			memory := &store.Memory{}
			engine, _ := stage.Engine(stage.TwoDebaters())
			engine.Store, engine.Lease = memory, lease
			stage.Submitted(t, engine, "a")
			require.NoError(t, memory.Lease(t.Context(), "a", "who dies", lease))
			died := time.Now()
			w := stage.Works(t.Context(), engine, debate.Work{})
			stage.Pass(lease - time.Millisecond)
			assert.Empty(t, w.Opened("a"))
			stage.Pass(lease)
			require.Len(t, w.Opened("a"), 1)
			assert.LessOrEqual(t, w.Opened("a")[0].Sub(died), lease+min(lease/6, 5*time.Second))
			require.NoError(t, w.End())
		})
	}
}

// Many announcements cost no more looks than a few.
func TestManyAnnouncementsCostFewLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, _ := stage.Engine(stage.TwoDebaters())
		kept := &lister{Memory: &store.Memory{}}
		engine.Store = kept
		w := stage.Works(t.Context(), stage.Twin(engine), debate.Work{})
		stage.Pass(time.Minute)
		const debates = 300
		lists, began := kept.lists.Load(), time.Now()
		for i := range debates {
			stage.Submitted(t, engine, fmt.Sprint("d", i))
			stage.Pass(10 * time.Millisecond)
		}
		assert.LessOrEqual(t, kept.lists.Load()-lists, int64(time.Since(began)/(100*time.Millisecond))+1)
		stage.Pass(time.Second)
		for i := range debates {
			assert.Len(t, w.Opened(fmt.Sprint("d", i)), 1)
		}
		require.NoError(t, w.End())
	})
}

// A debate whose process leaves it is opened at once.
func TestAReleasedDebateIsOpenedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p := stage.Engine(stage.TwoDebaters())
		stage.Slowly(p)
		engine.Store = &store.Memory{}
		config := stage.TwoDebaters()
		config.ID = "a"
		_, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		w := stage.Works(t.Context(), stage.Twin(engine), debate.Work{})
		stage.Pass(500 * time.Millisecond)
		assert.Empty(t, w.Opened("a"))
		began := time.Now()
		require.NoError(t, stage.Abort(engine))
		stage.Pass(time.Second)
		require.Len(t, w.Opened("a"), 1)
		assert.LessOrEqual(t, w.Opened("a")[0].Sub(began), 100*time.Millisecond)
		require.NoError(t, w.End())
	})
}

// Workers that are told of the same debates seldom try the same one.
func TestWorkersBeginAtDifferentDebates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p := stage.Engine(stage.TwoDebaters())
		stage.Slowly(p)
		engine.Store = &store.Memory{}
		for i := range 100 {
			stage.Submitted(t, engine, fmt.Sprint("d", i))
		}
		var workers []*stage.Worker
		var engines []*debate.Engine
		for range 10 {
			one := stage.Twin(engine)
			engines, workers = append(engines, one), append(workers, stage.Works(t.Context(), one, debate.Work{Slots: 1}))
		}
		stage.Pass(time.Second)
		var opened, leased int64
		for _, one := range engines {
			opened, leased = opened+one.Stats().Opened, leased+one.Stats().Leased
		}
		assert.EqualValues(t, 10, opened)
		assert.Less(t, leased, int64(10))
		for _, w := range workers {
			require.NoError(t, w.End())
		}
	})
}

// A worker whose slots were full looks again, and does not try what others have taken meanwhile.
func TestAWorkerTriesNothingThatItReadLongAgo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p := stage.Engine(stage.TwoDebaters())
		stage.Slowly(p)
		memory := &store.Memory{}
		engine.Store = memory
		for i := range 10 {
			stage.Submitted(t, engine, fmt.Sprint("d", i))
		}
		one := stage.Twin(engine)
		w := stage.Works(t.Context(), one, debate.Work{Slots: 1})
		stage.Pass(500 * time.Millisecond)
		for i := range 10 { // all but the one that is open
			_ = memory.Lease(t.Context(), fmt.Sprint("d", i), "another worker", time.Hour)
		}
		stage.Pass(30 * time.Minute)
		stats := one.Stats()
		assert.EqualValues(t, 1, stats.Rested)
		assert.Zero(t, stats.Leased)
		require.NoError(t, w.End())
	})
}

// A store that announces nothing is looked at every second.
func TestAWorkerOfAStoreThatAnnouncesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, _ := stage.Engine(stage.TwoDebaters())
		engine.Store = stage.Mute{Store: &store.Memory{}}
		w := stage.Works(t.Context(), engine, debate.Work{})
		stage.Pass(time.Minute + 100*time.Millisecond)
		began := time.Now()
		stage.Submitted(t, engine, "a")
		stage.Pass(2 * time.Second)
		require.Len(t, w.Opened("a"), 1)
		assert.LessOrEqual(t, w.Opened("a")[0].Sub(began), time.Second)
		require.NoError(t, w.End())
	})
}

// A store that fails for a while ends no worker. Each outage has one line in the log.
func TestAWorkerWaitsForItsStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, _ := stage.Engine(stage.TwoDebaters())
		kept := &lister{Memory: &store.Memory{}}
		var lines stage.Locked
		engine.Store, engine.Logger = kept, slog.New(slog.NewTextHandler(&lines, nil))
		w := stage.Works(t.Context(), engine, debate.Work{})
		for i, id := range []string{"a", "b"} {
			kept.fails.Store(true)
			stage.Submitted(t, engine, id)
			stage.Pass(time.Minute)
			assert.Empty(t, w.Opened(id))
			assert.Equal(t, i+1, strings.Count(lines.String(), "worker waits for the store"))
			kept.fails.Store(false)
			began := time.Now()
			stage.Pass(time.Minute)
			require.Len(t, w.Opened(id), 1)
			assert.LessOrEqual(t, w.Opened(id)[0].Sub(began), 2500*time.Millisecond)
		}
		require.NoError(t, w.End())
	})
}

// silent is a store whose server goes without a word: its first answers never come.
type silent struct {
	*store.Memory

	lists, reads atomic.Int64 // how many answers are still to be missed
}

func (s *silent) List(ctx context.Context, filter debate.Filter) iter.Seq2[debate.Info, error] {
	if s.lists.Add(-1) < 0 {
		return s.Memory.List(ctx, filter)
	}
	return func(yield func(debate.Info, error) bool) {
		<-ctx.Done()
		yield(debate.Info{}, ctx.Err())
	}
}

func (s *silent) Read(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
	if s.reads.Add(-1) < 0 {
		return s.Memory.Read(ctx, id, after)
	}
	return func(yield func(flow.Event, error) bool) {
		<-ctx.Done()
		yield(flow.Event{}, ctx.Err())
	}
}

// An answer of the store that never comes holds up neither a worker nor a slot for good.
func TestAStoreThatDoesNotAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		lists, reads int64
		within       time.Duration
	}{"lists": {lists: 1, within: 2 * time.Minute}, "reads": {reads: 1, within: 6 * time.Minute}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				engine, _ := stage.Engine(stage.TwoDebaters())
				kept := &silent{Memory: &store.Memory{}}
				engine.Store = kept
				stage.Submitted(t, engine, "a")
				kept.lists.Store(c.lists)
				kept.reads.Store(c.reads)
				w := stage.Works(t.Context(), stage.Twin(engine), debate.Work{Slots: 1})
				stage.Pass(c.within)
				assert.NotEmpty(t, w.Opened("a"))
				require.NoError(t, w.End())
			})
		})
	}
}

// partly is a store that does not answer for some debates, though it lists them.
type partly struct {
	*store.Memory

	down atomic.Bool
}

func (s *partly) Read(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
	if id == "healthy" || !s.down.Load() {
		return s.Memory.Read(ctx, id, after)
	}
	return func(yield func(flow.Event, error) bool) { yield(flow.Event{}, stage.ErrDeaf) }
}

// Debates that the store cannot read now, however many, hide none that it can.
func TestAStoreThatAnswersPartly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, _ := stage.Engine(stage.TwoDebaters())
		kept := &partly{Memory: &store.Memory{}}
		engine.Store = kept
		for i := range 200 {
			stage.Submitted(t, engine, fmt.Sprintf("down-%03d", i))
		}
		stage.Submitted(t, engine, "healthy")
		kept.down.Store(true)
		w := stage.Works(t.Context(), stage.Twin(engine), debate.Work{Slots: 1})
		stage.Pass(30 * time.Second)
		assert.NotEmpty(t, w.Opened("healthy"))
		require.NoError(t, w.End())
	})
}

// A debate whose next call is due in half an hour has no slot until then, and nobody opens it. If it is steered meanwhile, it goes on.
func TestAFarWaitHasNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Patience = 10 * time.Hour
		engine, p := stage.Engine(config)
		kept := &store.Memory{}
		engine.Store = kept
		var limited sync.Map
		stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
			id, _, _ := strings.Cut(req.ID, "/")
			if _, again := limited.LoadOrStore(id, true); id != "near" && !again {
				r.Err = &provider.Error{Kind: provider.KindRateLimit, RetryAfter: 30 * time.Minute, NotSent: true}
			}
		})
		submit := func(id string) {
			config.ID = id
			_, err := engine.Submit(t.Context(), config)
			require.NoError(t, err)
		}
		final := func(id string) bool { return stage.StoredRecord(t, engine, id).Final() }
		submit("far")
		submit("steered")
		w, began := stage.Works(t.Context(), engine, debate.Work{Slots: 1}), time.Now()
		stage.Pass(time.Minute)
		submit("near")
		stage.Pass(time.Minute)
		assert.True(t, final("near"))
		for _, id := range []string{"far", "steered"} {
			info := listed(t, kept, id)
			assert.Empty(t, info.Owner)
			assert.Greater(t, time.Duration(info.Alarm), 27*time.Minute)
		}
		stage.Pass(10 * time.Minute)
		require.NoError(t, engine.Control(t.Context(), "steered", flow.Retry{}))
		stage.Pass(time.Minute)
		assert.True(t, final("steered"))
		assert.False(t, final("far"))
		assert.Len(t, w.Opened("far"), 1)
		stage.Pass(20 * time.Minute)
		assert.True(t, final("far"))
		require.Len(t, w.Opened("far"), 2)
		again := w.Opened("far")[1].Sub(began)
		assert.GreaterOrEqual(t, again, 30*time.Minute-3*time.Second)
		assert.LessOrEqual(t, again, 31*time.Minute)
		assert.Equal(t, debate.Stats{Opened: 5, Rested: 5}, engine.Stats())
		require.NoError(t, w.End())
	})
}

// A limit of the time in which a person may answer is kept although nobody has the debate open. What others append changes nothing.
func TestAPersonIsAwaitedForNoLongerThanTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.ID, config.Budget = "d", &debate.Budget{HardTime: time.Hour}
		config.Judging = &debate.Judging{When: debate.AtEnd, Judges: []debate.JudgeConfig{
			{Name: "Zoe", Person: true}, {Name: "Yan", Person: true},
		}}
		engine, _ := stage.Engine(config)
		kept := &store.Memory{}
		engine.Store = kept
		_, err := engine.Submit(t.Context(), config)
		require.NoError(t, err)
		w := stage.Works(t.Context(), engine, debate.Work{Slots: 1})
		waits := func(why string) {
			t.Helper()
			info := listed(t, kept, "d")
			assert.Equal(t, flow.StateAwaitingInput, info.State, why)
			assert.Empty(t, info.Owner, why)
			assert.Positive(t, int64(info.Alarm), why)
		}
		stage.Pass(time.Minute)
		waits("two people are asked")
		control := stage.Twin(engine)
		question := stage.StoredRecord(t, control, "d").Inquiries[0]
		_, example, _ := strings.Cut(question.Question, "looks like this: ")
		require.NoError(t, control.Control(t.Context(), "d", flow.Answer{Inquiry: question.ID, Text: example}))
		stage.Pass(time.Minute)
		waits("one has answered")
		_, err = control.Redact(t.Context(), "d", flow.Redaction{Texts: []string{"ban cars"}})
		require.NoError(t, err)
		stage.Pass(time.Minute)
		waits("a text was removed")
		assert.Len(t, w.Opened("d"), 1)
		stage.Pass(time.Hour)
		info := listed(t, kept, "d")
		assert.Equal(t, flow.StateError, info.State)
		assert.InDelta(t, time.Hour, info.LastAt.Sub(info.StartedAt), float64(3*time.Second))
		assert.Len(t, w.Opened("d"), 2)
		require.NoError(t, w.End())
	})
}

// A worker that ends finishes the call in flight and leaves the debate to another one. Its lease has shown who it is.
func TestAWorkerThatEndsLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p := stage.Engine(stage.TwoDebaters())
		stage.Slowly(p)
		kept := &store.Memory{}
		engine.Store = kept
		stage.Submitted(t, engine, "a")
		w := stage.Works(t.Context(), engine, debate.Work{})
		stage.Pass(500 * time.Millisecond)
		assert.Equal(t, debate.Stats{Calls: 1, Open: 1, Opened: 1}, engine.Stats())
		assert.Regexp(t, fmt.Sprintf(`^[\w-]{0,40}-%d-[a-z2-7]{26}/\d+$`, os.Getpid()), listed(t, kept, "a").Owner)
		began := time.Now()
		require.NoError(t, w.End())
		assert.LessOrEqual(t, time.Since(began), time.Second)
		record := stage.StoredRecord(t, engine, "a")
		assert.Len(t, record.Turns, 1)
		assert.Zero(t, record.InFlight())
		assert.Equal(t, debate.Stats{Opened: 1, Drained: 1}, engine.Stats())
		w = stage.Works(t.Context(), stage.Twin(engine), debate.Work{})
		stage.Pass(time.Minute)
		record = stage.StoredRecord(t, engine, "a")
		assert.True(t, record.Final())
		assert.Empty(t, stage.Doubles(stage.Logged(t, engine, "a")))
		require.NoError(t, w.End())
	})
}

// A tenant who hands in a hundred debates before all others delays them little: each of the tenants that wait has an equal part of the
// slots. Without a label the others wait for most of the hundred.
func TestTenantsShareTheSlots(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fair        string
		least, most int // of the hundred that are over when all others are
	}{
		"fairly": {"tenant", 0, 25}, "in any order": {"", 60, 100},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const hundred, others, each, slots = 100, 9, 4, 4
				config := stage.TwoDebaters()
				config.Rounds, config.Judging = 1, nil
				engine, p := stage.Engine(config)
				stage.Slowly(p)
				engine.Store = &store.Memory{}
				submit := func(tenant, n int) {
					config.ID, config.Labels = fmt.Sprintf("d%d-%02d", tenant, n), map[string]string{"tenant": fmt.Sprint(tenant)}
					_, err := engine.Submit(t.Context(), config)
					require.NoError(t, err)
				}
				for n := range hundred {
					submit(0, n)
				}
				for tenant := range others {
					for n := range each {
						submit(1+tenant, n)
					}
				}
				over := func() map[string]int {
					all := make(map[string]int)
					for info, err := range engine.List(t.Context(), debate.Filter{States: []flow.State{flow.StateCompleted}}) {
						require.NoError(t, err)
						all[info.Labels["tenant"]]++
					}
					return all
				}
				workers := []*debate.Engine{stage.Twin(engine), stage.Twin(engine)}
				var ends []func() error
				for _, one := range workers {
					ends = append(ends, stage.Works(t.Context(), one, debate.Work{Slots: slots, Fair: c.fair}).End)
				}
				var done map[string]int
				for began := time.Now(); ; stage.Pass(500 * time.Millisecond) {
					require.Less(t, time.Since(began), time.Hour)
					done = over()
					many := done["0"]
					delete(done, "0")
					least := 0
					for n := range maps.Values(done) {
						if n == each {
							least++
						}
					}
					if least == others {
						assert.GreaterOrEqual(t, many, c.least)
						assert.LessOrEqual(t, many, c.most)
						break
					}
				}
				if c.fair != "" {
					open := func() int64 { return workers[0].Stats().Open + workers[1].Stats().Open }
					for range 100 {
						if open() < 2*slots {
							stage.Pass(50 * time.Millisecond)
						}
					}
					assert.EqualValues(t, 2*slots, open(), "nobody else needs a slot")
				}
				for _, end := range ends {
					require.NoError(t, end())
				}
			})
		})
	}
}

// A provider may ask for waits that are so long that a debate has no slot meanwhile. They count as time of the outage all the same: it is
// over when the patience is.
func TestAnOutageLastsNoLongerUnderAWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.ID, config.Patience = "a", 10*time.Minute
		engine, p := stage.Engine(config)
		stage.Altered(p, func(_ *provider.Request, r *scripted.Reply) {
			r.Err = &provider.Error{Kind: provider.KindAPI, Status: 503, RetryAfter: 90 * time.Second}
		})
		kept := &store.Memory{}
		engine.Store = kept
		_, err := engine.Submit(t.Context(), config)
		require.NoError(t, err)
		w := stage.Works(t.Context(), engine, debate.Work{})
		stage.Pass(15 * time.Minute)
		info := listed(t, kept, "a")
		assert.Equal(t, flow.StateError, info.State)
		assert.LessOrEqual(t, info.LastAt.Sub(info.StartedAt), 11*time.Minute)
		assert.Greater(t, len(w.Opened("a")), 2, "it has rested between its attempts")
		require.NoError(t, w.End())
	})
}

// crowd lists seventy debates of each of five hundred tenants, and has none of them.
type crowd struct {
	*store.Memory

	mu    sync.Mutex
	tried map[string]bool // the tenants of the debates that were to be opened
}

func (c *crowd) List(_ context.Context, filter debate.Filter) iter.Seq2[debate.Info, error] {
	return func(yield func(debate.Info, error) bool) {
		each, given := make(map[string]int), 0
		for i := range 500 * 70 {
			tenant := fmt.Sprintf("t%03d", i/70)
			info := debate.Info{
				ID: fmt.Sprintf("%s-%02d", tenant, i%70), Seq: 1, State: flow.StateRunning, Labels: map[string]string{"tenant": tenant},
			}
			if !filter.Matches(info) || !filter.Shares(info, each) {
				continue
			}
			if given++; !yield(info, nil) || given == filter.Limit {
				return
			}
		}
	}
}

// Describe implements [store.Describer].
func (c *crowd) Describe(_ context.Context, id string) (debate.Info, error) {
	tenant, _, _ := strings.Cut(id, "-")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tried[tenant] = true
	return debate.Info{}, flow.ErrNotFound
}

// However many tenants wait, and however many debates each of them has, a worker gets to all of them soon.
func TestAWorkerSeesAllTenants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, _ := stage.Engine(stage.TwoDebaters())
		kept := &crowd{Memory: &store.Memory{}, tried: make(map[string]bool)}
		engine.Store = kept
		w := stage.Works(t.Context(), engine, debate.Work{Slots: 4, Fair: "tenant"})
		stage.Pass(500 * time.Millisecond)
		require.NoError(t, w.End())
		assert.Len(t, kept.tried, 500)
	})
}
