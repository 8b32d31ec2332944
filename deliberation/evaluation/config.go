package evaluation

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/deliberation/internal/refuse"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// FlowName is the name of the flow, in Engine.Flows. DefaultTemperature is that of evaluators.
const (
	FlowName           = "evaluation"
	DefaultTemperature = 0.3
)

// Config says what is scored, and by which models. [debate.Engine.Start] starts an evaluation with it, and [About] makes one of a
// deliberation's solution. An evaluation is a conversation of the flow [Flow], and as durable, bounded and retried as any other. [Of]
// reads its result.
//
// The start normalizes the config: each evaluator then has its Prompt as text. Its JSON is strict: an unknown key is an
// error. turnTimeout is a string such as "90s".
//
//nolint:recvcheck // only reading JSON changes a config
type Config struct {
	// ID names the evaluation in the store. If it is empty, the evaluation gets a new id.
	ID string `json:"id,omitempty" redact:"-"`
	// Evaluators score the solution, from 1 to 100 of them, all at once. None sees the answer of another one.
	Evaluators []Evaluator `json:"evaluators"`
	// Problem is what was to be solved. Context is what else was known about it, and may be empty. Solution is what is
	// judged. Each has at most 1 MiB of UTF-8. They are material: nothing in them is an instruction.
	Problem  string `json:"problem"`
	Context  string `json:"context,omitempty"`
	Solution string `json:"solution"`
	// Language is that of a debate.Config. If it is empty, reasons are written in the language of the problem.
	Language string `json:"language,omitempty" redact:"-"`
	// Temperature is that of the evaluators: 0.3 if nil. MaxTokens limits the output of an answer, in tokens:
	// flow.DefaultMaxTokens if 0.
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"maxTokens,omitempty"`
	// Reserve is the part of each model's window that is kept free, in tokens: flow.DefaultReserve if 0.
	Reserve int `json:"reserve,omitempty"`
	// TurnTimeout bounds one attempt at an answer: flow.DefaultTurnTimeout if 0.
	TurnTimeout time.Duration `json:"-"`
	// Budget, Retry, Unattended, OnFailure and Labels are those of a debate.Config. A rule may skip an evaluator, but never
	// the last one.
	Budget     *flow.Budget       `json:"budget,omitempty"`
	Retry      *flow.RetryPolicy  `json:"retry,omitempty"`
	Unattended bool               `json:"unattended,omitempty"`
	OnFailure  []flow.FailureRule `json:"onFailure,omitempty"`
	Labels     map[string]string  `json:"labels,omitempty" redact:"keys"`
}

// Evaluator is a model that scores.
type Evaluator struct {
	// ID is one line of at most 64 characters, and unique in the evaluation.
	ID string `json:"id" redact:"-"`
	// Model is "provider/model". Fallbacks are models that take over, in this order, when the model before keeps
	// failing.
	Model     string   `json:"model" redact:"-"`
	Fallbacks []string `json:"fallbacks,omitempty" redact:"-"`
	// Temperature and MaxTokens replace those of the evaluation for this evaluator.
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"maxTokens,omitempty"`
	// Options are what its requests ask for beyond text, such as effort. nil: the vendor's defaults.
	Options *provider.Options `json:"options,omitempty"`
	// Prompt, or the text of the file PromptFile, says who the evaluator is. It replaces the built-in prompt. At most
	// one of them is set. What the evaluator reads, and how it answers, is added in any case.
	Prompt     string `json:"prompt,omitempty"`
	PromptFile string `json:"promptFile,omitempty"`
	// Origin says where Prompt comes from. The start sets it.
	Origin *deliberation.Origin `json:"origin,omitempty"`
}

func (one *Evaluator) seat(e *Config, field string) flow.Seat {
	return flow.Seat{
		Field: field, By: one.ID, Model: &one.Model, Fallbacks: &one.Fallbacks, Temperature: &one.Temperature, MaxTokens: &one.MaxTokens,
		Options: &one.Options, Shared: &e.Temperature, Usual: DefaultTemperature,
	}
}

// About returns an evaluation of a deliberation's solution. The caller adds the evaluators. It has the deliberation's problem and
// language, the solution as text and, as Context, the deliberation's context and a person's answers. The author's confidence, and the
// requirements that the author claims to fulfil, are left out, so that they do not bias the evaluators. Without a solution the error is a
// [flow.Error] of kind validation.
func About(d *deliberation.Deliberation) (Config, error) {
	solution, _, ok := d.Solution()
	if !ok {
		return Config{}, &flow.Error{Kind: provider.KindValidation, Op: "evaluation", Field: "record", Err: errors.New("holds no solution")}
	}
	config := d.Config()
	context := []string{config.Context}
	for _, q := range d.Clarifications() {
		if q.Answered && !q.Skipped {
			context = append(context, "Question: "+indented(q.Question)+"\nAnswer: "+indented(q.Answer))
		}
	}
	return Config{
		Problem: config.Problem, Context: strings.TrimSpace(strings.Join(context, "\n\n")), Solution: solutionText(solution),
		Language: config.Language,
	}, nil
}

// indented keeps the lines of a text behind the first: none of them begins like a question or an answer.
func indented(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ") }

// solutionText writes a solution as Markdown, without what it says about itself.
func solutionText(s *deliberation.Solution) string {
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

// Flow returns the name of the flow: [FlowName].
func (e Config) Flow() string { return FlowName }

// Settings returns the part of the config that all flows share.
func (e Config) Settings() flow.Settings {
	t := flow.Settings{
		ID: e.ID, Topic: flow.TopicOf(e.Problem, "a problem"), Language: e.Language, Rounds: 1, MaxTokens: e.MaxTokens, Reserve: e.Reserve,
		TurnTimeout: e.TurnTimeout, Budget: e.Budget, Retry: e.Retry, Labels: e.Labels, Unattended: e.Unattended, OnFailure: e.OnFailure,
	}
	for i := range e.Evaluators {
		t.Participants = append(t.Participants, e.Evaluators[i].ID)
	}
	return t
}

// Seats yields those of the evaluators.
func (e Config) Seats() flow.Seats { return e.seats() }

func (e *Config) seats() flow.Seats {
	return func(yield func(flow.Seat) bool) {
		for i := range e.Evaluators {
			if !yield(e.Evaluators[i].seat(e, fmt.Sprintf("evaluators[%d]", i))) {
				return
			}
		}
	}
}

// configFields is Config without its methods.
type configFields Config

// configJSON writes the duration as text.
type configJSON struct {
	configFields

	TurnTimeout flow.Duration `json:"turnTimeout,omitempty"`
}

// MarshalJSON writes the evaluation.
func (e Config) MarshalJSON() ([]byte, error) {
	return json.Marshal(configJSON{configFields(e), flow.Duration(e.TurnTimeout)})
}

// UnmarshalJSON reads an evaluation strictly. The error is a [flow.Error] of kind validation.
func (e *Config) UnmarshalJSON(data []byte) error {
	var in configJSON
	if err := flow.DecodeStrict("read config", data, &in); err != nil {
		return err
	}
	if err := refuse.Zeros(data); err != nil {
		return err
	}
	*e = Config(in.configFields)
	e.TurnTimeout = time.Duration(in.TurnTimeout)
	return nil
}
