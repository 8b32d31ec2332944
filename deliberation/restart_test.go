package deliberation_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// onPaper is a store that keeps events as JSON, as those on disk do.
type onPaper struct {
	*store.Memory

	t *testing.T
}

// Append implements [store.Store].
func (s onPaper) Append(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
	return s.Memory.Append(ctx, id, after, writer, stage.ThroughJSON(s.t, events))
}

// restarted plays a deliberation by a runtime that forgets everything between its steps; answer answers what a person is asked. crash:
// the calls in flight are lost before one of them is made, each call once.
func restarted(t *testing.T, config deliberation.Config, answer string, crash bool) *flow.Record {
	t.Helper()
	n := &stage.Nomad{
		T: t, Config: config, Store: onPaper{&store.Memory{}, t}, Machine: func() *debate.Engine { return engineOf(wordy) },
	}
	n.Begin()
	next, lost := n.Advance(flow.Opened{}), map[string]bool{}
	for !next.Over {
		if len(next.Calls) == 0 {
			if asked := n.Core().Record().Inquiries; len(asked) > 0 {
				next = n.Advance(flow.Answer{Inquiry: asked[0].ID, Text: answer})
				continue
			}
			require.NotZero(t, next.Wait, "nothing is due in state %s", next.State)
			<-time.After(next.Wait)
			next = n.Advance(flow.Tick{Seq: next.Seq})
			continue
		}
		if crash && !lost[next.Calls[0].Call] {
			for _, call := range next.Calls {
				lost[call.Call] = true
			}
			next = n.Advance(flow.Opened{})
			continue
		}
		var err error
		next, err = n.Engine().Call(t.Context(), config.ID, "nomad", next.Calls[0], nil)
		require.NoError(t, err)
	}
	return n.Core().Record()
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
				r := restarted(t, config, "Because.", crash)
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
		forked := stage.Ended(t, session)
		assert.Equal(t, 3, forked.Round)
		made := len(p.Requests()) - before
		assert.Contains(t, []int{9 + 1, 9 + 9 + 1}, made, "only what was not copied")
		require.NoError(t, session.Close())
	}
}
