package flow

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agonist-dev/debate/internal/fieldname"
	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// This file says what helps against a failure. A hint is read by users of programs too, in questions, reports and the program debate.
// So it names a field by its key in JSON, which a config and an Amendment have in common, or an operation that a Session, an Engine and
// the program have: amend, retry, open, fork. Only what a host program has to register is named by its name in Go.

// Amends returns the fields of an [Amendment] with which a retry can succeed, by their keys in JSON, the likeliest first:
// "models.Ada", "budget.hardCalls", "timeouts.verdict". It is nil if no amendment helps, and for an error that is no failure of a
// conversation. Budget and ToolPolicy are replaced as a whole: change a copy of those of Record.Settings, and the other limits stay.
func (e *Error) Amends() []string {
	if e == nil || errors.Is(e.Err, ErrNoFile) {
		return nil
	}
	field, model := text.OneLine(e.Field, 200), e.modelKey()
	switch e.Kind {
	case provider.KindCostLimit:
		return []string{cmp.Or(field, "budget")}
	case provider.KindState, provider.KindTimeout:
		if slices.Contains([]string{fieldname.UnknownUse, fieldname.Unattended, fieldname.RoundTimeout, fieldname.TurnTimeout}, field) ||
			strings.HasPrefix(field, fieldname.Timeouts) {
			return []string{field}
		}
		return nil
	case provider.KindCanceled, provider.KindConflict, provider.KindStore, "":
		return nil
	case provider.KindValidation:
		switch {
		case e.Attempt == 0:
			return nil
		case field == fieldname.Context:
			return []string{fieldname.Context}
		}
	case provider.KindContextOverflow:
		if model != "" && e.Participant != fieldname.Summarizer {
			return []string{model, fieldname.Context}
		}
	default:
	}
	if model == "" {
		return nil
	}
	return []string{model}
}

// fieldConcerning returns the Field of a failure of a call: the setting that bounds an attempt, or that a function performs the call. ""
// stands for the actor's model.
func fieldConcerning(t Settings, call *Call, kind Kind) string {
	_, own := t.Timeouts[call.Kind]
	switch {
	case kind == provider.KindTimeout && (own || call.Timeout > 0): // the latter is no setting, and a time for the kind replaces it
		return fieldname.Timeouts + string(call.Kind)
	case kind == provider.KindTimeout:
		return fieldname.TurnTimeout
	case call.Performer == ByFunction:
		return fieldname.Function
	default:
		return ""
	}
}

// modelKey returns the field of an amendment that gives the actor another model; "": the failure is of no actor, or of a function.
func (e *Error) modelKey() string {
	switch {
	case e.Participant == "" || e.Field == fieldname.Function:
		return ""
	case e.Participant == fieldname.Summarizer:
		return "summarizer"
	default:
		return "models." + text.OneLine(e.Participant, 80)
	}
}

// Hint returns a sentence on what a person can do about the failure: what to do outside of the conversation, or the field of the
// config or of an [Amendment] to change, by its key in JSON. If the cause is an unknown name, it says which names there are. While an
// inquiry about the failure is open, "retry" is its option; see [Inquiry].Failure.
func (e *Error) Hint() string {
	if e == nil {
		return ""
	}
	clause := e.clause()
	first, size := utf8.DecodeRuneInString(clause)
	return string(unicode.ToUpper(first)) + clause[size:] + "."
}

// clause returns what Hint says as a part of a sentence: it begins with a small letter, and has no full stop.
func (e *Error) clause() string {
	if said := e.mended(); said != "" {
		return said
	}
	if e.Kind == provider.KindNetwork && e.Err != nil && e.Err.Error() == errGone.Error() {
		return "nothing to do: the call is made again"
	}
	do := e.mend()
	if or := e.Amends(); len(or) > 0 && !strings.Contains(do, "amend "+or[0]) {
		do += "; or amend " + strings.Join(or, " or ")
	}
	return do
}

