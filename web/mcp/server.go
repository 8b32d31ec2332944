// Package mcp serves conversations to the clients of the Model Context Protocol, so that an agent can start a debate, follow it and
// answer its questions. The official SDK speaks the protocol.
//
//	mux.Handle("/mcp", mcp.New(handler))                                 // streamable HTTP, beside package web
//	err := mcp.Run(ctx, handler, &sdk.StdioTransport{}, http.Header{})   // one client over standard input and output
//
// # Tools
//
//   - debate_start starts a conversation: a preset about a topic, or a whole config.
//   - debate_wait waits until a person must do something, until the conversation is over, or for a time, and returns what was said. A
//     client that asks for progress is told of each turn.
//   - debate_read returns the record.
//   - debate_control pauses, resumes, stops, cancels or retries.
//   - debate_answer answers a question.
//
// If debate_wait comes to questions and the client can ask a person, they are elicitations: the person answers in the client. Questions
// that are declined stay open, and stand in the result with their ids.
//
// # Rights
//
// Each call is made with the rights of its own HTTP request, as if the client used the API of the [web.Handler]: the same Authorize,
// Scope, Policy and Quota see it. A session gives no rights, and only who has begun it can use it. Pages of other origins are refused. A
// host program whose Authorize asks for no secret must check the Host of requests itself: without Authorize, package web does.
package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agonist-dev/debate/web"
)

const (
	idle      = 30 * time.Minute // after which a session is forgotten, and a person is not asked any longer
	mostBytes = 20 << 20         // of a request
	// sessionless is the first version of the protocol that has no sessions over HTTP.
	sessionless = "2026-07-28"
)

// New returns a handler that serves the conversations of another over streamable HTTP. A client that may not even view is refused before it
// has a session.
func New(h *web.Handler) http.Handler {
	all := &requests{}
	server := newServer(h, all.of)
	server.AddReceivingMiddleware((&sessions{}).bound(server))
	server.AddSendingMiddleware(bounded)
	serving := func(stateless bool) http.Handler {
		return owned(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
			Stateless: stateless, SessionTimeout: idle, MaxRequestBodyBytes: mostBytes,
			DisableLocalhostProtection: true, // the host program may be behind a proxy on this machine
		}))
	}
	older, newer := serving(false), serving(true)
	return web.InTime(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, err := h.Allow(changing(r), web.Access{Action: web.View})
		if err != nil {
			h.Refuse(w, r, err)
			return
		}
		if r.Method != http.MethodPost && r.Method != http.MethodDelete { // nothing is sent that no call has asked for
			w.Header().Set("Allow", "POST, DELETE")
			http.Error(w, "use POST", http.StatusMethodNotAllowed)
			return
		}
		if r.Method == http.MethodPost { // the SDK would read without asking whether there is room
			data, err := h.Body(w, r)
			if err != nil {
				h.Refuse(w, r, err)
				return
			}
			r = r.WithContext(r.Context())
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
		}
		serving, rights := newer, r
		if r.Header.Get("Mcp-Protocol-Version") < sessionless { // there a client says what it cancels: a lost connection does not
			serving, rights = older, r.WithContext(context.WithoutCancel(r.Context()))
		}
		named, done := all.add(rights)
		defer done()
		named.Header.Set("Authorization", "Bearer "+nameOf(caller))
		serving.ServeHTTP(w, named.WithContext(r.Context()))
	}))
}

// changing returns a request as one that changes something, so that its origin is checked whatever its method is.
func changing(r *http.Request) *http.Request {
	out := r.WithContext(r.Context())
	out.Method = http.MethodPost
	return out
}

// nameOf names a caller with the scope, and tells nothing of them.
func nameOf(c web.Caller) string {
	name := fmt.Appendf(nil, "%q", c.Who)
	for _, key := range slices.Sorted(maps.Keys(c.Labels)) {
		name = fmt.Appendf(name, " %q=%q", key, c.Labels[key])
	}
	hash := sha256.Sum256(name)
	return hex.EncodeToString(hash[:])
}

