package debate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// marked is an assessment by a rubric: judgement with these marks for each participant, and without
// the score.
func marked(marks map[string]map[string]float64) map[string]any {
	var out map[string]any
	_ = json.Unmarshal([]byte(stage.Judgement([]string{"Ada", "Ben"}, true)), &out)
	list, _ := out["assessments"].([]any)
	for _, each := range list {
		mark, _ := each.(map[string]any)
		name, _ := mark["participant"].(string)
		delete(mark, "score")
		mark["criteria"] = marks[name]
	}
	return out
}

// entry yields the i-th participant's part of an assessment.
func entry(assessment map[string]any, i int) map[string]any {
	list, _ := assessment["assessments"].([]any)
	mark, _ := list[i].(map[string]any)
	return mark
}

// marks gives every criterion of a rubric the same mark.
func marks(rubric *debate.Rubric, mark float64) map[string]float64 {
	out := map[string]float64{}
	for _, c := range rubric.Criteria {
		out[c.Name] = mark
	}
	return out
}

// assessed plays one round whose judge answers the first assessment with each of the answers in turn,
// and then with the last of them.
func assessed(t *testing.T, rubric *debate.Rubric, answers ...any) (*debate.Record, []provider.Request) {
	t.Helper()
	config := stage.TwoDebaters()
	config.Rounds, config.Unattended = 1, true
	config.Judging.Rubric = rubric
	engine, source := stage.Engine(config)
	reply, n := source.Reply, 0
	source.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema == nil || !strings.Contains(req.ID, "assessment") {
			return reply(req)
		}
		answer := answers[min(n, len(answers)-1)]
		n++
		return scripted.Reply{Text: stage.JSON(answer)}
	}
	record := stage.Run(t, engine, config)
	var asked []provider.Request
	for _, req := range source.Requests() {
		if strings.Contains(req.ID, "assessment") {
			asked = append(asked, req)
		}
	}
	return record, asked
}

func TestTheDefaultRubric(t *testing.T) {
	want := map[string]float64{
		"logical consistency": 20, "evidence quality": 20, "engagement": 20, "novelty": 15, "persuasiveness": 15, "relevance": 10,
	}
	got, sum := map[string]float64{}, 0.0
	for _, c := range debate.DefaultRubric().Criteria {
		got[c.Name] = c.Weight
		sum += c.Weight
		assert.NotEmpty(t, c.Low, c.Name)
		assert.NotEmpty(t, c.High, c.Name)
	}
	assert.Equal(t, want, got)
	assert.InDelta(t, 100, sum, 0)
	debate.DefaultRubric().Criteria[0].Name = "mine"
	assert.Equal(t, "logical consistency", debate.DefaultRubric().Criteria[0].Name, "each call yields a fresh value")
}

// The totals of these marks were worked out by hand.
func TestTotalsAreWeighted(t *testing.T) {
	byDefault := debate.DefaultRubric()
	given := map[string]float64{
		"logical consistency": 8, "evidence quality": 5, "engagement": 9, "novelty": 4, "persuasiveness": 7, "relevance": 10,
	}
	assert.InDelta(t, 1.6+1.0+1.8+0.6+1.05+1.0, byDefault.Total(given), 1e-12) // 7.05
	own := &debate.Rubric{Criteria: []debate.Criterion{{Name: "wit", Weight: 62.5}, {Name: "brevity", Weight: 37.5}}}
	assert.InDelta(t, 6.25, own.Total(map[string]float64{"wit": 4, "brevity": 10}), 1e-12)
	assert.Zero(t, own.Total(nil))
	assert.InDelta(t, 10, byDefault.Total(marks(byDefault, 10)), 1e-12)
}

