package session

import (
	"context"
	"errors"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/callctx"
	"github.com/agonist-dev/debate/provider"
)

// The waits between two tries of a store that fails.
const (
	firstRetryWait = 10 * time.Millisecond
	maxRetryWait   = time.Second
)

// retryStore retries what a store fails to do, for as long as a lease lasts: a database that fails over must not
// cost results that were paid for. When stop is closed it gives up.
func (h *Host) retryStore(stop <-chan struct{}, try func() error) error {
	return h.retry(stop, try, isDefinite)
}

// retry is retryStore where definite reports which errors are the outcome.
func (h *Host) retry(stop <-chan struct{}, try func() error, definite func(error) bool) error {
	err, end := try(), time.Now().Add(h.Lease)
	for wait := firstRetryWait; err != nil && !definite(err) && time.Now().Add(wait).Before(end); wait = min(2*wait, maxRetryWait) {
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-stop:
			timer.Stop()
			return err
		}
		err = try()
	}
	return err
}

// retryStore is the host's. It gives up when the session is to be closed. Each try gets as much time as a lease lasts.
func (s *Session) retryStore(ctx context.Context, try func(context.Context) error) error {
	return s.host.retryStore(s.life.Done(), func() error {
		var bound callctx.Context
		bound.Attach(ctx)
		bound.Limit(s.host.Lease)
		defer bound.Cancel()
		return try(&bound)
	})
}

// isDefinite reports whether a store's error is an answer, and not a failure that may pass.
func isDefinite(err error) bool {
	var refused *flow.Error
	return errors.Is(err, flow.ErrConflict) || errors.Is(err, flow.ErrLeased) || errors.Is(err, flow.ErrNotFound) ||
		errors.Is(err, flow.ErrNoFile) || errors.As(err, &refused) && refused.Kind == provider.KindValidation
}