// owned tells the SDK who asks: the token is the name of the caller. The SDK then refuses a session that another has begun.
func owned(h http.Handler) http.Handler {
	known := func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		return &auth.TokenInfo{UserID: token}, nil
	}
	return auth.RequireBearerToken(known, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(h)
}

// mostSessions is how many sessions a caller can have over HTTP at a time.
const mostSessions = 256

// sessions are those that were begun over HTTP.
type sessions struct {
	mutex sync.Mutex
	owner map[*sdk.ServerSession]string
}

// bound refuses a session beyond those that its caller can have.
func (s *sessions) bound(server *sdk.Server) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			session, ok := r.GetSession().(*sdk.ServerSession)
			if extra := r.GetExtra(); ok && method == "initialize" && extra != nil && extra.TokenInfo != nil {
				if !s.add(server, session, extra.TokenInfo.UserID) {
					return nil, errors.New("too many sessions are open: end one, or wait until they are forgotten")
				}
			}
			return next(ctx, method, r)
		}
	}
}

// add adds a session of a caller, unless they have too many that are open.
func (s *sessions) add(server *sdk.Server, session *sdk.ServerSession, caller string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	open, own := make(map[*sdk.ServerSession]string), 0
	for one := range server.Sessions() {
		if owner, ok := s.owner[one]; ok {
			open[one] = owner
			if owner == caller {
				own++
			}
		}
	}
	s.owner = open
	if own >= mostSessions {
		return false
	}
	open[session] = caller
	return true
}

// bounded ends a question to the person at a client when the server ends, and in time.
func bounded(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if method != "elicitation/create" {
			return next(ctx, method, r)
		}
		ctx, end := web.Streaming(ctx)
		defer end()
		ctx, cancel := context.WithTimeout(ctx, idle)
		defer cancel()
		return next(ctx, method, r)
	}
}

// Run serves one client over a transport, such as standard input and output, until ctx is done or the client leaves; the error is nil then.
// Its calls have the rights of an HTTP request from this machine with the given header, which may hold an Authorization.
func Run(ctx context.Context, h *web.Handler, transport sdk.Transport, header http.Header) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/mcp", http.NoBody)
	if err != nil {
		return err
	}
	r.RemoteAddr = "127.0.0.1:0"
	if header != nil {
		r.Header = header
	}
	if err = newServer(h, func(*sdk.CallToolRequest) (*http.Request, error) { return r, nil }).Run(ctx, transport); ctx.Err() == nil {
		return err
	}
	return nil // it was asked to end
}

// requests are the HTTP requests that are being served. A call of a tool has only the header of its request, and Authorize may look at the
// rest, so that the header names the request.
type requests struct{ all sync.Map }

const requestKey = "Debate-Request"

// add adds a request, until done is called. What a client itself has named is void.
func (s *requests) add(r *http.Request) (named *http.Request, done func()) {
	key := rand.Text()
	named = r.Clone(r.Context())
	named.Header.Set(requestKey, key)
	s.all.Store(key, r)
	return named, func() { s.all.Delete(key) }
}

// of returns the request with which a tool is called.
func (s *requests) of(call *sdk.CallToolRequest) (*http.Request, error) {
	if call.Extra != nil {
		if r, ok := s.all.Load(call.Extra.Header.Get(requestKey)); ok {
			return r.(*http.Request), nil //nolint:forcetypeassert // add stores no other
		}
	}
	return nil, errors.New("the request has ended: call the tool again")
}

// service does the work of the tools.
type service struct {
	web *web.Handler
	of  func(*sdk.CallToolRequest) (*http.Request, error)
}

