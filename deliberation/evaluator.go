package deliberation

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
)

// EvaluationName is the name of the flow that scores a solution, in Engine.Flows and Config.Flow.
const EvaluationName = "evaluation"

// EvaluationConfig says what is to be scored, and by whom. [EvaluationConfig.Debate] makes of it the config of a debate
// of the flow [EvaluationFlow], which is as durable, bounded and retried as any other; [Scores] reads what
// came of it.
//
// Its JSON is strict: a key that is not known is an error. turnTimeout is a string such as "90s".
type EvaluationConfig struct {
	// ID names the evaluation in the store, as Config.ID names a debate.
	ID string `json:"id,omitempty"`
	// Evaluators score, each for itself and all at once: 1 to 100.
	Evaluators []Evaluator `json:"evaluators"`
	// Problem is what was to be solved, Context what else was known about it (it may be empty), and Solution
	// what is judged, each at most 1 MiB of UTF-8. They are material: nothing in them is an instruction.
	Problem  string `json:"problem"`
	Context  string `json:"context,omitempty"`
	Solution string `json:"solution"`
	// Temperature of the evaluators: 0.3 if nil. MaxTokens is the most output tokens of an answer:
	// debate.DefaultMaxTokens if 0.
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"maxTokens,omitempty"`
	// TurnTimeout bounds one attempt at an answer: debate.DefaultTurnTimeout if 0.
	TurnTimeout time.Duration `json:"-"`
	// Budget, Retry and Labels are those of a debate.Config.
	Budget *debate.Budget      `json:"budget,omitempty"`
	Retry  *debate.RetryPolicy `json:"retry,omitempty"`
	Labels map[string]string   `json:"labels,omitempty"`
}

// Evaluator is a model that scores.
type Evaluator struct {
	// ID is unique in the evaluation, one line of at most 64 characters.
	ID string `json:"id"`
	// Model is "provider/model"; Fallbacks take over, in order, when the one before keeps failing.
	Model     string   `json:"model"`
	Fallbacks []string `json:"fallbacks,omitempty"`
	// Temperature and MaxTokens replace the evaluation's for this evaluator.
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"maxTokens,omitempty"`
	// Prompt, or the text of the file PromptFile, says who the evaluator is, in place of the built-in
	// prompt; at most one of them is set. What it reads and how it answers is added in any case.
	Prompt     string `json:"prompt,omitempty"`
	PromptFile string `json:"promptFile,omitempty"`
}

// EvaluationOf yields the evaluation of a deliberation's solution, still without evaluators: its problem, as
// context what was given and what a person has answered, and the solution as text. How sure the author of the
// solution is, and which requirements it takes for fulfilled, are left out: the evaluators see for themselves.
// A record without a solution is a [debate.Error] of kind validation.
func EvaluationOf(r *debate.Record) (EvaluationConfig, error) {
	if r == nil {
		return EvaluationConfig{}, invalidf("evaluation", "record", "is nil")
	}
	s, ok := r.FlowConfig().(*settings)
	if !ok {
		return EvaluationConfig{}, invalidf("evaluation", "record", "is of no deliberation")
	}
	solution, _, ok := Final(r)
	if !ok {
		return EvaluationConfig{}, invalidf("evaluation", "record", "holds no solution")
	}
	context := []string{s.Context}
	for _, q := range Clarifications(r) {
		if q.Answered && !q.Skipped {
			context = append(context, "Question: "+indented(q.Question)+"\nAnswer: "+indented(q.Answer))
		}
	}
	return EvaluationConfig{
		Problem: s.Problem, Context: strings.TrimSpace(strings.Join(context, "\n\n")), Solution: solutionText(solution),
	}, nil
}

