package otel

import (
	"context"
	"errors"

	"github.com/agonist-dev/debate"
)

// errorType yields the value of error.type: the kind of the failure, if it is one of the known ones. A
// provider could make up any other.
func errorType(kind debate.Kind) string {
	switch kind {
	case debate.KindNetwork, debate.KindRateLimit, debate.KindQuota, debate.KindAPI, debate.KindTimeout,
		debate.KindContextOverflow, debate.KindAuthentication, debate.KindContentFilter, debate.KindRefusal,
		debate.KindInvalidResponse, debate.KindValidation, debate.KindCanceled, debate.KindCostLimit,
		debate.KindState, debate.KindConflict, debate.KindStore:
		return string(kind)
	default:
		return otherValue
	}
}

// failureType yields the error.type of a failure that a log holds.
func failureType(failure *debate.Error) string {
	if failure == nil {
		return otherValue
	}
	return errorType(failure.Kind)
}

// endType yields the error.type of the error with which a sequence ended; "": it is none, but the host's wish, or
// a question to a person.
func endType(err error) string {
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, debate.ErrClosed), errors.Is(err, debate.ErrAwaitingInput):
		return ""
	case errors.Is(err, context.DeadlineExceeded):
		return string(debate.KindTimeout)
	}
	if failure, ok := errors.AsType[*debate.Error](err); ok {
		return failureType(failure)
	}
	return otherValue
}

// endReason yields the reason of a debate's end, if it is one of the known ones. A flow could make up any other.
func endReason(reason debate.EndReason) string {
	switch reason {
	case "", debate.EndJudge, debate.EndRounds, debate.EndConverged, debate.EndDiminishing, debate.EndRepetition,
		debate.EndDrift, debate.EndTooFew, debate.EndSoftLimit, debate.EndHardLimit, debate.EndHost, debate.EndFailed:
		return string(reason)
	default:
		return otherValue
	}
}
