// Package chat serves conversations as models of the OpenAI chat API, so that programs which know only that can hold a debate.
//
// A model is a preset of the [web.Handler] (web.Options.Presets), by its name. The last message of a request is the topic, the problem or
// the task, in place of the preset's. The messages before it are a document that everybody reads; nobody takes them for instructions. All
// else comes from the preset: temperature, token limits and the like of a request have no effect.
//
//	mux := http.NewServeMux()
//	mux.Handle("/", handler)                // of package web
//	mux.Handle("/v1/", chat.New(handler))
//
// The answer has each turn when it is over, and what judges say, with a heading each. Its id is that of the conversation. A client that
// leaves ends nothing: the conversation goes on, and stands on the page. If a person must answer a question, the answer ends with the
// words of the question. If somebody has paused the conversation, the answer ends with that.
//
// A request that a client sends again starts another conversation, unless it has the header Idempotency-Key: with the same key the same
// caller gets the same conversation, from its beginning. Errors of a conversation that has begun ask the client not to try again.
package chat

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/web"
	"github.com/agonist-dev/debate/web/internal/protocol"
)

// op names the protocol in errors.
const op = "chat"

// New returns the endpoint for the conversations of a handler: POST /v1/chat/completions, GET /v1/models and GET /v1/models/{model}. The
// rights, the policy and the quota are those of the handler.
func New(h *web.Handler) http.Handler {
	e := &endpoint{h}
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/chat/completions", e.complete)
	mux.HandleFunc("GET /v1/models", e.list)
	mux.HandleFunc("GET /v1/models/{model...}", e.describe)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		e.refuse(w, &flow.Error{Kind: provider.KindValidation, Op: op, Err: fmt.Errorf("nothing is served here: %w", flow.ErrNotFound)})
	})
	return mux
}

// endpoint serves the conversations of a handler.
type endpoint struct{ web *web.Handler }

// model is a preset as a list of models shows it.
type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func modelOf(preset string) model { return model{ID: preset, Object: "model", OwnedBy: "debate"} }

// list lists the models.
func (e *endpoint) list(w http.ResponseWriter, r *http.Request) {
	if _, err := e.web.Allow(r, web.Access{Action: web.View}); err != nil {
		e.refuse(w, err)
		return
	}
	out := struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{Object: "list", Data: []model{}}
	for _, p := range e.web.Presets() {
		out.Data = append(out.Data, modelOf(p.Name))
	}
	reply(w, http.StatusOK, out)
}

// describe describes one model.
func (e *endpoint) describe(w http.ResponseWriter, r *http.Request) {
	_, err := e.web.Allow(r, web.Access{Action: web.View})
	if err == nil {
		err = e.offers(r.PathValue("model"))
	}
	if err != nil {
		e.refuse(w, err)
		return
	}
	reply(w, http.StatusOK, modelOf(r.PathValue("model")))
}

// offers returns an error unless there is a model of this name.
func (e *endpoint) offers(name string) error {
	if slices.ContainsFunc(e.web.Presets(), func(p web.Preset) bool { return p.Name == name }) {
		return nil
	}
	err := flow.WithMend(fmt.Errorf("the model is unknown: %w", flow.ErrNotFound), "ask for /v1/models")
	err = &flow.Error{Kind: provider.KindValidation, Op: op, Field: "model", Err: err}
	return &refusal{status: http.StatusNotFound, code: "model_not_found", err: err}
}

// request is what an endpoint reads of a request. All else that the API knows has no effect.
type request struct {
	Model         string    `json:"model"`
	Messages      []message `json:"messages"`
	Stream        bool      `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`

	// What would change the form of the answer is refused.
	N              *int              `json:"n"`
	Tools          []json.RawMessage `json:"tools"`
	Functions      []json.RawMessage `json:"functions"`
	ResponseFormat struct {
		Type string `json:"type"`
	} `json:"response_format"`
}

// message is one of the messages of a request.
type message struct {
	Role    string          `json:"role"`
	Name    string          `json:"name"`
	Content json.RawMessage `json:"content"` // a text, or a list of parts
	Refusal string          `json:"refusal"` // what an assistant has said in place of a content
}

// part is a part of a message.
type part struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// text returns the text of a message.
func (m *message) text() (string, error) {
	var whole *string
	if len(m.Content) == 0 || json.Unmarshal(m.Content, &whole) == nil {
		if whole == nil { // a message of calls of tools has none
			return m.Refusal, nil
		}
		return *whole, nil
	}
	var parts []part
	if err := json.Unmarshal(m.Content, &parts); err != nil {
		return "", errors.New("is neither a text nor a list of parts")
	}
	texts := make([]string, len(parts))
	for i := range parts {
		switch parts[i].Type {
		case "text":
			texts[i] = parts[i].Text
		case "refusal":
			texts[i] = parts[i].Refusal
		default:
			return "", fmt.Errorf("has a part of type %q: only texts are read", parts[i].Type)
		}
	}
	return strings.Join(texts, "\n"), nil
}

// read reads a request.
func (e *endpoint) read(w http.ResponseWriter, r *http.Request) (*request, error) {
	data, err := e.web.Body(w, r)
	if err != nil {
		return nil, err
	}
	in := new(request)
	if err := json.Unmarshal(data, in); err != nil {
		return nil, protocol.Invalid(op, "", "the body is not the JSON of a chat completion")
	}
	switch {
	case in.N != nil && *in.N != 1:
		return nil, protocol.Invalid(op, "n", "is not 1: a conversation is held once")
	case len(in.Tools) > 0:
		return nil, protocol.Invalid(op, "tools", "are not called: a preset has tools of its own")
	case len(in.Functions) > 0:
		return nil, protocol.Invalid(op, "functions", "are not called: a preset has tools of its own")
	case in.ResponseFormat.Type != "" && in.ResponseFormat.Type != "text":
		return nil, protocol.Invalid(op, "response_format", "is not text: a conversation is answered in Markdown")
	case len(in.Messages) == 0 || in.Messages[len(in.Messages)-1].Role != "user":
		return nil, protocol.Invalid(op, "messages", "do not end with one of the role user: it says what the conversation is about")
	}
	return in, nil
}

