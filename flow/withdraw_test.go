package flow_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// sparing is a flow of which each nudge adds the calls that are not needed, or replaces them: "Ada" stands for Ada's. how changes
// the calls.
func sparing(how func(*flow.Call)) *debate.Flow {
	all := stage.CallsOf(how)
	f := stage.OneState(func(r *debate.Record) []*flow.Call {
		var spared []string
		if n := len(r.Inputs); n > 0 && json.Unmarshal(r.Inputs[n-1].Payload, &spared) != nil {
			return nil
		}
		return slices.DeleteFunc(all(r), func(c *flow.Call) bool { return slices.Contains(spared, c.By) })
	})
	f.Inputs = []debate.Trigger{stage.Nudge}
	for _, state := range []debate.State{stage.Asks, flow.StatePaused, flow.StateAwaitingInput, flow.StateError} {
		f.Rules = append(f.Rules, debate.Rule{From: state, On: stage.Nudge, To: flow.StateUnchanged})
	}
	return f
}

// reloads: the log makes the record that there was, and each part of it can be read.
func reloads(t *testing.T, engine *debate.Engine, record *debate.Record) {
	t.Helper()
	log := stage.LogOf(t, engine, record.ID).Copied(t)
	var core *flow.Core
	own := kernel.Of(t, engine)
	for i := range log {
		var err error
		core, err = own.NewCore(record.ID, log[:i+1])
		require.NoError(t, err)
	}
	assert.Equal(t, record.State, core.Record().State)
	assert.Equal(t, record.Spent(), core.Record().Spent())
	assert.Len(t, core.Record().Inquiries, len(record.Inquiries))
}

// A call that an input has made needless is aborted while it is in flight. It counts as broken off and as no failure, and the
// conversation goes on without waiting for it.
func TestACallThatIsNoLongerWantedIsAborted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		engine, p, config := stage.WithFlow(sparing(func(*flow.Call) {}))
		p.Reply = taking(p.Reply, map[string]time.Duration{"Ada": time.Hour, "Ben": time.Minute})
		session := stage.Started(t, engine, stage.InFlow(engine, config))
		stage.Pass(time.Second)
		require.NoError(t, session.Send(t.Context(), stage.Nudge, []string{"Ada"}))
		synctest.Wait()
		record := stage.SessionRecord(t, session)
		assert.Equal(t, 1, record.InFlight())
		record = stage.Ended(t, session)
		assert.Equal(t, time.Minute, time.Since(began))
		assert.Equal(t, []string{"r0 Ben"}, stage.Speakers(record))
		assert.Equal(t, []string{"say.Ada"}, stage.Withdrawals(t, engine, session.ID()))
		require.Len(t, record.Failures, 1)
		lost := record.Failures[0]
		assert.True(t, lost.Void)
		assert.Equal(t, provider.KindCanceled, lost.Error.Kind)
		assert.True(t, lost.BrokenOff)
		assert.Zero(t, lost.Cost)
		assert.Equal(t, stage.Bodies[flow.Intent](t, engine, session.ID())[0].Reserve, lost.AtMost)
		failures, _ := record.Tries()
		assert.Zero(t, failures)
		reloads(t, engine, record)
	})
}

// What a withdrawn call brings all the same is recorded as what came late.
func TestAWithdrawnCallThatAnswersLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p, config := stage.WithFlow(sparing(func(*flow.Call) {}))
		p.Reply = taking(p.Reply, map[string]time.Duration{"Ben": time.Hour})
		deaf := stage.NewDeaf(false)
		engine.Providers["test"] = stage.ProviderFunc(
			func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
				if req.Self == "Ada" {
					deaf.Call()
					ctx = context.WithoutCancel(ctx)
				}
				return p.Generate(ctx, req, emit)
			})
		config.TurnTimeout = 2 * time.Hour
		session := stage.Started(t, engine, stage.InFlow(engine, config))
		stage.Pass(time.Second)
		require.NoError(t, session.Send(t.Context(), stage.Nudge, []string{"Ada"}))
		stage.Pass(time.Minute)
		assert.EqualValues(t, 1, engine.Stats().Stuck)
		close(deaf.Freed)
		record := stage.Ended(t, session)
		assert.Equal(t, []string{"r0 Ben"}, stage.Speakers(record))
		late := stage.Bodies[flow.Late](t, engine, session.ID())
		require.Len(t, late, 1)
		assert.Equal(t, "say.Ada", late[0].Call)
		assert.NotEmpty(t, late[0].Text)
		reloads(t, engine, record)
	})
}

