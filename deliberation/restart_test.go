package deliberation_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// forgetful is a runtime that keeps nothing but the log: before each of its steps it makes the core anew from the
// events as a store would have them, as JSON. So every step is also a restart at that point.
type forgetful struct {
	t      *testing.T
	engine *debate.Engine
	kernel *kernel.Engine // of the engine
	id     string
	events []flow.Event
	todo   []string
	wait   time.Time
}

func (f *forgetful) load() *flow.Core {
	core, err := f.kernel.NewCore(f.id, f.events)
	require.NoError(f.t, err)
	return core
}

// save keeps events as a store would: as JSON.
func (f *forgetful) save(events []flow.Event) {
	data, err := json.Marshal(events)
	require.NoError(f.t, err)
	var read []flow.Event
	require.NoError(f.t, json.Unmarshal(data, &read))
	f.events = append(f.events, read...)
}

func (f *forgetful) step(core *flow.Core, signal flow.Signal, at time.Time) {
	out, err := core.Step(flow.Input{At: at, Signal: signal})
	require.NoError(f.t, err)
	f.save(out.Events)
	f.todo = append(f.todo, out.Start...)
	f.wait = out.Wait
}

// made makes the call of a command.
func (f *forgetful) made(c *flow.Command) flow.Result {
	if c.Task != nil {
		answer, err := f.engine.Functions[c.Function].Call(f.t.Context(), c.Task)
		require.NoError(f.t, err)
		return flow.Result{Call: c.Call, Attempt: c.Attempt, Text: string(answer)}
	}
	response, err := f.engine.Providers[c.Provider].Generate(f.t.Context(), c.Request, func(provider.Chunk) {})
	require.NoError(f.t, err)
	return flow.Result{
		Call: c.Call, Attempt: c.Attempt, Text: response.Text, Stop: response.Stop, Usage: flow.KnownUsage(response.Usage),
		Metadata: flow.MetadataOf(response),
	}
}

// run plays a debate; answer answers what a person is asked. crash: every call in flight is lost before each step
// with something to do, once for each call.
func (f *forgetful) run(config flow.Config, answer string, crash bool) *flow.Record {
	start, err := f.kernel.Freeze(config)
	require.NoError(f.t, err)
	at := time.Unix(1_700_000_000, 0).UTC()
	f.save([]flow.Event{
		{Seq: 1, At: at, Body: &start},
		{Seq: 2, At: at, Body: &flow.Transition{
			From: flow.StateReady, To: flow.StateInitializing, On: flow.TriggerStart,
		}},
	})
	f.step(f.load(), flow.Tick{}, at)
	lost := map[string]bool{}
	for range 10_000 {
		core := f.load()
		r := core.Record()
		switch {
		case r.Final():
			return r
		case len(f.todo) > 0 && crash && !lost[f.todo[0]]:
			lost[f.todo[0]] = true
			f.todo = nil
			for _, gone := range core.InFlight() {
				lost[gone.Call] = true
				f.step(core, gone, at)
			}
			f.todo = nil // what the steps have started anew is in the log
			for _, flight := range f.load().InFlight() {
				f.todo = append(f.todo, flight.Call)
			}
		case len(f.todo) > 0:
			command, err := core.Command(f.todo[0])
			require.NoError(f.t, err)
			f.todo = f.todo[1:]
			f.step(f.load(), f.made(command), at)
		case len(r.Inquiries) > 0:
			f.step(core, flow.Answer{Inquiry: r.Inquiries[0].ID, Text: answer}, at)
		default:
			require.NotZero(f.t, f.wait, "nothing is due in state %s", r.State)
			at = f.wait
			f.step(core, flow.Tick{}, at)
		}
	}
	require.Fail(f.t, "the debate has no end")
	return nil
}

// everything is what the configs below have in common: short summaries, so that there are some, and questions.
func everything(c deliberation.Config) deliberation.Config {
	c.ID, c.Rounds = "restarted", 2
	c.Summaries = deliberation.Summaries{Threshold: 1, MaxLength: 100}
	c.Clarification = deliberation.Clarification{On: true}
	return c
}

