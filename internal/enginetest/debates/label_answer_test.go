package debates_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func TestLabelsAreReadAsNames(t *testing.T) {
	config, engine, source := masked("Well.", "Ada", "Ben")
	answer := source.Reply
	source.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema == nil {
			return answer(req)
		}
		a, b := req.Messages[0].Speaker, req.Messages[1].Speaker // Ada speaks first
		if req.Schema.Name == "verdict" {
			return scripted.Reply{Text: stage.JSON(map[string]any{
				"summary":          a + " was ahead of " + b + "; " + b + "'s case fell. Speaker Z is nobody, nor is " + a + "bel.",
				"keyPoints":        []any{map[string]any{"participant": b, "mainArguments": []string{"against " + a}}, map[string]any{"participant": a, "mainArguments": []string{}}},
				"areasOfAgreement": []string{a + " and " + b}, "areasOfDisagreement": []string{b + ": all"},
				"winner": map[string]string{"participant": a, "reasoning": a + " answered " + b}, "scores": map[string]int{a: 80, b: 60},
				"criteria": map[string]string{"evidence": b + " had none"}, "qualityScore": 70, "insights": []string{a + " knows"},
			})}
		}
		return scripted.Reply{Text: stage.JSON(map[string]any{
			"shouldContinue": true, "qualityScore": 7,
			"assessments": []any{
				map[string]any{"participant": a, "strengths": []string{"answers " + b}, "weaknesses": []string{}, "score": 8},
				map[string]any{"participant": b, "strengths": []string{}, "weaknesses": []string{"ignores " + a}, "score": 4},
			},
			"flags":     map[string]bool{"repetitive": false, "drifting": false, "diminishingReturns": false, "convergenceReached": false},
			"reasoning": a + " led " + b, "recommendations": b + " should answer " + a,
		})}
	}
	record := stage.Run(t, engine, config)
	assert.JSONEq(t, `{"summary":"Ada was ahead of Ben; Ben's case fell. Speaker Z is nobody, nor is `+judged(source)[0].Messages[0].Speaker+`bel.",
		"keyPoints":[{"participant":"Ben","mainArguments":["against Ada"]},{"participant":"Ada","mainArguments":[]}],
		"areasOfAgreement":["Ada and Ben"],"areasOfDisagreement":["Ben: all"],"winner":{"participant":"Ada","reasoning":"Ada answered Ben"},
		"scores":{"Ada":80,"Ben":60},"criteria":{"evidence":"Ben had none"},"qualityScore":70,"insights":["Ada knows"]}`,
		stage.Recorded(record, debate.KindVerdict))
	require.Len(t, stage.View(record).Assessments, 1)
	got := stage.View(record).Assessments[0]
	assert.Equal(t, "Ada led Ben", got.Reasoning)
	assert.Equal(t, "Ben should answer Ada", got.Recommendations)
	assert.Equal(t, []string{"answers Ben"}, got.Assessments[0].Strengths)
	assert.Equal(t, []string{"ignores Ada"}, got.Assessments[1].Weaknesses)
	assert.Equal(t, "Ben", got.Assessments[1].Participant)
}

// A judge may have guessed, or knows, who is who. Names are taken as names: what they mean is plain. Who
// is named twice over, by name and by label, is named twice.
func TestNamesInPlaceOfLabels(t *testing.T) {
	t.Parallel()
	type answer = func(ada, ben string) string
	points := func(names ...string) string { return stage.Verdict(names) }
	for name, test := range map[string]struct {
		answer answer
		says   string // "": it is accepted
	}{
		"both names": {func(_, _ string) string { return points("Ada", "Ben") }, ""},
		"one name":   {func(_, ben string) string { return points("Ada", ben) }, ""},
		"twice over": {func(ada, ben string) string { return points(ada, "Ada", ben) }, "2 times"},
		"twice in the scores": {func(ada, ben string) string {
			return strings.Replace(points(ada, ben), `"scores":{`, `"scores":{"Ada":11,`, 1)
		}, "scores"},
		"another label":       {func(ada, _ string) string { return points(ada, "Speaker Q") }, "missing"},
		"a label in capitals": {func(ada, ben string) string { return points(ada, strings.ToUpper(ben)) }, "missing"},
		"the letter alone":    {func(ada, ben string) string { return points(ada, strings.TrimPrefix(ben, "Speaker ")) }, "missing"},
	} {
		t.Run(name, func(t *testing.T) {
			for range longform.Sized(20, 20, 5) { // maps are walked in any order
				synctest.Test(t, func(t *testing.T) {
					config, engine, source := masked("Well.", "Ada", "Ben")
					config.Judging.When = debate.AtEnd
					config.Unattended = true
					reply, first := source.Reply, true
					source.Reply = func(req *provider.Request) scripted.Reply {
						if req.Schema == nil || !first {
							return reply(req)
						}
						first = false
						return scripted.Reply{Text: test.answer(req.Messages[0].Speaker, req.Messages[1].Speaker)}
					}
					record := stage.Run(t, engine, config)
					require.NotNil(t, stage.View(record).Verdict)
					if test.says == "" {
						assert.Empty(t, record.Rejections)
						assert.Equal(t, map[string]float64{"Ada": 80, "Ben": 79}, stage.View(record).Verdict.Scores)
						return
					}
					require.Len(t, record.Rejections, 1)
					assert.Contains(t, strings.Join(record.Rejections[0].Problems, "\n"), test.says)
					again := judged(source)[1]
					assert.False(t, hasName(stage.ReadBy(&again), "Ada") || hasName(stage.ReadBy(&again), "Ben"), "the re-ask names nobody: %s", again.Last.Text)
				})
			}
		})
	}
}
