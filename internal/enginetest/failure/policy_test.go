package failure_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// policy is an unattended debate in which a call fails for good, and what becomes of it by the config's rules.
type policy struct {
	change  func(*debate.Config)
	befalls func(*scripted.Provider)
	failed  debate.Kind     // of the error state; "": the debate is completed
	chosen  []debate.Option // by rules
	reason  flow.EndReason
	by      string // who has ended it early
	turns   int
	verdict bool
	less    []string // what the outcome says is missing
}

func policies() map[string]policy {
	same := func(*debate.Config) {}
	does := func(n int, rule debate.FailureRule) func(*debate.Config) {
		return func(c *debate.Config) { *c = stage.Crew(n); c.OnFailure = stage.Rules(rule) }
	}
	refused := func(p *scripted.Provider) { stage.Befall(p, provider.KindRefusal, stage.Said("Ben", 2)) }
	judge := func(kind provider.Kind, calls string) func(p *scripted.Provider) {
		return func(p *scripted.Provider) {
			stage.Befall(p, kind, func(req *provider.Request) bool { return req.Schema != nil && strings.Contains(req.ID, calls) })
		}
	}
	panel := func(rules ...debate.FailureRule) func(*debate.Config) {
		return func(c *debate.Config) {
			c.Judging.Judges = []debate.JudgeConfig{{Model: "test/judge"}, {Model: "test/spare"}, {Model: "test/last"}}
			c.OnFailure = rules
		}
	}
	skip, drop := debate.FailureRule{Do: flow.OptionSkip}, debate.FailureRule{Do: flow.OptionDrop}
	return map[string]policy{
		"no rule: an error":     {same, refused, provider.KindRefusal, nil, flow.EndFailed, "", 3, false, nil},
		"no rule for the judge": {same, judge(provider.KindRefusal, "r2."), provider.KindRefusal, nil, flow.EndFailed, "", 4, false, nil},
		"a participant is dropped": {
			does(3, drop), refused, "",
			[]debate.Option{flow.OptionDrop},
			flow.EndRounds, "", 7, true,
			[]string{"Ben has taken no further part"},
		},
		"a drop that leaves too few": {does(2, drop), refused, provider.KindRefusal, nil, flow.EndFailed, "", 3, false, nil},
		"a speech is left out": {
			does(3, skip), func(p *scripted.Provider) {
				stage.Befall(p, provider.KindRefusal, stage.Requested("debater", "r2.rebuttal.Ben"))
			},
			"",
			[]debate.Option{flow.OptionSkip},
			flow.EndRounds, "", 8, true,
			[]string{"Ben has missed a speech in round 2 (refusal)"},
		},
		"a second one in a row": {
			does(3, skip), refused, provider.KindRefusal,
			[]debate.Option{flow.OptionSkip},
			flow.EndFailed, "", 6, false,
			[]string{"Ben has missed a speech in round 2 (refusal)"},
		},
		"a second one that is dropped": {
			func(c *debate.Config) { *c = stage.Crew(3); c.OnFailure = []debate.FailureRule{skip, drop} }, refused,
			"",
			[]debate.Option{flow.OptionSkip, flow.OptionDrop},
			flow.EndRounds, "", 7, true, nil,
		},
		"a speech that is one too many": {does(2, skip), refused, provider.KindRefusal, nil, flow.EndFailed, "", 3, false, nil},
		"a rule for another kind": {
			does(3, debate.FailureRule{Kinds: []debate.Kind{provider.KindQuota}, Do: flow.OptionSkip}), refused,
			provider.KindRefusal, nil, flow.EndFailed, "", 4, false, nil,
		},
		"a rule for other calls": {
			does(3, debate.FailureRule{Calls: []flow.CallKind{debate.KindVerdict}, Do: flow.OptionDrop}), refused,
			provider.KindRefusal, nil, flow.EndFailed, "", 4, false, nil,
		},
		"another model": {
			does(2, debate.FailureRule{Do: flow.OptionModel, Model: "test/spare"}),
			func(p *scripted.Provider) {
				stage.Befall(p, provider.KindRefusal, stage.Requested("debater", "r2.rebuttal.Ben"))
			},
			"",
			[]debate.Option{flow.OptionModel},
			flow.EndRounds, "", 6, true, nil,
		},
		"another model, which fails too": {
			does(2, debate.FailureRule{Do: flow.OptionModel, Model: "test/spare"}),
			func(p *scripted.Provider) {
				stage.Befall(p, provider.KindRefusal, func(req *provider.Request) bool { return strings.Contains(req.ID, "r2.rebuttal.Ben") })
			},
			provider.KindRefusal,
			[]debate.Option{flow.OptionModel},
			flow.EndFailed, "", 3, false, nil,
		},
		"two models, which fail too": {
			func(c *debate.Config) {
				*c = stage.Crew(2)
				c.OnFailure = []debate.FailureRule{{Do: flow.OptionModel, Model: "test/spare"}, {Do: flow.OptionModel, Model: "test/last"}}
			},
			func(p *scripted.Provider) {
				stage.Befall(p, provider.KindRefusal, func(req *provider.Request) bool { return strings.Contains(req.ID, "r2.rebuttal.Ben") })
			},
			provider.KindRefusal,
			[]debate.Option{flow.OptionModel, flow.OptionModel},
			flow.EndFailed, "", 3, false, nil,
		},
		"the end": {
			does(2, debate.FailureRule{Do: flow.OptionEnd}), refused, "",
			[]debate.Option{flow.OptionEnd},
			flow.EndHost,
			flow.EndedByRule, 3, true, nil,
		},
		"an assessment that the judge refuses": {
			func(c *debate.Config) { c.OnFailure = stage.Rules(skip) },
			func(p *scripted.Provider) { stage.Befall(p, provider.KindRefusal, stage.Requested("judge", "r2.")) },
			"",
			[]debate.Option{flow.OptionSkip},
			flow.EndRounds, "", 6, true,
			[]string{"judge has missed the assessment of round 2 (refusal)"},
		},
		"a verdict is never left out": {
			func(c *debate.Config) { c.OnFailure = stage.Rules(skip) }, judge(provider.KindRefusal, "verdict"),
			provider.KindRefusal, nil, flow.EndRounds, "", 6, false, nil,
		},
		"one of a panel": {
			panel(drop), func(p *scripted.Provider) { stage.Befall(p, provider.KindRefusal, stage.Requested("judge", "r2.")) },
			"",
			[]debate.Option{flow.OptionDrop},
			flow.EndRounds, "", 6, true,
			[]string{"judge has judged no further", "2 of 3 judges have given a verdict"},
		},
		"a panel below its quorum": {
			panel(drop), judge(provider.KindRefusal, "verdict"), provider.KindRefusal,
			[]debate.Option{flow.OptionDrop},
			flow.EndFailed, "",
			6, false, nil,
		},
		"a judge whose fallback answers": {
			func(c *debate.Config) { c.Judging.Judges[0].Fallbacks = []string{"test/spare"} },
			func(p *scripted.Provider) { stage.Befall(p, provider.KindRefusal, stage.Requested("judge", "r2.")) },
			"", nil, flow.EndRounds, "", 6, true, nil,
		},
		"the cost warning, by default": {
			func(c *debate.Config) { c.Budget = &debate.Budget{Warn: debate.USD / 1000, Confirm: true} }, func(*scripted.Provider) {},
			provider.KindState, nil, flow.EndFailed, "", 2, false, nil,
		},
		"the cost warning, going on": {
			func(c *debate.Config) {
				c.Budget = &debate.Budget{Warn: debate.USD / 1000, Confirm: true}
				c.OnFailure = stage.Rules(debate.FailureRule{Calls: []flow.CallKind{flow.KindConfirm}, Do: flow.OptionContinue})
			},
			func(*scripted.Provider) {}, "",
			[]debate.Option{flow.OptionContinue},
			flow.EndRounds, "", 6, true, nil,
		},
		"the cost warning, as the end": {
			func(c *debate.Config) {
				c.Budget = &debate.Budget{Warn: debate.USD / 1000, Confirm: true}
				c.OnFailure = stage.Rules(debate.FailureRule{Calls: []flow.CallKind{flow.KindConfirm}, Do: flow.OptionEnd})
			},
			func(*scripted.Provider) {}, "",
			[]debate.Option{flow.OptionEnd},
			flow.EndHost, flow.EndedByRule, 2, true, nil,
		},
	}
}

