package log_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
)

// until yields the number of the n-th event, from 1, that a condition holds of.
func until(t *testing.T, events []debate.Event, n int, holds func(e *debate.Event) bool) int64 {
	t.Helper()
	for i := range events {
		if holds(&events[i]) {
			if n--; n == 0 {
				return events[i].Seq
			}
		}
	}
	require.Fail(t, "there is no such event")
	return 0
}

func isTurn(e *debate.Event) bool { return body.As[debate.Turn](*e) != nil }

// sown plays a debate of two and yields the world in which it can be forked, with its facts.
func sown(t *testing.T, config debate.Config) (*world, part) {
	t.Helper()
	c := course{config: config}
	c.config.ID = "parent"
	w, _ := c.play(t, &store.Memory{})
	w = c.world(w.engine.Store)
	w.source.Record = true
	return w, stage.Kept(t, w.engine.Store, "parent")
}

// A fork may be forked again, also from the beginning; each knows whom it comes from.
func TestAForkOfAFork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, events := sown(t, stage.TwoDebaters())
		want := stage.Canonical(t, w.recordOf(t, "parent"))
		first, err := w.engine.Fork(t.Context(), "parent", until(t, events, 3, isTurn), debate.Editing(func(c *debate.Config) { c.ID = "child" }))
		require.NoError(t, err)
		assert.Equal(t, "child", first.ID())
		w.conclude(t, first)
		log := stage.Kept(t, w.engine.Store, "child")
		at := until(t, log, 5, isTurn)
		second, err := w.engine.Fork(t.Context(), "child", at, debate.Editing(func(c *debate.Config) { c.ID = "grandchild" }))
		require.NoError(t, err)
		record := w.conclude(t, second)
		assert.Equal(t, want, stage.Canonical(t, record))
		assert.Equal(t, &flow.Parent{ID: "child", Seq: at, Spent: record.Copied(), KeepsOf: true}, record.Parent())
		child := w.recordOf(t, "child")
		parent := &flow.Parent{ID: "parent", Seq: until(t, events, 3, isTurn), Spent: child.Copied(), KeepsOf: true}
		assert.Equal(t, parent, child.Parent())
		assert.Nil(t, w.recordOf(t, "parent").Parent())
		third, err := w.engine.Fork(t.Context(), "grandchild", 0, nil)
		require.NoError(t, err)
		record = w.conclude(t, third)
		assert.Equal(t, want, stage.Canonical(t, record))
		assert.Equal(t, &flow.Parent{ID: "grandchild"}, record.Parent())
	})
}

// What a fork has copied was paid once, with its parent. The sums of several conversations are what the vendor was asked for.
func TestForksDoNotCountTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := course{config: stage.TwoDebaters()}
		c.config.ID = "parent"
		w := c.world(&store.Memory{})
		session, err := w.engine.Start(t.Context(), w.config)
		require.NoError(t, err)
		records := []*debate.Record{w.conclude(t, session)}
		for _, id := range []string{"child", "grandchild"} {
			from := records[len(records)-1]
			log := stage.Kept(t, w.engine.Store, from.ID)
			at := until(t, log, 3, isTurn)
			fork, err := w.engine.Fork(t.Context(), from.ID, at, debate.Editing(func(c *debate.Config) { c.ID = id }))
			require.NoError(t, err)
			record := w.conclude(t, fork)
			records = append(records, record)
			copied := flow.Account{}
			for i := range log[:at] {
				if s := flow.SpendOf(log[i].Body); s != nil {
					copied.Requests++
					copied.Cost += s.Cost
					copied.Usage = copied.Usage.Add(s.Usage)
				}
			}
			require.Equal(t, 4, copied.Requests, "three turns and an assessment")
			got := record.Copied()
			assert.Equal(t, []any{copied.Requests, copied.Cost, copied.Usage}, []any{got.Requests, got.Cost, got.Usage})
			assert.Equal(t, records[0].Spent().Cost, record.Spent().Cost, "the whole log of a fork")
			assert.Equal(t, record.Copied(), w.recordOf(t, id).Copied(), "the log says so")
		}
		sums := flow.SpentByLabel("tenant", records...)
		require.Len(t, sums, 1)
		assert.Equal(t, w.source.Calls(), sums[0].Requests)
		var listed debate.Money
		for info, err := range w.engine.List(t.Context(), store.Filter{}) {
			require.NoError(t, err)
			listed += info.Spent - info.Copied
		}
		assert.Equal(t, sums[0].Cost, listed)
	})
}

