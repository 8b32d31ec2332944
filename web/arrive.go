package web

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// InTime serves a handler so that the body of a request has 30 seconds to arrive, also where nobody reads it, unless the handler sets
// another read deadline. What follows the body has no time. [Serve] serves all handlers so.
func InTime(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(readTime)) // not all that is written to is a connection
			r = r.WithContext(r.Context())
			r.Body = arriving{r.Body, w}
		}
		h.ServeHTTP(w, r)
	})
}

// arriving is the body of a request. When it is there, the server watches whether the client is, without a time.
type arriving struct {
	io.ReadCloser

	response http.ResponseWriter
}

func (a arriving) Read(data []byte) (int, error) {
	n, err := a.ReadCloser.Read(data)
	if errors.Is(err, io.EOF) {
		_ = http.NewResponseController(a.response).SetReadDeadline(time.Time{})
	}
	return n, err
}
