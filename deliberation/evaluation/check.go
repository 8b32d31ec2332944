package evaluation

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/deliberation/internal/refuse"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider"
)

// What the flow does with its configs before an evaluation begins.

// mostEvaluators bounds the calls that an evaluation makes at once.
const mostEvaluators = 100

// decode reads a config, normalized or not.
func decode(data []byte) (flow.Config, error) {
	e := new(Config)
	if err := e.UnmarshalJSON(data); err != nil {
		return nil, err
	}
	return e, nil
}

// normalize writes the defaults of a config out, and the prompts of all evaluators.
func normalize(config flow.Config) (flow.Config, error) {
	e := config.(*Config).clone()
	e.ID = ""
	e.seats().Normalize()
	e.MaxTokens, e.Reserve = cmp.Or(e.MaxTokens, flow.DefaultMaxTokens), cmp.Or(e.Reserve, flow.DefaultReserve)
	e.TurnTimeout = cmp.Or(e.TurnTimeout, flow.DefaultTurnTimeout)
	builtin, err := render("evaluator-role", nil)
	if err != nil {
		err = fmt.Errorf("their built-in prompt cannot be made: %w", err)
		return nil, &flow.Error{Kind: provider.KindValidation, Op: "config", Field: "evaluators", Err: err}
	}
	v := &validation{unread: make(map[string]error)}
	for i := range e.Evaluators {
		if err := e.Evaluators[i].settle(builtin); err != nil {
			v.unread[fmt.Sprintf("evaluators[%d]", i)] = err
		}
	}
	if len(v.unread) > 0 {
		v.check(e)
		return nil, errors.Join(v.Findings...)
	}
	return e, nil
}

// settle puts the text of a prompt file in the place of its name, or gives an evaluator the built-in prompt, and says where the prompt
// comes from. Where a file and a text are given, the check says so.
func (one *Evaluator) settle(builtin string) error {
	if one.PromptFile != "" && one.Prompt == "" {
		text, source, hash, err := deliberation.ReadPrompt(one.PromptFile)
		if err != nil {
			return err
		}
		one.PromptFile, one.Prompt, one.Origin = "", text, &deliberation.Origin{Source: source, SHA256: hash, Of: flow.HashOf([]byte(text))}
	}
	source := deliberation.SourceConfig
	if one.Prompt == "" && one.PromptFile == "" {
		one.Prompt, source = builtin, deliberation.SourceBuiltIn
	}
	if hash := flow.HashOf([]byte(one.Prompt)); one.Origin == nil || one.Origin.Of != hash {
		one.Origin = &deliberation.Origin{Source: source, SHA256: hash, Of: hash}
	}
	return nil
}

// clone returns a deep copy.
func (e *Config) clone() *Config {
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

// check finds what is wrong with a normalized config.
func check(config flow.Config, _ any, known flow.Registry) []error {
	e := config.(*Config)
	v := &validation{known: known}
	v.check(e)
	return v.Findings
}

// validation checks a normalized config.
type validation struct {
	flow.Findings

	known  flow.Registry    // nil: what is registered is not known
	unread map[string]error // by field: why a prompt file could not be read
}

func (v *validation) check(e *Config) {
	v.Text("problem", e.Problem, refuse.MostText)
	if strings.TrimSpace(e.Problem) == "" {
		v.Addf("problem", "is empty")
	}
	v.Text("context", e.Context, refuse.MostText)
	v.Text("solution", e.Solution, refuse.MostText)
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
		refuse.Prompt(&v.Findings, at, one.PromptFile, one.Prompt, v.unread[at])
		if one.PromptFile == "" && one.Prompt == "" {
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

// fixed is what the log of an evaluation refers to.
func fixed(config flow.Config) any {
	return struct {
		Evaluators []string `json:"evaluators"`
	}{config.(*Config).Settings().Participants}
}