// mended returns what the cause itself says of what helps; "": it says nothing.
func (e *Error) mended() string {
	unknown, ok := errors.AsType[*text.UnknownNameError](e.Err)
	switch {
	case ok && e.Attempt > 0: // of a running conversation, where an amendment helps
		return ""
	case ok && errors.Is(e.Err, ErrMissing) && unknown.Register() != "":
		return unknown.Register() // what is stored names it, and is not corrected
	}
	cause, ok := errors.AsType[mending](e.Err)
	if !ok || cause.Mend() == "" {
		return ""
	}
	said := text.OneLine(redact.Foreign(cause.Mend()), 1000)
	if e.Kind == provider.KindValidation && e.Field != "" {
		return "correct " + text.OneLine(e.Field, 200) + ": " + said
	}
	return said
}

// mending is an error that knows what helps.
type mending interface {
	error
	Mend() string
}

// WithMend returns an error that says what helps against it, as [Error.Hint] of the [Error] around it then does: a clause that begins
// with a small letter and has no full stop, such as "answer the open inquiries". It wraps err.
func WithMend(err error, mend string) error { return &mendedError{err, mend} }

// Unknown returns the cause of an [Error] about a name that is none of the known ones. It quotes the name as one line, and lists at
// most twelve of the known ones, in order: those that are most like the name, and how many more there are. what says of which sort
// they are, such as "format"; it may be empty. If "" is among the known ones, the name may be left out. [Error.Hint] names the known
// ones too.
func Unknown[S ~string](what string, name S, known ...S) error {
	return text.Unknown(what, name, known...)
}

// Unregistered is [Unknown] for names that a host program registers. where is the field that holds them, such as "Engine.Tools".
func Unregistered[S ~string](what, where string, name S, known ...S) error {
	return text.Unregistered(what, where, name, known...)
}

// mendedError is an error with what helps against it.
type mendedError struct {
	error
	mend string
}

func (m *mendedError) Mend() string  { return m.mend }
func (m *mendedError) Unwrap() error { return m.error }

// mends say what helps against failures of each kind whose hint has one form. In braces stands whom or what a failure concerns.
//
//nolint:gochecknoglobals // a constant in all but syntax: nothing assigns to it
var mends = map[Kind]string{
	provider.KindNetwork:         "check the connection to {whose}, then {again}",
	provider.KindRateLimit:       "wait a minute, then {again}, or let fewer calls run at once: {whose} limits the rate",
	provider.KindQuota:           "top up the account at {whose} or raise its limit there, then {again}",
	provider.KindAPI:             "{again} later: {whose} has failed",
	provider.KindTimeout:         "{again}: {whose} has not replied in time",
	provider.KindContextOverflow: "choose a model with a larger window, lower reserve or maxTokens, or set truncateTurns, then {again}",
	provider.KindAuthentication:  "renew the API key of {whose}, then {again}",
	provider.KindContentFilter:   "reword what the filter of {whose} has refused, in a new conversation",
	provider.KindRefusal:         "reword what {who} has declined, in a new conversation",
	provider.KindInvalidResponse: "{again}: the answer of {who} could not be used",
	provider.KindCanceled:        "open the conversation again, or start another one",
	provider.KindCostLimit:       "amend {limit} to a higher limit, beside the others, then retry",
	provider.KindToolLimit:       "retry, or raise toolCalls of a deliberation or maxIterations of an arbiter's agent in a new conversation",
	provider.KindStore:           "repair the store, then open the conversation again: nothing that was recorded is lost",
	provider.KindUnknown:         "mend what the message names, then {again}",
}