// wordy makes texts long enough to be summarised, and agents ask twice.
func wordy(call string, req *provider.Request) (scripted.Reply, bool) {
	switch {
	case strings.HasPrefix(call, "clarify.1."), call == "clarify.2.ben":
		return scripted.Reply{Text: toJSON(map[string]any{"questions": []string{"What of " + call + "?", "And why?"}})}, true
	case req.Schema != nil:
		return scripted.Reply{}, false
	default:
		return scripted.Reply{Text: long(said(call))}, true
	}
}

func engineOf(own answers) *debate.Engine {
	engine, p := engineFor(nil)
	p.Reply = script(func(call string, req *provider.Request) (scripted.Reply, bool) {
		if reply, ok := own(call, req); ok {
			return reply, true
		}
		return scripted.Reply{}, false
	})
	engine.Functions = map[string]flow.Function{"own": ownSynthesizer()}
	return engine
}

// TestARestartAtEveryPoint: a runtime that forgets everything before every step, and one that loses every call
// once, end as a session does, by every method and termination.
func TestARestartAtEveryPoint(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*deliberation.Config){
		"judge":       func(*deliberation.Config) {},
		"voting":      func(c *deliberation.Config) { c.Synthesis = deliberation.SynthesisVoting },
		"merge":       func(c *deliberation.Config) { c.Synthesis = deliberation.SynthesisMerge },
		"registered":  func(c *deliberation.Config) { c.Synthesis, c.Synthesizer = deliberation.SynthesisRegistered, "own" },
		"convergence": func(c *deliberation.Config) { c.Termination.Kind = deliberation.TerminationConvergence },
		"fresh":       func(c *deliberation.Config) { c.Proposals = deliberation.ProposalsFresh },
		"all read":    func(c *deliberation.Config) { c.FullHistory = new(true) },
		"ring":        func(c *deliberation.Config) { c.Topology.Kind = deliberation.TopologyRing },
	} {
		t.Run(name, func(t *testing.T) {
			if name != "judge" && name != "merge" {
				longform.Lone(t) // a runtime takes one step after the other, and other tests have sessions of each config
			}
			config := everything(three())
			change(&config)
			var want string
			for i, crash := range []bool{true, false} {
				if i > 0 && fewer > 1 {
					break
				}
				f := &forgetful{t: t, engine: engineOf(wordy), id: config.ID}
				f.kernel = kernel.Of(t, f.engine)
				r := f.run(config, "Because.", crash)
				require.Equal(t, flow.StateCompleted, r.State)
				assert.Empty(t, r.Warnings)
				assert.Zero(t, r.InFlight())
				got, err := view(r).Canonical()
				require.NoError(t, err)
				if want == "" {
					want = attended(t, config, "Because.")
				}
				assert.JSONEq(t, want, string(got), "crash: %v", crash)
			}
		})
	}
}

// attended plays the same in a session, with a person who answers everything.
func attended(t *testing.T, config deliberation.Config, answer string) string {
	t.Helper()
	session, err := engineOf(wordy).Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	for {
		r, err := session.Wait(t.Context())
		if err == nil {
			got, err := view(r).Canonical()
			require.NoError(t, err)
			return string(got)
		}
		require.ErrorIs(t, err, flow.ErrAwaitingInput)
		for _, q := range r.Inquiries {
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Text: answer}))
		}
	}
}

// TestAForkGoesOnFromAnyRound: what was done is kept, and there may be more rounds than there were.
func TestAForkGoesOnFromAnyRound(t *testing.T) {
	engine, p := engineFor(nil)
	r := play(t, engine, three())
	for _, e := range events(t, engine, r.ID) {
		if body.As[flow.Transition](e) == nil || body.As[flow.Transition](e).To != deliberation.StateEvaluating {
			continue
		}
		before := len(p.Requests())
		session, err := engine.Fork(t.Context(), r.ID, e.Seq, debate.Editing(func(c *deliberation.Config) { c.Rounds = 3 }))
		require.NoError(t, err)
		forked, err := session.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 3, forked.Round)
		made := len(p.Requests()) - before
		assert.Contains(t, []int{9 + 1, 9 + 9 + 1}, made, "only what was not copied")
		require.NoError(t, session.Close())
	}
}
