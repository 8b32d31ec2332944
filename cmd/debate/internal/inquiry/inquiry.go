// Package inquiry is the dialogue in which a person answers an inquiry of a conversation: what is shown, and how the lines that
// the person types become an answer. The plain program and the live view share it.
package inquiry

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
)

// Lines returns what a person reads of an inquiry: what it asks, as [progress.Asks] says it, the arguments of a tool, and the options, a
// line each. A question that is answered in one's own words keeps its lines, and says until when.
func Lines(q *flow.Inquiry, asks string) []string {
	out := []string{asks}
	if len(q.Options) == 0 {
		out = asked(q)
	}
	if q.Use != nil {
		out = append(out, "  "+Use(q.Use))
	}
	for i, option := range q.Options {
		means := option.Meaning()
		if option == flow.OptionDrop && (q.Kind == debate.KindAssessment || q.Kind == debate.KindVerdict) {
			means += "; without the last judge there is no verdict"
		}
		out = append(out, fmt.Sprintf("  %d  %s: %s", i+1, option, means))
	}
	return out
}

// Use returns a use of a tool that is asked about, on one line.
func Use(use *flow.PendingUse) string {
	text := progress.Clean(use.Tool) + " " + progress.Clean(use.Arguments)
	if use.Cut {
		text += " … (there is more)"
	}
	return text
}

// Retries returns the answers with which the calls are made again that open inquiries are about, because they have failed.
func Retries(open []flow.Inquiry) []flow.Answer {
	var out []flow.Answer
	for i := range open {
		if q := &open[i]; q.Failure != nil && slices.Contains(q.Options, flow.OptionRetry) {
			out = append(out, flow.Answer{Inquiry: q.ID, Option: flow.OptionRetry})
		}
	}
	return out
}

// asked returns the lines of a question that have words.
func asked(q *flow.Inquiry) []string {
	var out []string
	for line := range strings.Lines(q.Question) {
		if line = progress.Clean(line); line != "" {
			out = append(out, line)
		}
	}
	if !q.Until.IsZero() {
		out = append(out, "  until "+q.Until.Local().Format("Jan 02 15:04:05")) //nolint:gosmopolitan // people read the time of their place
	}
	return out
}

// Dialogue collects the answer to one inquiry.
type Dialogue struct {
	Inquiry flow.Inquiry

	answer flow.Answer
	lines  []string // of an answer that has several
}

// Begin begins the dialogue about an inquiry.
func Begin(q flow.Inquiry) *Dialogue {
	return &Dialogue{Inquiry: q, answer: flow.Answer{Inquiry: q.ID}}
}

// End is the line that ends an answer of several lines.
const End = "."

// Several reports whether the answer may have several lines: a speech or a proposal has, and a short answer to agents has one.
func (d *Dialogue) Several() bool {
	q := &d.Inquiry
	return len(q.Options) == 0 && len(q.Schema) == 0 && q.Max > 0 && q.Kind != deliberation.KindAnswer
}

// Written returns the lines of an answer that are taken, and wait for the line that ends it.
func (d *Dialogue) Written() []string { return d.lines }

// Write adds lines to an answer of several, whatever they are: none of them ends it.
func (d *Dialogue) Write(lines ...string) { d.lines = append(d.lines, lines...) }

// Back takes the last of these lines back. ok is false if there is none.
func (d *Dialogue) Back() (line string, ok bool) {
	last := len(d.lines) - 1
	if last < 0 {
		return "", false
	}
	line, d.lines = d.lines[last], d.lines[:last]
	return line, true
}

// Prompt says what the next line is to be.
func (d *Dialogue) Prompt() string {
	switch d.answer.Option {
	case "":
	case flow.OptionModel:
		return "model, as provider/model"
	case flow.OptionDeny:
		return "reason, may be empty"
	case flow.OptionDone:
		return "what the tool has answered, may be empty"
	default:
		return "for whom: " + d.names()
	}
	switch {
	case len(d.Inquiry.Options) > 0:
		return fmt.Sprintf("option, 1 to %d", len(d.Inquiry.Options))
	case len(d.Inquiry.Schema) > 0:
		return "answer, as JSON"
	case d.Inquiry.Kind == deliberation.KindAnswer:
		return "answer (Enter: none)"
	case len(d.lines) > 0:
		return ""
	case d.Several():
		return "answer, ended by a line with only a dot"
	default:
		return "answer"
	}
}

// Take takes the next line. If the answer is complete, it returns it. Otherwise the answer is nil: another line is to follow,
// the one that Prompt describes. If the line is none of those that are possible, the error says why.
func (d *Dialogue) Take(line string) (*flow.Answer, error) {
	given := line
	line = strings.TrimSpace(line)
	switch d.answer.Option {
	case "":
		if len(d.Inquiry.Options) > 0 {
			return d.choose(line)
		}
		if d.Several() {
			if line != End {
				d.lines = append(d.lines, given)
				return nil, nil //nolint:nilnil // the dialogue goes on
			}
			line, d.lines = strings.TrimSpace(strings.Join(d.lines, "\n")), nil
		}
		if line == "" && d.Inquiry.Kind == deliberation.KindAnswer {
			line = deliberation.NotAnswered
		}
		if line == "" {
			return nil, errors.New("the answer is empty")
		}
		d.answer.Text = line
	case flow.OptionModel:
		if _, _, ok := flow.SplitModel(line); !ok {
			return nil, errors.New("a model is written as provider/model")
		}
		d.answer.Model = line
	case flow.OptionDeny, flow.OptionDone:
		d.answer.Text = line
	default:
		at := slices.IndexFunc(d.actors(), func(name string) bool { return progress.Clean(name) == line })
		if at < 0 {
			return nil, errors.New("it is one of " + d.names())
		}
		d.answer.By = d.actors()[at]
	}
	return &d.answer, nil
}

// choose takes an option, by its number or its name.
func (d *Dialogue) choose(line string) (*flow.Answer, error) {
	options := d.Inquiry.Options
	at := slices.IndexFunc(options, func(o flow.Option) bool { return strings.EqualFold(string(o), line) })
	if n, err := strconv.Atoi(line); err == nil {
		at = n - 1
	}
	if at < 0 || at >= len(options) {
		return nil, fmt.Errorf("it is a number from 1 to %d", len(options))
	}
	switch d.answer.Option = options[at]; d.answer.Option {
	case flow.OptionModel, flow.OptionDeny, flow.OptionDone:
		return nil, nil //nolint:nilnil // the dialogue goes on
	case flow.OptionSkip, flow.OptionDrop:
		if len(d.actors()) > 1 {
			return nil, nil //nolint:nilnil // the dialogue goes on
		}
	default:
	}
	return &d.answer, nil
}

// actors returns whose calls have failed, each once, as far as the chosen option is for them.
func (d *Dialogue) actors() []string {
	var out []string
	for _, call := range d.Inquiry.About {
		if slices.Contains(call.Options, d.answer.Option) && !slices.Contains(out, call.By) {
			out = append(out, call.By)
		}
	}
	return out
}

func (d *Dialogue) names() string { return progress.Clean(strings.Join(d.actors(), ", ")) }
