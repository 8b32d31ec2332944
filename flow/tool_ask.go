package flow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/internal/fieldname"
	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// This file lets a person, or the policy, decide about uses of tools: whether one is made that needs approval, and what
// follows from an outcome that nobody knows.

// Bounds of inquiries about uses of tools.
const (
	maxShown   = 4 << 10        // bytes of the arguments that an inquiry shows
	maxUseAsks = maxTracked / 2 // inquiries that may be open before another use is asked about
)

// undecidedUse reports whether somebody must decide about the use before it is made, or made again.
func (r *Record) undecidedUse(asked *AskedTool, u *useState) bool {
	if u.unknown != nil {
		return true
	}
	return r.start.Tools[asked.Name].Approval && !u.approved && !slices.Contains(r.always, asked.Name)
}

// askUse asks a person about the use of a tool. In an unattended conversation the policy answers. again reports that the calls
// must be computed again.
func (d *due) askUse(base *Call, asked *AskedTool, u *useState) (again bool, err error) {
	c, r := d.core, d.core.record
	q := useQuestion(base, asked, u)
	open := r.inquiry(q.ID) != nil
	if !r.settings.Unattended {
		d.asked = true
		if open || len(r.Inquiries) >= maxUseAsks {
			return false, nil
		}
		return false, c.emit(Event{Body: q})
	}
	policy := toolDefaults(r.settings.ToolPolicy)
	a := &Answer{Inquiry: q.ID, Option: policy.Approval, Rule: true}
	if u.unknown != nil {
		if a.Option = policy.Unknown; a.Option == OptionAgain && u.unknown.Attempt > mostRetries(r.settings.Retry, provider.KindTimeout) {
			a.Option = OptionTell
		}
	}
	if a.Option == OptionFail {
		return true, c.fail(&Error{
			Kind: provider.KindState, Op: asked.Use, Field: fieldname.UnknownUse, Participant: base.By, Round: base.Round,
			Attempt: u.unknown.Attempt,
			Err: fmt.Errorf("the use of the tool %s has no known outcome, and toolPolicy.unknown is %s",
				text.OneLine(asked.Name, 80), OptionFail),
		})
	}
	if q.Options = []Option{a.Option}; !open { // else the log was cut behind the inquiry
		if err := c.emit(Event{Body: q}); err != nil {
			return true, err
		}
	}
	return true, c.emit(Event{Body: a})
}

// useQuestion returns the inquiry about the use of a tool.
func useQuestion(base *Call, asked *AskedTool, u *useState) *Inquiry {
	use := &PendingUse{Use: asked.Use, For: base.ID, Tool: asked.Name}
	use.Arguments, use.Cut = shown(asked.Arguments)
	who, tool, brief := text.OneLine(base.By, 80), text.OneLine(asked.Name, 80), text.OneLine(use.Arguments, 400)
	q := &Inquiry{ID: "ask." + asked.Use, Kind: KindTool, To: base.By, Use: use}
	if u.unknown == nil {
		q.Options = useOptions(0)
		q.Question = fmt.Sprintf("%s asks to use the tool %s: %s", who, tool, brief)
		return q
	}
	use.Attempt = u.unknown.Attempt
	q.ID += "." + strconv.Itoa(use.Attempt)
	q.Options = useOptions(use.Attempt)
	q.Question = fmt.Sprintf("%s was using the tool %s when the use was broken off. Nobody knows whether it took effect: %s", who, tool, brief)
	return q
}

// useOptions returns what can be chosen about a use: about its approval, or about an attempt whose outcome nobody knows.
func useOptions(attempt int) []Option {
	if attempt == 0 {
		return []Option{OptionApprove, OptionDeny, OptionAlways}
	}
	return []Option{OptionAgain, OptionDone, OptionTell}
}

// shown returns arguments as a person reads them, and whether there are more.
func shown(arguments json.RawMessage) (content string, short bool) {
	content = text.Readable(string(arguments))
	if short = len(content) > maxShown; short {
		content = text.Cut(content, maxShown)
	}
	content = redact.Foreign(content)
	var out strings.Builder
	for _, c := range content {
		switch {
		case c == ' ' || c == '\n' || !text.Invisible(c):
			out.WriteRune(c)
		default: // as JSON writes it
			quoted := strconv.QuoteRuneToASCII(c)
			out.WriteString(strings.Trim(quoted, "'"))
		}
	}
	return out.String(), short
}