// A fork leaves out the call that its parent was making when it was paused. So does the list, which has what the pause says.
func TestAForkListsNoCallThatItLeavesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := course{config: stage.TwoDebaters()}
		w := c.world(&store.Memory{})
		parent, err := w.engine.Start(t.Context(), w.config)
		require.NoError(t, err)
		stage.Pass(2500 * time.Millisecond)
		require.NoError(t, parent.Pause(t.Context()))
		require.NoError(t, parent.Close())
		log := stage.Kept(t, w.engine.Store, parent.ID())
		at := until(t, log, 1, func(e *debate.Event) bool {
			change := body.As[flow.Transition](*e)
			return change != nil && change.To == flow.StatePaused
		})
		require.Positive(t, body.As[flow.Transition](log[at-1]).AtMost)
		fork, err := w.engine.Fork(t.Context(), parent.ID(), at, nil)
		require.NoError(t, err)
		require.NoError(t, fork.Close())
		assert.Zero(t, w.recordOf(t, fork.ID()).Spent().Unsettled)
		for info, err := range w.engine.List(t.Context(), store.Filter{}) {
			require.NoError(t, err)
			assert.Equal(t, info.ID == fork.ID(), info.Unsettled == flow.Unsettled{}, info.ID)
		}
	})
}

// recordOf folds a stored log.
func (w *world) recordOf(t *testing.T, id string) *debate.Record {
	t.Helper()
	return stage.StoredRecord(t, w.engine, id)
}

// A debate that is open and works can be forked, by whoever reads its store; both come to their end.
func TestForkingADebateThatRuns(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := course{config: stage.TwoDebaters()}
			w := c.world(&store.Memory{})
			parent, err := w.engine.Start(t.Context(), w.config)
			require.NoError(t, err)
			stage.Pass(2500 * time.Millisecond)
			engine := w.engine
			if elsewhere {
				engine = stage.Twin(engine)
			}
			record := stage.SessionRecord(t, parent)
			require.Equal(t, 1, record.InFlight())
			fork, err := engine.Fork(t.Context(), parent.ID(), record.Seq, nil)
			require.NoError(t, err)
			want := c.undisturbed(t)
			forked := w.conclude(t, fork)
			assert.Equal(t, want, stage.Canonical(t, forked))
			ended := w.conclude(t, parent)
			assert.Equal(t, want, stage.Canonical(t, ended))
			assert.Equal(t, ended.Spent(), forked.Spent())
			assert.Equal(t, 10+8, w.source.Calls(), "two turns are shared")
		})
	}
}

// The time between a debate and its fork is no time of a round.
func TestAForkThatComesLater(t *testing.T) {
	for name, limit := range map[string]func(c *debate.Config){
		"a round's time":  func(c *debate.Config) { c.RoundTimeout = time.Minute },
		"a retry's time":  func(c *debate.Config) { c.Retry = &debate.RetryPolicy{Base: time.Minute} },
		"a round's delay": func(c *debate.Config) { stage.Pausing(c, time.Minute) },
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			limit(&config)
			w, events := sown(t, config)
			want := stage.Canonical(t, w.recordOf(t, "parent"))
			stage.Pass(24 * time.Hour)
			for n := 1; n <= 5; n += 2 { // Ben is to speak
				session, err := w.engine.Fork(t.Context(), "parent", until(t, events, n, isTurn), nil)
				require.NoError(t, err)
				assert.Equal(t, want, stage.Canonical(t, w.conclude(t, session)), "after turn %d", n)
			}
		}))
	}
}

// The format is the one of the log, whatever the engine now has under its name.
func TestAForkKeepsItsFormat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := debate.Format{Name: "own", End: format.EndByRounds, Phases: []format.Phase{{Name: "talk", First: 1, Last: -1}}}
		config := stage.TwoDebaters()
		config.Format = "own"
		c := course{config: config, setup: func(w *world) { w.engine.Formats = map[string]debate.Format{"own": f} }}
		c.config.ID = "parent"
		w, record := c.play(t, &store.Memory{})
		f.Phases = []format.Phase{{Name: "shouting", First: 1, Last: -1}}
		other := c.world(w.engine.Store)
		session, err := other.engine.Fork(t.Context(), "parent", until(t, stage.Kept(t, w.engine.Store, "parent"), 2, isTurn), nil)
		require.NoError(t, err)
		fork := other.conclude(t, session)
		assert.Equal(t, stage.Canonical(t, record), stage.Canonical(t, fork))
		delete(other.engine.Formats, "own")
		bare := stage.Twin(other.engine)
		session, err = bare.Fork(t.Context(), "parent", 5, nil)
		require.NoError(t, err, "the log brings its format along")
		assert.Equal(t, stage.Canonical(t, record), stage.Canonical(t, other.conclude(t, session)))
	})
}

// A debate that its budget has stopped goes on in a fork with a larger one too.
func TestAForkGoesOnAfterALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Budget = &debate.Budget{HardCalls: 7}
		w, events := sown(t, config)
		record := w.recordOf(t, "parent")
		require.Equal(t, flow.StateError, record.State)
		session, err := w.engine.Fork(t.Context(), "parent", int64(len(events)), debate.Editing(func(c *debate.Config) { c.Budget.HardCalls = 100 }))
		require.NoError(t, err)
		fork := w.conclude(t, session)
		assert.Equal(t, flow.StateCompleted, fork.State)
		assert.Len(t, fork.Turns, 6)
	})
}
