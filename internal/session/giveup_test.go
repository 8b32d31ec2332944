package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync/atomic"
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
)

// places are where code of others is called.
func places(d *stage.DeafOnce) map[string]func(c *debate.Config, e *debate.Engine) {
	return map[string]func(c *debate.Config, e *debate.Engine){
		"provider": func(_ *debate.Config, e *debate.Engine) {
			inner := e.Providers["test"]
			e.Providers["test"] = stage.ProviderFunc(
				func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
					d.Call()
					return inner.Generate(context.WithoutCancel(ctx), req, emit)
				})
		},
		"function": func(c *debate.Config, e *debate.Engine) {
			c.Judging.Judges[0] = debate.JudgeConfig{Name: "Cato", Judge: "cato"}
			e.Judges = map[string]debate.Judge{"cato": debate.JudgeFunc(func(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
				d.Call()
				if task.Kind == debate.KindVerdict {
					return json.RawMessage(stage.Verdict([]string{"Ada", "Ben"})), nil
				}
				return json.RawMessage(stage.Judgement([]string{"Ada", "Ben"}, true)), nil
			})}
		},
	}
}

// Code that does not return when the time of its call is over is given up, and the debate goes on. What it brings at
// last is recorded.
func TestCodeThatIgnoresItsContextIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"provider", "function"} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.TurnTimeout, config.JudgeTimeout = 20*time.Second, 20*time.Second
			stage.Pausing(&config, time.Hour) // the session lives for a while
			engine, _ := stage.Engine(config)
			engine.MaxCalls = 1 // what is given up frees its slot
			var lines stage.Locked
			engine.Logger = slog.New(slog.NewTextHandler(&lines, nil))
			d := stage.NewDeaf(false)
			places(d)[name](&config, engine)
			session, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			stage.Pass(24 * time.Second)
			assert.Zero(t, givenUp(engine))
			stage.Pass(2 * time.Second)
			assert.Equal(t, debate.Stats{GivenUp: 1, Stuck: 1}, givenUp(engine))
			assert.Contains(t, lines.String(), "call given up")
			assert.Regexp(t, name+"=(test|cato)", lines.String())
			stage.Pass(10 * time.Minute)
			record := stage.SessionRecord(t, session)
			require.Len(t, record.Turns, 2, "it was tried again")
			assert.Zero(t, record.InFlight())
			close(d.Freed)
			stage.Pass(time.Second)
			assert.Equal(t, debate.Stats{GivenUp: 1}, givenUp(engine))
			var late []*flow.Late
			var failures []*flow.Failure
			for _, e := range stage.Logged(t, engine, session.ID()) {
				if found := body.As[flow.Late](e); found != nil {
					late = append(late, found)
				}
				if found := body.As[flow.Failure](e); found != nil {
					failures = append(failures, found)
				}
			}
			require.Len(t, failures, 1)
			assert.Equal(t, provider.KindTimeout, failures[0].Error.Kind)
			require.Len(t, late, 1)
			assert.Equal(t, failures[0].Call, late[0].Call)
			assert.Equal(t, 1, late[0].Attempt)
			assert.NotEmpty(t, late[0].Text)
			if name == "provider" {
				assert.Positive(t, int64(failures[0].AtMost))
				assert.True(t, failures[0].BrokenOff)
				assert.Positive(t, late[0].Usage.Input)
				assert.Positive(t, int64(late[0].Cost))
				assert.Equal(t, failures[0].AtMost, late[0].Settled)
			}
			record = stage.Ended(t, session)
			assert.Zero(t, record.Spent().Unsettled, "what it has cost is known")
			if name == "provider" {
				reloaded := stage.StoredRecord(t, engine, record.ID)
				usage, _ := record.CallUsage(late[0].Call)
				assert.Zero(t, usage.Unsettled)
				assert.Equal(t, 2*late[0].Cost, usage.Cost, "both attempts")
				assert.Equal(t, record.Spent(), reloaded.Spent())
			}
			assert.Len(t, record.Turns, 6)
			require.NoError(t, session.Close())
		}))
	}
}