func TestTotalsStayBetweenTheirMarks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		rubric, left := &debate.Rubric{}, 100.0
		given := map[string]float64{}
		low, high := 10.0, 0.0
		for i := range 1 + random.IntN(8) {
			weight := left * random.Float64()
			left -= weight
			mark := float64(random.IntN(21)) / 2
			low, high = min(low, mark), max(high, mark)
			name := fmt.Sprint("criterion ", i)
			rubric.Criteria = append(rubric.Criteria, debate.Criterion{Name: name, Weight: weight})
			given[name] = mark
		}
		rubric.Criteria[0].Weight += left
		total := rubric.Total(given)
		require.GreaterOrEqual(t, total, low-1e-9)
		require.LessOrEqual(t, total, high+1e-9)
	}
}

func TestTheTotalIsComputedHere(t *testing.T) {
	rubric := debate.DefaultRubric()
	given := map[string]float64{
		"logical consistency": 8, "evidence quality": 5, "engagement": 9, "novelty": 4, "persuasiveness": 7, "relevance": 10,
	}
	record, asked := assessed(t, rubric, marked(map[string]map[string]float64{"Ada": given, "Ben": marks(rubric, 3)}))
	require.Len(t, stage.View(record).Assessments, 1)
	require.Len(t, asked, 1)
	ada, ben := stage.View(record).Assessments[0].Assessments[0], stage.View(record).Assessments[0].Assessments[1]
	assert.InDelta(t, 7.05, ada.Score, 1e-12)
	assert.Equal(t, given, ada.Criteria)
	assert.InDelta(t, 3, ben.Score, 1e-12)

	assert.NotContains(t, string(asked[0].Schema.JSON), `"score"`, "no total is asked for")
	assert.NotContains(t, asked[0].Last.Text, `"score"`)
	wrong := marked(map[string]map[string]float64{"Ada": given, "Ben": marks(rubric, 3)})
	entry(wrong, 0)["score"] = 1
	record, _ = assessed(t, rubric, wrong)
	assert.Empty(t, record.Rejections, "a judge in Go writes one all the same")
	assert.InDelta(t, 7.05, stage.View(record).Assessments[0].Assessments[0].Score, 1e-12)
	for _, c := range rubric.Criteria {
		assert.Contains(t, asked[0].System+asked[0].Last.Text, c.Low, "%s: what 0 means", c.Name)
		assert.Contains(t, asked[0].System+asked[0].Last.Text, c.High, "%s: what 10 means", c.Name)
	}
}

func TestMarksThatAreRejected(t *testing.T) {
	rubric := &debate.Rubric{Criteria: []debate.Criterion{{Name: "wit", Weight: 60}, {Name: "brevity \"&\" grace", Weight: 40}}}
	good := func() map[string]any {
		return marked(map[string]map[string]float64{"Ada": marks(rubric, 7), "Ben": marks(rubric, 4)})
	}
	criteria := func(a map[string]any) map[string]float64 {
		c, _ := entry(a, 1)["criteria"].(map[string]float64)
		return c
	}
	for name, test := range map[string]struct {
		spoil func(a map[string]any)
		says  string
	}{
		"a score in place of the marks": {func(a map[string]any) { delete(entry(a, 0), "criteria"); entry(a, 0)["score"] = 7 }, "criteria"},
		"a criterion is missing":        {func(a map[string]any) { delete(criteria(a), "wit") }, `"wit" is missing`},
		"no criterion is marked":        {func(a map[string]any) { clear(criteria(a)) }, `"wit" is missing`},
		"a criterion of its own":        {func(a map[string]any) { criteria(a)["style"] = 5 }, "no criterion"},
		"another in place of one":       {func(a map[string]any) { delete(criteria(a), "wit"); criteria(a)["Wit"] = 5 }, `"wit" is missing`},
		"above 10":                      {func(a map[string]any) { criteria(a)["wit"] = 10.5 }, "not between 0 and 10"},
		"below 0":                       {func(a map[string]any) { criteria(a)["wit"] = -1 }, "not between 0 and 10"},
		"a mark as text":                {func(a map[string]any) { entry(a, 0)["criteria"] = map[string]any{"wit": "7", "brevity \"&\" grace": 7} }, "number"},
		"no mark":                       {func(a map[string]any) { entry(a, 0)["criteria"] = map[string]any{"wit": nil, "brevity \"&\" grace": 7} }, "number"},
		"marks as a list":               {func(a map[string]any) { entry(a, 0)["criteria"] = []float64{7, 7} }, "object"},
		"somebody is missing":           {func(a map[string]any) { a["assessments"] = []any{entry(a, 0)} }, `"Ben" is missing`},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			bad := good()
			test.spoil(bad)
			record, asked := assessed(t, rubric, bad, good())
			require.Len(t, record.Rejections, 1)
			assert.Contains(t, strings.Join(record.Rejections[0].Problems, "\n"), test.says)
			require.Len(t, asked, 2)
			assert.Contains(t, asked[1].Last.Text, strings.ReplaceAll(record.Rejections[0].Problems[0], "<", ""), "the re-ask says so")
			require.Len(t, stage.View(record).Assessments, 1)
			assert.InDelta(t, 7, stage.View(record).Assessments[0].Assessments[0].Score, 1e-12)

			record, _ = assessed(t, rubric, bad, bad)
			assert.Empty(t, stage.View(record).Assessments, "no mark is made up")
		}))
	}
}

