package debate_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// What is chosen where nobody is there, by default and as Config.Unattended says.
func TestUnattended(t *testing.T) {
	authentication := func(from int) func(p *scripted.Provider) {
		return func(p *scripted.Provider) { befall(p, provider.KindAuthentication, said("Ben", from)) }
	}
	judging := func(kind provider.Kind, calls string) func(p *scripted.Provider) {
		return func(p *scripted.Provider) {
			befall(p, kind, func(req *provider.Request) bool { return req.Schema != nil && strings.Contains(req.ID, calls) })
		}
	}
	for name, tc := range map[string]struct {
		change   func(*debate.Config)
		befalls  func(*scripted.Provider)
		options  []debate.Option // of the answers; nil: nobody was to be asked
		reason   flow.EndReason
		degraded []string
		turns    int
		verdict  bool
	}{
		"a judge, by default": {
			func(c *debate.Config) {
				c.Unattended = &debate.Unattended{}
				c.Judging.Judges[0].Fallbacks = []string{"test/spare"}
			},
			judging(provider.KindRefusal, "r2."),
			[]debate.Option{flow.OptionWithout},
			flow.EndRounds,
			[]string{"judge has judged no further", "there is no verdict"},
			6, false,
		},
		"a judge whose fallback answers": {
			func(c *debate.Config) {
				c.Unattended = &debate.Unattended{}
				c.Judging.Judges[0].Fallbacks = []string{"test/spare"}
			},
			func(p *scripted.Provider) { befall(p, provider.KindRefusal, requested("judge", "r2.")) },
			nil, flow.EndRounds, nil, 6, true,
		},
		"a judge, to the end": {
			func(c *debate.Config) { c.Unattended = &debate.Unattended{Judge: flow.OptionEnd} },
			judging(provider.KindRefusal, "r2."),
			[]debate.Option{flow.OptionEnd},
			flow.EndHost,
			[]string{"judge has judged no further", "there is no verdict"},
			4, false,
		},
		"a judge at the verdict": {
			func(c *debate.Config) { c.Unattended = &debate.Unattended{Judge: flow.OptionEnd} },
			judging(provider.KindRefusal, "verdict"),
			[]debate.Option{flow.OptionEnd},
			flow.EndRounds,
			[]string{"judge has judged no further", "there is no verdict"},
			6, false,
		},
		"one of a panel": {
			func(c *debate.Config) {
				c.Unattended = &debate.Unattended{Judge: flow.OptionEnd}
				c.Judging.Judges = []debate.JudgeConfig{{Model: "test/judge"}, {Model: "test/spare"}, {Model: "test/last"}}
			},
			func(p *scripted.Provider) { befall(p, provider.KindRefusal, requested("judge", "r2.")) },
			nil, flow.EndRounds,
			[]string{"judge has judged no further", "2 of 3 judges have given a verdict"},
			6, true,
		},
		"a key, by default": {
			func(c *debate.Config) { *c = crew(3); c.Unattended = &debate.Unattended{} },
			authentication(2), nil, flow.EndRounds,
			[]string{"Ben has taken no further part"},
			7, true,
		},
		"a key, by default, below two": {
			func(c *debate.Config) { c.Unattended = &debate.Unattended{} },
			authentication(2), nil, flow.EndTooFew,
			[]string{"Ben has taken no further part"},
			3, true,
		},
		"a key, to the end": {
			func(c *debate.Config) {
				*c = crew(3)
				c.Unattended = &debate.Unattended{Authentication: flow.OptionEnd}
			},
			authentication(2),
			[]debate.Option{flow.OptionEnd},
			flow.EndHost, nil, 4, true,
		},
		"the budget, by default": {
			func(c *debate.Config) {
				c.Unattended = &debate.Unattended{}
				c.Budget = &debate.Budget{Warn: debate.USD / 1000, Confirm: true}
			},
			func(*scripted.Provider) {}, nil, flow.EndSoftLimit, nil, 2, true,
		},
		"the budget, to the end": {
			func(c *debate.Config) {
				c.Unattended = &debate.Unattended{Budget: flow.OptionEnd}
				c.Budget = &debate.Budget{Warn: debate.USD / 1000, Confirm: true}
			},
			func(*scripted.Provider) {}, nil, flow.EndSoftLimit, nil, 2, true,
		},
		"the budget, going on": {
			func(c *debate.Config) {
				c.Unattended = &debate.Unattended{Budget: flow.OptionRetry}
				c.Budget = &debate.Budget{Warn: debate.USD / 1000, Confirm: true}
			},
			func(*scripted.Provider) {}, nil, flow.EndRounds, nil, 6, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := twoDebaters()
			tc.change(&config)
			engine, p := engineFor(config)
			store := &commits{Memory: &store.Memory{}}
			engine.Store = store
			abiding(p)
			tc.befalls(p)
			record := run(t, engine, config)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Equal(t, tc.reason, record.Reason)
			assert.NotEmpty(t, record.Evidence)
			assert.Len(t, record.Turns, tc.turns)
			assert.Equal(t, tc.verdict, view(record).Verdict != nil)
			for _, line := range tc.degraded {
				assert.Contains(t, view(record).Outcome().Degraded, line)
			}
			var options []debate.Option
			for _, a := range record.Answers {
				assert.True(t, a.Unattended)
				options = append(options, a.Option)
			}
			assert.Equal(t, tc.options, options)

			// After whatever commit another process takes it up, it chooses the same.
			events := logged(t, engine, record.ID)
			for _, n := range store.ends {
				other := twin(engine)
				other.Store = nil
				session, err := other.Restore(t.Context(), snapshot(t, record.ID, events[:n]))
				require.NoError(t, err)
				again, err := session.Wait(t.Context())
				require.NoError(t, err, "after %d events", n)
				assert.Equal(t, record.Reason, again.Reason)
				if config.Budget != nil {
					continue // what was lost in flight is charged, so the warning comes earlier
				}
				assert.Equal(t, canonical(t, record), canonical(t, again), "after %d events", n)
				assert.Len(t, again.Answers, len(record.Answers))
				for i := range again.Answers {
					assert.Equal(t, record.Answers[i].Option, again.Answers[i].Option)
				}
				require.NoError(t, session.Close())
			}
		})
	}
}

