package engine_test

import (
	"context"
	"slices"
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

// TestTimeInAQueueDoesNotCount: a turn's time begins again where it stood when its call's turn comes.
func TestTimeInAQueueDoesNotCount(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		queue stage.Queue
		delay time.Duration
		calls int // at once
		kind  debate.Kind
	}{
		"waits":                           {stage.Queue{Wait: time.Hour}, 20 * time.Second, 0, ""},
		"waits under MaxCalls":            {stage.Queue{Wait: time.Hour}, 20 * time.Second, 1, ""},
		"waits for several things":        {stage.Queue{Wait: time.Hour, Nested: 3}, 20 * time.Second, 0, ""},
		"does not wait":                   {stage.Queue{}, 20 * time.Second, 0, ""},
		"does not say that it waits":      {stage.Queue{Wait: time.Hour, Silent: true}, 0, 0, provider.KindTimeout},
		"waits, and the reply takes long": {stage.Queue{Wait: time.Hour}, 31 * time.Second, 0, provider.KindTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.TurnTimeout, config.Judging, config.Rounds = 30*time.Second, nil, 1
			events, err := stage.OnClock(t, config, func(e *debate.Engine, p *scripted.Provider) {
				stage.Altered(p, func(_ *provider.Request, r *scripted.Reply) {
					r.Delay = test.delay
				})
				test.queue.Provider = p
				e.Providers["test"], e.MaxCalls = test.queue, test.calls
			})
			if test.kind != "" {
				require.ErrorIs(t, err, &debate.Error{Kind: test.kind})
				return
			}
			require.NoError(t, err)
			turns := 0
			for _, event := range events {
				if body.As[debate.Turn](event) != nil {
					turns++
					assert.Equal(t, test.delay, body.As[debate.Turn](event).Took, "the wait is no part of what the call took")
				}
			}
			assert.Equal(t, 2, turns)
		})
	}
}

// TestACallThatIsBrokenOffInTheQueueIsFree: nobody was asked yet. Who speaks hears nothing of the pause, so
// that the place under MaxCalls stays taken.
func TestACallThatIsBrokenOffInTheQueueIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Mode = debate.Simultaneous
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		engine.Providers["test"], engine.MaxCalls = stage.Unmoved{Provider: p}, 1
		session := stage.Started(t, engine, config)
		stage.Pass(500 * time.Millisecond)
		require.Len(t, p.Requests(), 1)
		speaks, waits := "Ada", "Ben"
		if p.Requests()[0].Self == waits {
			speaks, waits = waits, speaks
		}
		require.NoError(t, session.Pause(t.Context()))
		stage.Pass(time.Second)
		record := stage.SessionRecord(t, session)
		assert.Equal(t, flow.StatePaused, record.State)
		assert.Zero(t, record.InFlight())
		assert.Equal(t, []string{"r1 " + speaks}, stage.Speakers(record))
		assert.Positive(t, int64(record.Participant(speaks).Account.Cost))
		assert.Zero(t, record.Participant(waits).Account.Cost)
		assert.Equal(t, 1, p.Calls())

		require.NoError(t, session.Resume(t.Context()))
		record = stage.Ended(t, session)
		assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record))
	})
}

// TestAbilitiesAreFoundThroughWrappers: a wrapper does not hide that its provider can check a model.
func TestAbilitiesAreFoundThroughWrappers(t *testing.T) {
	config := stage.TwoDebaters()
	engine, p := stage.Engine(config)
	p.OnCheck = func(context.Context, string) error {
		return &provider.Error{Kind: provider.KindAuthentication, Message: "no such key"}
	}
	engine.Providers["test"] = stage.Queue{Provider: stage.Queue{Provider: p}}
	assert.ErrorIs(t, engine.Validate(t.Context(), config), &debate.Error{Kind: provider.KindAuthentication})
}

// TestACachedReplyCostsNothing: neither is known nor possible.
func TestACachedReplyCostsNothing(t *testing.T) {
	config := stage.TwoDebaters()
	config.Judging, config.Rounds = nil, 1
	events, err := stage.OnClock(t, config, func(e *debate.Engine, p *scripted.Provider) {
		row := e.Models["test/debater"]
		row.Priced, row.Input, row.Output = true, 5, 7
		e.Models["test/debater"], e.Providers["test"] = row, stage.Cached{Provider: p}
	})
	require.NoError(t, err)
	for _, event := range events {
		if body.As[debate.Turn](event) != nil {
			assert.Zero(t, body.As[debate.Turn](event).Cost)
			assert.Zero(t, body.As[debate.Turn](event).Unsettled())
		}
		if body.As[flow.Intent](event) != nil {
			assert.Positive(t, body.As[flow.Intent](event).Reserve, "it could have cost something")
		}
	}
}

// TestWhoWaitsForItsTurnIsQueued: in a limiter, and under Engine.MaxCalls. Then it speaks.
func TestWhoWaitsForItsTurnIsQueued(t *testing.T) {
	for name, c := range map[string]struct {
		change       func(*debate.Engine, *scripted.Provider)
		first, later []flow.Status // of Ada and Ben
	}{
		"a limiter": {
			func(e *debate.Engine, p *scripted.Provider) {
				e.Providers["test"] = stage.Queue{Provider: p, Wait: 5 * time.Second, Nested: 2}
			},
			[]flow.Status{flow.StatusQueued, flow.StatusQueued},
			[]flow.Status{flow.StatusSpeaking, flow.StatusSpeaking},
		},
		"MaxCalls": {
			func(e *debate.Engine, _ *scripted.Provider) { e.MaxCalls = 1 },
			[]flow.Status{flow.StatusSpeaking, flow.StatusQueued},
			[]flow.Status{flow.StatusActive, flow.StatusSpeaking},
		},
		"a limiter behind MaxCalls": {func(e *debate.Engine, p *scripted.Provider) {
			e.MaxCalls = 2
			e.Providers["test"] = stage.Queue{Provider: p, Wait: 5 * time.Second}
		}, []flow.Status{flow.StatusQueued, flow.StatusQueued}, []flow.Status{flow.StatusSpeaking, flow.StatusSpeaking}},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.ID, config.Mode = "queued", debate.Simultaneous
			engine, p := stage.Engine(config)
			stage.Altered(p, func(_ *provider.Request, r *scripted.Reply) {
				r.Delay = 5 * time.Second
			})
			c.change(engine, p)
			session := stage.Started(t, engine, config)
			statuses := func() []flow.Status {
				record := stage.SessionRecord(t, session)
				other := stage.StoredRecord(t, engine, "queued")
				all := []flow.Status{record.Participant("Ada").Status, record.Participant("Ben").Status}
				assert.Equal(t, other.Participant("Ada").Status, all[0])
				assert.Equal(t, other.Participant("Ben").Status, all[1])
				slices.Sort(all) // either may be first
				return all
			}
			slices.Sort(c.first)
			slices.Sort(c.later)
			stage.Pass(time.Second)
			assert.Equal(t, c.first, statuses())
			stage.Pass(5 * time.Second)
			assert.Equal(t, c.later, statuses())
		}))
	}
}
