package deliberation

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/template"

	"github.com/agonist-dev/debate"
)

// StateScoring is the state of an evaluation in which all evaluators are asked, at once.
const StateScoring debate.State = "scoring"

// TriggerScored says that all evaluators have answered, or have failed to.
const TriggerScored debate.Trigger = "scored"

// KindScore is the kind of an evaluator's answer.
const KindScore debate.CallKind = "score"

// schemaMarks is the name of the schema of an evaluator's answer.
const schemaMarks = "marks"

// EvaluationFlow yields the flow of an [EvaluationConfig], a fresh value each time: register it as
// Engine.Flows[EvaluationName]. An evaluator that fails is retried, then left out with a warning; one whose
// answer is not valid is asked once more. The evaluation ends by itself whatever became of them.
func EvaluationFlow() *debate.Flow {
	marks, _ := debate.NewSchema[Marks](schemaMarks, nil) // the type has a schema: answers are accepted
	return &debate.Flow{
		Name: EvaluationName, Version: 1, Start: StateScoring,
		Rules: []debate.Rule{{From: StateScoring, On: TriggerScored, To: debate.StateCompleting}},
		Steps: map[debate.State]debate.Step{
			debate.StateInitializing: {Next: beginScoring},
			StateScoring:             {Calls: scoringCalls, Next: scored},
		},
		Schemas:      map[string]*debate.Schema{schemaMarks: marks},
		Texts:        evaluationTexts,
		Check:        checkEvaluation,
		DecodeConfig: decodeEvaluation,
	}
}

// evaluationSettings is the flow's part of the config.
type evaluationSettings struct {
	Problem    string              `json:"problem"`
	Context    string              `json:"context,omitempty"`
	Solution   string              `json:"solution"`
	Evaluators []evaluatorSettings `json:"evaluators"`
}

// evaluatorSettings says which prompt an evaluator has, and where it comes from.
type evaluatorSettings struct {
	words

	ID string `json:"id"`
}

func decodeEvaluation(data json.RawMessage) (any, error) {
	s := &evaluationSettings{}
	if err := debate.DecodeStrict(data, s); err != nil {
		return nil, err
	}
	if s.Problem == "" || s.Solution == "" {
		return nil, errors.New("problem or solution is empty")
	}
	return s, nil
}

// settingsOfEvaluation yields the settings of a record; without any it is of another flow.
func settingsOfEvaluation(r *debate.Record) *evaluationSettings {
	s, ok := r.FlowConfig().(*evaluationSettings)
	if !ok {
		return &evaluationSettings{}
	}
	return s
}

// checkEvaluation refuses what this flow would not heed, and settings that do not fit the debate.
func checkEvaluation(c *debate.Config) error {
	var f findings
	for _, part := range []struct {
		field string
		given bool
	}{
		{"judging", c.Judging != nil},
		{"audience", c.Audience != nil},
		{"assign", c.Assign != nil},
		{"watch", len(c.Watch) > 0},
		{"stopOn", len(c.StopOn) > 0},
		{"tools", len(c.Tools) > 0},
	} {
		if part.given {
			f.addf(part.field, "is nothing that an evaluation has")
		}
	}
	if c.Rounds != 1 {
		f.addf("rounds", "is %d: an evaluation has 1", c.Rounds)
	}
	decoded, err := decodeEvaluation(c.FlowConfig)
	s, ok := decoded.(*evaluationSettings)
	if err != nil || !ok {
		return errors.Join(f...) // what is wrong with it is told already
	}
	if len(s.Evaluators) != len(c.Participants) {
		f.addf("flowConfig.evaluators", "are %d for %d participants", len(s.Evaluators), len(c.Participants))
		return errors.Join(f...)
	}
	for i := range s.Evaluators {
		if s.Evaluators[i].ID != c.Participants[i].Name {
			f.addf(fmt.Sprintf("flowConfig.evaluators[%d].id", i), "is not the name of participants[%d]", i)
		}
		if strings.TrimSpace(s.Evaluators[i].Prompt) == "" {
			f.addf(fmt.Sprintf("flowConfig.evaluators[%d].prompt", i), "is empty")
		}
	}
	return errors.Join(f...)
}

