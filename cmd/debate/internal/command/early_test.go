package command_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/deliberation/evaluation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
)

// disturbed is a conversation in which something happens.
type disturbed struct {
	config flow.Config
	spoil  func(*scripted.Provider)
	host   func(*testing.T, *debate.Session)
}

// keep plays a conversation in a bubble, in which its replies take a second each, and leaves its log in a folder. It returns the state.
func keep(t *testing.T, dir string, d disturbed) (state flow.State) {
	t.Helper()
	var log []flow.Event
	synctest.Test(t, func(t *testing.T) {
		engine, p := stage.Engine(stage.TwoDebaters())
		memory := &store.Memory{}
		engine.Store, engine.Providers = memory, map[string]debate.Provider{"demo": p}
		engine.Models = map[string]debate.Model{
			"demo/script": {Priced: true, Input: debate.USD / 1_000_000, Output: 2 * debate.USD / 1_000_000},
			"demo/judge":  {Priced: true, Input: 3 * debate.USD / 1_000_000, Output: 9 * debate.USD / 1_000_000},
		}
		engine.Flows = map[string]*debate.Flow{
			deliberation.FlowName: deliberation.Flow(), evaluation.FlowName: evaluation.Flow(),
		}
		stage.Slowly(p)
		if d.spoil != nil {
			d.spoil(p)
		}
		session, err := engine.Start(t.Context(), d.config)
		require.NoError(t, err)
		if d.host != nil {
			d.host(t, session)
		}
		_, _ = session.Wait(t.Context()) // the state says how it ended
		state = session.State()
		require.NoError(t, session.Close())
		require.NoError(t, engine.Shutdown(t.Context()))
		for event, err := range memory.Read(t.Context(), session.ID(), 0) {
			require.NoError(t, err)
			log = append(log, event)
		}
	})
	kept, err := file.Open(dir)
	require.NoError(t, err)
	require.NoError(t, kept.Append(t.Context(), "c", 0, "former", log))
	require.NoError(t, kept.Close())
	return state
}

