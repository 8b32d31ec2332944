package flow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// This file asks a person about calls that have failed for good.

// asked reports whether an inquiry about the call has no answer yet.
func (r *Record) asked(call string) bool {
	return slices.ContainsFunc(r.Inquiries, func(q Inquiry) bool { return asksAbout(&q, call) })
}

// inquiryAbout returns the ID of an inquiry about a call that has failed with its present attempt.
func inquiryAbout(state *callState) string {
	return "ask." + state.intent.Call + "." + strconv.Itoa(state.intent.Attempt)
}

// shared reports whether calls that fail so at one provider share one inquiry: the cause is the provider's or the
// account's, not the call's. So it is, more often than not, where nobody knows the kind.
func shared(kind Kind) bool {
	return passes(kind) || kind == provider.KindAuthentication || kind == provider.KindQuota || kind == provider.KindUnknown
}

// ask notes that a person is to be asked about a call that has failed. If the same failure of the same provider is being asked about
// already, or is to be, the call joins that inquiry.
func (d *due) ask(call *Call, state *callState) {
	about := FailedCall{call.ID, call.By, d.core.options(call, state)}
	q := d.questionFor(state)
	if q == nil {
		q = &Inquiry{ID: inquiryAbout(state), Kind: call.Kind, To: call.By, Options: about.Options, Failure: state.trouble.failure}
		d.questions = append(d.questions, q)
	}
	q.About, q.Options = append(q.About, about), union(q.Options, about.Options)
	d.about[call.ID] = true
}

// questionFor returns the noted inquiry that a call joins which has failed. One that is open is noted as it is. nil: there is none.
func (d *due) questionFor(state *callState) *Inquiry {
	r, kind := d.core.record, state.trouble.failure.Kind
	if !shared(kind) {
		return nil
	}
	host := r.hostOf(state.intent)
	joins := func(q *Inquiry) bool {
		if len(q.About) == 0 || len(q.About) >= maxTracked || q.Failure.Kind != kind {
			return false
		}
		first := r.calls[q.About[0].Call]
		return first != nil && r.hostOf(first.intent) == host
	}
	if i := slices.IndexFunc(d.questions, joins); i >= 0 {
		return d.questions[i]
	}
	for _, open := range r.Inquiries {
		if joins(&open) {
			open.About = slices.Clip(open.About)
			d.questions = append(d.questions, &open)
			return &open
		}
	}
	return nil
}

// askAll asks what was noted.
func (d *due) askAll() error {
	for _, q := range d.questions {
		q.Question = d.core.record.questionAbout(q)
		if err := d.core.emit(Event{Body: q}); err != nil {
			return err
		}
	}
	return nil
}

