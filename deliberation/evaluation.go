package deliberation

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
)

// What the flow does with its configs before an evaluation begins.

// mostEvaluators bounds the calls that an evaluation makes at once.
const mostEvaluators = 100

// decodeEvaluation reads a config, settled or not.
func decodeEvaluation(data []byte) (flow.Config, error) {
	e := new(EvaluationConfig)
	if err := e.UnmarshalJSON(data); err != nil {
		return nil, err
	}
	return e, nil
}

// settleEvaluation writes the defaults of a config out, and the prompts of all evaluators.
func settleEvaluation(config flow.Config) (flow.Config, error) {
	e := config.(*EvaluationConfig).clone()
	e.ID = ""
	e.Temperature = orDefault(e.Temperature, DefaultJudgeTemperature)
	e.MaxTokens, e.Reserve = cmp.Or(e.MaxTokens, flow.DefaultMaxTokens), cmp.Or(e.Reserve, flow.DefaultReserve)
	e.TurnTimeout = cmp.Or(e.TurnTimeout, flow.DefaultTurnTimeout)
	builtin, err := evaluationText("evaluator-role", nil)
	if err != nil {
		return nil, invalidf("config", "evaluators", "their built-in prompt cannot be made: %w", err)
	}
	v := &validation{terms: e.Terms(), unread: make(map[string]error)}
	for i := range e.Evaluators {
		one := &e.Evaluators[i]
		if err := readInto(&one.PromptFile, &one.Prompt, &one.Origin); err != nil {
			v.unread[fmt.Sprintf("evaluators[%d]", i)] = err
		}
		source := SourceConfig
		if one.Prompt == "" && one.PromptFile == "" {
			one.Prompt, source = builtin, SourceBuiltIn
		}
		hash := hashOf([]byte(one.Prompt))
		one.Origin = one.Origin.of(hash, source, hash)
	}
	if len(v.unread) > 0 {
		v.evaluation(e)
		return nil, errors.Join(v.findings...)
	}
	return e, nil
}

// clone returns a deep copy.
func (e *EvaluationConfig) clone() *EvaluationConfig {
	d := *e
	d.Evaluators, d.Labels = slices.Clone(e.Evaluators), maps.Clone(e.Labels)
	for i := range d.Evaluators {
		one := &d.Evaluators[i]
		one.Fallbacks, one.Temperature, one.Origin = slices.Clone(one.Fallbacks), flow.CloneValue(one.Temperature), flow.CloneValue(one.Origin)
		one.Options = one.Options.Clone()
	}
	d.Temperature, d.Budget = flow.CloneValue(e.Temperature), flow.CloneValue(e.Budget)
	d.Retry = e.Retry.Clone()
	d.OnFailure = flow.CloneRules(e.OnFailure)
	return &d
}

// checkEvaluation finds what is wrong with a settled config.
func checkEvaluation(config flow.Config, _ any, known flow.Registry) []error {
	e := config.(*EvaluationConfig)
	v := &validation{known: known, terms: e.Terms()}
	v.evaluation(e)
	return v.findings
}

func (v *validation) evaluation(e *EvaluationConfig) {
	f := &v.findings
	f.text("problem", e.Problem)
	if strings.TrimSpace(e.Problem) == "" {
		f.addf("problem", "is empty")
	}
	f.text("context", e.Context)
	f.text("solution", e.Solution)
	if strings.TrimSpace(e.Solution) == "" {
		f.addf("solution", "is empty")
	}
	f.temperature("temperature", e.Temperature)
	if n := len(e.Evaluators); n == 0 || n > mostEvaluators {
		f.addf("evaluators", "%s: 1 to %d are possible", prompt.There(n), mostEvaluators)
		return
	}
	for i := range e.Evaluators {
		one, at := &e.Evaluators[i], fmt.Sprintf("evaluators[%d]", i)
		f.evaluatorID(at+".id", one.ID, e.Evaluators[:i])
		v.models(at, one.Model, one.Fallbacks, true)
		f.temperature(at+".temperature", one.Temperature)
		f.options(at+".options", one.Options)
		if one.MaxTokens < 0 {
			f.addf(at+".maxTokens", "is negative")
		}
		if v.prompt(at, one.PromptFile, one.Prompt); one.PromptFile == "" && one.Prompt == "" {
			f.addf(at+".prompt", "is empty")
		}
	}
}

// evaluatorID refuses what could not stand in a log, in a quotation or in the id of a call.
func (f *findings) evaluatorID(field, id string, before []Evaluator) {
	switch {
	case strings.TrimSpace(id) == "":
		f.addf(field, "is empty")
	case !utf8.ValidString(id) || utf8.RuneCountInString(id) > 64 || id != strings.TrimSpace(id):
		f.addf(field, "is longer than 64 characters, is not valid UTF-8, or begins or ends with white space")
	case strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) || r == '<' || r == '>' }):
		f.addf(field, "holds a character that does not print, '<' or '>'")
	case strings.Contains(id, ".tool."):
		f.addf(field, "%q reads like a part of the id of a call", id)
	case slices.ContainsFunc(before, func(other Evaluator) bool { return strings.EqualFold(other.ID, id) }):
		f.addf(field, "%.64q is the id of an earlier evaluator too", id)
	}
}

// fixedEvaluation is what the log of an evaluation refers to.
func fixedEvaluation(config flow.Config) any {
	return struct {
		Evaluators []string `json:"evaluators"`
	}{config.(*EvaluationConfig).Terms().Participants}
}

// promptedEvaluation is what the prompts of an evaluation, and its models, depend on.
func promptedEvaluation(config flow.Config) any { return config.(*EvaluationConfig).Evaluators }
