// Package evaluation is the flow in which several models score a solution, such as that of a deliberation, by seven criteria and as a
// whole. It stands on packages flow and deliberation.
package evaluation

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

// triggerScored means that each evaluator has answered or failed.
const triggerScored flow.Trigger = "scored"

// KindScore is the kind of an evaluator's answer.
const KindScore flow.CallKind = "score"

// schemaMarks is the name of the schema of an evaluator's answer.
const schemaMarks = "marks"

// Flow returns the flow of evaluations. Register it as Engine.Flows[FlowName]. Each call returns a fresh value.
//
// An evaluator's failed call is retried, and then handled like any failed call: Config.OnFailure, or a person, can
// skip the evaluator, but never the last one. If an answer is not valid, the evaluator is asked once more.
func Flow() *flow.Flow {
	marks, _ := flow.NewSchema[Marks](schemaMarks, nil) // the type has a schema: answers are accepted
	return &flow.Flow{
		Name: FlowName, Version: 1, Start: StateScoring,
		Rules: []flow.Rule{{From: StateScoring, On: triggerScored, To: flow.StateCompleting}},
		Steps: map[flow.State]flow.Step{
			flow.StateInitializing: {Next: beginScoring},
			StateScoring:           {Calls: scoringCalls, Next: scored},
		},
		Schemas: map[string]*flow.Schema{schemaMarks: marks},

		Decode: flow.DecodeTo[Config], Normalize: normalize, Check: check,
		Kinds: func(flow.Config) []flow.CallKind { return []flow.CallKind{KindScore} },
		Owes:  owes, Texts: texts, Open: open, Fixed: fixed, Estimate: estimate,
	}
}

//go:embed prompts/*.tmpl
var files embed.FS

// render renders one of the evaluation's templates.
func render(name string, data any) (string, error) {
	parsed, err := template.ParseFS(files, "prompts/"+name+".tmpl")
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = parsed.Option("missingkey=error").Execute(&out, data)
	return strings.TrimSpace(out.String()), err
}

// textAsk names the text of the instruction; the system prompts are "system." and the evaluator's ID.
const textAsk = "evaluation"

func texts(s flow.Setup) (map[string]string, error) {
	e := s.Config.(*Config)
	asked, err := render("evaluation", struct{ Criteria []criterion }{criteria()})
	if err != nil {
		return nil, err
	}
	texts := map[string]string{textAsk: asked}
	language := prompt.Plain(cmp.Or(e.Language, "the language of the problem"))
	for i := range e.Evaluators {
		told := struct{ Prompt, Language, Fence string }{prompt.Plain(e.Evaluators[i].Prompt), language, s.Fence}
		text, err := render("evaluator", told)
		if err != nil {
			return nil, err
		}
		texts["system."+e.Evaluators[i].ID] = text
	}
	return texts, nil
}

func beginScoring(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	n := len(of(r).config.Evaluators)
	round := &flow.Round{N: 1, Of: 1, Phase: string(StateScoring), Calls: n}
	return flow.TriggerInitialized, flow.Exit{Round: round, Calls: n}, true
}

// scoringCalls returns the answers that are still missing.
func scoringCalls(r *flow.Record) []*flow.Call {
	config := of(r).config
	var calls []*flow.Call
	for i := range config.Evaluators {
		one := &config.Evaluators[i]
		id := scoreID(one.ID)
		if r.Done(id) || r.Skipped(id) {
			continue
		}
		call := &flow.Call{
			ID: id, Kind: KindScore, Round: 1, Slot: i, Schema: schemaMarks, View: flow.View{None: true},
			System: r.Text("system." + one.ID), Last: material,
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
func others(r *flow.Record, config *Config, but *Evaluator) int {
	n := 0
	for i := range config.Evaluators {
		if one := &config.Evaluators[i]; one != but && !r.Skipped(scoreID(one.ID)) {
			n++
		}
	}
	return n
}

// estimate counts the calls of an evaluation: one for each evaluator.
func estimate(e *flow.Estimator, _ int) error {
	if err := e.Round(1); err != nil {
		return err
	}
	e.Calls(scoringCalls(e.Record()))
	e.First(func() {})
	return nil
}

func scoreID(evaluator string) string { return "score." + evaluator }

// material is what an evaluator is told: the material, then what to do with it.
func material(r *flow.Record) string {
	s := of(r).config
	parts := []string{r.Quote("problem", s.Problem)}
	if s.Context != "" {
		parts = append(parts, r.Quote("context", s.Context))
	}
	parts = append(parts, r.Quote("solution", s.Solution), r.Text(textAsk))
	return strings.Join(parts, "\n\n")
}

// owes returns the evaluators that are still to answer.
func owes(r *flow.Record) []string {
	if r.EndedEarlyBy != "" {
		return nil
	}
	var owed []string
	for _, call := range scoringCalls(r) {
		owed = append(owed, "the marks of "+call.By)
	}
	if len(owed) == 0 && of(r).Report().Answered == 0 {
		owed = append(owed, "the marks of any evaluator")
	}
	return owed
}

// scored ends the evaluation, and tells who is missing.
func scored(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	report := of(r).Report()
	have := "evaluators have"
	if report.Asked == 1 {
		have = "evaluator has"
	}
	exit := flow.Exit{Reason: flow.EndRounds, Evidence: fmt.Sprintf("%d of %d %s scored", report.Answered, report.Asked, have)}
	for _, o := range report.Overall.Opinions {
		if o.Gap != "" {
			exit.Warnings = append(exit.Warnings, flow.Warning{
				Kind: flow.WarnLeftOut, Call: scoreID(o.Evaluator), By: o.Evaluator, Evidence: o.Evaluator + ": " + o.Gap,
			})
		}
	}
	return triggerScored, exit, true
}
