package main

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Server is Parlour, the vendor: POST /v1/speak takes an [Ask] and answers with a [Line] of JSON for each
// word, at once. A failure before the first word has a status.
type Server struct {
	// Key is the bearer token of callers.
	Key string
	// Speak returns the lines of an answer. It is safe for concurrent use.
	Speak func(ctx context.Context, ask *Ask) iter.Seq[Line]
}

// Ask is a request to the server. Null fields count as missing, and so does a limit of 0.
type Ask struct {
	Model  string `json:"model"`
	System string `json:"system"`
	Turns  []struct {
		Role string `json:"role"` // user or assistant
		Text string `json:"text"`
	} `json:"turns"`
	Limit       int             `json:"limit"` // in tokens
	Temperature *float64        `json:"temperature"`
	Schema      json.RawMessage `json:"schema"`
}

// Line is a line of an answer. A line with an End or an Error is the last.
type Line struct {
	Text  string   `json:"text,omitempty"`
	End   string   `json:"end,omitempty"` // stop, length, filter or refusal
	Usage *Usage   `json:"usage,omitempty"`
	Model string   `json:"model,omitempty"`
	Error *Failure `json:"error,omitempty"`
}

// Usage is counted in tokens.
type Usage struct {
	In  int `json:"in"`
	Out int `json:"out"`
}

// Failure says why there is no reply.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`

	Status int           `json:"-"` // in the head of the answer, like Wait
	Wait   time.Duration `json:"-"`
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var ask Ask
	switch {
	case r.Header.Get("Authorization") != "Bearer "+s.Key:
		refuse(w, &Failure{Status: http.StatusUnauthorized, Code: "stranger", Message: "We have not been introduced."})
	case r.Method != http.MethodPost || r.URL.Path != "/v1/speak":
		refuse(w, &Failure{Status: http.StatusNotFound, Code: "nowhere", Message: "There is no such room."})
	case json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&ask) != nil:
		refuse(w, &Failure{Status: http.StatusBadRequest, Code: "mumbled", Message: "I beg your pardon?"})
	default:
		s.answer(w, r, &ask)
	}
}

// answer sends the lines as they come.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, ask *Ask) {
	begun := false
	for line := range s.Speak(r.Context(), ask) {
		if line.Error != nil && !begun {
			refuse(w, line.Error)
			return
		}
		begun = true
		w.Header().Set("Content-Type", "application/x-ndjson")
		if err := send(w, line); err != nil {
			return // nobody is listening any more
		}
	}
}

func refuse(w http.ResponseWriter, f *Failure) {
	w.Header().Set("Content-Type", "application/json")
	if f.Wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(f.Wait.Seconds())))
	}
	w.WriteHeader(f.Status)
	_ = send(w, Line{Error: f}) // a client that has gone does not get it
}

// send writes a line and flushes it.
func send(w http.ResponseWriter, line Line) error {
	if err := json.NewEncoder(w).Encode(line); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}

// words speaks word by word, with a pause of pace before each.
func words(pace time.Duration) func(context.Context, *Ask) iter.Seq[Line] {
	return func(ctx context.Context, ask *Ask) iter.Seq[Line] {
		return func(yield func(Line) bool) {
			said, usage := eliza(ask), Usage{}
			for _, turn := range ask.Turns {
				usage.In += len(strings.Fields(turn.Text))
			}
			for word := range strings.SplitAfterSeq(said, " ") {
				usage.Out++ // to this vendor, a word is a token
				select {
				case <-ctx.Done():
					return
				case <-time.After(pace):
				}
				if !yield(Line{Text: word}) {
					return
				}
			}
			yield(Line{End: "stop", Usage: &usage, Model: ask.Model})
		}
	}
}
