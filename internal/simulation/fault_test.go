package simulation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// play is a flow with everything that the fault matrix needs of it.
type play struct {
	config func(attended bool) flow.Config
	reply  func(*provider.Request) scripted.Reply
	flows  map[string]*debate.Flow
	roles  map[string]string // what a call's id holds, by role; %d stands for the round
	whole  func(*debate.Record) error
}

// faultKinds are the failures of the matrix.
var faultKinds = []provider.Kind{
	provider.KindNetwork, provider.KindRateLimit, provider.KindQuota, provider.KindAPI, provider.KindTimeout, provider.KindAuthentication,
	provider.KindContentFilter, provider.KindRefusal, provider.KindInvalidResponse, provider.KindValidation, provider.KindContextOverflow, provider.KindCostLimit,
}

func plays() map[string]play {
	return map[string]play{
		"debate": {
			config: func(attended bool) flow.Config {
				config := stage.TwoDebaters()
				config.Unattended, config.Patience = !attended, 0
				return config
			},
			reply: stage.Script([]string{"Ada", "Ben"}),
			roles: map[string]string{
				"first speaker": "/r%d.*.Ada/", "second speaker": "/r%d.*.Ben/", "assessing judge": "/r%d.assessment.", "concluding judge": "/verdict.",
			},
			whole: func(r *debate.Record) error {
				d, _ := debate.Of(r)
				if d.Verdict == nil {
					return errors.New("there is no verdict")
				}
				if n := len(r.Turns) + len(r.SkippedCalls); n < 6 {
					return fmt.Errorf("%d of 6 speeches are spoken or left out", n)
				}
				return nil
			},
		},
		"deliberation": {
			config: func(attended bool) flow.Config {
				return deliberation.Config{
					Problem: "Design a link shortener.", Rounds: 3, Unattended: !attended,
					Agents: []deliberation.Agent{
						{ID: "ada", Model: "test/agent"}, {ID: "ben", Model: "test/agent"}, {ID: "cyd", Model: "test/agent"},
					},
					Judge: deliberation.Judge{Model: "test/judge"}, Termination: deliberation.Termination{Kind: deliberation.TerminationConvergence, Threshold: new(100.0)},
				}
			},
			reply: deliberate,
			flows: map[string]*debate.Flow{deliberation.FlowName: deliberation.Flow()},
			roles: map[string]string{
				"proposer": "/r1.propose.ada/", "critic": "/r%d.critique.ada.", "refiner": "/r%d.refine.ben/", "evaluating judge": "/r%d.evaluate",
				"concluding judge": "/synthesis",
			},
			whole: func(r *debate.Record) error {
				d, _ := deliberation.Of(r)
				if _, _, ok := d.Solution(); !ok {
					return errors.New("there is no solution")
				}
				return nil
			},
		},
		"arbiter": {
			config: func(attended bool) flow.Config {
				return arbiter.Config{
					Task: "Write a link shortener.", Unattended: !attended, Arbiter: arbiter.Arbiter{Model: "test/judge"},
					Agents: []arbiter.Agent{{Name: "Ada", Model: "test/agent"}, {Name: "Ben", Model: "test/agent"}},
				}
			},
			reply: arbitrate,
			flows: map[string]*debate.Flow{arbiter.FlowName: arbiter.Flow()},
			roles: map[string]string{"selecting arbiter": "/d1/", "evaluating arbiter": "/d2/", "worker": "/r%d.Ada/"},
			whole: func(r *debate.Record) error {
				w, _ := arbiter.Of(r)
				if _, ok := w.Summary(); !ok {
					return errors.New("the task is not declared complete")
				}
				return nil
			},
		},
	}
}

// arbitrate answers for an agent, and for the arbiter: Ada works three times, and again whenever it has failed.
func arbitrate(req *provider.Request) scripted.Reply {
	var answer any = arbiter.Result{Success: true, Output: "A part of it."}
	if req.Schema.Name != "result" {
		legal := func(m arbiter.Move) bool { return strings.Contains(req.Last.Text, "\n- "+string(m)+": ") }
		decision := arbiter.Ruling{Move: arbiter.MoveSelect, Agents: []string{"Ada"}, Reason: "next"}
		switch {
		case legal(arbiter.MoveRetry):
			decision.Move, decision.Agents = arbiter.MoveRetry, []string{}
		case legal(arbiter.MoveComplete) && !hits(req.ID, "/d2/") && !hits(req.ID, "/d4/"):
			decision = arbiter.Ruling{Move: arbiter.MoveComplete, Agents: []string{}, Summary: "It is done."}
		}
		answer = decision
	}
	text, _ := json.Marshal(answer)
	return scripted.Reply{Text: string(text)}
}