func TestUnattendedContexts(t *testing.T) {
	for name, tc := range map[string]struct {
		summarizer string
		unattended debate.Unattended
		judge      bool // it is the judge's window that is too small
		first      debate.Option
		reason     flow.EndReason
	}{
		"summarised if there is a model":  {"test/spare", debate.Unattended{}, false, flow.OptionSummarize, flow.EndRounds},
		"else left out":                   {"", debate.Unattended{}, false, flow.OptionTruncate, flow.EndRounds},
		"left out if that is wanted":      {"test/spare", debate.Unattended{Context: flow.OptionTruncate}, false, flow.OptionTruncate, flow.EndRounds},
		"no model to summarise as wanted": {"", debate.Unattended{Context: flow.OptionSummarize}, false, flow.OptionTruncate, flow.EndRounds},
		"the end":                         {"test/spare", debate.Unattended{Context: flow.OptionEnd}, false, flow.OptionEnd, flow.EndHost},
		"of the judge: summarised":        {"test/spare", debate.Unattended{}, true, flow.OptionSummarize, flow.EndRounds},
		"of the judge: left out":          {"", debate.Unattended{}, true, flow.OptionTruncate, flow.EndRounds},
		"of the judge: the end":           {"", debate.Unattended{Context: flow.OptionEnd}, true, flow.OptionEnd, flow.EndHost},
	} {
		t.Run(name, func(t *testing.T) {
			config, engine, p := windy(tc.summarizer)
			config.Unattended = &tc.unattended
			hits := large("debater", "Ben", 10_000)
			if tc.judge {
				hits = large("judge", "judge", 14_000)
			}
			befall(p, provider.KindContextOverflow, hits)
			record := run(t, engine, config)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Equal(t, tc.reason, record.Reason)
			require.NotEmpty(t, record.Answers)
			assert.Equal(t, tc.first, record.Answers[0].Option)
			assert.True(t, record.Answers[0].Unattended)
			if tc.first == flow.OptionSummarize {
				assert.NotEmpty(t, record.Summaries)
			}
			if tc.reason == flow.EndRounds {
				assert.Len(t, record.Turns, 12)
				assert.NotNil(t, view(record).Verdict)
				assert.Empty(t, view(record).Outcome().Degraded)
			}
			var kinds []flow.EventKind
			for _, event := range logged(t, engine, record.ID) {
				if event.Kind() == flow.EventInquiry || event.Kind() == flow.EventAnswer {
					kinds = append(kinds, event.Kind())
				}
			}
			assert.Equal(t, []flow.EventKind{flow.EventInquiry, flow.EventAnswer}, kinds[:2], "the choice is recorded with its question")
		})
	}
}

// A window that stays too small, whatever is left out, is given up in the end.
func TestAnUnattendedContextIsGivenUpInTheEnd(t *testing.T) {
	config, engine, p := windy("test/spare")
	config.Unattended = &debate.Unattended{}
	abiding(p)
	befall(p, provider.KindContextOverflow, said("Ben", 2))
	record := run(t, engine, config)
	assert.Equal(t, flow.EndTooFew, record.Reason)
	assert.Less(t, len(record.Answers), 30)
	assert.Equal(t, []string{"Ben has taken no further part"}, view(record).Outcome().Degraded)
}

func TestRunIsAlwaysUnattended(t *testing.T) {
	config := crew(3)
	engine, p := engineFor(config)
	engine.Store = &store.Memory{}
	abiding(p)
	befall(p, provider.KindAuthentication, func(req *provider.Request) bool { return req.Self == "Cyd" || strings.Contains(req.ID, "verdict") })
	var id string
	for event, err := range engine.Run(t.Context(), func() debate.Config { c := config; c.ID = "alone"; return c }()) {
		require.NoError(t, err)
		id = "alone"
		_ = event
	}
	record, err := engine.Record(t.Context(), id)
	require.NoError(t, err)
	assert.Equal(t, flow.StateCompleted, record.State)
	assert.Equal(t, []string{"Cyd has taken no further part", "judge has judged no further", "there is no verdict"}, view(record).Outcome().Degraded)
	require.Len(t, record.Answers, 1)
	assert.True(t, record.Answers[0].Unattended)
}

func TestOptionsThatUnattendedDoesNotTake(t *testing.T) {
	for field, u := range map[string]debate.Unattended{
		"unattended.judge":          {Judge: flow.OptionRetry},
		"unattended.context":        {Context: flow.OptionModel},
		"unattended.authentication": {Authentication: flow.OptionRetry},
		"unattended.budget":         {Budget: flow.OptionDrop},
	} {
		config := twoDebaters()
		config.Unattended = &u
		engine, p := engineFor(config)
		assert.Equal(t, field, requireKind(t, engine.Validate(t.Context(), config), provider.KindValidation).Field)
		assert.Zero(t, p.Calls())
	}
}
