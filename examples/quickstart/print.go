package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
)

// printer shows a debate as it happens. Texts of models, servers and vendors go through a cleaner first.
type printer struct {
	out      io.Writer
	styled   bool
	text     wrapper
	cleaner  cleaner
	sides    map[string]debate.Side
	shown    int           // bytes of the turn that were shown
	question string        // the last one that was shown
	trouble  *debate.Error // the failure that it is about
}

func newPrinter(out io.Writer, styled bool) *printer {
	return &printer{out: out, styled: styled, text: wrapper{out: out}, sides: make(map[string]debate.Side)}
}

func (p *printer) heading(text string) {
	if p.styled {
		text = "\x1b[1m" + text + "\x1b[0m"
	}
	sayf(p.out, "\n%s\n", text)
}

// paragraphf writes one paragraph, cleaned and wrapped.
func (p *printer) paragraphf(format string, args ...any) {
	p.text.write(clean(fmt.Sprintf(format, args...)))
	p.text.end()
}

// begin shows the topic and who takes part.
func (p *printer) begin(note string, c *debate.Config) {
	if note != "" {
		sayf(p.out, "%s\n", note)
	}
	var names []string
	for _, one := range c.Participants {
		p.sides[one.Name] = one.Side
		names = append(names, fmt.Sprintf("%s (%s)", one.Name, one.Side))
	}
	p.heading(oneLine(c.Topic, 400))
	if note == "" {
		p.paragraphf("%s speak with %s; %s judges.", strings.Join(names, " and "),
			c.Participants[0].Model, c.Judging.Judges[0].Model)
	}
}

// show shows one event.
func (p *printer) show(e *debate.Event) {
	switch body := e.Body.(type) {
	case *flow.Round:
		p.heading(fmt.Sprintf("== Round %d of %d: %s ==", body.N, body.Of, oneLine(body.Phase, 40)))
	case *flow.Intent:
		p.announce(body)
	case *flow.Chunk:
		if body.Schema == "" { // else it is JSON, and the event that follows has what is in it
			p.speak(body)
		}
	case *debate.Turn:
		p.hush()
		if body.Cut {
			p.paragraphf("(The reply was cut at the limit of its tokens.)")
		}
	case *debate.Assessment:
		p.assess(body)
	case *debate.Verdict:
		p.conclude(body)
	case *flow.Rejection:
		p.paragraphf("(The answer of the %s was not accepted: %s.)", body.By, oneLine(strings.Join(body.Problems, "; "), 200))
	case *flow.Failure:
		p.fail(body, e.At)
	case *flow.Inquiry:
		p.ask(body)
	case *flow.Answer:
		p.paragraphf("(Nobody is asked here. The choice is to %s.)", inWords(body.Option))
	case *flow.Dropped:
		p.paragraphf("(%s takes no further part: %s.)", body.Participant, strings.TrimRight(oneLine(body.Reason, 200), "."))
	case *flow.Warning:
		if body.Kind == flow.WarnShort {
			p.paragraphf("(The conversation no longer fits the model's window: the oldest turns are left out.)")
		}
	}
}

// announce prints who is going to speak.
func (p *printer) announce(i *flow.Intent) {
	p.hush()
	heading := i.By
	switch side := p.sides[i.By]; {
	case i.Kind == debate.KindVerdict:
		heading = "== Verdict =="
	case i.Kind == debate.KindAssessment:
		heading = fmt.Sprintf("The %s on round %d", i.By, i.Round)
	case side != "":
		heading += " (" + string(side) + ")"
	}
	if i.Attempt > 1 {
		heading += ", once more"
	}
	p.heading(oneLine(heading, lineWidth))
}

// speak shows a piece of a turn.
func (p *printer) speak(c *flow.Chunk) {
	if c.Offset < p.shown {
		p.hush()
		p.paragraphf("(That reply is replaced by this one.)")
	}
	p.shown = c.Offset + len(c.Text)
	p.text.write(p.cleaner.clean(c.Text))
}

// hush ends the text that is being shown.
func (p *printer) hush() {
	p.text.end()
	p.cleaner = cleaner{}
	p.shown = 0
}

func (p *printer) assess(a *debate.Assessment) {
	marks := make([]string, len(a.Assessments))
	for i, mark := range a.Assessments {
		marks[i] = fmt.Sprintf("%s %g", mark.Participant, mark.Score)
	}
	wish := "would end it here"
	if a.ShouldContinue {
		wish = "would go on"
	}
	p.paragraphf("Quality %g of 10; %s; %s; %s.", a.QualityScore, strings.Join(marks, ", "), flagged(a.Flags), wish)
	p.paragraphf("%s", oneLine(a.Reasoning, lineWidth-len(indent)))
}

