package otel

import (
	"context"
	"errors"

	"github.com/agonist-dev/debate"
)

// errorType returns the value of error.type: the kind of the failure, or otherValue if the kind is
// unknown. A provider could make up any kind.
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

// failureType returns the error.type of a failure in a log.
func failureType(failure *debate.Error) string {
	if failure == nil {
		return otherValue
	}
	return errorType(failure.Kind)
}

// endType returns the error.type of the error with which a sequence ended. It is "" if the host program
// stopped reading, or if a person is asked.
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

// endReason returns the reason of a debate's end, or otherValue if it is unknown. A flow could make up
// any reason.
func endReason(reason debate.EndReason) string {
	switch reason {
	case "", debate.EndJudge, debate.EndRounds, debate.EndConverged, debate.EndDiminishing, debate.EndRepetition,
		debate.EndDrift, debate.EndTooFew, debate.EndSoftLimit, debate.EndHardLimit, debate.EndHost, debate.EndFailed:
		return string(reason)
	default:
		return otherValue
	}
}
