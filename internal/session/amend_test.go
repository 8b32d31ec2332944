package session_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// resumed finishes a debate, and checks that its log tells the same settings.
func resumed(t *testing.T, engine *debate.Engine, session *debate.Session) *debate.Record {
	t.Helper()
	record := stage.Ended(t, session)
	read := stage.StoredRecord(t, engine, record.ID)
	assert.Equal(t, record.Settings(), read.Settings(), "the log holds the settings in force")
	return record
}

func TestALimitIsRaisedWhileTheDebateStands(t *testing.T) {
	config := stage.TwoDebaters()
	config.Budget = &debate.Budget{HardCalls: 4}
	engine, session, _ := stage.Stranded(t, config, func(*scripted.Provider) {})
	record := stage.SessionRecord(t, session)
	assert.Contains(t, record.Failure.Hint(), "Amend budget.hardCalls to ")
	assert.True(t, record.Failure.Retryable())
	stage.RequireKind(t, session.Retry(t.Context()), provider.KindState)
	require.NoError(t, session.Control(t.Context(), flow.Amendment{Budget: &debate.Budget{HardCalls: 100}}))
	require.NoError(t, session.Retry(t.Context()))
	record = resumed(t, engine, session)
	assert.Len(t, record.Turns, 6)
	assert.Equal(t, 100, record.Settings().Budget.HardCalls)
	assert.Equal(t, 4, stage.View(record).Config().Budget.HardCalls, "the config is what it was started with")
}

// The budget that is warned of is raised, in place of an answer.
func TestAWarnedBudgetIsRaised(t *testing.T) {
	config := stage.TwoDebaters()
	config.Unattended, config.Budget = false, &debate.Budget{Warn: debate.USD / 1000, Confirm: true}
	engine, session, _ := stage.Stranded(t, config, func(*scripted.Provider) {})
	record := stage.SessionRecord(t, session)
	require.Len(t, record.Inquiries, 1, "a confirmation is an inquiry like any other")
	assert.Equal(t, flow.InquiryCost, record.Inquiries[0].ID)
	assert.Equal(t, []debate.Option{flow.OptionContinue, flow.OptionEnd}, record.Inquiries[0].Options)
	assert.Contains(t, record.Inquiries[0].Question, "The cost warning is reached: $")
	require.NoError(t, session.Control(t.Context(), flow.Amendment{Budget: &debate.Budget{Warn: 100 * debate.USD, Confirm: true}}))
	record = resumed(t, engine, session)
	assert.Len(t, record.Turns, 6)
	assert.Empty(t, record.Answers)
}

// Another limit than the one that is warned of leaves the question open.
func TestABudgetIsRaisedBesideItsWarning(t *testing.T) {
	config := stage.TwoDebaters()
	config.Unattended, config.Budget = false, &debate.Budget{Warn: debate.USD / 1000, Confirm: true, Hard: 100 * debate.USD}
	engine, session, _ := stage.Stranded(t, config, func(*scripted.Provider) {})
	require.NoError(t, session.Control(t.Context(), flow.Amendment{
		Budget: &debate.Budget{Warn: debate.USD / 1000, Confirm: true, Hard: 200 * debate.USD},
	}))
	record := stage.AwaitsInput(t, session)
	require.Len(t, record.Inquiries, 1)
	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionContinue}))
	record = resumed(t, engine, session)
	assert.Len(t, record.Turns, 6)
}

func TestModelsAreAmended(t *testing.T) {
	refused := func(p *scripted.Provider) {
		stage.Befall(p, provider.KindRefusal, func(req *provider.Request) bool {
			return req.Self == "Ben" && req.Model == "debater" && strings.Contains(req.ID, "/r2.")
		})
		stage.Befall(p, provider.KindRefusal, func(req *provider.Request) bool { return req.Self == "Ben" && req.Model == "spare" })
	}
	engine, session, p := stage.Stranded(t, stage.TwoDebaters(), refused)
	change := flow.Amendment{Models: map[string]flow.ModelChoice{"Ben": {Model: "test/spare", Fallbacks: []string{"test/last"}}}}
	require.NoError(t, engine.Control(t.Context(), session.ID(), change), "anywhere")
	require.NoError(t, session.Retry(t.Context()))
	record := resumed(t, engine, session)
	assert.Len(t, record.Turns, 6)
	assert.Equal(t, "test/last", record.Turns[3].Model, "its fallback has taken over")
	_, known := record.Model("test/last")
	assert.True(t, known, "prices and sizes are frozen")
	assert.Positive(t, p.Calls())
}