// questionAbout returns the text of an inquiry about calls that have failed.
func (r *Record) questionAbout(q *Inquiry) string {
	var who []string
	named := make(map[string]bool)
	for _, each := range q.About {
		if !named[each.By] {
			named[each.By] = true
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

// Inquiry is a question to a person: to perform a call, to decide about calls that have failed, to decide about the use of a
// tool, or to confirm a cost warning. Where a rule decides, its [Answer] follows at once, and no person need look: what waits for one
// is in Record.Inquiries. An inquiry with the ID of an open one replaces it.
type Inquiry struct {
	ID   string   `json:"id" redact:"-"`
	Kind CallKind `json:"kind" redact:"-"`
	// To is the actor that is asked, whose call has failed first, or whose model asks for a tool.
	To       string          `json:"to,omitempty" redact:"-"`
	Question string          `json:"question"`
	Schema   json.RawMessage `json:"schema,omitempty" redact:"schema"` // schema of the answer, if it must match one
	// Within is how long the person has to perform a call, and Until when that is over. Overdue is what follows then; see [Term]. An
	// answer that comes later counts as long as nothing has followed. Zero: there is no such time.
	Within  Duration  `json:"within,omitempty"`
	Until   time.Time `json:"until,omitzero"`
	Overdue Option    `json:"overdue,omitempty" redact:"-"`
	// Max is the most bytes that the text of an answer may have, where a person performs a call that has no schema. A longer one is
	// refused. 0: only the bound of Answer.Text.
	Max int `json:"max,omitempty"`
	// Reads says what of the conversation the person may read; see [Record.Question]. nil: nothing but notes.
	Reads *Reading `json:"reads,omitempty"`
	// About are the calls that have failed, if the person is to decide about them. Calls that fail with the same kind of
	// failure at the same provider share one inquiry. Options are then the possible answers, and Failure is the first
	// cause. Where its hint says "retry", the answer [OptionRetry] is meant, also after an amendment, which leaves the inquiry open.
	About   []FailedCall `json:"about,omitempty"`
	Options []Option     `json:"options,omitempty" redact:"-"`
	Failure *Error       `json:"failure,omitempty"`
	// Use is the use of a tool, if the person is to decide about one: to approve it, or what follows from its unknown outcome.
	Use *PendingUse `json:"use,omitempty"`
}

// PendingUse is the use of a tool that an [Inquiry] asks about.
type PendingUse struct {
	Use  string `json:"use" redact:"-"` // the ID of the call that uses the tool
	For  string `json:"for" redact:"-"` // the call whose model asks for it
	Tool string `json:"tool" redact:"-"`
	// Arguments show the arguments, at most 4 KiB of them. A model wrote them: they are not trusted. What looks like a secret
	// is left out, and invisible characters are escaped. Cut reports that there is more; Record.CallUsage has all of it.
	Arguments string `json:"arguments"`
	Cut       bool   `json:"cut,omitempty"`
	// Attempt is the attempt whose outcome nobody knows. 0: the use waits for approval.
	Attempt int `json:"attempt,omitempty"`
}

// FailedCall is a call that an [Inquiry] asks about.
type FailedCall struct {
	Call string `json:"call" redact:"-"`
	By   string `json:"by" redact:"-"`
	// Options are what can be chosen for this call. The inquiry offers all of them, but skip and drop only affect the
	// calls that have them.
	Options []Option `json:"options" redact:"-"`
}

// Answer is the answer to an inquiry: Text if a person performs a call, otherwise one of the options.
type Answer struct {
	Inquiry string `json:"inquiry" redact:"-"`
	// Text is the answer where a person performs a call, at most 1 MiB. With OptionDeny it is the reason, and with OptionDone what the tool
	// has answered, at most 32 KiB; it may be empty there.
	Text string `json:"text,omitempty"`
	// Attachments are files that belong to the text, stored as blobs before the answer is: every reader of the text reads them too. The
	// engine takes Data out. An answer that must match a schema has none. Files that leave the conclusion no room within the hard
	// limits of the budget are refused with an error of kind validation.
	Attachments []File `json:"attachments,omitempty"`
	// Quotations is what the engine has found about quotations in Text, as in [Result]. It sets them; the turn records them.
	Quotations map[string]Quotation `json:"-"`
	Option     Option               `json:"option,omitempty" redact:"-"`
	// Model is the "provider/model" for OptionModel. It must be able to do what is asked of it, as with an [Amendment]. Row holds its
	// prices and sizes, frozen like those of the other models. The engine sets it. With OptionStandIn the core sets Model, to the one
	// that stands in.
	Model string `json:"model,omitempty" redact:"-"`
	Row   *Model `json:"row,omitempty"`
	// By names the actor whose calls OptionSkip or OptionDrop is for. "": the only one that the inquiry is about.
	By string `json:"by,omitempty" redact:"-"`
	// Rule means that a [FailureRule] or the [ToolPolicy] has answered, and no person was asked.
	Rule bool `json:"rule,omitempty"`
	// Person names the person who answers, as the host program knows them: one line of at most [MaxReason] bytes; it may be
	// empty. A later answer to the same inquiry is refused with an [AnsweredError] that holds it. The log, the JSON of a record
	// and the questions in a report show it. No prompt does.
	Person string `json:"person,omitempty"`
}

// addAsked adds the calls that the inquiry asks about.
func addAsked(q *Inquiry, calls map[string]bool) {
	for i := range q.About {
		calls[q.About[i].Call] = true
	}
}

// asksAbout reports whether the inquiry asks about a call.
func asksAbout(q *Inquiry, call string) bool {
	for i := range q.About {
		if q.About[i].Call == call {
			return true
		}
	}
	return false
}

// Option is what can be done about a call that has failed for good, or about the use of a tool. An [Inquiry] offers some of
// them to a person. A [FailureRule] or the [ToolPolicy] chooses one as data.
type Option string

// The options.
const (
	// OptionRetry tries again at once: the host program has fixed the cause. The call starts over with its first model.
	OptionRetry Option = "retry"
	// OptionWait waits once for as long as the vendor has asked, also beyond Settings.Patience, and tries again. If the vendor
	// has named no time, it tries again at once, and waits for up to Settings.Patience if that fails too, whatever the kind of
	// failure.
	OptionWait Option = "wait"
	// OptionModel lets another model take over, in this and all later calls of the actors that are asked about.
	// Answer.Model names it. The calls start over.
	OptionModel Option = "model"
	// OptionStandIn lets the model of Term.StandIn answer this one call in the place of a person who has not answered in time. The
	// person is asked again next time.
	OptionStandIn Option = "standIn"
	// OptionSummarize summarises what no longer fits the model, with Settings.Summarizer or View.Summarizer. The call starts
	// over.
	OptionSummarize Option = "summarize"
	// OptionTruncate leaves out what no longer fits the model. The call starts over.
	OptionTruncate Option = "truncate"
	// OptionSkip continues without the result of the call. Its actor is asked again next time.
	OptionSkip Option = "skip"
	// OptionDrop continues without the actor. The call stays failed, so Calls must omit every actor for which Record.IsDropped
	// is true.
	OptionDrop Option = "drop"
	// OptionEnd ends the conversation with what there is: it moves to StateCompleting, or, without any turn, to
	// StateCompleted. In StateCompleting, where the conclusion is being made, it moves to StateError: from there
	// Session.Retry makes the conclusion after all, and Session.Stop ends without one. If Flow.Owes returns nothing, it
	// moves to StateCompleted. It is not offered where OptionDrop says the same; see OnFail.DropEnds.
	OptionEnd Option = "end"
	// OptionContinue continues after the cost warning; see Budget.Confirm.
	OptionContinue Option = "continue"

	// OptionAsk asks a person. OptionFail goes to the error state, from which Session.Retry continues. Only a
	// FailureRule chooses them. The [ToolPolicy] may choose OptionFail too.
	OptionAsk  Option = "ask"
	OptionFail Option = "fail"
)

// The options for a use of a tool that needs approval; see ToolInfo.Approval.
const (
	// OptionApprove lets this one use be made.
	OptionApprove Option = "approve"
	// OptionDeny denies the use. Its result says so, and the model reads Answer.Text as the reason.
	OptionDeny Option = "deny"
	// OptionAlways lets this use be made, and all later uses of the same tool in this conversation and in its forks. Other uses
	// of it that wait for approval are made too: their inquiries are closed without an answer of their own, and an answer to one
	// of them is refused with an [AnsweredError] that holds this one.
	OptionAlways Option = "always"
)

// The options for a use of a tool whose outcome nobody knows; see ToolResult.Unknown.
const (
	// OptionAgain makes the use again. If it took effect before, there may be a second effect.
	OptionAgain Option = "again"
	// OptionDone takes the use as done. The model reads Answer.Text as what the tool has answered.
	OptionDone Option = "done"
	// OptionTell tells the model that nobody knows the outcome.
	OptionTell Option = "tell"
)

// Allowance says who may decide that a conversation continues without something.
type Allowance uint8

// The allowances.
const (
	Nobody     Allowance = iota
	PersonOnly           // a person, but no FailureRule: what is left is less than the config needs
	RuleToo              // a person or a FailureRule
)
