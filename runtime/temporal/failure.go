package temporal

import (
	"errors"

	"go.temporal.io/sdk/temporal"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// failure is what became of an activity. Those that activities report are types of application errors.
type failure string

const (
	none     failure = ""
	leased   failure = "leased"  // another owner has the lease
	refused  failure = "refused" // the debate's state, or what a control says, does not allow it
	missing  failure = "missing" // there is no such debate
	unmade   failure = "unmade"  // the worker has not begun the call
	canceled failure = "canceled"
	unknown  failure = "unknown"
)

// failureOf classifies the error of an activity, as the workflow sees it.
func failureOf(err error) failure {
	if err == nil {
		return none
	}
	if failed, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		switch f := failure(failed.Type()); f {
		case leased, refused, missing, unmade:
			return f
		}
		return unknown
	}
	if temporal.IsCanceledError(err) {
		return canceled
	}
	return unknown
}

// report makes an error that the workflow can tell from others. What no worker can help is not retried.
func report(err error) error {
	if err == nil {
		return nil
	}
	s := shown{err}
	switch {
	case errors.Is(err, flow.ErrNotFound):
		return temporal.NewNonRetryableApplicationError(s.Error(), string(missing), nil)
	case errors.Is(err, flow.ErrLeased):
		return temporal.NewApplicationErrorWithCause(s.Error(), string(leased), nil)
	case errors.Is(err, flow.ErrMissing): // another worker may have it
		return temporal.NewApplicationErrorWithCause(s.Error(), "lacking", nil)
	}
	if failed, ok := errors.AsType[*flow.Error](err); ok && (failed.Kind == provider.KindState || failed.Kind == provider.KindValidation) {
		return temporal.NewNonRetryableApplicationError(s.Error(), string(refused), nil, string(failed.Kind), failed.Field)
	}
	return s
}

// shown is an error as a history keeps it: without the secrets of others. It does not unwrap, since a history keeps the texts of causes
// too.
type shown struct{ err error }

func (s shown) Error() string { return text.OneLine(redact.Foreign(s.err.Error()), maxFailure) }

// Is lets Temporal tell that an activity was canceled.
func (s shown) Is(target error) bool { return errors.Is(s.err, target) }

// maxFailure bounds the text of an error in a history, in bytes.
const maxFailure = 1000