func TestTheNumberOfRoundsIsAmended(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*debate.Config)
		rounds int
		turns  int
		field  string // of the refusal
	}{
		"more":                {func(*debate.Config) {}, 5, 10, ""},
		"fewer":               {func(*debate.Config) {}, 2, 4, ""},
		"fewer than are past": {func(*debate.Config) {}, 1, 6, "rounds"},
		"none":                {func(*debate.Config) {}, 0, 6, "rounds"},
		"of a format that fixes them": {
			func(c *debate.Config) { c.Format, c.Rounds = format.LincolnDouglas, 0 }, 9, 0, "rounds",
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			tc.change(&config)
			gone := &stage.Outage{}
			engine, session, _ := stage.Stranded(t, config, func(p *scripted.Provider) {
				gone = stage.Befall(p, provider.KindRefusal, func(req *provider.Request) bool { return strings.Contains(req.ID, "/r2.") })
			})
			err := session.Control(t.Context(), flow.Amendment{Rounds: &tc.rounds})
			if tc.field != "" {
				assert.Equal(t, tc.field, stage.RequireKind(t, err, provider.KindValidation).Field)
			} else {
				require.NoError(t, err)
			}
			gone.Over.Store(true)
			require.NoError(t, session.Retry(t.Context()))
			record := resumed(t, engine, session)
			assert.Equal(t, flow.EndRounds, record.Reason)
			if tc.turns > 0 {
				assert.Len(t, record.Turns, tc.turns)
			}
		})
	}
}

// The policies of a running debate: what it does about failures, how long it waits, and whether a person is there.
func TestPoliciesAreAmended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.Patient(false)
		engine, p, _ := stage.Unreachable(t, config, provider.KindNetwork, 0, 0)
		session := stage.Started(t, engine, config)
		stage.Pass(time.Minute)
		began := time.Now()
		no, short := false, flow.Duration(time.Nanosecond)
		rules := []flow.FailureRule{{Kinds: []flow.Kind{provider.KindTimeout}, Do: flow.OptionFail}}
		require.NoError(t, session.Control(t.Context(), flow.Amendment{
			Patience: &short, Unattended: &no, OnFailure: &rules, TurnTimeout: new(flow.Duration(7 * time.Second)),
			Timeouts: map[flow.CallKind]flow.Duration{debate.KindVerdict: flow.Duration(9 * time.Second)},
		}))
		record, err := session.Wait(t.Context())
		require.ErrorIs(t, err, debate.ErrAwaitingInput, "the waiting is cut short, and now somebody is there")
		assert.Less(t, time.Since(began), time.Minute)
		assert.Equal(t, append(rules, flow.FailureRule{Do: flow.OptionAsk}), record.Settings().OnFailure)

		var asked []time.Duration
		p.Reply = func(req *provider.Request) scripted.Reply {
			r := reachable()(req)
			if strings.Contains(req.ID, "/r2.rebuttal.Ada/") || strings.Contains(req.ID, "/verdict.") {
				r.Delay = time.Hour
				asked = append(asked, 0)
			}
			return r
		}
		began = time.Now()
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionRetry}))
		_, err = session.Wait(t.Context())
		stage.RequireKind(t, err, provider.KindTimeout)
		assert.Less(t, time.Since(began), 2*time.Minute, "three attempts of seven seconds each, with their waits")
		assert.Len(t, asked, 3)
	})
}

// A member of the audience who is a person, or Go code, goes on voting: no model can be given to it. A judge is replaced.
func TestModelsOfThoseWhoAreNoModels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Audience = &debate.Audience{Members: []debate.Member{{Person: true}, {Judge: "own"}, {Model: "test/voter"}}}
		config.Judging.Judges = []debate.JudgeConfig{{Person: true}}
		config.OnFailure = []debate.FailureRule{{Calls: []flow.CallKind{debate.KindBallot}, Do: flow.OptionSkip}}
		engine, p := stage.Engine(config)
		stage.Abiding(p)
		engine.Judges = map[string]debate.Judge{"own": debate.JudgeFunc(func(context.Context, debate.JudgeTask) (json.RawMessage, error) {
			return json.RawMessage(`{"vote":"for","reasoning":"x"}`), nil
		})}
		session := stage.Started(t, engine, config)
		stage.AwaitsInput(t, session)
		for name, refused := range map[string]bool{"audience-1": true, "audience-2": true, "audience-3": false, "judge": false} {
			err := session.Control(t.Context(), flow.Amendment{Models: map[string]flow.ModelChoice{name: {Model: "test/spare"}}})
			if !refused {
				require.NoError(t, err, name)
				continue
			}
			failure := stage.RequireKind(t, err, provider.KindValidation)
			assert.Equal(t, "models", failure.Field)
			assert.ErrorContains(t, err, name+`" is no model`)
		}
	})
}