// deliberate answers for the agents and the judge of a deliberation.
func deliberate(req *provider.Request) scripted.Reply {
	text := "I propose a table and a cache."
	if req.Schema != nil {
		switch req.Schema.Name {
		case "confidence":
			text = `{"confidence":10,"reasoning":"They differ.","disagreements":["the cache"]}`
		default:
			answer, _ := json.Marshal(deliberation.Solution{
				Description: "A table.", Implementation: []string{"start"}, Tradeoffs: []string{"cost"}, Recommendations: []string{"measure"},
				Requirements: []deliberation.Requirement{{Text: "short", Major: true, Fulfilled: true, Note: "yes"}}, OpenQuestions: []string{}, Confidence: 80,
			})
			text = string(answer)
		}
	}
	return scripted.Reply{Text: text}
}

// hits reports whether a request is for a call of the pattern, in which one asterisk stands for anything.
func hits(id, pattern string) bool {
	before, after, wild := strings.Cut(pattern, "*")
	i := strings.Index(id, before)
	return i >= 0 && (!wild || strings.Contains(id[i:], after))
}

// tally counts what the debates of the matrix came to.
type tally struct{ played, silent, hung, lacking, stopped, continued atomic.Int64 }

// TestFaultMatrix lets each kind of failure befall each role of each flow in each round, with a person and without. The
// failure lasts until the program has stopped with it: no conversation may end, or hang, without what was asked for or
// somebody's decision, and each must continue when the cause is gone.
func TestFaultMatrix(t *testing.T) {
	var n tally
	all, cell := plays(), 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p := all[name]
		for _, role := range slices.Sorted(maps.Keys(p.roles)) {
			pattern := p.roles[role]
			for round := 1; round <= 3; round++ {
				if at := strings.Replace(pattern, "%d", fmt.Sprint(round), 1); at != pattern || round == 1 {
					for _, kind := range faultKinds {
						for _, attended := range []bool{false, true} {
							if cell++; cell%min(fewer, 5) != 0 {
								continue // the short form has a fifth of the cells: of each role and round, some of each kind
							}
							id := fmt.Sprintf("%s/%s/round %d/%s/attended %t", name, role, round, kind, attended)
							t.Run(id, stage.Bubbled(func(t *testing.T) { n.play(t, p, at, kind, attended) }))
						}
					}
				}
			}
		}
	}
	t.Logf("fault matrix: %d played; ended without a decision %d, hung %d, turns neither spoken nor left out by a rule %d, continued %d/%d",
		n.played.Load(), n.silent.Load(), n.hung.Load(), n.lacking.Load(), n.continued.Load(), n.stopped.Load())
	assert.Zero(t, n.silent.Load()+n.hung.Load()+n.lacking.Load())
	assert.Equal(t, n.stopped.Load(), n.continued.Load())
}

// engine returns an engine that has the flow, on a store that it may share.
func (p *play) engine(source debate.Provider, kept store.Store) *debate.Engine {
	return &debate.Engine{
		Providers: map[string]debate.Provider{"test": source}, Flows: p.flows, Store: kept, Logger: slog.New(slog.DiscardHandler),
	}
}

// A provider that is never reached keeps nobody waiting, in no flow: not at the start, not in another process that opens the
// conversation, and not in a fork of it, whether it refuses at once or answers nothing for nine seconds. Each of them comes to its end once
// the provider can be reached.
func TestAProviderThatWasNeverReachedInEachFlow(t *testing.T) {
	for name, p := range plays() {
		for i := range 4 {
			attended, silence := i%2 > 0, time.Duration(i/2)*9*time.Second
			t.Run(fmt.Sprintf("%s/attended: %t/after %s", name, attended, silence), stage.Bubbled(func(t *testing.T) {
				var there atomic.Bool
				source := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
					if there.Load() {
						return p.reply(req)
					}
					return scripted.Reply{
						Delay: silence, Err: &provider.Error{Kind: provider.KindNetwork, NotSent: true, Message: "nobody is there"},
					}
				}}
				kept := &store.Memory{}
				first := p.engine(source, kept)
				session, err := first.Start(t.Context(), p.config(attended))
				require.NoError(t, err)
				parent := neverReached(t, session)
				require.NoError(t, session.Close())
				stage.Pass(time.Hour)

				other := p.engine(source, kept)
				fork, err := other.Fork(t.Context(), parent.ID, parent.Seq, nil)
				require.NoError(t, err)
				session = stage.Reopen(t, other, parent.ID)
				for _, s := range []*debate.Session{session, fork} {
					tryAgain(t, s)
					neverReached(t, s)
				}
				there.Store(true)
				for _, s := range []*debate.Session{session, fork} {
					tryAgain(t, s)
					record := stage.Ended(t, s)
					require.NoError(t, p.whole(record))
					assert.Empty(t, record.SkippedCalls)
					assert.NoError(t, s.Close())
				}
			}))
		}
	}
}

