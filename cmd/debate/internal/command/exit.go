package command

import (
	"errors"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// The exit codes of the program.
const (
	exitOK          = 0   // what was asked for exists
	exitGeneral     = 1   // anything that has no code of its own
	exitArguments   = 2   // a mistake on the command line
	exitProvider    = 3   // a vendor failed for good
	exitConfig      = 4   // a mistake in a config file, a prompt that cannot be read, a missing key
	exitWaiting     = 5   // the conversation waits for an answer
	exitEarly       = 6   // cut short, or without what was asked for; a result is printed if there is one
	exitInterrupted = 130 // Ctrl-C
	exitUnread      = 141 // nobody reads the standard output any more: what shells say of a program that SIGPIPE has ended
)

// exitError is an error that decides the exit code.
type exitError struct {
	code int
	err  error // nil: everything has been said already
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exit gives an error an exit code.
func exit(code int, err error) error { return &exitError{code: code, err: err} }

// codeOf returns the exit code that an error stands for.
func codeOf(err error) int {
	var decided *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &decided):
		return decided.code
	case errors.Is(err, flow.ErrAwaitingInput): // before the failure that the question is about
		return exitWaiting
	}
	if code := codeOfMistakes(err); code != exitGeneral {
		return code
	}
	var failure *flow.Error
	if !errors.As(err, &failure) {
		return exitGeneral
	}
	switch failure.Kind {
	case provider.KindValidation:
		return exitConfig
	case provider.KindNetwork, provider.KindRateLimit, provider.KindQuota, provider.KindAPI, provider.KindTimeout,
		provider.KindContextOverflow, provider.KindAuthentication, provider.KindContentFilter, provider.KindRefusal,
		provider.KindInvalidResponse, provider.KindUnknown:
		return exitProvider
	default:
		return exitGeneral
	}
}