// foldUseQuestion folds an inquiry about the use of a tool.
func (r *Record) foldUseQuestion(q *Inquiry) error {
	e, i := r.calls[q.Use.For].asks(q.Use.Use)
	if e == nil || e.uses[i].result != nil || e.asked.Uses[i].Name != q.Use.Tool || len(q.About) > 0 || len(q.Options) == 0 {
		return invalid("inquiry.use", "%q is not asked for", text.OneLine(q.Use.Use, 80))
	}
	unknown := 0
	if u := e.uses[i].unknown; u != nil {
		unknown = u.Attempt
	}
	if former := r.calls[q.Use.Use]; unknown != q.Use.Attempt || former != nil && former.status == callInFlight || r.inquiry(q.ID) != nil {
		return invalid("inquiry.use", "%q needs no decision, or was asked about already", text.OneLine(q.Use.Use, 80))
	}
	r.addInquiry(q)
	return nil
}

// chosenUse takes a person's choice about the use of a tool.
func (c *Core) chosenUse(q *Inquiry, a Answer) error {
	bad := func(field, format string, args ...any) error {
		return &Error{Kind: provider.KindValidation, Op: opAnswer, Field: field, Err: fmt.Errorf(format, args...)}
	}
	a.Text = strings.TrimSpace(text.Readable(a.Text))
	switch {
	case !slices.Contains(q.Options, a.Option):
		return bad("option", "%w", text.Absent("option", "possible", a.Option, q.Options...))
	case a.Model != "":
		return bad("model", "is given, but the option is %s", a.Option)
	case a.By != "":
		return bad("by", "is given, but the option is %s", a.Option)
	case a.Text != "" && a.Option != OptionDeny && a.Option != OptionDone:
		return bad("text", "is given, but the option is %s", a.Option)
	case len(a.Text) > maxAnswered:
		return bad("text", "has %d bytes: at most %d are allowed", len(a.Text), maxAnswered)
	}
	a.Row = nil
	return c.emit(Event{Body: &a})
}

// foldUseAnswer folds what was decided about the use of a tool.
func (r *Record) foldUseAnswer(q Inquiry, a *Answer, at time.Time) error {
	if !slices.Contains(useOptions(q.Use.Attempt), a.Option) {
		return invalid("answer.option", "%q is no option about this use", text.OneLine(string(a.Option), 40))
	}
	r.withdraw(func(open *Inquiry) bool { return open.ID == q.ID })
	e, i := r.calls[q.Use.For].asks(q.Use.Use)
	if e == nil || e.uses[i].result != nil || (e.uses[i].unknown != nil) != (q.Use.Attempt > 0) {
		return nil // decided already
	}
	u := &e.uses[i]
	decided := ToolResult{By: q.To, Tool: q.Use.Tool, Failed: true, Spend: Spend{Call: q.Use.Use, Attempt: q.Use.Attempt}}
	counts := r.Seq >= r.start.Elsewhere // this event is the next one
	switch a.Option {
	case OptionApprove:
		u.approved = counts
	case OptionAlways:
		if u.approved = counts; counts && !slices.Contains(r.always, q.Use.Tool) && len(r.always) < maxTracked {
			r.always = append(r.always, q.Use.Tool)
		}
		decided := func(open *Inquiry) bool {
			return open.Use != nil && open.Use.Attempt == 0 && open.Use.Tool == q.Use.Tool
		}
		for i := range r.Inquiries {
			if open := &r.Inquiries[i]; decided(open) {
				r.addAnswer(open.ID, *a, at)
			}
		}
		r.withdraw(decided)
	case OptionDeny:
		decided.Text = "This use was denied" + prefixed(": ", a.Text)
		if a.Rule {
			decided.Text = "This use was denied: it needs a person's approval, and nobody can be asked."
		}
		u.result, u.denied = &decided, true
	case OptionAgain:
		u.unknown, u.approved = nil, counts
	case OptionDone:
		decided.Text, decided.Failed = a.Text, false
		if a.Text == "" {
			decided.Text = "A person says that the tool took effect. Nobody knows what it has answered."
		}
		u.result, u.unknown = &decided, nil
	case OptionTell:
		u.result, u.unknown = u.unknown, nil
	}
	return nil
}

// prefixed puts a prefix before a text, unless that is empty.
func prefixed(prefix, content string) string {
	if content == "" {
		return "."
	}
	return prefix + content
}

// withdraw removes open inquiries.
func (r *Record) withdraw(needless func(*Inquiry) bool) {
	r.Inquiries = slices.DeleteFunc(r.Inquiries, func(q Inquiry) bool { return needless(&q) })
}

// withdrawUses removes the open inquiries about the uses that a call asks for.
func (r *Record) withdrawUses(of func(base string) bool) {
	r.withdraw(func(q *Inquiry) bool { return q.Use != nil && of(q.Use.For) })
}