func TestRulesDecideAboutFailures(t *testing.T) {
	t.Parallel()
	for name, tc := range policies() {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			tc.change(&config)
			config.Unattended = true
			engine, p := stage.Engine(config)
			kept := &stage.Commits{Memory: &store.Memory{}}
			engine.Store = kept
			stage.Abiding(p)
			tc.befalls(p)
			session := stage.Started(t, engine, config)
			record, err := session.Wait(t.Context())
			if tc.failed == "" {
				require.NoError(t, err)
				assert.Equal(t, flow.StateCompleted, record.State)
				assert.NotEmpty(t, record.Evidence)
			} else {
				stage.RequireKind(t, err, tc.failed)
				assert.Equal(t, flow.StateError, record.State)
				require.NoError(t, session.Close())
			}
			if tc.failed == "" || tc.reason == flow.EndFailed {
				assert.Equal(t, tc.reason, record.Reason)
			}
			assert.Equal(t, tc.by, record.EndedEarlyBy)
			assert.Len(t, record.Turns, tc.turns)
			assert.Equal(t, tc.verdict, stage.View(record).Verdict != nil)
			for _, line := range tc.less {
				assert.Contains(t, stage.View(record).Outcome().Degraded, line)
			}
			var chosen []debate.Option
			for _, a := range record.Answers {
				assert.True(t, a.Rule)
				chosen = append(chosen, a.Option)
			}
			assert.Equal(t, tc.chosen, chosen)
			followed(t, engine, kept, record, config.Budget != nil)
		})
	}
}

