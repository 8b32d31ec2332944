package session_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/limit"
)

// queues are the ways in which a call of a company's engine waits for its turn. Each lets one call through at a time.
var queues = map[string]func(*stage.Member){
	"MaxCalls":    func(m *stage.Member) { m.MaxCalls = 1 },
	"Concurrency": func(m *stage.Member) { m.Providers["test"] = (&limit.Concurrency{Calls: 1}).Wrap(m) },
	"Rate": func(m *stage.Member) {
		m.SkipModelCheck = true
		m.Providers["test"] = (&limit.Rate{Requests: 1}).Wrap("test", m)
	},
}

// softEnds are the ways to stop an engine softly. Each breaks off the calls that were sent as well.
var softEnds = map[string]func(ctx context.Context, m *stage.Member, s *debate.Session) error{
	"Close":    func(_ context.Context, _ *stage.Member, s *debate.Session) error { return s.Close() },
	"Shutdown": func(_ context.Context, m *stage.Member, _ *debate.Session) error { return stage.Abort(m) },
}

// A process that is stopped softly knows which of its calls were never sent. They are free, and only those that were sent
// count as broken off.
func TestAStoppedEngineChargesOnlyWhatItSent(t *testing.T) {
	for queue, limited := range queues {
		for ending, end := range softEnds {
			t.Run(queue+", "+ending, func(t *testing.T) {
				stage.InCompany(t, stage.Simultaneous(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
					c.Slow("Ada", time.Hour)
					c.Slow("Ben", time.Hour)
					a, b := member(join), member(join)
					limited(a)
					s := a.Begun()
					stage.Pass(time.Second) // one of them was sent, and the other one waits
					require.Equal(t, 1, c.Calls())
					began := time.Now()
					require.NoError(t, end(t.Context(), a, s))
					assert.Zero(t, time.Since(began))
					assert.Empty(t, c.Owner(s.ID()))
					kept := failuresOf(c.Log(s.ID()))
					require.Len(t, kept, 1, "the call that waited")
					assertRecalled(t, kept[0])
					b.Opened(s.ID())
					all := failuresOf(c.Log(s.ID()))
					require.Len(t, all, 2, "and the call that was sent")
					assert.NotEqual(t, all[0].Call, all[1].Call)
					assert.Contains(t, all[1].Error.Error(), "the process that made this call is gone")
					assert.Equal(t, "Nothing to do: the call is made again.", all[1].Error.Hint())
					assert.Positive(t, all[1].AtMost)
				})
			})
		}
	}
}

// A process that drains finishes what it has sent. It starts nothing else, whatever waits for its turn meanwhile.
func TestADrainRecallsWhatWaits(t *testing.T) {
	for queue, limited := range queues {
		t.Run(queue, func(t *testing.T) {
			stage.InCompany(t, stage.Simultaneous(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
				a, b := member(join), member(join)
				limited(a)
				s := a.Begun()
				stage.Pass(500 * time.Millisecond)
				require.Equal(t, 1, c.Calls())
				began := time.Now()
				require.NoError(t, a.Shutdown(t.Context()))
				assert.Equal(t, 500*time.Millisecond, time.Since(began), "the call that was sent")
				assert.Equal(t, 1, c.Calls(), "none starts")
				assert.Len(t, c.Record(s.ID()).Turns, 1)
				failed := failuresOf(c.Log(s.ID()))
				require.Len(t, failed, 1)
				assertRecalled(t, failed[0])
				stage.Ended(t, b.Opened(s.ID()))
				assert.Len(t, failuresOf(c.Log(s.ID())), 1, "whoever continues loses nothing")
			})
		})
	}
}

// Past its bound, a drain has recalled what waited all the same.
func TestADrainPastItsBoundChargesOnlyWhatItSent(t *testing.T) {
	stage.InCompany(t, stage.Simultaneous(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		c.Slow("Ada", time.Hour)
		c.Slow("Ben", time.Hour)
		a := member(join)
		queues["Rate"](a)
		s := a.Begun()
		stage.Pass(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, a.Shutdown(ctx), context.DeadlineExceeded)
		failed := failuresOf(c.Log(s.ID()))
		require.Len(t, failed, 1)
		assertRecalled(t, failed[0])
		assert.Equal(t, 1, c.Calls())
	})
}

// A call that begins to wait while its engine drains is recalled too.
func TestADrainRecallsWhatBeginsToWait(t *testing.T) {
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		a := join()
		queues["Rate"](a)
		a.Providers["test"] = waitsLate{a.Providers["test"]}
		s := a.Begun()
		stage.Pass(500 * time.Millisecond)
		require.NoError(t, a.Shutdown(t.Context()))
		failed := failuresOf(c.Log(s.ID()))
		require.Len(t, failed, 1)
		assertRecalled(t, failed[0])
		assert.Zero(t, c.Calls())
	})
}

// waitsLate takes a second before it waits for its turn, which does not come.
type waitsLate struct{ provider.Provider }

func (waitsLate) Generate(ctx context.Context, _ *provider.Request, _ func(provider.Chunk)) (*provider.Response, error) {
	stage.Pass(time.Second)
	resume := provider.Waiting(ctx)
	defer resume()
	<-ctx.Done()
	return nil, &provider.Error{Kind: provider.KindCanceled, NotSent: true, Err: ctx.Err()}
}

// A process whose store fails while it stops does not wait for it, and whoever continues charges the calls in full.
func TestAStoppedEngineDoesNotWaitForItsStore(t *testing.T) {
	stage.InCompany(t, stage.Simultaneous(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		c.Slow("Ada", time.Hour)
		c.Slow("Ben", time.Hour)
		a, b := join(), join()
		queues["MaxCalls"](a)
		s := a.Begun()
		stage.Pass(time.Second)
		a.Goes(func(ctx context.Context, op string, do func() error) error {
			if op != "append" {
				return do()
			}
			<-ctx.Done()
			return ctx.Err()
		})
		began := time.Now()
		require.NoError(t, s.Close())
		assert.LessOrEqual(t, time.Since(began), 5*time.Second, "the Grace")
		assert.Empty(t, failuresOf(c.Log(s.ID())))
		b.Opened(s.ID())
		assert.Len(t, failuresOf(c.Log(s.ID())), 2)
	})
}

// member joins an engine to which the models' prices are known.
func member(join func() *stage.Member) *stage.Member {
	m := join()
	m.Models = map[string]flow.Model{}
	for _, p := range m.Company.Config.Participants {
		m.Models[p.Model] = flow.Model{Priced: true, Input: debate.USD / 1_000_000, Output: debate.USD / 1_000_000, Window: 100_000}
	}
	return m
}

func failuresOf(log []debate.Event) (all []*flow.Failure) {
	for _, e := range log {
		if f := body.As[flow.Failure](e); f != nil {
			all = append(all, f)
		}
	}
	return all
}

// assertRecalled checks the failure of a call that was broken off before it was sent.
func assertRecalled(t *testing.T, f *flow.Failure) {
	t.Helper()
	assert.Equal(t, provider.KindCanceled, f.Error.Kind)
	assert.True(t, f.Void, "it was no try")
	assert.Zero(t, f.Cost+f.AtMost)
	assert.NotContains(t, f.Error.Error(), "gone")
}
