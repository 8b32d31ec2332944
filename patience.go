package debate

import (
	"context"
	"errors"
	"time"
)

// The waits between two tries of a store that fails.
const (
	firstRetryWait = 10 * time.Millisecond
	maxRetryWait   = time.Second
)

// maxConflicts bounds how often in a row others may append first. Each of them has made progress.
const maxConflicts = 100

// retryStore retries what a store fails to do, for as long as a lease lasts: a database that fails over must not
// cost results that were paid for. When stop is closed it gives up.
func (h *host) retryStore(stop <-chan struct{}, try func() error) error {
	err := try()
	if err == nil || isDefinite(err) {
		return err
	}
	end := time.Now().Add(h.lease)
	for wait := firstRetryWait; err != nil && !isDefinite(err) && time.Now().Add(wait).Before(end); wait = min(2*wait, maxRetryWait) {
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
func (s *session) retryStore(ctx context.Context, try func(context.Context) error) error {
	return s.host.retryStore(s.life.Done(), func() error {
		var bound callContext
		bound.attach(ctx)
		bound.limit(s.host.lease)
		defer bound.cancel()
		return try(&bound)
	})
}

// isDefinite reports whether a store's error is an answer, and not a failure that may pass.
func isDefinite(err error) bool {
	var refused *Error
	return errors.Is(err, ErrConflict) || errors.Is(err, ErrLeased) || errors.Is(err, ErrNotFound) ||
		errors.As(err, &refused) && refused.Kind == KindValidation
}

// retryConflicts retries what failed because the log has grown meanwhile.
func retryConflicts(try func() error) error {
	var err error
	for range maxConflicts {
		if err = try(); !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return err
}
