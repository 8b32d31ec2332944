package session_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// An amendment that says whether a person is there changes the rules that follow those of the config, and only those.
func TestWhoIsThereDecidesTheDefaultRules(t *testing.T) {
	own := stage.Rules(debate.FailureRule{Kinds: []debate.Kind{provider.KindQuota}, Do: flow.OptionFail})
	for name, tc := range map[string]struct {
		attended bool // at the start; the amendment says the opposite
		rules    []debate.FailureRule
	}{
		"a person comes":                 {false, nil},
		"a person comes; with a rule":    {false, own},
		"the person leaves":              {true, nil},
		"the person leaves; with a rule": {true, own},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Unattended, config.OnFailure = !tc.attended, tc.rules
			engine, session, p := stage.Stranded(t, config, func(p *scripted.Provider) {
				stage.Befall(p, provider.KindQuota, stage.Requested("debater", "r1.opening.Ada/1"))
			})
			unattended := tc.attended
			require.NoError(t, session.Control(t.Context(), flow.Amendment{Unattended: &unattended}))
			garble(p, "r2.assessment")
			if stage.SessionRecord(t, session).State == flow.StateError {
				require.NoError(t, session.Retry(t.Context()))
			}
			after, err := session.Wait(t.Context())
			inForce := after.Settings().OnFailure
			if tc.attended {
				require.NoError(t, err)
				assert.Len(t, after.SkippedCalls, 1, "nobody is there to ask")
				assert.Equal(t, flow.FailureRule{Do: flow.OptionFail}, inForce[len(inForce)-1])
				assert.NotContains(t, inForce, flow.FailureRule{Do: flow.OptionAsk})
				return
			}
			require.ErrorIs(t, err, debate.ErrAwaitingInput)
			assert.Equal(t, append(slices.Clone(tc.rules), flow.FailureRule{Do: flow.OptionAsk}), inForce)
			assert.Empty(t, after.SkippedCalls, "no rule decides in the person's place")
			read := stage.StoredRecord(t, engine, after.ID)
			assert.Equal(t, after.Settings(), read.Settings())
		}))
	}
}

// garble makes the answers to some calls such that nobody can read them.
func garble(p *scripted.Provider, call string) {
	reply := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		if strings.Contains(req.ID, "/"+call) {
			return scripted.Reply{Text: "hm"}
		}
		return reply(req)
	}
}

// All that is wrong with an amendment is said at once, by the fields and the actors, here and in any other process.
func TestEveryMistakeOfAnAmendmentIsNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		amend  flow.Amendment
		fields []string
		says   []string
	}{
		"two models": {
			flow.Amendment{Models: map[string]flow.ModelChoice{"Ada": {Model: "bad"}, "Ben": {Model: "other/a"}}},
			[]string{"models.Ada", "models.Ben"},
			[]string{`"bad" is not "provider/model"`, `no provider "other" is registered`},
		},
		"fallbacks": {
			flow.Amendment{Models: map[string]flow.ModelChoice{"Ada": {Model: "test/spare", Fallbacks: []string{"test/last", "other/a", "bad"}}}},
			[]string{"models.Ada.fallbacks[1]", "models.Ada.fallbacks[2]"},
			nil,
		},
		"a provider beside other fields": {
			flow.Amendment{
				Rounds: new(0), Context: new("nowhere"), Patience: new(flow.Duration(-1)), Budget: &debate.Budget{Hard: -1},
				Summarizer: new("other/a"), Models: map[string]flow.ModelChoice{"Ben": {Model: "other/b"}},
			},
			[]string{"budget.hard", "context", "models.Ben", "patience", "rounds", "summarizer"},
			nil,
		},
		"an actor that is not there": {flow.Amendment{Models: map[string]flow.ModelChoice{"Cyd": {Model: "test/spare"}}}, []string{"models"}, nil},
		"no model":                   {flow.Amendment{Models: map[string]flow.ModelChoice{"Ben": {}}}, []string{"models.Ben"}, nil},
		"a negative time":            {flow.Amendment{TurnTimeout: new(flow.Duration(-1))}, []string{"turnTimeout"}, nil},
		"a negative wait":            {flow.Amendment{Retry: &debate.RetryPolicy{Base: -1}}, []string{"retry.base"}, nil},
		"a rule that is none":        {flow.Amendment{OnFailure: &[]flow.FailureRule{{Do: "pray"}}}, []string{"onFailure[0].do"}, nil},
		"times of calls": {
			flow.Amendment{Timeouts: map[flow.CallKind]flow.Duration{"fancy": flow.Duration(time.Minute), debate.KindVerdict: -1}},
			[]string{"timeouts.fancy", "timeouts.verdict"},
			nil,
		},
		"rules": {
			flow.Amendment{OnFailure: &[]debate.FailureRule{{Do: flow.OptionModel, Model: "bad"}, {Do: flow.OptionModel, Model: "other/a"}}},
			[]string{"onFailure[0].model", "onFailure[1].model"},
			[]string{`no provider "other" is registered`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			engine, session, _ := stage.Stranded(t, stage.TwoDebaters(), func(p *scripted.Provider) { stage.Befall(p, provider.KindRefusal, stage.Said("Ben", 2)) })
			before := stage.SessionRecord(t, session)
			check := func(err error) {
				t.Helper()
				require.NotErrorIs(t, err, debate.ErrMissing, "the amendment is wrong, not the engine")
				found := stage.FieldsOf(t, err)
				slices.Sort(found)
				assert.Equal(t, tc.fields, found)
				for _, text := range tc.says {
					require.ErrorContains(t, err, text)
				}
			}
			check(session.Control(t.Context(), tc.amend))
			require.NoError(t, session.Close())
			check(engine.Control(t.Context(), before.ID, tc.amend))
			after := stage.StoredRecord(t, engine, before.ID)
			assert.Equal(t, before.Seq, after.Seq, "nothing is changed")
		})
	}
}