// What comes late of an attempt settles what it may have cost only if it tells all of that. A cost of the vendor's and a reply from a cache
// count as they do in time.
func TestWhatComesLateSettlesOnlyIfAllIsKnown(t *testing.T) {
	t.Parallel()
	usage := provider.Usage{Input: 9000, Output: 1}
	gone := &provider.Error{Kind: provider.KindNetwork, Message: "gone"}
	whole := func(change func(*provider.Response)) *provider.Response {
		r := &provider.Response{Text: "Late.", Stop: provider.StopEnd, Usage: usage}
		change(r)
		return r
	}
	for name, test := range map[string]struct {
		response *provider.Response
		err      error
		settles  bool
		cost     flow.Money
	}{
		"a part":              {&provider.Response{Usage: usage, Partial: true}, gone, false, 0},
		"half a usage":        {whole(func(r *provider.Response) { r.Usage.Output = 0 }), nil, false, 0},
		"the vendor's cost":   {whole(func(r *provider.Response) { r.Cost = new(0.5) }), nil, true, flow.USD / 2},
		"a reply of a cache":  {whole(func(r *provider.Response) { r.Cached = true }), nil, true, 0},
		"a failure, all told": {&provider.Response{Usage: usage}, gone, true, 9000*1_000_000 + 2_000_000},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.TurnTimeout = 20 * time.Second
			stage.Pausing(&config, time.Hour)
			engine, _ := stage.Engine(config)
			d, inner := stage.NewDeaf(false), engine.Providers["test"]
			var asked atomic.Bool
			engine.Providers["test"] = stage.ProviderFunc(
				func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
					if asked.Swap(true) {
						return inner.Generate(ctx, req, emit)
					}
					d.Call()
					return test.response, test.err
				})
			session, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			stage.Pass(10 * time.Minute)
			close(d.Freed)
			stage.Pass(time.Second)
			var late *flow.Late
			log := stage.Logged(t, engine, session.ID())
			for _, e := range log {
				if found := body.As[flow.Late](e); found != nil {
					late = found
				}
			}
			require.NotNil(t, late)
			failed := failuresOf(log)
			require.Len(t, failed, 1)
			require.Positive(t, int64(failed[0].AtMost))
			record := stage.SessionRecord(t, session)
			both, _ := record.CallUsage(late.Call)
			assert.Equal(t, test.cost, late.Cost)
			if test.settles {
				assert.Equal(t, failed[0].AtMost, late.Settled)
				assert.Zero(t, both.Unsettled)
			} else {
				assert.Zero(t, late.Settled)
				assert.Equal(t, failed[0].AtMost, both.AtMost, "nobody has said what the rest has cost")
			}
			reloaded := stage.StoredRecord(t, engine, session.ID())
			assert.Equal(t, record.Spent(), reloaded.Spent())
			require.NoError(t, session.Close())
		}))
	}
}

// Close, Shutdown and the end of a canceled debate wait for the grace, and no longer.
func TestNothingWaitsForCodeThatIsGivenUp(t *testing.T) {
	for name, end := range map[string]func(ctx context.Context, e *debate.Engine, s *debate.Session) error{
		"close":    func(_ context.Context, _ *debate.Engine, s *debate.Session) error { return s.Close() },
		"shutdown": func(_ context.Context, e *debate.Engine, _ *debate.Session) error { return stage.Abort(e) },
		"cancel": func(ctx context.Context, _ *debate.Engine, s *debate.Session) error {
			if err := s.Cancel(ctx); err != nil {
				return err
			}
			record, err := s.Wait(ctx)
			if err == nil && record.InFlight() > 0 {
				t.Error("calls are in flight")
			}
			return err
		},
	} {
		for _, place := range []string{"provider", "function"} {
			t.Run(name+", "+place, stage.Bubbled(func(t *testing.T) {
				config := stage.TwoDebaters()
				engine, _ := stage.Engine(config)
				engine.Grace = 3 * time.Second
				d := stage.NewDeaf(false)
				places(d)[place](&config, engine)
				session, err := engine.Start(t.Context(), config)
				require.NoError(t, err)
				stage.Pass(time.Second)
				began := time.Now()
				require.NoError(t, end(t.Context(), engine, session))
				assert.Equal(t, engine.Grace, time.Since(began))
				assert.Equal(t, debate.Stats{GivenUp: 1, Stuck: 1}, givenUp(engine))
				close(d.Freed)
				stage.Pass(time.Second)
				assert.Equal(t, debate.Stats{GivenUp: 1}, givenUp(engine))
				began = time.Now()
				require.NoError(t, session.Close())
				assert.Zero(t, time.Since(began))
			}))
		}
	}
}