// A call that is wanted again is made again, from the beginning.
func TestAWithdrawnCallIsWantedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p, config := stage.WithFlow(sparing(func(*flow.Call) {}))
		p.Reply = taking(p.Reply, map[string]time.Duration{"Ada": time.Hour, "Ben": time.Hour})
		config.TurnTimeout = 2 * time.Hour
		session := stage.Started(t, engine, stage.InFlow(engine, config))
		stage.Pass(time.Second)
		require.NoError(t, session.Send(t.Context(), stage.Nudge, []string{"Ada"}))
		stage.Pass(time.Second)
		require.NoError(t, session.Send(t.Context(), stage.Nudge, []string{}))
		record := stage.Ended(t, session)
		assert.Equal(t, []string{"r0 Ben", "r0 Ada"}, stage.Speakers(record))
		assert.Equal(t, 2, record.Turns[1].Attempt)
	})
}

// Nor does it go on from an answer that was rejected before it was withdrawn.
func TestAWithdrawnCallForgetsItsRejectedAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := sparing(func(c *flow.Call) {
			if c.By == "Ada" {
				c.Schema = "pick"
			}
		})
		f.Schemas = map[string]*flow.Schema{"pick": flow.AnswerSchema[struct{ Pick string }]("pick", flow.AnswerOf[struct{ Pick string }]{})}
		engine, p, config := stage.WithFlow(f)
		p.Record = true
		p.Reply = func(req *provider.Request) scripted.Reply {
			switch {
			case req.Schema == nil:
				return scripted.Reply{Text: "Words.", Delay: time.Hour}
			case strings.HasSuffix(req.ID, "/1"):
				return scripted.Reply{Text: "no JSON"}
			default:
				return scripted.Reply{Text: `{"Pick":"tea"}`, Delay: time.Minute}
			}
		}
		config.TurnTimeout = 2 * time.Hour
		session := stage.Started(t, engine, stage.InFlow(engine, config))
		stage.Pass(10 * time.Second)
		require.NoError(t, session.Send(t.Context(), stage.Nudge, []string{"Ada"}))
		stage.Pass(time.Second)
		require.NoError(t, session.Send(t.Context(), stage.Nudge, []string{}))
		record := stage.Ended(t, session)
		var reasked []bool
		for _, req := range p.Requests() {
			if req.Schema != nil {
				reasked = append(reasked, stage.Reasked(&req))
			}
		}
		assert.Equal(t, []bool{false, true, false}, reasked)
		reloads(t, engine, record)
	})
}

// A person is no longer asked to do what nobody wants, wherever the input comes from.
func TestAPersonIsNotAskedForWhatNobodyWants(t *testing.T) {
	for name, remote := range map[string]bool{"in its process": false, "from another process": true} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			engine, p, config := stage.WithFlow(sparing(func(c *flow.Call) {
				if c.By == "Ada" {
					c.Performer = flow.ByPerson
				}
			}))
			engine.Store = &store.Memory{}
			session, err := engine.Start(t.Context(), stage.InFlow(engine, config))
			require.NoError(t, err)
			record := stage.AwaitsInput(t, session)
			require.Len(t, record.Inquiries, 1)
			if remote {
				require.NoError(t, session.Close())
				other := &debate.Engine{
					Store: engine.Store, Flows: engine.Flows, Models: engine.Models, Providers: map[string]debate.Provider{"test": p},
				}
				require.NoError(t, other.Control(t.Context(), session.ID(), flow.Sent{Trigger: stage.Nudge, Payload: json.RawMessage(`["Ada"]`)}))
				record = stage.StoredRecord(t, other, session.ID())
				assert.Equal(t, stage.Asks, record.State, "whoever opens it finds work")
				session = stage.Reopen(t, other, session.ID())
			} else {
				require.NoError(t, session.Send(t.Context(), stage.Nudge, []string{"Ada"}))
			}
			defer session.Close()
			record = stage.Ended(t, session)
			assert.Empty(t, record.Inquiries)
			assert.Equal(t, []string{"r0 Ben"}, stage.Speakers(record))
			assert.Equal(t, []string{"say.Ada"}, stage.Withdrawals(t, engine, session.ID()))
			require.ErrorContains(t, session.Answer(t.Context(), flow.Answer{Inquiry: "say.Ada", Text: "Tea."}), "no inquiry")
			reloads(t, engine, record)
		}))
	}
}

