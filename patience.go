package debate

import (
	"errors"
	"time"
)

// The waits between two tries of a store that fails.
const (
	firstPatience = 10 * time.Millisecond
	mostPatience  = time.Second
)

// insist tries again what a store fails to do, for as long as a lease lasts: results that were paid for
// are not to be thrown away because a database changes over. Closing stop ends its patience.
func (l *live) insist(stop <-chan struct{}, try func() error) error {
	err := try()
	if err == nil || settled(err) {
		return err
	}
	end := time.Now().Add(l.lease)
	for wait := firstPatience; err != nil && !settled(err) && time.Now().Add(wait).Before(end); wait = min(2*wait, mostPatience) {
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

// settled reports whether an error of a store's tells how things are, and not that it has failed.
func settled(err error) bool {
	var refused *Error
	return errors.Is(err, ErrConflict) || errors.Is(err, ErrLeased) || errors.Is(err, ErrNotFound) ||
		errors.As(err, &refused) && refused.Kind == KindValidation
}