// A summarizer can be named, or taken away, while the debate stands: its prompts are part of every log.
func TestASummarizerIsNamedWhileTheDebateStands(t *testing.T) {
	t.Parallel()
	for before, after := range map[string]string{"": "test/summarizer", flow.NoSummarizer: "test/summarizer", "test/summarizer": flow.NoSummarizer} {
		t.Run(before+" to "+after, func(t *testing.T) {
			d := stage.NewTalk(8, 3000)
			d.Config.Judging, d.Config.Summarizer = nil, before
			refused := false
			stage.Befall(d.Provider, provider.KindRefusal, func(req *provider.Request) bool {
				first := stage.Said("Ben", 2)(req) && !refused
				refused = refused || first
				return first
			})
			session := stage.Started(t, d.Engine, d.Config)
			_, err := session.Wait(t.Context())
			stage.RequireKind(t, err, provider.KindRefusal)
			require.NoError(t, session.Control(t.Context(), flow.Amendment{Summarizer: &after}))
			require.NoError(t, session.Retry(t.Context()))
			record := stage.Ended(t, session)
			assert.Len(t, record.Turns, 16)
			assert.Equal(t, after != flow.NoSummarizer, len(record.Summaries) > 0)
			for _, req := range d.Provider.Requests() {
				if stage.IsSummary(&req) {
					assert.NotEmpty(t, req.System)
					assert.Contains(t, req.Last.Text, "words")
				}
			}
		})
	}
}

// A budget of money is refused like at the start if a model that is still to be asked has no price.
func TestABudgetThatIsAmendedNeedsPrices(t *testing.T) {
	money := func(models ...string) flow.Amendment {
		a := flow.Amendment{Budget: &debate.Budget{Hard: 100 * debate.USD}, Models: map[string]flow.ModelChoice{}}
		for i := 0; i < len(models); i += 2 {
			a.Models[models[i]] = flow.ModelChoice{Model: models[i+1]}
		}
		return a
	}
	for name, tc := range map[string]struct {
		change func(*debate.Config)
		amend  flow.Amendment
		lacks  []string // the models without a price
	}{
		"all have prices":      {func(*debate.Config) {}, money(), nil},
		"a debater's has none": {func(c *debate.Config) { c.Participants[0].Model = "test/free" }, money(), []string{"test/free"}},
		"a judge's and another's": {
			func(c *debate.Config) { c.Participants[0].Model, c.Judging.Judges[0].Model = "test/free", "test/odd" }, money(),
			[]string{"test/free", "test/odd"},
		},
		"a summarizer's": {func(c *debate.Config) { c.Summarizer = "test/free" }, money(), []string{"test/free"}},
		"a fallback's":   {func(c *debate.Config) { c.Participants[0].Fallbacks = []string{"test/free"} }, money(), []string{"test/free"}},
		"a rule's": {func(c *debate.Config) {
			c.OnFailure = stage.Rules(debate.FailureRule{Kinds: []debate.Kind{provider.KindQuota}, Do: flow.OptionModel, Model: "test/free"})
		}, money(), []string{"test/free"}},
		"which is replaced": {func(c *debate.Config) { c.Participants[0].Model = "test/free" }, money("Ada", "test/judge"), nil},
		"which is replaced by one without a price": {
			func(c *debate.Config) { c.Participants[0].Model = "test/free" }, money("Ada", "test/odd"), []string{"test/odd"},
		},
		"a budget of calls": {
			func(c *debate.Config) { c.Participants[0].Model = "test/free" }, flow.Amendment{Budget: &debate.Budget{HardCalls: 50}}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			tc.change(&config)
			engine, session, _ := stage.Stranded(t, config, func(p *scripted.Provider) {
				stage.Befall(p, provider.KindRefusal, func(req *provider.Request) bool { return strings.HasSuffix(req.ID, "/r1.assessment.judge/1") })
			})
			err := session.Control(t.Context(), tc.amend)
			if tc.lacks == nil {
				require.NoError(t, err)
				return
			}
			require.Len(t, stage.FieldsOf(t, err), len(tc.lacks))
			for _, model := range tc.lacks {
				require.ErrorContains(t, err, `"`+model+`"`)
			}
			assert.Nil(t, stage.SessionRecord(t, session).Settings().Budget, "nothing is changed")
			config.ID, config.Budget = "", tc.amend.Budget
			if tc.amend.Models["Ada"].Model == "" {
				assert.Error(t, engine.Validate(t.Context(), config), "a start refuses the same")
			}
		})
	}
}

// reachable answers everything again.
func reachable() func(*provider.Request) scripted.Reply {
	_, fresh := stage.Engine(stage.TwoDebaters())
	return fresh.Reply
}
