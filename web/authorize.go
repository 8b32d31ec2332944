package web

import (
	"errors"
	"net/http"

	"github.com/agonist-dev/debate/flow"
)

// DeniedError refuses a request. Options.Authorize returns one to say more than no.
type DeniedError struct {
	// Challenge is the value of the header WWW-Authenticate, such as `Basic realm="debates", charset="UTF-8"`, for which a browser asks
	// for a password. With it the status is 401, otherwise 403.
	Challenge string
	Err       error // why, which the client reads
}

// Error returns why.
func (e *DeniedError) Error() string {
	if e == nil || e.Err == nil {
		return "this is not allowed"
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *DeniedError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// who says who asks, or why that is refused. The host program may hide a conversation by ErrNotFound.
func (h *Handler) who(r *http.Request, a Access) (string, error) {
	if h.options.Authorize == nil {
		return "", local(r)
	}
	who, err := h.options.Authorize(r, a)
	denied, ok := errors.AsType[*DeniedError](err)
	switch {
	case err == nil:
		return who, nil
	case errors.Is(err, flow.ErrNotFound):
		return "", notFound()
	case ok:
		return "", denied
	default:
		return "", &DeniedError{Err: err}
	}
}