func TestWithoutARubricThereIsOneScore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		record, asked := assessed(t, nil, marked(map[string]map[string]float64{"Ada": marks(debate.DefaultRubric(), 7), "Ben": marks(debate.DefaultRubric(), 4)}))
		assert.Len(t, record.Rejections, 2)
		assert.Empty(t, stage.View(record).Assessments)
		assert.NotContains(t, string(asked[0].Schema.JSON), `"criteria"`)
		assert.Contains(t, asked[0].Last.Text, `"score"`)
	})
	record, _ := assessed(t, nil, json.RawMessage(stage.Judgement([]string{"Ada", "Ben"}, true)))
	require.Len(t, stage.View(record).Assessments, 1)
	assert.Nil(t, stage.View(record).Assessments[0].Assessments[0].Criteria)
	assert.InDelta(t, 7, stage.View(record).Assessments[0].Assessments[0].Score, 0)
}

func TestTheHostsOwnRubricShapesWhatIsAsked(t *testing.T) {
	rubric := &debate.Rubric{Criteria: []debate.Criterion{{"wit", 62.5, "leaden", "sparkling"}, {"Kürze", 37.5, "", ""}}}
	record, asked := assessed(t, rubric, marked(map[string]map[string]float64{
		"Ada": {"wit": 4, "Kürze": 10}, "Ben": {"wit": 10, "Kürze": 0},
	}))
	require.Len(t, stage.View(record).Assessments, 1)
	assert.InDelta(t, 6.25, stage.View(record).Assessments[0].Assessments[0].Score, 1e-12)
	assert.InDelta(t, 6.25, stage.View(record).Assessments[0].Assessments[1].Score, 1e-12)
	var schema any
	require.NoError(t, json.Unmarshal(asked[0].Schema.JSON, &schema))
	assert.Contains(t, string(asked[0].Schema.JSON), `"required":["wit","Kürze"],"additionalProperties":false`)
	assert.Contains(t, asked[0].System, "Kürze")
	assert.Contains(t, asked[0].System, "sparkling")
	assert.NotContains(t, asked[0].System+asked[0].Last.Text, "persuasiveness", "nothing of the default is left")
}