func flagged(f debate.Flags) string {
	var flags []string
	for _, flag := range []struct {
		name string
		set  bool
	}{
		{"repetitive", f.Repetitive},
		{"drifting", f.Drifting},
		{"diminishing returns", f.DiminishingReturns},
		{"convergence reached", f.ConvergenceReached},
	} {
		if flag.set {
			flags = append(flags, flag.name)
		}
	}
	if flags == nil {
		return "no flags"
	}
	return strings.Join(flags, ", ")
}

func (p *printer) conclude(v *debate.Verdict) {
	winner := "Nobody has won"
	if v.Winner != nil {
		winner = v.Winner.Participant + " has won"
	}
	var scores []string
	for _, points := range v.KeyPoints {
		scores = append(scores, fmt.Sprintf("%s %g", points.Participant, v.Scores[points.Participant]))
	}
	p.paragraphf("%s: %s of 100; quality of the debate %g.", winner, strings.Join(scores, ", "), v.QualityScore)
	if v.Winner != nil {
		p.paragraphf("%s", v.Winner.Reasoning)
	}
	sayf(p.out, "\n")
	p.paragraphf("%s", v.Summary)
	for _, list := range []struct {
		title string
		items []string
	}{{"Agreed", v.AreasOfAgreement}, {"Still open", v.AreasOfDisagreement}} {
		if len(list.items) > 0 {
			sayf(p.out, "\n")
			p.paragraphf("%s: %s.", list.title, strings.Join(list.items, "; "))
		}
	}
}

// fail shows that an attempt failed, unless a control broke it off.
func (p *printer) fail(f *flow.Failure, at time.Time) {
	p.hush()
	if f.Void {
		return
	}
	next := "."
	switch {
	case f.Next != "":
		next = "; " + f.Next + " takes over."
	case !f.RetryAt.IsZero():
		next = fmt.Sprintf("; next attempt in %s.", f.RetryAt.Sub(at).Round(100*time.Millisecond))
	}
	p.paragraphf("(%s gave no answer: %s%s)", f.By, oneLine(reason(f.Error), 200), next)
}

func reason(err *debate.Error) string {
	if err == nil {
		return "no known reason"
	}
	if err.Err == nil {
		return string(err.Kind)
	}
	return strings.TrimRight(strings.TrimPrefix(err.Err.Error(), "provider: "), ".")
}

// ask shows a question. A question that is repeated is shown once.
func (p *printer) ask(i *flow.Inquiry) {
	p.trouble = i.Failure
	if i.Question != p.question {
		p.question = i.Question
		p.paragraphf("(A question has come up: %s)", oneLine(i.Question, 400))
	}
}

// inWords describes what an option does.
func inWords(option debate.Option) string {
	switch option {
	case flow.OptionSkip:
		return "go on without this answer"
	case flow.OptionDrop:
		return "go on without this participant"
	case flow.OptionSummarize:
		return "summarise the older turns"
	case flow.OptionTruncate:
		return "leave out the oldest turns"
	case flow.OptionEnd:
		return "end the rounds with what there is"
	default:
		return string(option)
	}
}

// cause returns why a debate has ended without a verdict.
func (p *printer) cause(r *debate.Record) error {
	if p.trouble != nil {
		return p.trouble
	}
	return errors.New(cmp.Or(r.Evidence, "nobody has given one"))
}

// end shows the usage and the cost and, if so, that there is no verdict.
func (p *printer) end(r *debate.Record, would string) {
	p.hush()
	if r == nil {
		return
	}
	if r.State == flow.StateCompleted && !hasVerdict(r) {
		p.heading("== No verdict ==")
		why := p.cause(r).Error()
		if p.trouble != nil {
			why = reason(p.trouble)
		}
		p.paragraphf("The debate has ended without one: %s.", oneLine(why, 300))
	}
	if d, ok := debate.Of(r); ok {
		for _, note := range d.Outcome().Notes {
			p.paragraphf("Note: %s.", note)
		}
	}
	total := r.Spent()
	cost := total.String()
	for _, one := range r.SpentByModel() {
		if m, ok := r.Model(one.Name); !ok || !m.Priced {
			cost = "at an unknown price"
		}
	}
	p.heading("== Spent ==")
	p.paragraphf("%d requests, %d tokens in (%d from a cache), %d tokens out: %s.",
		total.Requests, total.Usage.Input, total.Usage.CachedInput, total.Usage.Output, cost)
	if would != "" {
		p.paragraphf("This is what %s would have cost; the demonstration was free.", would)
	}
}

// complain writes what went wrong and what a person can do about it, and returns the exit code.
func complain(stderr io.Writer, err error) int {
	if err == nil {
		return 0
	}
	for _, one := range causes(err) {
		line := oneLine(one.Error(), 500)
		sayf(stderr, "%s\n", line)
		if typed, ok := errors.AsType[*debate.Error](one); ok && !strings.Contains(line, typed.Hint()) { // a question has it
			sayf(stderr, "  %s\n", typed.Hint())
		}
	}
	return 1
}

// causes returns the errors that are joined in one.
func causes(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}