// about returns what the conversation is about, and the messages before as a document.
func (in *request) about() (topic string, earlier []flow.Document, err error) {
	last := len(in.Messages) - 1
	var before strings.Builder
	for i := range in.Messages {
		m := &in.Messages[i]
		said, err := m.text()
		switch {
		case err != nil:
			return "", nil, protocol.Invalid(op, fmt.Sprintf("messages[%d].content", i), err.Error())
		case i == last:
			topic = said
		case strings.TrimSpace(said) != "":
			fmt.Fprintf(&before, "%s:\n%s\n\n", strings.TrimSpace(m.Role+" "+m.Name), said)
		}
	}
	if strings.TrimSpace(topic) == "" {
		return "", nil, protocol.Invalid(op, fmt.Sprintf("messages[%d].content", last), "is blank: it says what the conversation is about")
	}
	if before.Len() > 0 {
		file := flow.File{Name: "messages.txt", Type: "text/plain", Data: []byte(before.String())}
		earlier = append(earlier, flow.Document{Name: "Earlier messages", Files: []flow.File{file}})
	}
	return topic, earlier, nil
}

// complete starts a conversation, and answers with what is said in it.
func (e *endpoint) complete(w http.ResponseWriter, r *http.Request) {
	caller, err := e.web.Allow(r, web.Access{Action: web.Start})
	if err != nil {
		e.refuse(w, err)
		return
	}
	in, err := e.read(w, r)
	if err != nil {
		e.refuse(w, err)
		return
	}
	r, release, err := e.web.Hold(r) // a conversation that nobody could follow would cost, too
	if err != nil {
		e.refuse(w, err)
		return
	}
	defer release()
	id, err := e.start(r, caller, in)
	if err != nil {
		e.refuse(w, err)
		return
	}
	w.Header().Set("X-Should-Retry", "false") // the conversation goes on: one that is started again would cost again
	a := &answer{endpoint: e, response: w, request: r, in: in, id: id, created: time.Now().Unix()}
	if in.Stream {
		a.stream()
	} else {
		a.whole()
	}
}

// start starts the conversation that a request asks for.
func (e *endpoint) start(r *http.Request, caller web.Caller, in *request) (id string, err error) {
	if err := e.offers(in.Model); err != nil {
		return "", err
	}
	topic, earlier, err := in.about()
	if err != nil {
		return "", err
	}
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", caller.Who, caller.Labels, key)) // others have the same keys
		id = "chat-" + hex.EncodeToString(sum[:16])
	}
	config, err := e.web.About(in.Model, topic, id, earlier...)
	if err != nil {
		return "", err
	}
	return e.web.Start(r, config)
}

// failure is an error as the API writes it.
type failure struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// refusal is an error with a status of its own.
type refusal struct {
	status int
	code   string // "": the kind of the error
	err    error
}

func (r *refusal) Error() string { return r.err.Error() }

func (r *refusal) Unwrap() error { return r.err }

// failureOf describes an error.
func failureOf(err error) (failure, web.Problem) {
	p := web.Explain(err)
	code := string(p.Kind)
	if own, ok := errors.AsType[*refusal](err); ok {
		p.Status, code = own.status, cmp.Or(own.code, code)
	} else if p.Status == http.StatusUnprocessableEntity { // the API has one status for all that is wrong in a request
		p.Status = http.StatusBadRequest
	}
	out := failure{Message: p.Detail, Type: "invalid_request_error"}
	if p.Hint != "" {
		out.Message += ": " + p.Hint
	}
	switch {
	case p.Status == http.StatusUnauthorized:
		out.Type = "authentication_error"
	case p.Status == http.StatusForbidden:
		out.Type = "permission_error"
	case p.Status == http.StatusPaymentRequired:
		out.Type = "insufficient_quota"
	case p.Status >= http.StatusInternalServerError:
		out.Type = "server_error"
	}
	if p.Field != "" {
		out.Param = &p.Field
	}
	if code != "" {
		out.Code = &code
	}
	return out, p
}

// refuse answers with an error.
func (e *endpoint) refuse(w http.ResponseWriter, err error) {
	out, p := failureOf(err)
	if denied, ok := errors.AsType[*web.DeniedError](err); ok && denied.Challenge != "" {
		w.Header().Set("WWW-Authenticate", denied.Challenge)
	}
	if p.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(p.RetryAfter/time.Second)+1))
	}
	reply(w, p.Status, map[string]failure{"error": out})
}

// replyTime is how long an answer that is no stream may take to leave.
const replyTime = 2 * time.Minute

// reply answers with JSON.
func reply(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil { // it is made of texts and numbers
		status, data = http.StatusInternalServerError, []byte("{}")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	connection := http.NewResponseController(w)
	if connection.SetWriteDeadline(time.Now().Add(replyTime)) == nil {
		defer func() { _ = connection.SetWriteDeadline(time.Time{}) }() // the connection may serve another request
	}
	w.WriteHeader(status)
	_, _ = w.Write(data) // the client may be gone
	_ = connection.Flush()
}
