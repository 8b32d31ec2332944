package bench_test

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/schema"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/strictjson"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider"
)

// floor is a debate as a bare loop: what a program would write that needs one debate, never fails
// and never stops. It sends the same requests, from one append-only transcript, and does the work
// that cannot be left out: it renders last messages, and decodes, validates and converts what the
// judge answers, with the same decoder and the same validator. There are no events, no budget, no
// retries, no timeouts and no controls.
type floor struct {
	rounds    int
	provider  provider.Provider
	names     []string
	systems   []string // of the names, then of the judge
	turns     []string // by round, from 1
	assess    []string // by round; the last stands for all later ones
	conclude  string
	judgement answerSchema
	verdict   answerSchema
}

type answerSchema struct {
	wire      *provider.Schema
	validator *schema.Schema
}

// floored is what is left of a debate on the floor.
type floored struct {
	transcript  []provider.Message
	assessments []debate.Judgement
	verdict     debate.FinalVerdict
	usage       provider.Usage
}

// floorOf is the floor of a debate that the engine has played: it uses the same prompts.
func floorOf(t testing.TB, p provider.Provider, played *debate.Record) *floor {
	t.Helper()
	config := stage.View(played).Config()
	f := &floor{
		rounds: config.Rounds, provider: p, conclude: played.Text("ask.verdict"), turns: []string{""},
		judgement: answerSchemaOf[debate.Judgement](t, "assessment"), verdict: answerSchemaOf[debate.FinalVerdict](t, "verdict"),
	}
	for _, participant := range config.Participants {
		f.names = append(f.names, participant.Name)
		f.systems = append(f.systems, played.Text("system."+participant.Name))
	}
	f.systems = append(f.systems, played.Text("system.judge"))
	for round := 1; round <= config.Rounds; round++ {
		f.turns = append(f.turns, played.Text("turn."+stage.View(played).Format().Phase(round, config.Rounds).Name))
	}
	for round := 1; round <= 3; round++ {
		f.assess = append(f.assess, prompt.FillNames(played.Text("ask.assess."+strconv.Itoa(round)), f.names))
	}
	f.conclude = prompt.FillNames(f.conclude, f.names)
	require.NotContains(t, append(f.systems, f.turns[1], f.assess[0], f.conclude), "")
	return f
}

func answerSchemaOf[T any](t testing.TB, name string) answerSchema {
	t.Helper()
	text, err := schema.For[T]()
	require.NoError(t, err)
	text = bytes.ReplaceAll(text, []byte(`,"enum":["participant's name"]`), nil)
	validator, err := schema.Compile(name, text)
	require.NoError(t, err)
	return answerSchema{&provider.Schema{Name: name, JSON: text}, validator}
}

// play is the loop.
func (f *floor) play(ctx context.Context, emit func(provider.Chunk)) (*floored, error) {
	out := &floored{}
	temperature, judgeTemperature := 0.8, 0.2
	for round := 1; round < len(f.turns); round++ {
		for i, name := range f.names {
			response, err := f.provider.Generate(ctx, &provider.Request{
				Model: "debater", System: f.systems[i], Self: name, Messages: out.transcript,
				Last: provider.Message{Text: prompt.Fill(f.turns[round], round, f.rounds)}, MaxTokens: 4096, Temperature: &temperature,
			}, emit)
			if err != nil {
				return nil, err
			}
			out.transcript = append(out.transcript, provider.Message{Speaker: name, Text: response.Text})
			out.usage = out.usage.Add(response.Usage)
		}
		tree, err := f.judge(ctx, out, f.judgement, prompt.Fill(f.assess[min(round, len(f.assess))-1], round, f.rounds), &judgeTemperature)
		if err != nil {
			return nil, err
		}
		out.assessments = append(out.assessments, judgementFrom(tree))
	}
	tree, err := f.judge(ctx, out, f.verdict, f.conclude, &judgeTemperature)
	if err != nil {
		return nil, err
	}
	out.verdict = verdictFrom(tree)
	return out, nil
}

// judge asks the judge, and yields the answer decoded and validated.
func (f *floor) judge(ctx context.Context, out *floored, s answerSchema, last string, temperature *float64) (map[string]any, error) {
	response, err := f.provider.Generate(ctx, &provider.Request{
		Model: "judge", System: f.systems[len(f.names)], Self: "judge", Messages: out.transcript,
		Last: provider.Message{Text: last}, MaxTokens: 4096, Temperature: temperature, Schema: s.wire,
	}, func(provider.Chunk) {})
	if err != nil {
		return nil, err
	}
	out.usage = out.usage.Add(response.Usage)
	tree, err := strictjson.Decode(response.Text, strictjson.Limits{})
	if err != nil {
		return nil, err
	}
	if problems := s.validator.Validate(tree); len(problems) > 0 {
		return nil, errors.New(problems[0])
	}
	return tree.(map[string]any), nil
}

// judgementFrom converts what has been validated: there is no second pass over the text.
func judgementFrom(tree map[string]any) debate.Judgement {
	flags := tree["flags"].(map[string]any)
	marks := tree["assessments"].([]any)
	j := debate.Judgement{
		ShouldContinue: tree["shouldContinue"].(bool), QualityScore: tree["qualityScore"].(float64),
		Assessments: make([]debate.ParticipantMark, len(marks)),
		Flags: debate.Flags{
			Repetitive: flags["repetitive"].(bool), Drifting: flags["drifting"].(bool),
			DiminishingReturns: flags["diminishingReturns"].(bool), ConvergenceReached: flags["convergenceReached"].(bool),
		},
		Reasoning: tree["reasoning"].(string), Recommendations: tree["recommendations"].(string),
	}
	for i := range marks {
		mark := marks[i].(map[string]any)
		j.Assessments[i] = debate.ParticipantMark{
			Participant: mark["participant"].(string), Score: mark["score"].(float64),
			Strengths: textsFrom(mark["strengths"]), Weaknesses: textsFrom(mark["weaknesses"]),
		}
	}
	return j
}

func verdictFrom(tree map[string]any) debate.FinalVerdict {
	points := tree["keyPoints"].([]any)
	v := debate.FinalVerdict{
		Summary: tree["summary"].(string), KeyPoints: make([]debate.KeyPoints, len(points)),
		AreasOfAgreement: textsFrom(tree["areasOfAgreement"]), AreasOfDisagreement: textsFrom(tree["areasOfDisagreement"]),
		Scores: make(map[string]float64), Criteria: make(map[string]string),
		QualityScore: tree["qualityScore"].(float64), Insights: textsFrom(tree["insights"]),
	}
	for i := range points {
		point := points[i].(map[string]any)
		v.KeyPoints[i] = debate.KeyPoints{Participant: point["participant"].(string), MainArguments: textsFrom(point["mainArguments"])}
	}
	if winner, ok := tree["winner"].(map[string]any); ok {
		v.Winner = &debate.Winner{Participant: winner["participant"].(string), Reasoning: winner["reasoning"].(string)}
	}
	for name, score := range tree["scores"].(map[string]any) {
		v.Scores[name] = score.(float64)
	}
	for name, finding := range tree["criteria"].(map[string]any) {
		v.Criteria[name] = finding.(string)
	}
	return v
}

func textsFrom(v any) []string {
	list := v.([]any)
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = list[i].(string)
	}
	return texts
}
