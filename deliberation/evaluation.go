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

// decodeEvaluation reads a config, normalized or not.
func decodeEvaluation(data []byte) (flow.Config, error) {
	e := new(EvaluationConfig)
	if err := e.UnmarshalJSON(data); err != nil {
		return nil, err
	}
	return e, nil
}

// normalizeEvaluation writes the defaults of a config out, and the prompts of all evaluators.
func normalizeEvaluation(config flow.Config) (flow.Config, error) {
	e := config.(*EvaluationConfig).clone()
	e.ID = ""
	e.seats().Normalize()
	e.MaxTokens, e.Reserve = cmp.Or(e.MaxTokens, flow.DefaultMaxTokens), cmp.Or(e.Reserve, flow.DefaultReserve)
	e.TurnTimeout = cmp.Or(e.TurnTimeout, flow.DefaultTurnTimeout)
	builtin, err := evaluationText("evaluator-role", nil)
	if err != nil {
		return nil, invalidf("config", "evaluators", "their built-in prompt cannot be made: %w", err)
	}
	v := &validation{unread: make(map[string]error)}
	for i := range e.Evaluators {
		one := &e.Evaluators[i]
		if err := readInto(&one.PromptFile, &one.Prompt, &one.Origin); err != nil {
			v.unread[fmt.Sprintf("evaluators[%d]", i)] = err
		}
		source := SourceConfig
		if one.Prompt == "" && one.PromptFile == "" {
			one.Prompt, source = builtin, SourceBuiltIn
		}
		hash := flow.HashOf([]byte(one.Prompt))
		one.Origin = one.Origin.of(hash, source, hash)
	}
	if len(v.unread) > 0 {
		v.evaluation(e)
		return nil, errors.Join(v.Findings...)
	}
	return e, nil
}

// clone returns a deep copy.
func (e *EvaluationConfig) clone() *EvaluationConfig {
	d := *e
	d.Evaluators, d.Labels = slices.Clone(e.Evaluators), maps.Clone(e.Labels)
	for i := range d.Evaluators {
		one := &d.Evaluators[i]
		one.Origin = flow.CloneValue(one.Origin)
	}
	d.seats().Clone()
	d.Budget = flow.CloneValue(e.Budget)
	d.Retry = e.Retry.Clone()
	d.OnFailure = flow.CloneRules(e.OnFailure)
	return &d
}

// checkEvaluation finds what is wrong with a normalized config.
func checkEvaluation(config flow.Config, _ any, known flow.Registry) []error {
	e := config.(*EvaluationConfig)
	v := &validation{known: known}
	v.evaluation(e)
	return v.Findings
}

func (v *validation) evaluation(e *EvaluationConfig) {
	v.Text("problem", e.Problem, mostText)
	if strings.TrimSpace(e.Problem) == "" {
		v.Addf("problem", "is empty")
	}
	v.Text("context", e.Context, mostText)
	v.Text("solution", e.Solution, mostText)
	if strings.TrimSpace(e.Solution) == "" {
		v.Addf("solution", "is empty")
	}
	if n := len(e.Evaluators); n == 0 || n > mostEvaluators {
		v.Addf("evaluators", "%s: 1 to %d are possible", prompt.There(n), mostEvaluators)
		return
	}
	for i := range e.Evaluators {
		one, at := &e.Evaluators[i], fmt.Sprintf("evaluators[%d]", i)
		v.evaluatorID(at+".id", one.ID, e.Evaluators[:i])
		one.seat(e, at).Check(&v.Findings, v.known)
		if v.prompt(at, one.PromptFile, one.Prompt); one.PromptFile == "" && one.Prompt == "" {
			v.Addf(at+".prompt", "is empty")
		}
	}
}

// evaluatorID refuses what could not stand in a log, in a quotation or in the id of a call.
func (v *validation) evaluatorID(field, id string, before []Evaluator) {
	switch {
	case strings.TrimSpace(id) == "":
		v.Addf(field, "is empty")
	case !utf8.ValidString(id) || utf8.RuneCountInString(id) > 64 || id != strings.TrimSpace(id):
		v.Addf(field, "is longer than 64 characters, is not valid UTF-8, or begins or ends with white space")
	case strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) || r == '<' || r == '>' }):
		v.Addf(field, "holds a character that does not print, '<' or '>'")
	case strings.Contains(id, ".tool."):
		v.Addf(field, "%q reads like a part of the id of a call", id)
	case slices.ContainsFunc(before, func(other Evaluator) bool { return strings.EqualFold(other.ID, id) }):
		v.Addf(field, "%.64q is the id of an earlier evaluator too", id)
	}
}

// fixedEvaluation is what the log of an evaluation refers to.
func fixedEvaluation(config flow.Config) any {
	return struct {
		Evaluators []string `json:"evaluators"`
	}{config.(*EvaluationConfig).Settings().Participants}
}

// promptedEvaluation is what the prompts of an evaluation, and its models, depend on.
func promptedEvaluation(config flow.Config) any { return config.(*EvaluationConfig).Evaluators }
