package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/providertest"
)

// The adapter says what the vendor says: a server acts each scenario of the suite in Parlour's words.
func TestConformance(t *testing.T) {
	connect := func(t *testing.T, s providertest.Scenario) provider.Provider {
		t.Helper()
		if len(s.Calls) > 0 {
			t.Skip("Parlour's models call no tools")
		}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			whole := providertest.Sent{Body: body, Header: r.Header}
			(&Server{Key: s.Key, Speak: func(ctx context.Context, ask *Ask) iter.Seq[Line] {
				return func(yield func(Line) bool) { act(ctx, s, sent(ask, whole), yield) }
			}}).ServeHTTP(w, r)
		}))
		t.Cleanup(server.Close)
		parlour := New(server.URL, s.Key)
		parlour.Client = server.Client()
		return parlour
	}
	providertest.Run(t, connect)
	providertest.RunThoughts(t, connect)
}

// The adapter stands whatever can happen to bytes on their way. The fixtures hold the vendor's own words,
// byte for byte; what any server can do, the suite does itself.
func TestFaults(t *testing.T) {
	providertest.RunHTTP(t, providertest.HTTP{
		Connect: func(_ testing.TB, s providertest.Server) provider.Provider {
			parlour := New(s.URL, s.Key)
			parlour.Client, parlour.IdleTimeout, parlour.MaxBody, parlour.MaxLine = s.Client, s.IdleTimeout, s.MaxBody, s.MaxLine
			return parlour
		},
		Wholes: providertest.Wholes(t, "testdata/whole"),
		Faults: providertest.Faults(t, "testdata/fault"),
		NoSignal: map[string]string{
			"slow-down":        "Parlour has one way to ask for patience: status 429",
			"budget-in-flight": "Parlour reserves no money for a reply",
			"window-exceeded":  "Parlour refuses a question that leaves no room for a reply",
			"no-choices":       "Parlour gives one reply, not a list of them",
			"only-thinking":    "Parlour's models do not think",
			"usage-twice":      "Parlour counts once, at the end",
			"comments":         "lines of JSON have no comments",
			"tool-results":     "Parlour's models call no tools",
		},
	})
}

// What cannot be written as JSON is not sent, and nor is what Parlour lacks.
func TestAQuestionThatCannotBeAsked(t *testing.T) {
	parlour := New("http://parlour.test", "")
	for code, req := range map[string]*provider.Request{
		"request": {Schema: &provider.Schema{JSON: []byte("{")}},
		"seed":    {Options: &provider.Options{Seed: new(int64(7))}},
		"image":   {Last: provider.Message{Text: "Look.", Parts: []provider.Part{{Type: "image/png", Data: []byte("x")}}}},
		"tools":   {Tools: []provider.Tool{{Name: "look"}}},
		"header":  {Options: &provider.Options{Header: map[string]string{"Authorization": "another"}}},
		"extra":   {Options: &provider.Options{Extra: map[string]json.RawMessage{"model": []byte(`"another"`)}}},
	} {
		_, err := parlour.Generate(t.Context(), req, func(provider.Chunk) {})
		var e *provider.Error
		if assert.ErrorAs(t, err, &e, code) {
			assert.Equal(t, provider.KindValidation, e.Kind)
			assert.Equal(t, code, e.Code)
			assert.True(t, e.NotSent)
		}
	}
}

// act does in a model's place what a scenario says.
func act(ctx context.Context, s providertest.Scenario, asked providertest.Sent, yield func(Line) bool) {
	if s.Sent != nil {
		s.Sent(asked)
	}
	for i, piece := range s.Reply {
		if !yield(Line{Text: piece}) {
			return
		}
		if i > 0 || s.Hold == nil {
			continue
		}
		select {
		case <-s.Hold:
		case <-ctx.Done():
			return
		}
	}
	switch {
	case s.Cut:
	case s.Fail != "" && s.Fail != provider.KindInvalidResponse: // which is a whole reply without a text
		failure := failures()[s.Fail]
		failure.Message, failure.Wait = "not with "+s.Key, s.RetryAfter
		yield(Line{Error: &failure})
	default:
		end := map[provider.StopReason]string{
			provider.StopEnd: "stop", provider.StopLength: "length", provider.StopFilter: "filter", provider.StopRefusal: "refusal",
		}[s.Stop]
		yield(Line{End: end, Usage: &Usage{In: s.Usage.Input, Out: s.Usage.Output}, Model: s.Model})
	}
}

// sent adds to a request as it reached the vendor what Parlour reads in it.
func sent(ask *Ask, s providertest.Sent) providertest.Sent {
	s.Model, s.System, s.MaxTokens, s.Temperature, s.Schema = ask.Model, ask.System, ask.Limit, ask.Temperature, ask.Schema != nil
	for _, turn := range ask.Turns {
		s.Turns = append(s.Turns, providertest.Turn{Role: provider.Role(turn.Role), Text: turn.Text})
	}
	return s
}

// failures are Parlour's words for each kind.
func failures() map[provider.Kind]Failure {
	return map[provider.Kind]Failure{
		provider.KindRateLimit:       {Status: 429, Code: "hush"},
		provider.KindQuota:           {Status: 402, Code: "unpaid"},
		provider.KindAPI:             {Status: 500, Code: "fire"},
		provider.KindTimeout:         {Status: 504, Code: "asleep"},
		provider.KindContextOverflow: {Status: 413, Code: "too_long"},
		provider.KindAuthentication:  {Status: 401, Code: "stranger"},
		provider.KindContentFilter:   {Status: 400, Code: "off_limits"},
		provider.KindValidation:      {Status: 404, Code: "nobody"},
	}
}

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