// followed opens a debate after whatever commit another process takes it up, and finds that it goes the same way.
func followed(t *testing.T, engine *debate.Engine, kept *stage.Commits, record *debate.Record, priced bool) {
	t.Helper()
	events := stage.Logged(t, engine, record.ID)
	for at := 0; at < len(kept.Ends); at += longform.Sized(1, 1, 5) {
		n, other := kept.Ends[at], stage.Twin(engine)
		other.Store = nil
		session, err := stage.Restore(t.Context(), other, stage.Snapshot(t, record.ID, events[:n]))
		require.NoError(t, err)
		again, err := session.Wait(t.Context())
		assert.Equal(t, record.State == flow.StateError, err != nil, "after %d events", n)
		assert.Equal(t, record.Reason, again.Reason)
		if !priced { // what was lost in flight is charged, so the warning comes earlier
			assert.Equal(t, stage.Canonical(t, record), stage.Canonical(t, again), "after %d events", n)
			require.Len(t, again.Answers, len(record.Answers), "after %d events", n)
			for i := range again.Answers {
				assert.Equal(t, record.Answers[i].Option, again.Answers[i].Option)
			}
			assert.Len(t, again.SkippedCalls, len(record.SkippedCalls))
		}
		require.NoError(t, session.Close())
	}
}