// newServer makes a server whose calls have the rights of the requests that of returns.
func newServer(h *web.Handler, of func(*sdk.CallToolRequest) (*http.Request, error)) *sdk.Server {
	s := &service{h, of}
	server := sdk.NewServer(&sdk.Implementation{Name: "debate", Title: "Debates between language models", Version: "1"}, &sdk.ServerOptions{
		Instructions: "Start a conversation with debate_start, then call debate_wait with the after that it returns until over is true.",
	})
	reads := &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(false)}
	changes := &sdk.ToolAnnotations{DestructiveHint: new(false)} // models may search elsewhere
	sdk.AddTool(server, &sdk.Tool{
		Name: "debate_start", Title: "Start a conversation", Annotations: changes,
		Description: "Starts a conversation between language models, which costs money. Give a preset and a topic, or a config." + offers(h),
	}, does(s, s.start))
	sdk.AddTool(server, &sdk.Tool{
		Name: "debate_wait", Title: "Wait for what is said", Annotations: changes, // the answers to elicitations change something
		InputSchema: schemaOf[wait](func(fields map[string]*jsonschema.Schema) {
			fields["seconds"].Minimum, fields["seconds"].Maximum = new(1.0), new(float64(mostWait))
		}),
		Description: "Waits until the conversation is over or needs a person, or until the time is up. Returns what was said since after.",
	}, does(s, s.wait))
	sdk.AddTool(server, &sdk.Tool{
		Name: "debate_read", Title: "Read a conversation", Annotations: reads,
		Description: "Returns the record of a conversation, and what may be done with it.",
	}, does(s, s.read))
	sdk.AddTool(server, &sdk.Tool{
		Name: "debate_control", Title: "Control a conversation",
		InputSchema: schemaOf[control](func(fields map[string]*jsonschema.Schema) {
			fields["action"].Enum = []any{pause, "resume", "stop", "cancel", "retry"}
		}),
		Description: "Pauses, resumes, stops, cancels or retries a conversation. stop concludes with what there is.",
	}, does(s, s.control))
	sdk.AddTool(server, &sdk.Tool{
		Name: "debate_answer", Title: "Answer a question", Annotations: changes,
		Description: "Answers an open question of a conversation: with a text, or with one of its options.",
	}, does(s, s.answer))
	return server
}

// schemaOf returns the schema of the arguments of a tool, with what their Go type cannot say.
func schemaOf[In any](say func(fields map[string]*jsonschema.Schema)) any {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		return nil // AddTool makes it again, and says what is wrong
	}
	say(schema.Properties)
	return schema
}

// offers says which presets there are.
func offers(h *web.Handler) string {
	var out strings.Builder
	for _, p := range h.Presets() {
		out.WriteString("\n- " + p.Name)
		if p.About != "" {
			out.WriteString(": " + p.About)
		}
	}
	if out.Len() == 0 {
		return ""
	}
	return " The presets:" + out.String()
}

// call is a call of a tool.
type call struct {
	*sdk.CallToolRequest

	ctx     context.Context // of the SDK: what is sent to the client under it belongs to the call
	request *http.Request   // the one that has the rights for it
}

// does makes a handler of what a tool does. The result is JSON. An error says what a client may read of it.
func does[In any](s *service, do func(c *call, in In) (any, error)) sdk.ToolHandlerFor[In, any] {
	return func(ctx context.Context, req *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
		r, err := s.of(req)
		if err != nil {
			return nil, nil, err
		}
		within, cancel := context.WithCancel(r.Context()) // it has the values that the host program has put there
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		out, err := do(&call{req, ctx, r.WithContext(within)}, in)
		if err != nil {
			return nil, nil, told(err)
		}
		if asks, ok := out.(sdk.InputRequestMap); ok {
			return &sdk.CallToolResult{InputRequests: asks}, nil, nil
		}
		return nil, out, nil
	}
}

// told returns what a client may read of an error.
func told(err error) error {
	p := web.Explain(err)
	if p.Hint != "" {
		return errors.New(p.Detail + ": " + p.Hint)
	}
	return errors.New(p.Detail)
}