// Debates with and without a rubric, and with different ones, run beside each other in one engine.
func TestRubricsOfOneEngineAreNotMixedUp(t *testing.T) {
	config := stage.TwoDebaters()
	config.Rounds = 1
	engine, source := stage.Engine(config)
	reply := source.Reply
	rubrics := []*debate.Rubric{nil, debate.DefaultRubric(), {Criteria: []debate.Criterion{{Name: "wit", Weight: 100}}}}
	source.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema != nil && req.Schema.Name == "assessment-by-rubric" {
			rubric := rubrics[2]
			if strings.Contains(string(req.Schema.JSON), "novelty") {
				rubric = rubrics[1]
			}
			return scripted.Reply{Text: stage.JSON(marked(map[string]map[string]float64{"Ada": marks(rubric, 6), "Ben": marks(rubric, 5)}))}
		}
		return reply(req)
	}
	for i := range 9 {
		config.Judging.Rubric = rubrics[i%3]
		record := stage.Run(t, engine, config)
		require.Empty(t, record.Rejections)
		if rubric := rubrics[i%3]; rubric != nil {
			assert.Equal(t, marks(rubric, 6), stage.View(record).Assessments[0].Assessments[0].Criteria)
		}
	}
}

func TestRubricsThatAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		change func(j *debate.Judging)
		field  string
	}{
		"weights below 100":   {func(j *debate.Judging) { j.Rubric.Criteria[0].Weight = 19 }, "judging.rubric.criteria"},
		"weights above 100":   {func(j *debate.Judging) { j.Rubric.Criteria[0].Weight = 21 }, "judging.rubric.criteria"},
		"a weight of nothing": {func(j *debate.Judging) { j.Rubric.Criteria[0].Weight = 0 }, "judging.rubric.criteria[0].weight"},
		"a negative weight":   {func(j *debate.Judging) { j.Rubric.Criteria[0].Weight = -20 }, "judging.rubric.criteria[0].weight"},
		"the same twice":      {func(j *debate.Judging) { j.Rubric.Criteria[1].Name = "logical consistency" }, "judging.rubric.criteria[1].name"},
		"no name":             {func(j *debate.Judging) { j.Rubric.Criteria[1].Name = "" }, "judging.rubric.criteria[1].name"},
		"nothing to mark":     {func(j *debate.Judging) { j.Rubric = &debate.Rubric{} }, "judging.rubric.criteria"},
		"criteria beside it":  {func(j *debate.Judging) { j.Criteria = []string{"wit"} }, "judging.criteria"},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Judging.Rubric = debate.DefaultRubric()
			engine, _ := stage.Engine(config)
			require.NoError(t, engine.Validate(t.Context(), config))
			test.change(config.Judging)
			assert.Contains(t, stage.FieldsOf(t, engine.Validate(t.Context(), config)), test.field)
		})
	}
}

// A judge in Go writes the types whose comments say that a judge answers with them.
func TestAJudgeInGoAnswersWithTheTypes(t *testing.T) {
	for name, rubric := range map[string]*debate.Rubric{"a score": nil, "a rubric": debate.DefaultRubric()} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Rounds, config.Unattended = 1, true
			config.Judging = &debate.Judging{Judges: []debate.JudgeConfig{{Judge: "go"}}, Rubric: rubric}
			engine, _ := stage.Engine(config)
			engine.Judges = map[string]debate.Judge{"go": debate.JudgeFunc(func(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
				if task.Kind == debate.KindVerdict {
					return json.RawMessage(stage.WellFormed(task.Kind)), nil
				}
				plain := debate.Judgement{ShouldContinue: true, QualityScore: 7, Reasoning: "So it seems.", Recommendations: "Go on."}
				marked := plain
				for _, p := range task.Participants {
					plain.Assessments = append(plain.Assessments, debate.ParticipantMark{
						Participant: p.Name, Strengths: []string{}, Weaknesses: []string{}, Score: 6,
					})
					marked.Assessments = append(marked.Assessments, debate.ParticipantMark{
						Participant: p.Name, Strengths: []string{}, Weaknesses: []string{}, Criteria: marks(debate.DefaultRubric(), 6),
					})
				}
				if rubric == nil {
					return json.Marshal(plain)
				}
				return json.Marshal(marked)
			})}
			record := stage.Run(t, engine, config)
			require.Empty(t, record.Rejections)
			require.Len(t, stage.View(record).Assessments, 1)
			assert.InDelta(t, 6, stage.View(record).Assessments[0].Assessments[0].Score, 1e-12)
		}))
	}
}
