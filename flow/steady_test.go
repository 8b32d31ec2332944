package flow_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/flowtest"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// many is how many calls the flow of atOnce makes at once.
const many = 100

// atOnce is a flow that makes many calls at once, and one more when all of them are done. It counts how often it is asked.
func atOnce(asked *atomic.Int64, steady ...flow.CallKind) *flow.Flow {
	f := stage.OneState(flow.Missing(func(r *flow.Record) []*flow.Call {
		asked.Add(1)
		calls := make([]*flow.Call, many+1)
		done := 0
		for i := range calls {
			name := r.Active()[i%len(r.Active())]
			calls[i] = &flow.Call{ID: fmt.Sprintf("say.%d", i), Kind: "word", By: name, Model: stage.ModelOf(r, name), Slot: i}
			if r.Done(calls[i].ID) {
				done++
			}
		}
		if done < many {
			calls = calls[:many]
		}
		return calls
	}))
	step := f.Steps[stage.Asks]
	step.Steady = steady
	f.Steps[stage.Asks] = step
	return f
}

// A flow whose calls change nothing about each other is asked what it wants when they begin and when they are over, however many
// there are, also if some of them are made again. Any other flow is asked after each of them.
func TestASteadyFlowIsNotAskedAfterEachResult(t *testing.T) {
	play := func(t *testing.T, steady ...flow.CallKind) int64 {
		t.Helper()
		var asked, failed atomic.Int64
		synctest.Test(t, func(t *testing.T) {
			engine, p, config := stage.WithFlow(atOnce(&asked, steady...))
			reply := p.Reply
			p.Reply = func(req *provider.Request) scripted.Reply {
				if stage.CallOf(req) == "say.7" && failed.Add(1) == 1 {
					return scripted.Reply{Err: &provider.Error{Kind: provider.KindNetwork}}
				}
				r, at := reply(req), 0
				_, _ = fmt.Sscanf(stage.CallOf(req), "say.%d", &at)
				r.Delay = time.Duration(1+at) * time.Second // each result comes by itself
				return r
			}
			session := stage.Started(t, engine, stage.InFlow(engine, config))
			record := stage.Ended(t, session)
			assert.Len(t, record.Turns, many+1, "before it leads on, the flow is asked in any case")
			assert.Len(t, record.Failures, 1)
		})
		return asked.Load()
	}
	assert.Less(t, play(t, "word"), int64(12))
	assert.Greater(t, play(t), int64(many))
	assert.Greater(t, play(t, "another"), int64(many))
}

// Whether hundreds of calls fail one after the other or are reported together, the same follows: a person is asked about all of them at
// once, or the rules deal with each.
func TestCallsThatFailTogetherAreDealtWithAsOneByOne(t *testing.T) {
	longform.Lone(t)
	const crowd = 1100
	ids := make([]string, crowd)
	for i := range ids {
		ids[i] = fmt.Sprintf("say.%d", i)
	}
	for name, is := range map[string]struct {
		kind provider.Kind
		do   flow.Option
		asks int // how many inquiries
	}{
		"a person is asked about a cause that they share": {provider.KindAuthentication, flow.OptionAsk, 1},
		"a person is asked about each":                    {provider.KindRefusal, flow.OptionAsk, crowd},
		"a rule leaves out each":                          {provider.KindRefusal, flow.OptionSkip, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := stage.OneState(flow.Missing(func(r *flow.Record) []*flow.Call {
				calls := make([]*flow.Call, crowd)
				by, model := r.Active()[0], stage.ModelOf(r, r.Active()[0])
				for i := range calls {
					calls[i] = &flow.Call{
						ID: ids[i], Kind: "word", By: by, Model: model, Slot: i, OnFail: flow.OnFail{Skip: flow.RuleToo},
					}
				}
				return calls
			}))
			step := f.Steps[stage.Asks]
			step.Steady = []flow.CallKind{"word"}
			f.Steps[stage.Asks] = step
			engine, _, config := stage.WithFlow(f)
			config.OnFailure, config.Unattended = []flow.FailureRule{{Do: is.do}}, false
			h := flowtest.Begin(t, engine, stage.InFlow(engine, config))
			var together flow.Outcomes
			for i := range crowd {
				together = append(together, flow.Failed{
					Call: ids[i], Attempt: 1, Error: &flow.Error{Kind: is.kind, Err: errors.New("no")},
				})
			}
			h.Do(together)
			r := h.Reload()
			about := 0
			for i := range r.Inquiries {
				about += len(r.Inquiries[i].About)
			}
			assert.Len(t, r.Inquiries, is.asks)
			if is.asks == 0 {
				assert.Len(t, r.SkippedCalls, crowd)
				assert.Equal(t, flow.StateCompleted, r.State)
				return
			}
			assert.Equal(t, flow.StateAwaitingInput, r.State, "%v", r.Failure)
			assert.Equal(t, crowd, about)
			written := 0
			for _, e := range h.Log {
				if q, ok := e.Body.(*flow.Inquiry); ok {
					written += len(q.About)
				}
			}
			assert.Equal(t, crowd, written, "an inquiry is not written anew for each of its calls")
		})
	}
}
