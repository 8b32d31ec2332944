package flow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// This file asks a person about calls that have failed for good.

// asked reports whether an inquiry about the call has no answer yet.
func (r *Record) asked(call string) bool {
	return slices.ContainsFunc(r.Inquiries, func(q Inquiry) bool { return q.about(call) })
}

// inquiryAbout returns the ID of an inquiry about a call that has failed with its present attempt.
func inquiryAbout(state *callState) string {
	return "ask." + state.intent.Call + "." + strconv.Itoa(state.intent.Attempt)
}

// shared reports whether calls that fail so at one provider share one inquiry: the cause is the provider's or the
// account's, not the call's.
func shared(kind Kind) bool {
	return passes(kind) || kind == provider.KindAuthentication || kind == provider.KindQuota
}

// ask asks a person about a call that has failed. If the same failure of the same provider is being asked about already,
// the call joins that inquiry.
func (c *Core) ask(call *Call, state *callState) error {
	r, failure, host := c.record, state.trouble.failure, c.record.hostOf(state.intent)
	about := FailedCall{call.ID, call.By, c.options(call, state)}
	for _, open := range r.Inquiries {
		if len(open.About) == 0 || !shared(failure.Kind) || open.Failure.Kind != failure.Kind {
			continue
		}
		first := r.calls[open.About[0].Call]
		if first == nil || r.hostOf(first.intent) != host {
			continue
		}
		open.About = append(slices.Clip(open.About), about)
		open.Options = union(open.Options, about.Options)
		open.Question = r.questionAbout(&open)
		return c.emit(Event{Body: &open})
	}
	q := Inquiry{
		ID: inquiryAbout(state), Kind: call.Kind, To: call.By, About: []FailedCall{about}, Options: about.Options, Failure: failure,
	}
	q.Question = r.questionAbout(&q)
	return c.emit(Event{Body: &q})
}

// questionAbout returns the text of an inquiry about calls that have failed.
func (r *Record) questionAbout(q *Inquiry) string {
	var who []string
	for _, each := range q.About {
		if !slices.Contains(who, each.By) {
			who = append(who, each.By)
		}
	}
	why := string(q.Failure.Kind)
	if q.Failure.Err != nil {
		why += ": " + strings.TrimRight(text.OneLine(redact.Foreign(q.Failure.Err.Error()), 400), ".")
	}
	return fmt.Sprintf("%s: %s. %s", strings.Join(who, ", "), why, q.Failure.Hint())
}

// union returns the options of both, in the order of the first.
func union(a, b []Option) []Option {
	out := slices.Clone(a)
	for _, option := range b {
		if !slices.Contains(out, option) {
			out = slices.Insert(out, max(0, len(out)-1), option) // the last one is end
		}
	}
	return out
}
