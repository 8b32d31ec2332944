package flow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A flow acts on a failure with a trigger of its own. It cannot end the conversation as a host or the kernel does.
func TestAFailureFiresNoTriggerOfTheLifecycle(t *testing.T) {
	for _, on := range []debate.Trigger{
		flow.TriggerCompleted, flow.TriggerCancel, flow.TriggerPause, flow.TriggerStop, flow.TriggerFail, flow.TriggerInitialized, flow.TriggerRetry,
	} {
		t.Run(string(on), func(t *testing.T) {
			f := stage.OneState(nil)
			f.Owes = func(*flow.Record) []string { return []string{"a moral"} }
			f.Steps[flow.StateCompleting] = flow.Step{
				Calls: func(r *debate.Record) []*flow.Call {
					return []*flow.Call{{ID: "moral", Kind: "moral", By: "Ada", Model: stage.ModelOf(r, "Ada"), OnFail: flow.OnFail{Fire: on}}}
				},
				Next: func(*debate.Record) (flow.Trigger, flow.Exit, bool) { return flow.TriggerCompleted, flow.Exit{}, true },
			}
			engine, source, config := stage.WithFlow(f)
			source.Reply = func(*provider.Request) scripted.Reply {
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal}}
			}
			session := stage.Started(t, engine, stage.InFlow(engine, config))
			record, err := session.Wait(t.Context())
			stage.RequireKind(t, err, provider.KindState)
			assert.ErrorContains(t, err, "OnFail.Fire of moral")
			assert.Equal(t, flow.StateError, record.State)
			assert.Zero(t, source.Calls(), "nothing was paid for it")
		})
	}
}

// A flow may conclude after a failure. Then it still owes what it owes.
func TestAFailureMayConclude(t *testing.T) {
	for name, owed := range map[string][]string{"nothing is owed": nil, "something is": {"a moral"}} {
		t.Run(name, func(t *testing.T) {
			f := stage.OneState(stage.CallsOf(func(call *flow.Call) { call.OnFail.Fire = flow.TriggerComplete }))
			f.Owes = func(*flow.Record) []string { return owed }
			engine, source, config := stage.WithFlow(f)
			stage.Befall(source, provider.KindRefusal, func(req *provider.Request) bool { return req.Self == "Ada" })
			session := stage.Started(t, engine, stage.InFlow(engine, config))
			record, err := session.Wait(t.Context())
			if owed == nil {
				require.NoError(t, err)
				assert.Equal(t, flow.StateCompleted, record.State)
				return
			}
			stage.RequireKind(t, err, provider.KindState)
			assert.ErrorContains(t, err, "it still lacks a moral")
		})
	}
}

// An input that could be sent is no reason to wait with a call that has failed: no input decides about it.
func TestAFailedCallIsAnErrorWhateverInputsThereAre(t *testing.T) {
	for name, to := range map[string]debate.State{"no input": "", "an input that changes nothing": flow.StateUnchanged, "an input that leads on": stage.Rests} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			all := stage.CallsOf(func(*flow.Call) {})
			f := waiting(func(r *debate.Record) (calls []*flow.Call) {
				for _, call := range all(r) {
					if !r.Failed(call.ID) {
						calls = append(calls, call)
					}
				}
				return calls
			}, func(r *debate.Record) bool { return r.Done("say.Ada") && r.Done("say.Ben") })
			if to != "" {
				f.Inputs = []debate.Trigger{stage.Nudge}
				f.Rules = append(f.Rules, debate.Rule{From: stage.Asks, On: stage.Nudge, To: to})
			}
			engine, source, config := stage.WithFlow(f)
			stage.Befall(source, provider.KindRefusal, func(req *provider.Request) bool { return req.Self == "Ben" })
			session := stage.Started(t, engine, stage.InFlow(engine, config))
			record, err := waitAnHour(t, session)
			failure := stage.RequireKind(t, err, provider.KindRefusal)
			assert.Equal(t, "say.Ben", failure.Op)
			assert.ErrorContains(t, err, "Calls leaves out this call, which has failed")
			assert.Equal(t, flow.StateError, record.State)
		}))
	}
}