// Of a question that stands for several calls only the one leaves that is no longer wanted. The last one closes it.
func TestACallLeavesASharedQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p, config := stage.WithFlow(sparing(func(*flow.Call) {}))
		config.Unattended = false
		stage.Befall(p, provider.KindQuota, func(*provider.Request) bool { return true })
		session := stage.Started(t, engine, stage.InFlow(engine, config))
		record := stage.AwaitsInput(t, session)
		require.Len(t, record.Inquiries, 1)
		require.Len(t, record.Inquiries[0].About, 2)
		require.NoError(t, session.Send(t.Context(), stage.Nudge, []string{"Ada"}))
		record = stage.AwaitsInput(t, session)
		require.Len(t, record.Inquiries, 1)
		require.Len(t, record.Inquiries[0].About, 1)
		assert.Equal(t, "Ben", record.Inquiries[0].To)
		assert.NotContains(t, record.Inquiries[0].Question, "Ada")
		reloads(t, engine, record)
		require.NoError(t, session.Send(t.Context(), stage.Nudge, []string{"Ada", "Ben"}))
		record = stage.Ended(t, session)
		assert.Empty(t, record.Turns)
		assert.Equal(t, []string{"say.Ada", "say.Ben"}, stage.Withdrawals(t, engine, session.ID()))
		reloads(t, engine, record)
	})
}

// A call that has failed in a pause, where nobody was asked about it, is owed no longer when an input has made it needless.
func TestAFailedCallThatAnInputMakesNeedlessIsNotOwed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p, config := stage.WithFlow(sparing(func(*flow.Call) {}))
		p.Reply = taking(p.Reply, map[string]time.Duration{"Ada": time.Second, "Ben": time.Minute})
		stage.Altered(p, func(req *provider.Request, reply *scripted.Reply) {
			if req.Self == "Ada" {
				reply.Err = &provider.Error{Kind: provider.KindRefusal}
			}
		})
		session := stage.Started(t, engine, stage.InFlow(engine, config))
		require.NoError(t, session.Control(t.Context(), flow.Pause{Drain: true}))
		stage.Pass(2 * time.Second)
		require.NoError(t, session.Send(t.Context(), stage.Nudge, []string{"Ada"}))
		require.NoError(t, session.Resume(t.Context()))
		record := stage.Ended(t, session)
		assert.Equal(t, []string{"r0 Ben"}, stage.Speakers(record))
		assert.Equal(t, []string{"say.Ada"}, stage.Withdrawals(t, engine, session.ID()))
	})
}

// A call that waits for tools takes its questions about them with it, and its use in flight is aborted. What the use brings is
// recorded.
func TestAWithdrawnCallTakesItsToolsWithIt(t *testing.T) {
	for name, approval := range map[string]bool{"in use": false, "to be approved": true} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			tool, err := flow.NewTool(flow.ToolInfo{Approval: approval}, func(ctx context.Context, _ flow.ToolUse, _ struct{}) (string, error) {
				<-ctx.Done()
				return "half of it is done", nil
			})
			require.NoError(t, err)
			engine := stage.WorkshopEngine(stage.AdaAlone(stage.ToolAsker([]provider.ToolCall{stage.ToolCall("1", "add", `{}`)})), 5, map[string]debate.Tool{"add": tool})
			f := sparing(func(c *flow.Call) { c.Tools, c.Uses, c.View = []string{"add"}, 5, flow.View{None: true} })
			engine.Flows = map[string]*debate.Flow{f.Name: f}
			session := stage.Started(t, engine, stage.InFlow(engine, stage.ToolUsers()))
			stage.Pass(time.Second)
			require.NoError(t, session.Send(t.Context(), stage.Nudge, []string{"Ada"}))
			record := stage.Ended(t, session)
			assert.Empty(t, record.Inquiries)
			assert.Equal(t, []string{"r0 Ben"}, stage.Speakers(record))
			assert.Equal(t, []string{"say.Ada"}, stage.Withdrawals(t, engine, session.ID()))
			synctest.Wait()
			record = stage.StoredRecord(t, engine, session.ID())
			assert.Zero(t, record.InFlight())
			if !approval {
				require.Len(t, record.ToolUses, 1)
				assert.Equal(t, "half of it is done", record.ToolUses[0].Text)
			}
			reloads(t, engine, record)
		}))
	}
}

// taking lets the replies of some take their time.
func taking(reply func(*provider.Request) scripted.Reply, by map[string]time.Duration) func(*provider.Request) scripted.Reply {
	return func(req *provider.Request) scripted.Reply {
		r := reply(req)
		r.Delay = by[req.Self]
		return r
	}
}
