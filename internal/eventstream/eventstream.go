// Package eventstream writes server-sent events.
package eventstream

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// Silence is how long a stream is silent at most, unless its user says another time.
const Silence = 15 * time.Second

// Writer writes a stream as the answer to a request.
type Writer struct {
	Last time.Time // of the last write; zero: nothing was written

	response http.ResponseWriter
	control  *http.ResponseController
	timeout  time.Duration
}

// New returns a writer. timeout is how long a write may take; 0: 30 s.
func New(w http.ResponseWriter, timeout time.Duration) *Writer {
	return &Writer{response: w, control: http.NewResponseController(w), timeout: cmp.Or(timeout, 30*time.Second)}
}

// Close ends the bound of writes: the connection may serve another request.
func (w *Writer) Close() { _ = w.control.SetWriteDeadline(time.Time{}) }

// Beat writes a comment, which says that the connection lives.
func (w *Writer) Beat() error { return w.Send(":\n\n") }

// Data writes a value as an event without a name.
func (w *Writer) Data(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.Send("data: " + string(data) + "\n\n")
}

// Send writes a text and sends it. The first one begins the answer.
func (w *Writer) Send(text string) error {
	if w.Last.IsZero() {
		header := w.response.Header()
		header.Set("Content-Type", "text/event-stream")
		header.Set("Cache-Control", "no-store")
		header.Set("X-Accel-Buffering", "no") // nginx would gather events
	}
	w.Last = time.Now()
	if err := w.control.SetWriteDeadline(w.Last.Add(w.timeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := w.response.Write([]byte(text)); err != nil {
		return err
	}
	return w.control.Flush()
}