// An outage that has passed, and what is missing in the error state, are said in each flow.
func TestAnOutageIsSaidInEachFlow(t *testing.T) {
	for name, p := range plays() {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			var asked, refuses atomic.Int64
			began := time.Now()
			source := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
				switch {
				case asked.Add(1) > 1 && time.Since(began) < 5*time.Minute:
					return scripted.Reply{Err: &provider.Error{Kind: provider.KindNetwork, Message: "gone"}}
				case refuses.Load() > 0:
					return scripted.Reply{Err: &provider.Error{Kind: provider.KindAuthentication, Message: "no"}}
				default:
					return p.reply(req)
				}
			}}
			engine := p.engine(source, &store.Memory{})
			session, err := engine.Start(t.Context(), p.config(false))
			require.NoError(t, err)
			record := stage.Ended(t, session)
			assert.NoError(t, session.Close())
			require.Len(t, lessThanPlanned(t, record), 1)
			assert.Regexp(t, `^network: test was waited for, for \d+m`, lessThanPlanned(t, record)[0])

			refuses.Store(1)
			session, err = engine.Start(t.Context(), p.config(false))
			require.NoError(t, err)
			record, err = session.Wait(t.Context())
			require.Error(t, err)
			assert.NoError(t, session.Close())
			require.NotEmpty(t, lessThanPlanned(t, record))
			assert.Regexp(t, "^missing: ", lessThanPlanned(t, record)[0])
		}))
	}
}

// lessThanPlanned returns the lines of Degraded of a conversation of any flow, as its JSON has them.
func lessThanPlanned(t *testing.T, r *debate.Record) []string {
	t.Helper()
	if d, ok := debate.Of(r); ok {
		return d.Outcome().Degraded
	}
	data, err := json.Marshal(r.Projection())
	require.NoError(t, err)
	var read struct{ Degraded []string }
	require.NoError(t, json.Unmarshal(data, &read))
	return read.Degraded
}

// neverReached waits until a conversation stops, soon, because its provider was never reached.
func neverReached(t *testing.T, s *debate.Session) *debate.Record {
	t.Helper()
	began := time.Now()
	record, err := s.Wait(t.Context())
	require.Error(t, err)
	assert.LessOrEqual(t, time.Since(began), 15*time.Second)
	assert.Contains(t, err.Error(), "the provider test was not reached in ")
	synctest.Wait() // other calls that are in flight fail as well
	for _, f := range record.Failures {
		assert.True(t, f.Unreached)
	}
	return record
}

// tryAgain lets whoever decides about a conversation that has stopped try again.
func tryAgain(t *testing.T, s *debate.Session) {
	t.Helper()
	record := stage.SessionRecord(t, s)
	if record.State == flow.StateError {
		require.NoError(t, s.Retry(t.Context()))
	}
	for _, q := range record.Inquiries {
		require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionRetry}))
	}
}

// play plays one cell of the matrix.
func (n *tally) play(t *testing.T, p play, at string, kind provider.Kind, attended bool) {
	t.Helper()
	n.played.Add(1)
	var mended atomic.Bool
	source := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		if !mended.Load() && hits(req.ID, at) {
			if kind == provider.KindInvalidResponse {
				return scripted.Reply{Text: " "}
			}
			return scripted.Reply{Err: &provider.Error{Kind: kind, Message: "no"}}
		}
		return p.reply(req)
	}}
	engine := p.engine(source, &store.Memory{})
	session, err := engine.Start(t.Context(), p.config(attended))
	require.NoError(t, err)
	defer session.Close()
	for stops := 0; ; stops++ {
		ctx, cancel := context.WithTimeout(t.Context(), 48*time.Hour)
		record, err := session.Wait(ctx)
		cancel()
		switch {
		case err == nil:
			if stops > 0 {
				n.continued.Add(1)
			}
			if err := p.whole(record); err != nil {
				n.silent.Add(1)
				t.Errorf("completed, but %s; skips %v", err, record.SkippedCalls)
			}
			for _, s := range record.SkippedCalls {
				if !ruled(record, s) {
					n.lacking.Add(1)
					t.Errorf("%s was left out by nobody's rule", s.Call)
				}
			}
			return
		case ctx.Err() != nil && errors.Is(err, context.DeadlineExceeded):
			n.hung.Add(1)
			t.Fatal("nothing happens any more")
		case stops > 0:
			t.Fatalf("it does not continue: %s", err)
		}
		n.stopped.Add(1)
		synctest.Wait() // other calls that are in flight fail as well
		mended.Store(true)
		if record.State == flow.StateError {
			require.NoError(t, session.Retry(t.Context()))
			continue
		}
		require.ErrorIs(t, err, debate.ErrAwaitingInput)
		require.True(t, attended, "nobody is there to be asked")
		require.NotEmpty(t, record.Inquiries)
		for _, q := range record.Inquiries {
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionRetry}))
		}
	}
}

// ruled reports whether a rule has left out a call: its answer stands in the record.
func ruled(r *debate.Record, s flow.Skipped) bool {
	for _, a := range r.Answers {
		if a.Rule && a.Option == flow.OptionSkip && strings.HasPrefix(a.Inquiry, "ask."+s.Call+".") {
			return true
		}
	}
	return false
}
