package failure_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A rule of the config that fits a failure and cannot be applied is named where the debate stops for it.
func TestARuleThatIsPassedOverIsNamed(t *testing.T) {
	skip, drop, wait := debate.FailureRule{Do: flow.OptionSkip}, debate.FailureRule{Do: flow.OptionDrop}, debate.FailureRule{Do: flow.OptionWait}
	ben := func(p *scripted.Provider) { stage.Befall(p, provider.KindRefusal, stage.Said("Ben", 2)) }
	for name, tc := range map[string]struct {
		config  debate.Config
		rules   []debate.FailureRule
		befalls func(*scripted.Provider)
		says    []string
	}{
		"one of two": {stage.Crew(2), []debate.FailureRule{skip}, ben, []string{"the rule onFailure[0] (skip) could not be applied: the conversation cannot continue without this result"}},
		"the last of a side": {
			stage.Crew(3, debate.For, debate.Against, debate.For),
			[]debate.FailureRule{{Kinds: []debate.Kind{provider.KindQuota}, Do: flow.OptionSkip}, skip, drop},
			ben,
			[]string{"onFailure[1] (skip)", "onFailure[2] (drop) could not be applied: the conversation cannot continue without Ben"},
		},
		"a second round in a row": {
			stage.Crew(3),
			[]debate.FailureRule{skip},
			ben,
			[]string{"onFailure[0] (skip) could not be applied: Ben was left out in the round before"},
		},
		"a verdict": {
			stage.Crew(3),
			[]debate.FailureRule{skip},
			func(p *scripted.Provider) { stage.Befall(p, provider.KindRefusal, stage.Requested("judge", "verdict")) },
			[]string{"onFailure[0] (skip) could not be applied: the conversation cannot continue without this result"},
		},
		"the same model": {
			stage.Crew(2),
			[]debate.FailureRule{{Do: flow.OptionModel, Model: "test/debater"}},
			ben,
			[]string{"onFailure[0] (model) could not be applied: Ben has that model already"},
		},
		"a person in an unattended debate": {stage.Crew(2), []debate.FailureRule{{Do: flow.OptionAsk}}, ben, []string{"onFailure[0] (ask) could not be applied: the conversation is unattended"}},
		"waited for already": {
			stage.Crew(2),
			[]debate.FailureRule{wait},
			func(p *scripted.Provider) { stage.Befall(p, provider.KindNetwork, stage.Said("Ben", 2)) },
			[]string{"onFailure[0] (wait) could not be applied: it was waited for already"},
		},
		"none that fits":        {stage.Crew(2), []debate.FailureRule{{Kinds: []debate.Kind{provider.KindQuota}, Do: flow.OptionSkip}}, ben, nil},
		"one that says to fail": {stage.Crew(2), []debate.FailureRule{{Do: flow.OptionFail}, skip}, ben, nil},
		"none":                  {stage.Crew(2), nil, ben, nil},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			tc.config.OnFailure = tc.rules
			engine, p := stage.Engine(tc.config)
			stage.Abiding(p)
			tc.befalls(p)
			session := stage.Started(t, engine, tc.config)
			r, err := session.Wait(t.Context())
			require.Error(t, err)
			require.Equal(t, flow.StateError, r.State)
			if tc.says == nil {
				assert.NotContains(t, err.Error(), "could not be applied")
			}
			assert.Equal(t, strings.Count(err.Error(), "could not be applied"), strings.Count(r.Evidence, "could not be applied"))
			for _, text := range tc.says {
				require.ErrorContains(t, err, text)
				assert.Contains(t, r.Evidence, text)
			}
		}))
	}
}

// A rule that can never be applied, for it names no kind of call or of failure that there is, is refused.
func TestARuleThatNothingFitsIsRefused(t *testing.T) {
	does := func(do debate.Option, kinds ...debate.Kind) []debate.FailureRule {
		return stage.Rules(debate.FailureRule{Do: do, Kinds: kinds})
	}
	for name, tc := range map[string]struct {
		rules []debate.FailureRule
		field string
	}{
		"a summary after a network's failure": {does(flow.OptionSummarize, provider.KindNetwork), "onFailure[0].kinds"},
		"a cut after a refusal":               {does(flow.OptionTruncate, provider.KindRefusal, provider.KindQuota), "onFailure[0].kinds"},
		"calls that there are not":            {stage.Rules(debate.FailureRule{Calls: []flow.CallKind{"asessment"}, Do: flow.OptionSkip}), "onFailure[0].calls"},
		"calls of another format":             {stage.Rules(debate.FailureRule{Calls: []flow.CallKind{"cross-examination"}, Do: flow.OptionSkip}), "onFailure[0].calls"},
		"calls of the format, and of every debate": {stage.Rules(debate.FailureRule{Calls: []flow.CallKind{
			"opening", debate.KindAssessment, debate.KindVerdict, debate.KindBallot, flow.KindSummary, flow.KindConfirm,
		}, Do: flow.OptionEnd}), ""},
		"a summary after any failure":            {does(flow.OptionSummarize), ""},
		"a summary after an overflow and others": {does(flow.OptionSummarize, provider.KindNetwork, provider.KindContextOverflow), ""},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Format, config.Rounds, config.OnFailure = format.FreeForm, 3, tc.rules
			engine, _ := stage.Engine(config)
			err := engine.Validate(t.Context(), config)
			if tc.field == "" {
				require.NoError(t, err)
				return
			}
			assert.Equal(t, tc.field, stage.RequireKind(t, err, provider.KindValidation).Field)

			config.OnFailure = nil
			_, session, _ := stage.Stranded(t, config, func(p *scripted.Provider) { stage.Befall(p, provider.KindRefusal, stage.Said("Ben", 2)) })
			err = session.Control(t.Context(), flow.Amendment{OnFailure: &tc.rules})
			assert.Equal(t, tc.field, stage.RequireKind(t, err, provider.KindValidation).Field, "an amendment neither")
		})
	}
}
