package flow

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// This file says what helps against a failure. A mend names a field by its key in JSON, which a config, an Amendment and the program
// debate have in common, or an operation that a Session, an Engine and the program have: amend, retry, open, fork.

// Amends returns the fields of an [Amendment] with which a retry can succeed, by their keys in JSON, the likeliest first:
// "models.Ada", "budget.hardCalls", "turnTimeout". It is nil if no amendment helps, and for an error that is no failure of a
// conversation.
func (e *Error) Amends() []string {
	if e == nil || errors.Is(e.Err, ErrNoFile) {
		return nil
	}
	model := e.modelKey()
	switch e.Kind {
	case provider.KindCostLimit:
		return []string{cmp.Or(text.OneLine(e.Field, 200), "budget")}
	case provider.KindState:
		if e.Field == fieldUnknownUse || e.Field == fieldUnattended {
			return []string{e.Field}
		}
		return nil
	case provider.KindTimeout:
		switch {
		case e.Field == fieldRoundTimeout:
			return []string{fieldRoundTimeout}
		case model == "":
			return nil
		}
		return []string{"turnTimeout", "timeouts"}
	case provider.KindValidation:
		switch {
		case e.Attempt == 0 || model == "":
			return nil
		case e.Field == fieldContext:
			return []string{fieldContext}
		}
	case provider.KindContextOverflow:
		if model != "" && e.Participant != summarizer {
			return []string{model, fieldContext}
		}
	case provider.KindCanceled, provider.KindConflict, provider.KindStore, "":
		return nil
	default:
	}
	if model == "" {
		return nil
	}
	return []string{model}
}

// Fields of settings that failures of a conversation name.
const (
	fieldContext      = "context"
	fieldRoundTimeout = "roundTimeout"
	fieldUnattended   = "unattended"
	fieldUnknownUse   = "toolPolicy.unknown"
)

// modelKey returns the field of an amendment that gives the actor another model; "": the failure is of no actor.
func (e *Error) modelKey() string {
	switch e.Participant {
	case "":
		return ""
	case summarizer:
		return "summarizer"
	default:
		return "models." + text.OneLine(e.Participant, 80)
	}
}

// Hint returns a sentence on what a person can do about the failure: what to do outside of the conversation, or the field of the
// config or of an [Amendment] to change, by its key in JSON. It is as short as the cause is clear. If the cause is an unknown name, it
// says which names there are.
func (e *Error) Hint() string {
	if e == nil {
		return ""
	}
	clause := e.clause()
	first, size := utf8.DecodeRuneInString(clause)
	return string(unicode.ToUpper(first)) + clause[size:] + "."
}

// clause returns what Hint says, as a part of a sentence.
func (e *Error) clause() string {
	if said := e.mended(); said != "" {
		return said
	}
	do := e.mend()
	if or := e.Amends(); len(or) > 0 && !strings.Contains(do, "amend "+or[0]) {
		do += "; or amend " + strings.Join(or, " or ")
	}
	return do
}

