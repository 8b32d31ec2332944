// Package web serves the conversations of an engine over HTTP: to start them, to read and watch them, to steer them, and to answer their
// questions. It knows no flow, so that a flow of the host program's own is served like the library's.
//
//	handler, err := web.New(engine, web.Options{
//		Authorize: func(r *http.Request, a web.Access) (who string, err error) { … },
//		Scope:     func(r *http.Request, who string) map[string]string { return map[string]string{"tenant": tenantOf(who)} },
//		Quota:     func(scope map[string]string) flow.Money { return 5 * debate.USD },
//	})
//	…
//	err = web.Serve(ctx, listener, handler, time.Minute)
//
// # Rights
//
// [Options].Authorize says who asks, for each [Action]. Without it, only programs on this machine are served, and these may do everything.
// [Options].Scope binds a caller to labels: all others' conversations are as unknown ids. [Options].Policy sees each config before it is
// used; [Strict] is one for people who are not trusted. [Options].Quota bounds what a scope costs, over any number of processes.
//
// Requests that change something must be JSON, and must not come from a page of another origin.
//
// # What there is
//
// The API describes itself at api/openapi.json (OpenAPI 3.1), from which clients can be generated.
//
// # Who runs the conversations
//
// A handler runs what it starts, and what a control has put back to work, in this process, unless [Options].Start is set. What is due for
// another reason, such as an alarm or the end of another process, [debate.Engine.Work] runs.
//
// # Other protocols
//
// Package web/chat serves the conversations of a handler as models of the OpenAI chat API, web/agui to user interfaces that speak AG-UI,
// and the module web/mcp as tools of an MCP server. They are built on Allow, Body, Hold, Start, Do and Events, as one of your own can
// be, so that the same rights and bounds hold.
package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Options say how a [Handler] serves. The zero value serves this machine alone.
type Options struct {
	// Authorize says who asks, or why that is refused. It is called once for each request or more often, also while a stream lasts, and
	// concurrently. Who is a name of one line, of at most [flow.MaxReason] bytes. If the error wraps [flow.ErrNotFound], the conversation
	// is as unknown where it is asked for by its id; lists, sums and starts do not ask about each, so that only Scope hides it there. A
	// [*DeniedError] can ask for a password. nil: whoever asks from this machine may do everything. Put no proxy in front then: not every
	// one can be told.
	Authorize func(r *http.Request, a Access) (who string, err error)
	// Scope returns labels. The caller sees and starts only conversations that have all of them. nil, and no labels: there are no bounds.
	Scope func(r *http.Request, who string) map[string]string
	// Policy returns the config that is used in place of the one that was sent. nil: [Strict] with the zero [Limits] and with Presets, or,
	// without Authorize, none.
	Policy Policy
	// Quota returns what all conversations of a scope may cost together; 0: no limit. With a quota, each conversation needs a hard limit of
	// cost. What the host program starts by itself counts, but is not refused: see Handler.Start. What has cost something is not deleted
	// here then, since only what is stored counts: that is for the host program ([debate.Engine.Delete], [debate.Engine.Prune]).
	Quota func(scope map[string]string) flow.Money
	// Start starts a config that was admitted. nil: [debate.Engine.Start]. With workers elsewhere it is [debate.Engine.Submit], and what a
	// control has put back to work is theirs too, and so are forks and reopenings, which are stored in any case.
	Start func(ctx context.Context, c flow.Config) (id string, err error)
	// Presets are configs to begin with.
	Presets []Preset
	// Bodies is the largest body of a request other than an import, in bytes; 0: 20 MiB.
	Bodies int64
	// Streams is how many streams there are at a time; 0: 2,000. One caller has at most a quarter of them, if Authorize or Scope tells
	// callers apart. More are answered with 503 and Retry-After.
	Streams int
	// Style is CSS that follows the page's own: to change its colours, say.
	Style []byte
	// Logger gets a line for each request that fails for a reason of the server's. nil: slog.Default.
	Logger *slog.Logger
}

// Preset is a config to begin with.
type Preset struct {
	Name   string          `json:"name"`
	About  string          `json:"about,omitempty"` // in a sentence
	Config json.RawMessage `json:"config"`          // as Engine.DecodeConfig reads it
}

// Defaults of [Options].
const (
	defaultBodies  = 20 << 20
	defaultStreams = 2000
)

// Handler serves the conversations of an engine: an API under api/, and at the root a page to watch and steer them. Mount it at "/", or
// under a prefix with http.StripPrefix. It is safe for concurrent use.
type Handler struct {
	engine   *debate.Engine
	options  Options
	policy   Policy // nil: everything is admitted
	mux      *http.ServeMux
	origin   *http.CrossOriginProtection
	cache    cache
	streams  *shares       // those that are open
	bodies   *shares       // bytes of requests that are served, but for imports
	imports  *shares       // bytes of logs that are imported
	exports  *shares       // bytes of reports, logs and files that are being sent
	searches chan struct{} // a value for each search through whole logs
}

