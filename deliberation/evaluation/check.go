package evaluation

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/deliberation/internal/refuse"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider"
)

// What the flow does with its configs before an evaluation begins.

// mostEvaluators bounds the calls that an evaluation makes at once.
const mostEvaluators = 100

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
	unread := make(map[string]error)
	for i := range e.Evaluators {
		if err := e.Evaluators[i].settle(builtin); err != nil {
			unread[fmt.Sprintf("evaluators[%d]", i)] = err
		}
	}
	if len(unread) > 0 {
		return nil, errors.Join(problems(e, nil, unread)...)
	}
	return e, nil
}

// settle puts the text of a prompt file in the place of its name, or gives an evaluator the built-in prompt, and says where the prompt
// comes from. Where a file and a text are given, the check says so.
func (one *Evaluator) settle(builtin string) error {
	if one.PromptFile != "" && one.Prompt == "" {
		text, from, err := deliberation.ReadPrompt(one.PromptFile)
		if err != nil {
			return err
		}
		one.PromptFile, one.Prompt, one.Origin = "", text, from
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
	return problems(config.(*Config), known, nil)
}

// problems finds what is wrong with a config. known is nil where what is registered is not known. unread says, by field, why a
// prompt file could not be read.
func problems(e *Config, known flow.Registry, unread map[string]error) []error {
	var f flow.Findings
	f.Text("problem", e.Problem, refuse.MostText)
	if strings.TrimSpace(e.Problem) == "" {
		f.Addf("problem", "is empty")
	}
	f.Text("context", e.Context, refuse.MostText)
	f.Text("solution", e.Solution, refuse.MostText)
	if strings.TrimSpace(e.Solution) == "" {
		f.Addf("solution", "is empty")
	}
	if n := len(e.Evaluators); n == 0 || n > mostEvaluators {
		f.Addf("evaluators", "%s: 1 to %d are possible", prompt.There(n), mostEvaluators)
		return f
	}
	var people []flow.NameField
	for i := range e.Evaluators {
		one, at := &e.Evaluators[i], fmt.Sprintf("evaluators[%d]", i)
		f.Name(at+".id", one.ID)
		people = append(people, flow.NameField{Field: at + ".id", Name: one.ID})
		one.seat(e, at).Check(&f, known)
		refuse.Prompt(&f, at, one.PromptFile, one.Prompt, unread[at])
		if one.PromptFile == "" && one.Prompt == "" {
			f.Addf(at+".prompt", "is empty")
		}
	}
	f.People(people, false, nil, nil)
	return f
}

// fixed is what the log of an evaluation refers to.
func fixed(config flow.Config) any {
	return struct {
		Evaluators []string `json:"evaluators"`
	}{config.(*Config).Settings().Participants}
}
