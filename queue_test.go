package debate_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// queue is a wrapper in which each call waits.
type queue struct {
	provider.Provider

	wait   time.Duration
	silent bool // it does not say that it waits
	nested int  // how often it says so at once
}

func (q queue) Unwrap() provider.Provider { return q.Provider }

func (q queue) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	if err := q.stand(ctx); err != nil {
		return nil, &provider.Error{Kind: provider.KindTimeout, NotSent: true, Err: err}
	}
	return q.Provider.Generate(ctx, req, emit)
}

func (q queue) stand(ctx context.Context) error {
	if !q.silent {
		for range max(1, q.nested) {
			defer provider.Waiting(ctx)()
		}
		if deadline, ok := ctx.Deadline(); ok {
			return errors.New("a call that waits has a deadline: " + deadline.String())
		}
	}
	timer := time.NewTimer(q.wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestTimeInAQueueDoesNotCount: a turn's time begins again where it stood when its call's turn comes.
func TestTimeInAQueueDoesNotCount(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		queue queue
		delay time.Duration
		calls int // at once
		kind  debate.Kind
	}{
		"waits":                           {queue{wait: time.Hour}, 20 * time.Second, 0, ""},
		"waits under MaxCalls":            {queue{wait: time.Hour}, 20 * time.Second, 1, ""},
		"waits for several things":        {queue{wait: time.Hour, nested: 3}, 20 * time.Second, 0, ""},
		"does not wait":                   {queue{}, 20 * time.Second, 0, ""},
		"does not say that it waits":      {queue{wait: time.Hour, silent: true}, 0, 0, provider.KindTimeout},
		"waits, and the reply takes long": {queue{wait: time.Hour}, 31 * time.Second, 0, provider.KindTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			config := twoDebaters()
			config.TurnTimeout, config.Judging, config.Rounds = 30*time.Second, nil, 1
			events, err := onClock(t, config, func(e *debate.Engine, p *scripted.Provider) {
				reply := p.Reply
				p.Reply = func(req *provider.Request) scripted.Reply {
					r := reply(req)
					r.Delay = test.delay
					return r
				}
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
				if as[debate.Turn](event) != nil {
					turns++
					assert.Equal(t, test.delay, as[debate.Turn](event).Took, "the wait is no part of what the call took")
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
		config := twoDebaters()
		config.Mode = debate.Simultaneous
		engine, p := engineFor(config)
		slowly(p)
		engine.Providers["test"], engine.MaxCalls = unmoved{p}, 1
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		defer session.Close()
		pass(500 * time.Millisecond)
		require.Len(t, p.Requests(), 1)
		speaks, waits := "Ada", "Ben"
		if p.Requests()[0].Self == waits {
			speaks, waits = waits, speaks
		}
		require.NoError(t, session.Pause(t.Context()))
		pass(time.Second)
		record, err := session.Record(t.Context())
		require.NoError(t, err)
		assert.Equal(t, flow.StatePaused, record.State)
		assert.Zero(t, record.InFlight())
		assert.Equal(t, []string{"r1 " + speaks}, speakers(record))
		assert.Positive(t, int64(record.Participant(speaks).Account.Cost))
		assert.Zero(t, record.Participant(waits).Account.Cost)
		assert.Equal(t, 1, p.Calls())

		require.NoError(t, session.Resume(t.Context()))
		record, err = session.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, undisturbed(t, config), canonical(t, record))
	})
}

// TestAbilitiesAreFoundThroughWrappers: a wrapper does not hide that its provider can check a model.
func TestAbilitiesAreFoundThroughWrappers(t *testing.T) {
	config := twoDebaters()
	engine, p := engineFor(config)
	p.OnCheck = func(context.Context, string) error {
		return &provider.Error{Kind: provider.KindAuthentication, Message: "no such key"}
	}
	engine.Providers["test"] = queue{Provider: queue{Provider: p}}
	assert.ErrorIs(t, engine.Validate(t.Context(), config), &debate.Error{Kind: provider.KindAuthentication})
}

// cached answers everything from a cache.
type cached struct{ provider.Provider }

func (c cached) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	r, err := c.Provider.Generate(ctx, req, emit)
	if err == nil {
		r.Cached, r.Usage = true, provider.Usage{}
	}
	return r, err
}

// TestACachedReplyCostsNothing: it is neither charged nor estimated.
func TestACachedReplyCostsNothing(t *testing.T) {
	config := twoDebaters()
	config.Judging, config.Rounds = nil, 1
	events, err := onClock(t, config, func(e *debate.Engine, p *scripted.Provider) {
		row := e.Models["test/debater"]
		row.Priced, row.Input, row.Output = true, 5, 7
		e.Models["test/debater"], e.Providers["test"] = row, cached{p}
	})
	require.NoError(t, err)
	for _, event := range events {
		if as[debate.Turn](event) != nil {
			assert.Zero(t, as[debate.Turn](event).Cost)
			assert.False(t, as[debate.Turn](event).Estimated)
		}
		if as[flow.Intent](event) != nil {
			assert.Positive(t, as[flow.Intent](event).Reserve, "it could have cost something")
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
				e.Providers["test"] = queue{Provider: p, wait: 5 * time.Second, nested: 2}
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
			e.Providers["test"] = queue{Provider: p, wait: 5 * time.Second}
		}, []flow.Status{flow.StatusQueued, flow.StatusQueued}, []flow.Status{flow.StatusSpeaking, flow.StatusSpeaking}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := twoDebaters()
				config.ID, config.Mode = "queued", debate.Simultaneous
				engine, p := engineFor(config)
				reply := p.Reply
				p.Reply = func(req *provider.Request) scripted.Reply {
					r := reply(req)
					r.Delay = 5 * time.Second
					return r
				}
				c.change(engine, p)
				session, err := engine.Start(t.Context(), config)
				require.NoError(t, err)
				defer session.Close()
				statuses := func() []flow.Status {
					record, err := session.Record(t.Context())
					require.NoError(t, err)
					other, err := engine.Record(t.Context(), "queued")
					require.NoError(t, err)
					all := []flow.Status{record.Status("Ada"), record.Status("Ben")}
					assert.Equal(t, other.Participant("Ada").Status, all[0])
					assert.Equal(t, other.Participant("Ben").Status, all[1])
					slices.Sort(all) // either may be first
					return all
				}
				slices.Sort(c.first)
				slices.Sort(c.later)
				pass(time.Second)
				assert.Equal(t, c.first, statuses())
				pass(5 * time.Second)
				assert.Equal(t, c.later, statuses())
			})
		})
	}
}
