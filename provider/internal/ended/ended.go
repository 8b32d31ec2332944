// Package ended has the failures of calls whose context is done.
package ended

import (
	"context"
	"errors"

	"github.com/agonist-dev/debate/provider"
)

// Unsent is the failure of a call whose context was done before the call was sent. cause is what the context says.
func Unsent(cause error) error { return failure(cause, true) }

// Sent is the failure of a call whose context was done afterwards.
func Sent(cause error) error { return failure(cause, false) }

func failure(cause error, notSent bool) error {
	kind := provider.KindCanceled
	if errors.Is(cause, context.DeadlineExceeded) {
		kind = provider.KindTimeout
	}
	return &provider.Error{Kind: kind, NotSent: notSent, Err: cause}
}