// A call is given up exactly when its time and the grace are over, be they short or long.
func TestCallsAreGivenUpOnTime(t *testing.T) {
	for _, grace := range []time.Duration{20 * time.Millisecond, 650 * time.Millisecond, 5 * time.Second} {
		for _, limit := range []time.Duration{210 * time.Millisecond, 1234 * time.Millisecond, 20050 * time.Millisecond} {
			t.Run(fmt.Sprint(limit, " and ", grace), stage.Bubbled(func(t *testing.T) {
				config := stage.TwoDebaters()
				config.TurnTimeout = limit
				engine, _ := stage.Engine(config)
				engine.Grace = grace
				d := stage.NewDeaf(false)
				places(d)["provider"](&config, engine)
				record := stage.Run(t, engine, config)
				close(d.Freed)
				log := stage.Logged(t, engine, record.ID)
				var failed []time.Duration
				for _, e := range log {
					if body.As[flow.Failure](e) != nil {
						failed = append(failed, e.At.Sub(log[0].At))
					}
				}
				assert.Equal(t, []time.Duration{limit + grace}, failed)
			}))
		}
	}
}

// Code that returns is not given up, however short the grace is.
func TestARuntimeGivesUpNothingThatReturns(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	engine.Grace = time.Nanosecond
	for range 20 {
		id, err := engine.Submit(t.Context(), config)
		require.NoError(t, err)
		next, err := engine.Advance(t.Context(), id, "runtime", flow.Opened{})
		for err == nil && len(next.Calls) > 0 {
			next, err = engine.Call(t.Context(), id, "runtime", next.Calls[0], nil)
		}
		require.NoError(t, err)
		require.True(t, next.Over)
	}
	assert.Zero(t, givenUp(engine))
}

// givenUp returns what an engine has given up, without what it does now.
func givenUp(engine *debate.Engine) debate.Stats {
	stats := engine.Stats()
	return debate.Stats{GivenUp: stats.GivenUp, Stuck: stats.Stuck}
}

// Code that ends its goroutine has failed, and another one continues.
func TestCodeThatEndsItsGoroutine(t *testing.T) {
	for _, name := range []string{"provider", "function"} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			engine, _ := stage.Engine(config)
			engine.MaxCalls = 1
			places(stage.NewDeaf(true))[name](&config, engine)
			record := stage.Run(t, engine, config)
			assert.Len(t, record.Turns, 6)
			assert.Zero(t, givenUp(engine))
			failures := 0
			for _, e := range stage.Logged(t, engine, record.ID) {
				if failure := body.As[flow.Failure](e); failure != nil {
					failures++
					assert.ErrorContains(t, failure.Error, "has ended its goroutine")
				}
			}
			assert.Equal(t, 1, failures)
		}))
	}
}

// A tool may ignore its context, or end its goroutine.
func TestAToolThatIgnoresItsContext(t *testing.T) {
	for name, goexit := range map[string]bool{"ignores": false, "ends its goroutine": true} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			d := stage.NewDeaf(goexit)
			tool, err := flow.NewTool(flow.ToolInfo{Description: "stalls", ReadOnly: true}, func(context.Context, flow.ToolUse, struct{}) (string, error) {
				d.Call()
				return "done", nil
			})
			require.NoError(t, err)
			engine := stage.WorkshopEngine(stage.ToolAsker([]provider.ToolCall{stage.ToolCall("1", "add", `{}`)}), 5, map[string]debate.Tool{"add": tool})
			config := stage.ToolUsers()
			config.TurnTimeout = 20 * time.Second
			record := stage.Run(t, engine, stage.InFlow(engine, config))
			assert.Len(t, record.Turns, 2)
			if !goexit {
				assert.Equal(t, debate.Stats{GivenUp: 1, Stuck: 1}, givenUp(engine))
				close(d.Freed)
				stage.Pass(time.Second)
			}
			assert.Zero(t, engine.Stats().Stuck)
		}))
	}
}

// A check of models that ignores its context delays the start by the bound and the grace.
func TestACheckOfModelsThatIgnoresItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, engine, shops := stage.Market()
		freed := make(chan struct{})
		engine.Providers["one"] = deafShop{shops["one"], freed}
		began := time.Now()
		require.NoError(t, engine.Validate(t.Context(), config))
		assert.Equal(t, 15*time.Second, time.Since(began))
		assert.Equal(t, debate.Stats{GivenUp: 1, Stuck: 1}, givenUp(engine))
		began = time.Now()
		require.NoError(t, engine.Validate(t.Context(), config))
		assert.Zero(t, time.Since(began))
		close(freed)
		synctest.Wait()
		assert.Equal(t, debate.Stats{GivenUp: 1}, givenUp(engine))
	})
}

type deafShop struct {
	*stage.Shop

	freed chan struct{}
}

func (d deafShop) Models(context.Context) ([]string, error) {
	<-d.freed
	return nil, nil
}