// mend returns what helps against a failure of this kind, for whom or what it concerns.
func (e *Error) mend() string {
	field, who := text.OneLine(e.Field, 200), text.OneLine(e.Participant, 80)
	switch {
	case errors.Is(e.Err, ErrNoFile):
		return "give the bytes of the file again, or import an export or a snapshot of the conversation: that puts back what is missing"
	case e.Kind == provider.KindTimeout && field == fieldname.RoundTimeout:
		return "amend roundTimeout to more time, then retry"
	case e.Kind == provider.KindTimeout && field == fieldname.Within:
		return "retry, which asks " + cmp.Or(who, "the person") + " again"
	case e.Kind == provider.KindContextOverflow && e.modelKey() != "":
		return "amend " + strings.Join(e.Amends(), " or ") + ": a larger window, or another way to fit it; " +
			"a new conversation can have a smaller reserve or maxTokens, or truncateTurns"
	case e.Kind == provider.KindInvalidResponse && e.Capped:
		return "raise maxTokens in a new conversation: the reply ended there"
	case e.Kind == provider.KindValidation:
		return e.mendInvalid(field, who)
	case e.Kind == provider.KindState:
		return e.mendState(field, who)
	case e.Kind == provider.KindConflict:
		return e.mendConflict(field)
	}
	whose, again := "the provider", "retry"
	switch {
	case who == fieldname.Summarizer:
		whose = "the provider of the summarizer"
	case who != "" && field == fieldname.Function:
		whose = "the service behind " + who + "'s function"
	case who != "":
		whose = "the provider of " + who + "'s model"
	case field != "":
		whose, again = "the provider of "+field, "start again"
	}
	form := cmp.Or(mends[e.Kind], "mend what the message names")
	if e.Kind == provider.KindRateLimit && e.RetryAfter > 0 {
		form = "wait " + e.RetryAfter.String() + ", as {whose} asks, then {again}"
	}
	return strings.NewReplacer(
		"{whose}", whose, "{who}", cmp.Or(who, "the model"), "{again}", again, "{limit}", cmp.Or(field, "budget"),
	).Replace(form)
}

// mendInvalid says what helps against something invalid.
func (e *Error) mendInvalid(field, who string) string {
	switch model := e.modelKey(); {
	case errors.Is(e.Err, ErrNotFound):
		return "give the id of a stored conversation"
	case errors.Is(e.Err, ErrMissing):
		return "open the conversation with an engine that has what the message names"
	case e.Attempt > 0 && field == fieldname.Context:
		return "amend context to another manager, then retry"
	case e.Attempt > 0 && model != "":
		return "amend " + model + " to a model that takes this request, then retry"
	case e.Attempt > 0:
		return "mend " + cmp.Or(who, "the conversation") + "'s function, then retry"
	case field != "":
		return "correct " + field
	case e.Op != "":
		return "correct what " + text.OneLine(e.Op, 80) + " was given"
	default:
		return "correct what the message names"
	}
}

// mendState says what helps against what is not possible now.
func (e *Error) mendState(field, who string) string {
	switch op := text.OneLine(e.Op, 80); {
	case field == fieldname.UnknownUse:
		return "amend toolPolicy.unknown to what follows from such a use, then retry"
	case field == fieldname.Unattended:
		return "retry, which asks again those that have failed; or amend unattended to false, so that a person decides"
	case field == fieldname.MaxFailures:
		return "mend what has failed, then retry; a new conversation can have another maxFailures"
	case op == string(KindConfirm):
		return "retry, which confirms the cost warning"
	case who != "" || strings.HasPrefix(op, "flow "):
		return "correct the flow, then open the conversation again"
	case op != "":
		return "wait for a state of the conversation that allows " + op
	default:
		return "wait for another state of the conversation"
	}
}

// mendConflict says what helps against another writer, or another conversation of the same id.
func (e *Error) mendConflict(field string) string {
	switch {
	case errors.Is(e.Err, ErrLeased):
		return "wait until the lease of the other owner ends, or choose another id"
	case field == "id":
		return "choose another id"
	case field != "":
		return "give the stored value of " + field + ", or choose another id"
	default:
		return "open the conversation again, for another process has changed it"
	}
}