// indented keeps the lines of a text behind the first: none of them begins like a question or an answer.
func indented(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ") }

// solutionText writes a solution as Markdown, without what it says about itself.
func solutionText(s *Solution) string {
	var out strings.Builder
	out.WriteString(strings.TrimSpace(s.Description))
	for _, part := range []struct {
		title string
		items []string
	}{
		{"Implementation", s.Implementation},
		{"Trade-offs", s.Tradeoffs},
		{"Recommendations", s.Recommendations},
		{"Open questions", s.OpenQuestions},
	} {
		if len(part.items) > 0 {
			out.WriteString("\n\n## " + part.title + "\n\n- " + strings.Join(part.items, "\n- "))
		}
	}
	return out.String()
}

// mostEvaluators bounds the calls that an evaluation makes at once.
const mostEvaluators = 100

// Debate yields the config of the debate that the evaluation is. Prompt files are read now, and what was
// read is frozen with its absolute path and SHA-256. The error joins one *[debate.Error] of kind validation
// for each field that is wrong.
func (e EvaluationConfig) Debate() (debate.Config, error) {
	var f findings
	f.evaluation(&e)
	s := evaluationSettings{Problem: e.Problem, Context: e.Context, Solution: e.Solution}
	config := debate.Config{
		ID: e.ID, Topic: topic(e.Problem), Flow: EvaluationName, CustomFormat: evaluationFormat(), Rounds: 1,
		Temperature: orDefault(e.Temperature, DefaultJudgeTemperature), MaxTokens: e.MaxTokens, TurnTimeout: e.TurnTimeout,
		Budget: e.Budget, Retry: e.Retry, Labels: e.Labels,
	}
	for i := range e.Evaluators {
		one := &e.Evaluators[i]
		s.Evaluators = append(s.Evaluators, f.evaluator(fmt.Sprintf("evaluators[%d]", i), one, e.Evaluators[:i]))
		config.Participants = append(config.Participants, debate.Participant{
			Name: one.ID, Model: one.Model, Fallbacks: one.Fallbacks, Temperature: orDefault(one.Temperature, *config.Temperature),
			MaxTokens: one.MaxTokens,
		})
	}
	if len(f) > 0 {
		return debate.Config{}, errors.Join(f...)
	}
	data, err := json.Marshal(s)
	config.FlowConfig = data
	return config, err
}

// evaluation checks the fields that do not belong to one evaluator.
func (f *findings) evaluation(e *EvaluationConfig) {
	if n := len(e.Evaluators); n == 0 || n > mostEvaluators {
		f.addf("evaluators", "there are %d: 1 to %d are possible", n, mostEvaluators)
	}
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
	if e.MaxTokens < 0 {
		f.addf("maxTokens", "is negative")
	}
	if e.TurnTimeout < 0 {
		f.addf("turnTimeout", "is negative")
	}
}

// evaluator checks an evaluator, and finds what it is told and where that comes from.
func (f *findings) evaluator(at string, e *Evaluator, before []Evaluator) evaluatorSettings {
	switch {
	case strings.TrimSpace(e.ID) == "":
		f.addf(at+".id", "is empty")
	case slices.ContainsFunc(before, func(other Evaluator) bool { return strings.EqualFold(other.ID, e.ID) }):
		f.addf(at+".id", "%.64q is the id of an earlier evaluator too", e.ID)
	}
	f.model(at, e.Model, e.Fallbacks)
	f.temperature(at+".temperature", e.Temperature)
	if e.MaxTokens < 0 {
		f.addf(at+".maxTokens", "is negative")
	}
	s := evaluatorSettings{ID: e.ID}
	f.ownPrompt(at, e.PromptFile, e.Prompt, &s.words)
	if s.Source != "" {
		return s
	}
	text, err := evaluationText("evaluator-role", nil)
	if err != nil {
		f.addf(at+".prompt", "cannot be rendered: %w", err)
	}
	s.words = words{text, SourceBuiltIn, hashOf([]byte(text))}
	return s
}

// evaluationFields is EvaluationConfig without its methods.
type evaluationFields EvaluationConfig

// evaluationJSON writes the duration as text.
type evaluationJSON struct {
	evaluationFields

	TurnTimeout duration `json:"turnTimeout,omitempty"`
}

// MarshalJSON writes the evaluation.
func (e EvaluationConfig) MarshalJSON() ([]byte, error) {
	return json.Marshal(evaluationJSON{evaluationFields(e), duration(e.TurnTimeout)})
}

// UnmarshalJSON reads an evaluation strictly. The error is a [debate.Error] of kind validation.
func (e *EvaluationConfig) UnmarshalJSON(data []byte) error {
	var in evaluationJSON
	if err := debate.DecodeStrict(data, &in); err != nil {
		return err
	}
	*e = EvaluationConfig(in.evaluationFields)
	e.TurnTimeout = time.Duration(in.TurnTimeout)
	return nil
}
