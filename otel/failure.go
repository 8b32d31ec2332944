package otel

import (
	"context"
	"errors"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// errorType returns the value of error.type: the kind of the failure, or otherValue if the kind is
// unknown. A provider could make up any kind.
func errorType(kind flow.Kind) string {
	switch kind {
	case provider.KindNetwork, provider.KindRateLimit, provider.KindQuota, provider.KindAPI, provider.KindTimeout,
		provider.KindContextOverflow, provider.KindAuthentication, provider.KindContentFilter, provider.KindRefusal,
		provider.KindInvalidResponse, provider.KindValidation, provider.KindCanceled, provider.KindCostLimit,
		provider.KindToolLimit, provider.KindState, provider.KindConflict, provider.KindStore, provider.KindUnknown:
		return string(kind)
	default:
		return otherValue
	}
}

// failureType returns the error.type of a failure in a log.
func failureType(failure *flow.Error) string {
	if failure == nil {
		return otherValue
	}
	return errorType(failure.Kind)
}

// endType returns the error.type of the error with which a sequence ended. It is "" if the host program
// stopped reading, or if a person is asked.
func endType(err error) string {
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, flow.ErrClosed), errors.Is(err, flow.ErrAwaitingInput):
		return ""
	case errors.Is(err, context.DeadlineExceeded):
		return string(provider.KindTimeout)
	}
	if failure, ok := errors.AsType[*flow.Error](err); ok {
		return failureType(failure)
	}
	return otherValue
}

// endReason returns the reason of a debate's end, or otherValue if it is unknown. A flow could make up
// any reason.
func endReason(reason flow.EndReason) string {
	switch reason {
	case "", debate.EndJudge, flow.EndRounds, flow.EndConverged, debate.EndDiminishing, debate.EndRepetition,
		debate.EndDrift, flow.EndTooFew, flow.EndSoftLimit, flow.EndHardLimit, flow.EndHost, flow.EndFailed:
		return string(reason)
	default:
		return otherValue
	}
}