// TestWhateverCutsAConversationShortIsExit6: the program says what has cut it, prints the result if there is one, and does not exit as
// if all of it had been done. Whoever watches is told the same.
func TestWhateverCutsAConversationShortIsExit6(t *testing.T) {
	three := func(change func(*debate.Config)) flow.Config {
		c := stage.TwoDebaters()
		c.ID, c.Judging.Judges[0].Model = "c", "demo/judge"
		for i := range c.Participants {
			c.Participants[i].Model = "demo/script"
		}
		change(&c)
		return c
	}
	limited := func(b debate.Budget) flow.Config { return three(func(c *debate.Config) { c.Budget = &b }) }
	unchanged := func(*debate.Config) {}
	spends := func(p *scripted.Provider) {
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			r := reply(req)
			r.Usage = provider.Usage{Input: 6000, Output: 50}
			if req.Schema != nil {
				r.Usage = provider.Usage{Input: 9000, Output: 100}
			}
			return r
		}
	}
	refuses := func(model string) func(*scripted.Provider) {
		return func(p *scripted.Provider) { stage.Befall(p, provider.KindRefusal, stage.Requested(model, "r2.")) }
	}
	drifts := func(p *scripted.Provider) {
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			r := reply(req)
			if req.Schema != nil {
				r.Text = strings.Replace(r.Text, `"drifting":false`, `"drifting":true`, 1)
			}
			return r
		}
	}
	stops := func(after time.Duration) func(*testing.T, *debate.Session) {
		return func(t *testing.T, s *debate.Session) {
			stage.Pass(after)
			require.NoError(t, s.Stop(t.Context()))
		}
	}
	marks := map[string]evaluation.Mark{}
	for _, criterion := range []string{
		"functionalCompleteness", "performanceScalability", "security", "maintainabilityEvolvability", "regulatoryCompliance", "testability",
		"requirementsFulfilment", "overall",
	} {
		marks[criterion] = evaluation.Mark{Reasoning: "It is so.", Score: 5}
	}
	const won = "Ada wins."
	for name, tc := range map[string]struct {
		disturbed

		says string // in a regular expression
		out  string // "": there is no result
	}{
		"nothing": {disturbed{config: three(unchanged)}, "", won},
		"a soft limit in USD": {
			disturbed{config: limited(debate.Budget{Soft: 7 * debate.USD / 100}), spoil: spends},
			`ended after 2 of 3 rounds by the soft limit of \$0\.07: raise it to about \$0\.\d`, won,
		},
		"a hard limit in USD": {
			disturbed{config: limited(debate.Budget{Hard: 7 * debate.USD / 100}), spoil: spends},
			`stopped after 2 of 3 rounds by the hard limit of \$0\.07: raise it to about \$0\.\d`, "",
		},
		"a soft limit of time": {
			disturbed{config: limited(debate.Budget{SoftTime: 4 * time.Second})},
			`ended after 1 of 3 rounds because the time was over: raise softTime \(4s of 4s\)`, won,
		},
		"a hard limit of time": {
			disturbed{config: limited(debate.Budget{HardTime: 4 * time.Second})},
			`stopped after 1 of 3 rounds because the time was over: raise hardTime \(4s of 4s\)`, "",
		},
		"a stop": {
			disturbed{config: three(unchanged), host: stops(4500 * time.Millisecond)}, "ended after 1 of 3 rounds: stopped by the host", won,
		},
		"a detector": {
			disturbed{
				config: three(func(c *debate.Config) {
					c.Format, c.Rounds, c.StopOn = format.FreeForm, 5, []format.Detector{format.DetectDrift}
				}),
				spoil: drifts,
			},
			"ended after [1-4] of 5 rounds by the detector drift: ", won,
		},
		"a rule": {
			disturbed{
				config: three(func(c *debate.Config) { c.OnFailure = []debate.FailureRule{{Do: flow.OptionEnd}} }), spoil: refuses("judge"),
			},
			"ended after 2 of 3 rounds by a rule after a failure: ", won,
		},
		"a person": {
			disturbed{
				config: three(func(c *debate.Config) { c.Unattended = false }), spoil: refuses("script"),
				host: func(t *testing.T, s *debate.Session) {
					record, err := s.Wait(t.Context())
					require.ErrorIs(t, err, debate.ErrAwaitingInput)
					require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionEnd}))
				},
			},
			"ended after 1 of 3 rounds by a person after a failure: ", won,
		},
		"a cost warning that nobody confirms": {
			disturbed{config: limited(debate.Budget{Warn: 7 * debate.USD / 100, Confirm: true}), spoil: spends},
			"Retry, which confirms the cost warning", "",
		},
		"a rule before there is a proposal": {
			disturbed{
				config: deliberation.Config{
					ID: "c", Problem: "Keep counts.", Rounds: 1, Unattended: true, OnFailure: []flow.FailureRule{{Do: flow.OptionEnd}},
					Agents: []deliberation.Agent{{ID: "ada", Model: "demo/script"}, {ID: "ben", Model: "demo/script"}},
					Judge:  deliberation.Judge{Model: "demo/judge"},
				},
				spoil: func(p *scripted.Provider) { stage.Befall(p, provider.KindRefusal, stage.Requested("script", "r1.")) },
			},
			"ended without what was asked for: after 0 of 1 round by a rule after a failure: ", "",
		},
		"an evaluation that is stopped": {
			disturbed{
				config: evaluation.Config{
					ID: "c", Problem: "Keep counts.", Solution: "A table.", Unattended: true,
					Evaluators: []evaluation.Evaluator{{ID: "eva", Model: "demo/script"}, {ID: "eli", Model: "demo/script"}},
				},
				spoil: func(p *scripted.Provider) {
					p.Reply = func(req *provider.Request) scripted.Reply {
						if req.Self == "eli" {
							return scripted.Reply{Delay: time.Hour}
						}
						return scripted.Reply{Text: stage.JSON(marks)}
					}
				},
				host: stops(time.Second),
			},
			"ended without what was asked for: after 0 of 1 round: stopped by the host", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			state := keep(t, dir, tc.disturbed)
			want := 6
			if tc.says == "" {
				want = 0
			}
			if state == flow.StateError { // debate resume would try again
				shown := run(t, dir+"/", "show", "c")
				assert.Regexp(t, tc.says, shown.out+shown.err)
				assert.Equal(t, want, run(t, dir+"/", "watch").code)
				return
			}
			got := resume(t, dir, "c")
			assert.Equal(t, want, got.code, got.err)
			assert.Regexp(t, tc.says, got.err)
			if tc.out == "" {
				assert.Empty(t, got.out)
			} else {
				assert.Contains(t, got.out, tc.out)
			}
			watched := run(t, dir+"/", "watch", "c")
			assert.Equal(t, want, watched.code)
			assert.Contains(t, watched.out, tc.out)
		})
	}
}