// What may be under way at a time, beside streams.
const (
	mostBodies  = 16                     // of the largest size
	mostImports = 2 * debate.MaxSnapshot // bytes, which take many times as much when they are read
	mostExports = 4 * debate.MaxSnapshot // bytes
)

// mostSearches is how many searches through whole logs there are at a time.
const mostSearches = 2

// New makes a handler. It refuses an engine without a Store, a preset that is no config, and Scope or Policy without Authorize. The
// fields of the engine must be set.
func New(e *debate.Engine, o Options) (*Handler, error) {
	refuse := func(field, why string) error {
		return &flow.Error{Kind: provider.KindValidation, Op: "web", Field: field, Err: errors.New(why)}
	}
	switch {
	case e == nil || e.Store == nil:
		return nil, refuse("Engine.Store", "is nil: set it, so that conversations are found again")
	case o.Authorize == nil && (o.Scope != nil || o.Policy != nil):
		return nil, refuse("Authorize", "is nil, but Scope or Policy is set: without it everybody on this machine may do everything")
	}
	for i, preset := range o.Presets {
		if _, err := e.DecodeConfig(preset.Config); err != nil {
			return nil, errors.Join(flow.Within("web", fmt.Sprintf("Presets[%d].Config", i), err)...)
		}
	}
	h := &Handler{
		engine: e, options: o, policy: o.Policy, mux: http.NewServeMux(), origin: http.NewCrossOriginProtection(),
		streams: newShares(int64(cmp.Or(max(0, o.Streams), defaultStreams))),
		imports: newShares(mostImports), exports: newShares(mostExports), searches: make(chan struct{}, mostSearches),
	}
	h.bodies = newShares(mostBodies * min(h.largest(), 1<<40))
	if h.policy == nil && o.Authorize != nil {
		h.policy = Strict(e, Limits{}, o.Presets...)
	}
	for _, op := range operations() {
		if op.action == "" || op.do == nil {
			return nil, refuse(op.id, "is an operation without a right, or without work")
		}
		h.mux.Handle(op.method+" /api/"+op.path, h.serve(&op))
	}
	files, err := newPage(o.Style)
	if err != nil {
		return nil, err
	}
	h.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if !files.serve(w, r) {
			h.elsewhere(w, r, files)
		}
	})
	return h, nil
}

// ServeHTTP serves a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 { // a body that nobody reads must not hold the connection
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(readTime))
	}
	if r.URL.Path == "" {
		toPage(w, r)
		return
	}
	h.mux.ServeHTTP(w, r)
}

// Allow says who asks, or returns the error that answers the request: see Refuse. An id that the caller may not see gives the error of an
// unknown one, [flow.ErrNotFound].
func (h *Handler) Allow(r *http.Request, a Access) (Caller, error) {
	c, err := h.allow(r, a)
	if err == nil && a.ID != "" {
		_, err = h.find(r.Context(), a.ID, c.Labels)
	}
	return c, err
}

// Start starts a conversation for who asks, through Authorize, Scope, Policy and Quota. If the config has the ID of a conversation with
// the same config in the same scope, Start returns that.
func (h *Handler) Start(r *http.Request, config flow.Config) (id string, err error) {
	c, err := h.allow(r, Access{Action: Start})
	if err != nil {
		return "", err
	}
	id, _, err = h.begin(r, c, config)
	return id, err
}

func (h *Handler) logger() *slog.Logger { return cmp.Or(h.options.Logger, slog.Default()) }

// Serve serves a handler until ctx is done, with the time for bodies of [InTime]. Then no request is accepted any more, streams end, and
// the other requests may last as long as drain. It closes the listener. The error is nil if all has ended in time.
func Serve(ctx context.Context, l net.Listener, h http.Handler, drain time.Duration) error {
	base, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	streams, endStreams := context.WithCancel(base)
	defer endStreams()
	server := &http.Server{
		Handler: InTime(h), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		BaseContext: func(net.Listener) context.Context { return context.WithValue(base, streamsKey{}, streams) },
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	endStreams()
	bound, cancel := context.WithTimeout(base, drain)
	defer cancel()
	err := server.Shutdown(bound)
	if err != nil {
		err = errors.Join(fmt.Errorf("requests were broken off: %w", err), server.Close())
	}
	if stopped := <-served; !errors.Is(stopped, http.ErrServerClosed) {
		err = errors.Join(err, stopped)
	}
	return err
}

// Streaming returns a context that also ends when [Serve] ends streams: for a handler of the host program's own that waits long, for a
// person say. The other one is that of a request, or comes from it. The function that it returns must be called.
func Streaming(ctx context.Context) (context.Context, context.CancelFunc) { return whileStreaming(ctx) }

// streamsKey is the key under which the context of a request has the one that ends with all streams.
type streamsKey struct{}
