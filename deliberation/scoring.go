package deliberation

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
)

// StateScoring is the state of an evaluation in which all evaluators are asked at once.
const StateScoring flow.State = "scoring"

// TriggerScored means that each evaluator has answered or failed.
const TriggerScored flow.Trigger = "scored"

// KindScore is the kind of an evaluator's answer.
const KindScore flow.CallKind = "score"

// schemaMarks is the name of the schema of an evaluator's answer.
const schemaMarks = "marks"

// EvaluationFlow returns the flow of an [EvaluationConfig]. Register it as Engine.Flows[EvaluationName]. Each call
// returns a fresh value.
//
// An evaluator's failed call is retried, and then handled like any failed call: EvaluationConfig.OnFailure, or a person, can
// skip the evaluator, but never the last one. If an answer is not valid, the evaluator is asked once more.
func EvaluationFlow() *flow.Flow {
	marks, _ := flow.NewSchema[Marks](schemaMarks, nil) // the type has a schema: answers are accepted
	return &flow.Flow{
		Name: EvaluationName, Version: 1, Start: StateScoring,
		Rules: []flow.Rule{{From: StateScoring, On: TriggerScored, To: flow.StateCompleting}},
		Steps: map[flow.State]flow.Step{
			flow.StateInitializing: {Next: beginScoring},
			StateScoring:           {Calls: scoringCalls, Next: scored},
		},
		Schemas: map[string]*flow.Schema{schemaMarks: marks},

		Decode: decodeEvaluation, Normalize: normalizeEvaluation, Check: checkEvaluation, Prompted: promptedEvaluation,
		Kinds: func(flow.Config) []flow.CallKind { return []flow.CallKind{KindScore} },
		Owes:  owedScores, Texts: evaluationTexts, Open: openScores, Fixed: fixedEvaluation, Estimate: estimateEvaluation,
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

func evaluationTexts(s flow.Setup) (map[string]string, error) {
	e := s.Config.(*EvaluationConfig)
	asked, err := evaluationText("evaluation", struct{ Criteria []criterion }{criteria()})
	if err != nil {
		return nil, err
	}
	texts := map[string]string{textEvaluation: asked}
	language := prompt.Plain(cmp.Or(e.Language, problemsLanguage))
	for i := range e.Evaluators {
		told := struct{ Prompt, Language, Fence string }{prompt.Plain(e.Evaluators[i].Prompt), language, s.Fence}
		text, err := evaluationText("evaluator", told)
		if err != nil {
			return nil, err
		}
		texts["system."+e.Evaluators[i].ID] = text
	}
	return texts, nil
}

func beginScoring(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	n := len(scoresOf(r).config.Evaluators)
	round := &flow.Round{N: 1, Of: 1, Phase: string(StateScoring), Calls: n}
	return flow.TriggerInitialized, flow.Exit{Round: round, Calls: n}, true
}

// scoringCalls returns the answers that are still missing.
func scoringCalls(r *flow.Record) []*flow.Call {
	config := scoresOf(r).config
	var calls []*flow.Call
	for i := range config.Evaluators {
		one := &config.Evaluators[i]
		id := scoreID(one.ID)
		if r.Done(id) || r.Skipped(id) {
			continue
		}
		call := &flow.Call{
			ID: id, Kind: KindScore, Round: 1, Slot: i, Schema: schemaMarks, View: flow.View{None: true},
			System: r.Text("system." + one.ID), Last: evaluationMaterial,
		}
		one.seat(config, "").Ask(call)
		if others(r, config, one) > 0 {
			call.OnFail.Skip = flow.RuleToo
		}
		calls = append(calls, call)
	}
	return calls
}

// others returns how many evaluators but one have scored, or can still do so.
func others(r *flow.Record, config *EvaluationConfig, but *Evaluator) int {
	n := 0
	for i := range config.Evaluators {
		if one := &config.Evaluators[i]; one != but && !r.Skipped(scoreID(one.ID)) {
			n++
		}
	}
	return n
}

// estimateEvaluation counts the calls of an evaluation: one for each evaluator.
func estimateEvaluation(e *flow.Estimator, _ int) error {
	if err := e.Round(1); err != nil {
		return err
	}
	e.Calls(scoringCalls(e.Record()))
	e.First(func() {})
	return nil
}

func scoreID(evaluator string) string { return "score." + evaluator }

// evaluationMaterial is what an evaluator is told: the material, then what to do with it.
func evaluationMaterial(r *flow.Record) string {
	s := scoresOf(r).config
	parts := []string{r.Quote("problem", s.Problem)}
	if s.Context != "" {
		parts = append(parts, r.Quote("context", s.Context))
	}
	parts = append(parts, r.Quote("solution", s.Solution), r.Text(textEvaluation))
	return strings.Join(parts, "\n\n")
}

// owedScores returns the evaluators that are still to answer.
func owedScores(r *flow.Record) []string {
	if r.EndedEarlyBy != "" {
		return nil
	}
	var owed []string
	for _, call := range scoringCalls(r) {
		owed = append(owed, "the marks of "+call.By)
	}
	if len(owed) == 0 && scoresOf(r).Report().Answered == 0 {
		owed = append(owed, "the marks of any evaluator")
	}
	return owed
}

// scored ends the evaluation, and tells who is missing.
func scored(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	report := scoresOf(r).Report()
	exit := flow.Exit{Reason: flow.EndRounds, Evidence: fmt.Sprintf("%d of %d evaluators have scored", report.Answered, report.Asked)}
	for _, o := range report.Overall.Opinions {
		if o.Gap != "" {
			exit.Warnings = append(exit.Warnings, flow.Warning{
				Kind: flow.WarnLeftOut, Call: scoreID(o.Evaluator), By: o.Evaluator, Evidence: o.Evaluator + ": " + o.Gap,
			})
		}
	}
	return TriggerScored, exit, true
}