// What no longer fits a model is made smaller where nobody is asked.
func TestRulesForContexts(t *testing.T) {
	t.Parallel()
	only := func(do debate.Option) []debate.FailureRule {
		return stage.Rules(debate.FailureRule{Kinds: []debate.Kind{provider.KindContextOverflow}, Do: do})
	}
	for name, tc := range map[string]struct {
		summarizer string
		rules      []debate.FailureRule
		judge      bool // it is the judge's window that is too small
		first      debate.Option
		reason     flow.EndReason
	}{
		"summarised if there is a model":  {"test/spare", nil, false, flow.OptionSummarize, flow.EndRounds},
		"else left out":                   {"", nil, false, flow.OptionTruncate, flow.EndRounds},
		"left out if that is wanted":      {"test/spare", only(flow.OptionTruncate), false, flow.OptionTruncate, flow.EndRounds},
		"no model to summarise as wanted": {"", only(flow.OptionSummarize), false, flow.OptionTruncate, flow.EndRounds},
		"the end":                         {"test/spare", only(flow.OptionEnd), false, flow.OptionEnd, flow.EndHost},
		"of the judge: summarised":        {"test/spare", nil, true, flow.OptionSummarize, flow.EndRounds},
		"of the judge: by its own model":  {"", nil, true, flow.OptionSummarize, flow.EndRounds},
		"of the judge: left out":          {flow.NoSummarizer, nil, true, flow.OptionTruncate, flow.EndRounds},
	} {
		t.Run(name, func(t *testing.T) {
			config, engine, p := windy(tc.summarizer)
			config.Unattended, config.OnFailure = true, tc.rules
			hits := large("debater", "Ben", 10_000)
			if tc.judge {
				hits = large("judge", "judge", 14_000)
			}
			stage.Befall(p, provider.KindContextOverflow, hits)
			record := stage.Run(t, engine, config)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Equal(t, tc.reason, record.Reason)
			require.NotEmpty(t, record.Answers)
			assert.Equal(t, tc.first, record.Answers[0].Option)
			assert.True(t, record.Answers[0].Rule)
			if tc.first == flow.OptionSummarize {
				assert.NotEmpty(t, record.Summaries)
			}
			if tc.reason == flow.EndRounds {
				assert.Len(t, record.Turns, 12)
				assert.NotNil(t, stage.View(record).Verdict)
				degraded := stage.View(record).Outcome().Degraded
				assert.Equal(t, tc.judge && tc.first == flow.OptionTruncate, len(degraded) > 0, degraded)
			}
			var kinds []flow.EventKind
			for _, event := range stage.Logged(t, engine, record.ID) {
				if event.Kind() == flow.EventInquiry || event.Kind() == flow.EventAnswer {
					kinds = append(kinds, event.Kind())
				}
			}
			assert.Equal(t, []flow.EventKind{flow.EventInquiry, flow.EventAnswer}, kinds[:2], "the choice is recorded with its question")
		})
	}
}

// A window that stays too small, whatever is left out, is given up in the end.
func TestAContextIsGivenUpInTheEnd(t *testing.T) {
	config, engine, p := windy("test/spare")
	config.Unattended = true
	stage.Abiding(p)
	stage.Befall(p, provider.KindContextOverflow, stage.Said("Ben", 2))
	session := stage.Started(t, engine, config)
	record, err := session.Wait(t.Context())
	stage.RequireKind(t, err, provider.KindContextOverflow)
	assert.Less(t, len(record.Answers), 30)
	assert.Len(t, record.Turns, 3, "what was said is there")
}

func TestRunIsAlwaysUnattendedAndTellsTheFailure(t *testing.T) {
	config := stage.TwoDebaters()
	engine, p := stage.Engine(config)
	engine.Store = &store.Memory{}
	stage.Abiding(p)
	stage.Befall(p, provider.KindAuthentication, func(req *provider.Request) bool { return strings.Contains(req.ID, "verdict") })
	config.ID = "alone"
	var last error
	for _, err := range engine.Run(t.Context(), config) {
		last = err
	}
	stage.RequireKind(t, last, provider.KindAuthentication)
	record := stage.StoredRecord(t, engine, "alone")
	assert.Equal(t, flow.StateError, record.State)
	assert.Empty(t, record.Inquiries)
	settings := record.Settings()
	assert.True(t, settings.Unattended)
	assert.Equal(t, flow.OptionFail, settings.OnFailure[len(settings.OnFailure)-1].Do, "the record holds the rules in force")
}

func TestRulesThatAreRefused(t *testing.T) {
	for field, change := range map[string]func(*debate.Config){
		"onFailure[0].do":    func(c *debate.Config) { c.OnFailure = stage.Rules(debate.FailureRule{Do: flow.OptionRetry}) },
		"onFailure[0].model": func(c *debate.Config) { c.OnFailure = stage.Rules(debate.FailureRule{Do: flow.OptionModel}) },
		"onFailure[0].kinds": func(c *debate.Config) {
			c.OnFailure = stage.Rules(debate.FailureRule{Kinds: []debate.Kind{"bad luck"}, Do: flow.OptionSkip})
		},
		"patience": func(c *debate.Config) { c.Patience = -time.Second },
	} {
		config := stage.TwoDebaters()
		change(&config)
		engine, p := stage.Engine(config)
		assert.Equal(t, field, stage.RequireKind(t, engine.Validate(t.Context(), config), provider.KindValidation).Field)
		assert.Zero(t, p.Calls())
	}
}