// evaluationFormat lets a single evaluator do, and a hundred.
func evaluationFormat() *debate.Format {
	return &debate.Format{
		Name: EvaluationName, MinParticipants: 1, MaxParticipants: mostEvaluators,
		Phases: []debate.Phase{{Name: string(StateScoring), First: 1, Last: -1}}, End: debate.EndByRounds,
	}
}

//go:embed prompts/evaluat*.tmpl
var evaluationFiles embed.FS

// evaluationText renders one of the evaluation's templates.
func evaluationText(name string, data any) (string, error) {
	parsed, err := template.ParseFS(evaluationFiles, "prompts/"+name+".tmpl")
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = parsed.Option("missingkey=error").Execute(&out, data)
	return strings.TrimSpace(out.String()), err
}

// textEvaluation names the text of the instruction; the system prompts are "system." and the evaluator's ID.
const textEvaluation = "evaluation"

func evaluationTexts(s debate.Setup) (map[string]string, error) {
	decoded, err := decodeEvaluation(s.Config.FlowConfig)
	if err != nil {
		return nil, err
	}
	settings, ok := decoded.(*evaluationSettings)
	if !ok {
		return nil, errors.New("the flow's config is of another type")
	}
	texts := make(map[string]string, len(settings.Evaluators)+1)
	if texts[textEvaluation], err = evaluationText("evaluation", struct{ Criteria []criterion }{criteria()}); err != nil {
		return nil, err
	}
	for _, e := range settings.Evaluators {
		text, err := evaluationText("evaluator", struct{ Prompt, Fence string }{plain(e.Prompt), s.Fence})
		if err != nil {
			return nil, err
		}
		texts["system."+e.ID] = text
	}
	return texts, nil
}

func beginScoring(r *debate.Record) (debate.Trigger, debate.Note, bool) {
	n := len(r.Config().Participants)
	round := &debate.Round{N: 1, Of: 1, Phase: string(StateScoring), Calls: n}
	return debate.TriggerInitialized, debate.Note{Round: round, Calls: n}, true
}

// scoringCalls yields the answers that are still missing.
func scoringCalls(r *debate.Record) []debate.Call {
	config := r.Config()
	var calls []debate.Call
	for i := range config.Participants {
		p := &config.Participants[i]
		id := scoreID(p.Name)
		if r.Done(id) || r.Failed(id) {
			continue
		}
		call := debate.Call{
			ID: id, Kind: KindScore, By: p.Name, Model: p.Model, Fallbacks: p.Fallbacks, Round: 1, Slot: i, Schema: schemaMarks,
			View: debate.View{None: true}, System: r.Text("system." + p.Name), Last: evaluationMaterial, MaxTokens: p.MaxTokens,
			Temperature: p.Temperature, OnFail: debate.OnFail{Skip: true},
		}
		if call.Temperature == nil {
			call.Temperature = config.Temperature
		}
		calls = append(calls, call)
	}
	return calls
}

func scoreID(evaluator string) string { return "score." + evaluator }

// evaluationMaterial is what an evaluator is told: the material, then what to do with it.
func evaluationMaterial(r *debate.Record) string {
	s := settingsOfEvaluation(r)
	parts := []string{r.Quote("problem", s.Problem)}
	if s.Context != "" {
		parts = append(parts, r.Quote("context", s.Context))
	}
	parts = append(parts, r.Quote("solution", s.Solution), r.Text(textEvaluation))
	return strings.Join(parts, "\n\n")
}

// scored ends the evaluation, and tells who is missing.
func scored(r *debate.Record) (debate.Trigger, debate.Note, bool) {
	report := Scores(r)
	note := debate.Note{Reason: debate.EndRounds, Evidence: fmt.Sprintf("%d of %d evaluators have scored", report.Answered, report.Asked)}
	if report.Answered == 0 {
		note.Reason = debate.EndTooFew
	}
	for _, o := range report.Overall.Opinions {
		if o.Gap != "" {
			note.Warnings = append(note.Warnings, debate.Warning{
				Kind: debate.WarnLeftOut, Call: scoreID(o.Evaluator), By: o.Evaluator, Evidence: o.Gap,
			})
		}
	}
	return TriggerScored, note, true
}
