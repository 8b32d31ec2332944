package debates_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// askedModels yields which models a debate's judge was asked with, in order, as "call model".
func askedModels(source *scripted.Provider) []string {
	var out []string
	for _, req := range source.Requests() {
		if req.Schema != nil {
			call := stage.CallOf(&req)
			if stage.Reasked(&req) {
				call += " again"
			}
			out = append(out, call+" "+req.Model)
		}
	}
	return out
}

func TestFallbackJudgesInOrder(t *testing.T) {
	bad, gone := scripted.Reply{Text: "Ada was better."}, scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal}}
	for name, test := range map[string]struct {
		answers map[string][]scripted.Reply // by model; then it is well-formed
		want    []string
		model   string // whose verdict it is
	}{
		"after two rejections": {
			map[string][]scripted.Reply{"judge": {bad, bad}},
			[]string{"verdict.judge judge", "verdict.judge again judge", "verdict.judge first"},
			"test/first",
		},
		"each with a re-ask of its own": {
			map[string][]scripted.Reply{"judge": {bad, bad}, "first": {bad, bad}, "second": {bad}},
			[]string{
				"verdict.judge judge", "verdict.judge again judge", "verdict.judge first", "verdict.judge again first",
				"verdict.judge second", "verdict.judge again second",
			},
			"test/second",
		},
		"after failures": {
			map[string][]scripted.Reply{"judge": {gone}, "first": {gone}},
			[]string{"verdict.judge judge", "verdict.judge first", "verdict.judge second"},
			"test/second",
		},
		"after a failure, then two rejections": {
			map[string][]scripted.Reply{"judge": {gone}, "first": {bad, bad}},
			[]string{"verdict.judge judge", "verdict.judge first", "verdict.judge again first", "verdict.judge second"},
			"test/second",
		},
		"after the failure of a re-ask": {
			map[string][]scripted.Reply{"judge": {bad, gone}},
			[]string{"verdict.judge judge", "verdict.judge again judge", "verdict.judge first"},
			"test/first",
		},
		"after the failure of a re-ask and a rejection of the next": {
			map[string][]scripted.Reply{"judge": {bad, gone}, "first": {bad}},
			[]string{"verdict.judge judge", "verdict.judge again judge", "verdict.judge first", "verdict.judge again first"},
			"test/first",
		},
		"to the end": {
			map[string][]scripted.Reply{"judge": {bad, bad}, "first": {bad, bad}, "second": {bad, bad}},
			[]string{
				"verdict.judge judge", "verdict.judge again judge", "verdict.judge first", "verdict.judge again first",
				"verdict.judge second", "verdict.judge again second",
			},
			"",
		},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Rounds, config.Unattended = 1, true
			config.Judging = &debate.Judging{When: debate.AtEnd, Judges: []debate.JudgeConfig{
				{Model: "test/judge", Fallbacks: []string{"test/first", "test/second"}},
			}}
			engine, source := stage.Engine(config)
			answer := source.Reply
			var mu sync.Mutex
			given := map[string]int{}
			source.Reply = func(req *provider.Request) scripted.Reply {
				mu.Lock()
				defer mu.Unlock()
				if list, n := test.answers[req.Model], given[req.Model]; n < len(list) {
					given[req.Model]++
					return list[n]
				}
				return answer(req)
			}
			session := stage.Started(t, engine, config)
			record, err := session.Wait(t.Context())
			assert.Equal(t, test.want, askedModels(source))
			for _, rejection := range record.Rejections {
				if rejection.Next != "" {
					require.Less(t, rejection.Attempt, len(askedModels(source)))
					next := askedModels(source)[rejection.Attempt]
					assert.Equal(t, rejection.Call+" "+strings.TrimPrefix(rejection.Next, "test/"), next, "the log says who is next")
				}
			}
			if test.model == "" {
				stage.RequireKind(t, err, provider.KindInvalidResponse)
				assert.Equal(t, flow.StateError, record.State, "nobody does without the verdict")
				assert.Nil(t, stage.View(record).Verdict)
				assert.Empty(t, record.Answers)
				return
			}
			require.NoError(t, err)
			require.NotNil(t, stage.View(record).Verdict)
			assert.Equal(t, test.model, stage.View(record).Verdict.Model)
			assert.Empty(t, stage.View(record).Outcome().Degraded)
		}))
	}
}

// A model takes over from a model. From a function none does: it is asked again.
func TestAModelTakesOverFromAModelOnly(t *testing.T) {
	for name, judge := range map[string]debate.JudgeConfig{
		"a function": {Name: "Pat", Judge: "broken"}, "a model": {Name: "Pat", Model: "test/broken"},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			c := stage.NewCourt(stage.ForAda())
			c.Config.Judging.Judges[0], c.Config.Unattended = judge, false
			c.Engine.Judges = map[string]debate.Judge{"broken": debate.JudgeFunc(func(context.Context, debate.JudgeTask) (json.RawMessage, error) {
				return nil, &provider.Error{Kind: provider.KindRefusal, Message: "no"}
			})}
			answer := c.Source.Reply
			c.Source.Reply = func(req *provider.Request) scripted.Reply {
				if req.Model == "spare" {
					return scripted.Reply{Text: stage.ForBen().Verdict("spare")}
				}
				return answer(req)
			}
			session := stage.Started(t, c.Engine, c.Config)
			record, err := session.Wait(t.Context())
			q := stage.Question(t, record, err)
			if judge.Model != "" {
				assert.Equal(t, stage.JudgeOptions(debate.KindVerdict), q.Options)
				require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionModel, Model: "test/spare"}))
				record = stage.Ended(t, session)
				assert.Equal(t, "Ben", stage.View(record).Outcome().Winner)
				assert.Equal(t, "test/spare", stage.View(record).Verdict.Model)
				return
			}
			assert.Equal(t, []debate.Option{flow.OptionRetry, flow.OptionWait, flow.OptionDrop}, q.Options)
			stage.RequireKind(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionModel, Model: "test/spare"}), provider.KindValidation)
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionRetry}))
			record, err = session.Wait(t.Context())
			again := stage.Question(t, record, err)
			assert.NotEqual(t, q.ID, again.ID)
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: again.ID, Option: flow.OptionDrop}))
			record = stage.Ended(t, session)
			assert.Nil(t, stage.View(record).Verdict)
		}))
	}
}