// mended returns what the cause itself says of what helps; "": it says nothing.
func (e *Error) mended() string {
	unknown, ok := errors.AsType[*text.UnknownName](e.Err)
	if ok && errors.Is(e.Err, ErrMissing) && unknown.Register() != "" {
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
// they are, such as "format"; it may be empty. If "" is among the known ones, the name may be left out. The caller must not change
// known afterwards. [Error.Hint] names the known ones too.
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

// mend returns what helps against a failure of this kind, for whom or what it concerns.
func (e *Error) mend() string { //nolint:funlen // one case for each kind
	field, who := text.OneLine(e.Field, 200), text.OneLine(e.Participant, 80)
	whose, again := "the provider", "retry"
	switch {
	case who == summarizer:
		whose = "the provider of the summarizer"
	case who != "":
		whose = "the provider of " + who + "'s model"
	case field != "":
		whose, again = "the provider of "+field, "start again"
	}
	if errors.Is(e.Err, ErrNoFile) {
		return "give the bytes of the file again, or import an export or a snapshot of the conversation: that puts back what is missing"
	}
	switch e.Kind {
	case provider.KindNetwork:
		return "check the connection to " + whose + ", then " + again
	case provider.KindRateLimit:
		if e.RetryAfter > 0 {
			return fmt.Sprintf("wait %s, as %s asks, then %s", e.RetryAfter, whose, again)
		}
		return fmt.Sprintf("wait a minute, then %s, or lower Engine.MaxCalls: %s limits the rate", again, whose)
	case provider.KindQuota:
		return "top up the account at " + whose + " or raise its limit there, then " + again
	case provider.KindAPI:
		return again + " later: " + whose + " has failed"
	case provider.KindTimeout:
		if field == fieldRoundTimeout {
			return "amend roundTimeout to more time, then retry"
		}
		return again + ": " + whose + " has not replied in time"
	case provider.KindContextOverflow:
		if who != "" {
			return "amend " + strings.Join(e.Amends(), " or ") + ": a larger window, or another way to fit it; " +
				"a new conversation can have a smaller reserve or maxTokens, or truncateTurns"
		}
		return "choose a model with a larger window, lower reserve or maxTokens, or set truncateTurns"
	case provider.KindAuthentication:
		return "renew the API key of " + whose + ", then " + again
	case provider.KindContentFilter:
		return "reword what the filter of " + whose + " has refused, in a new conversation"
	case provider.KindRefusal:
		return "reword what " + cmp.Or(who, "the model") + " has declined, in a new conversation"
	case provider.KindInvalidResponse:
		if e.Capped {
			return "raise maxTokens in a new conversation: the reply ended there"
		}
		return again + ": the answer of " + cmp.Or(who, "the model") + " could not be used"
	case provider.KindValidation:
		return e.mendInvalid(field, who)
	case provider.KindCanceled:
		return "open the conversation again, or start another one"
	case provider.KindCostLimit:
		return "amend " + cmp.Or(field, "budget") + " to a higher limit, then retry"
	case provider.KindToolLimit:
		return "retry, or raise toolCalls of a deliberation or maxIterations of an arbiter's agent in a new conversation"
	case provider.KindState:
		return e.mendState(field, who)
	case provider.KindConflict:
		return e.mendConflict(field)
	case provider.KindStore:
		return "repair the store, then open the conversation again: nothing that was recorded is lost"
	case provider.KindUnknown:
		return "mend what the message names, then " + again + "; an adapter's *provider.Error with a Kind that passes is retried"
	default:
		return "mend what the message names"
	}
}

// mendInvalid says what helps against something invalid.
func (e *Error) mendInvalid(field, who string) string {
	switch {
	case errors.Is(e.Err, ErrNotFound):
		return "choose another id: Engine.List yields those that there are"
	case errors.Is(e.Err, ErrMissing):
		return "open the conversation with an engine that has what the message names"
	case e.Attempt > 0 && who != "" && field == fieldContext:
		return "amend context to another manager, then retry"
	case e.Attempt > 0 && who != "":
		return "amend " + e.modelKey() + " to a model that takes this request, then retry"
	case field != "":
		return "correct " + field
	case e.Op != "":
		return "correct what was given to " + text.OneLine(e.Op, 80)
	default:
		return "correct what was given"
	}
}

// mendState says what helps against what is not possible now.
func (e *Error) mendState(field, who string) string {
	switch op := text.OneLine(e.Op, 80); {
	case field == fieldUnknownUse:
		return "amend toolPolicy.unknown to what follows from such a use, then retry"
	case field == fieldUnattended:
		return "retry, which asks again those that have failed; or amend unattended to false, so that a person decides"
	case field != "":
		return "mend what has failed, then retry; a new conversation can have another " + field
	case op == string(KindConfirm):
		return "retry, which confirms the cost warning"
	case who != "" || strings.HasPrefix(op, "flow "):
		return "correct the flow, then open the conversation again"
	case op != "":
		return "look at Record.State before " + op
	default:
		return "look at Record.State first"
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
