// Package fake is a server that speaks OpenAI's protocol and has no model: for tests of the program and for measurements.
//
// It answers POST /v1/responses and /v1/chat/completions, streamed, and GET /v1/models. A call that wants JSON by a schema
// gets a value of the schema. Rules change what a call is answered.
package fake

import (
	"context"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agonist-dev/debate/internal/toolschema"
)

// Server is an [http.Handler]. Its fields must not change after the first request. It is safe for concurrent use.
type Server struct {
	// Rules are looked through in their order. The first one that applies decides.
	Rules []Rule
	// Delay is how long each call takes for which no rule says otherwise.
	Delay time.Duration
	// Text is what a call is answered that wants no JSON. If it is empty, the answer names the call.
	Text string
	// ChatOnly leaves out /v1/responses.
	ChatOnly bool
	// Refuses has the server accept no key.
	Refuses bool
	// Counts makes the usages of answers those that OpenAI reports: the tokens of the texts, in the vocabulary of the model, with a few more
	// for each message. An answer that would be longer than it may be is cut. Otherwise a token has four bytes, and no answer is cut.
	Counts bool
	// Models are what GET /v1/models lists: two names of OpenAI's if nil.
	Models []string

	mu    sync.Mutex
	calls []Call
	uses  map[int]int   // how often a rule has applied, by its index
	more  chan struct{} // closed when a call is added
	freed chan struct{} // closed by Release
}

// Call is one call that the server has got.
type Call struct {
	ID     string // as the client names it: "01a2…/r1.propose.architect/1"
	Name   string // the part of the ID that says what is asked for: "r1.propose.architect"
	Model  string
	Key    string // what the client has authorized itself with
	Schema string // its name; empty: text is wanted
	Body   string // as it was sent

	schema *toolschema.Node
	read   []any // decoded: the texts that the model reads, with what stands around them
	most   int   // the cap on the answer, in tokens; 0: none
	tools  bool  // tools are offered, and none has been used so far
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch place := strings.TrimPrefix(r.URL.Path, "/v1"); {
	case s.Refuses:
		failure{status: http.StatusUnauthorized, code: "invalid_api_key", message: "Incorrect API key provided."}.write(w)
	case r.Method == http.MethodGet && place == "/models":
		s.list(w)
	case r.Method == http.MethodGet && strings.HasPrefix(place, "/models/"):
		s.show(w, strings.TrimPrefix(place, "/models/"))
	case r.Method == http.MethodPost && place == "/responses" && !s.ChatOnly:
		s.answer(w, r, false)
	case r.Method == http.MethodPost && place == "/chat/completions":
		s.answer(w, r, true)
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, chat bool) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	call, err := read(body, chat)
	if err != nil {
		failure{status: http.StatusBadRequest, code: "invalid_request", message: err.Error()}.write(w)
		return
	}
	call.ID = r.Header.Get("X-Client-Request-Id")
	_, name, _ := strings.Cut(call.ID, "/")
	call.Name = path.Dir(name) // without the number of the attempt
	call.Key = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	rule := s.take(call)
	delay := s.Delay
	if rule.Delay != 0 {
		delay = time.Duration(rule.Delay)
	}
	if rule.Status != 0 {
		if sleep(r.Context(), delay) {
			failure{status: rule.Status, code: rule.Code, message: rule.Text, retryAfter: rule.RetryAfter}.write(w)
		}
		return
	}
	// As vendors do, the server says at once that an answer comes. What takes time is the answer.
	w.Header().Set("Content-Type", "text/event-stream")
	out, said := stream{w}, s.reply(call, &rule)
	out.begin(call, chat)
	if !sleep(r.Context(), delay) || rule.Fault == FaultHold && !s.hold(r.Context()) {
		return
	}
	if chat {
		out.chat(call, said)
	} else {
		out.responses(call, said)
	}
}

// sleep waits, and reports whether the client is still there.
func sleep(ctx context.Context, delay time.Duration) bool {
	select {
	case <-time.After(delay):
		return true
	case <-ctx.Done():
		return false
	}
}

// hold waits for Release, and reports whether the client is still there.
func (s *Server) hold(ctx context.Context) bool {
	select {
	case <-s.free():
		return true
	case <-ctx.Done():
		return false
	}
}

// Release has the server answer the calls that it holds, and hold no others. It is called once.
func (s *Server) Release() { close(s.free()) }

// free returns the channel that Release closes.
func (s *Server) free() chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.freed == nil {
		s.freed = make(chan struct{})
	}
	return s.freed
}

// take records a call, and returns the rule that applies to it: the zero rule if none does.
func (s *Server) take(call *Call) Rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, *call)
	if s.more != nil {
		close(s.more)
		s.more = nil
	}
	for i := range s.Rules {
		rule := &s.Rules[i]
		if !rule.applies(call) || rule.Times > 0 && s.uses[i] >= rule.Times {
			continue
		}
		if s.uses == nil {
			s.uses = make(map[int]int)
		}
		s.uses[i]++
		return *rule
	}
	return Rule{}
}

// Calls returns the calls so far whose names match a pattern of [path.Match], in the order in which they came. The returned
// channel is closed when another call comes.
func (s *Server) Calls(pattern string) ([]Call, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.more == nil {
		s.more = make(chan struct{})
	}
	var found []Call
	for i := range s.calls {
		if matches(pattern, s.calls[i].Name) {
			found = append(found, s.calls[i])
		}
	}
	return found, s.more
}

// matches reports whether a text matches a pattern; an empty pattern is matched by all.
func matches(pattern, text string) bool {
	ok, err := path.Match(pattern, text)
	return pattern == "" || err == nil && ok
}

func (s *Server) models() []string {
	if s.Models != nil {
		return s.Models
	}
	return []string{"gpt-4.1", "gpt-4.1-mini"}
}

// list lists the models.
func (s *Server) list(w http.ResponseWriter) {
	all := make([]string, 0, len(s.models()))
	for _, name := range s.models() {
		all = append(all, describe(name))
	}
	write(w, http.StatusOK, `{"object":"list","data":[`+strings.Join(all, ",")+`]}`)
}

// show describes one model.
func (s *Server) show(w http.ResponseWriter, name string) {
	if !slices.Contains(s.models(), name) {
		failure{status: http.StatusNotFound, code: "model_not_found", message: "The model " + name + " does not exist."}.write(w)
		return
	}
	write(w, http.StatusOK, describe(name))
}

func describe(model string) string {
	return `{"id":` + quote(model) + `,"object":"model","owned_by":"fake"}`
}

// write writes an answer that is no stream.
func write(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) //nolint:gosec // JSON, which no browser reads
}
