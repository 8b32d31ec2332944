package debate_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// askedModels yields which models a debate's judge was asked with, in order, as "call model".
func askedModels(source *scripted.Provider) []string {
	var out []string
	for _, req := range source.Requests() {
		if req.Schema != nil {
			out = append(out, callOf(&req)+" "+req.Model)
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
			[]string{"verdict.judge judge", "verdict.judge.again judge", "verdict.judge first"},
			"test/first",
		},
		"each with a re-ask of its own": {
			map[string][]scripted.Reply{"judge": {bad, bad}, "first": {bad, bad}, "second": {bad}},
			[]string{
				"verdict.judge judge", "verdict.judge.again judge", "verdict.judge first", "verdict.judge.again first",
				"verdict.judge second", "verdict.judge.again second",
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
			[]string{"verdict.judge judge", "verdict.judge first", "verdict.judge.again first", "verdict.judge second"},
			"test/second",
		},
		"after the failure of a re-ask": {
			map[string][]scripted.Reply{"judge": {bad, gone}},
			[]string{"verdict.judge judge", "verdict.judge.again judge", "verdict.judge.again first"},
			"test/first",
		},
		"after the failure of a re-ask and a rejection of the next": {
			map[string][]scripted.Reply{"judge": {bad, gone}, "first": {bad}},
			[]string{"verdict.judge judge", "verdict.judge.again judge", "verdict.judge.again first", "verdict.judge second"},
			"test/second",
		},
		"to the end": {
			map[string][]scripted.Reply{"judge": {bad, bad}, "first": {bad, bad}, "second": {bad, bad}},
			[]string{
				"verdict.judge judge", "verdict.judge.again judge", "verdict.judge first", "verdict.judge.again first",
				"verdict.judge second", "verdict.judge.again second",
			},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := twoDebaters()
				config.Rounds, config.Unattended = 1, &debate.Unattended{}
				config.Judging = &debate.Judging{When: debate.AtEnd, Judges: []debate.JudgeConfig{
					{Model: "test/judge", Fallbacks: []string{"test/first", "test/second"}},
				}}
				engine, source := engineFor(config)
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
				record := run(t, engine, config)
				assert.Equal(t, test.want, askedModels(source))
				for _, rejection := range record.Rejections {
					if rejection.Next != "" {
						at := slices.Index(askedModels(source), rejection.Call+" "+strings.TrimPrefix(rejection.Model, "test/"))
						require.Less(t, at+1, len(askedModels(source)))
						_, model, _ := strings.Cut(askedModels(source)[at+1], " ")
						assert.Equal(t, rejection.Next, "test/"+model, "the log says who is next")
					}
				}
				if test.model == "" {
					assert.Nil(t, view(record).Verdict)
					assert.Contains(t, view(record).Outcome().Degraded, "there is no verdict")
					return
				}
				require.NotNil(t, view(record).Verdict)
				assert.Equal(t, test.model, view(record).Verdict.Model)
				assert.Empty(t, view(record).Outcome().Degraded)
			})
		})
	}
}

// Who has failed may be replaced by a model, whatever it was.
func TestAModelTakesOverFromAJudgeWhoIsNone(t *testing.T) {
	for name, judge := range map[string]debate.JudgeConfig{
		"a function": {Name: "Pat", Judge: "broken"}, "a person": {Name: "Pat", Person: true}, "a model": {Name: "Pat", Model: "test/broken"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCourt(forAda())
				c.config.Judging.Judges[0] = judge
				c.engine.Judges = map[string]debate.Judge{"broken": debate.JudgeFunc(func(context.Context, debate.JudgeTask) (json.RawMessage, error) {
					return nil, &provider.Error{Kind: provider.KindRefusal, Message: "no"}
				})}
				answer := c.source.Reply
				c.source.Reply = func(req *provider.Request) scripted.Reply {
					if req.Model == "spare" {
						return scripted.Reply{Text: forBen().verdict("spare")}
					}
					return answer(req)
				}
				session, err := c.engine.Start(t.Context(), c.config)
				require.NoError(t, err)
				defer session.Close()
				record, err := session.Wait(t.Context())
				for range 2 { // a person's bad answers
					require.ErrorIs(t, err, debate.ErrAwaitingInput)
					if len(record.Inquiries[0].Options) > 0 {
						break
					}
					require.NoError(t, session.Answer(t.Context(), record.Inquiries[0].ID, "{}"))
					record, err = session.Wait(t.Context())
				}
				require.ErrorIs(t, err, debate.ErrAwaitingInput)
				if !slices.Contains(record.Inquiries[0].Options, flow.OptionModel) {
					return // not to offer it is right as well
				}
				require.NoError(t, session.Choose(t.Context(), record.Inquiries[0].ID, flow.OptionModel, "test/spare"))
				record, err = session.Wait(t.Context())
				require.NoError(t, err)
				assert.Equal(t, "Ben", view(record).Outcome().Winner)
				assert.Equal(t, "test/spare", view(record).Verdict.Model)
			})
		})
	}
}
