package ollama

import (
	"context"
	"net/http"
	"time"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// Provider is a [provider.Provider] for one Ollama server. Only BaseURL is required. The fields must not
// change after the first request. From then on, a Provider is safe for concurrent use. It must not be copied.
type Provider struct {
	// Endpoint is the server. api/chat is appended to its BaseURL. A local server needs no key; a proxy
	// in front of it and ollama.com do.
	wire.Endpoint

	// NumCtx is the window to load models with, in tokens of prompt and reply together; 0: the server
	// decides.
	NumCtx int
	// KeepAlive is how long the server keeps a model in memory after a request; 0: the server decides,
	// negative: for ever.
	KeepAlive time.Duration
	// Think says whether the model thinks first: true, false, or for some models "low", "medium", "high", "max".
	// Nil is the server's default, which is to think if the model can. A model that cannot think refuses
	// true. Thoughts are never part of the text; their tokens count as output. An effort of the request takes precedence.
	Think any
	// Options are further options of the model, such as "min_p" or "num_gpu". The request and the fields
	// above take precedence.
	Options map[string]any

	refusals wire.Refusals
}

var (
	_ provider.Provider = (*Provider)(nil)
	_ provider.Checker  = (*Provider)(nil)
	_ provider.Vendor   = (*Provider)(nil)
)

// New returns a Provider for the server at baseURL, "http://localhost:11434" if it is empty.
func New(baseURL string) *Provider {
	if baseURL == "" {
		baseURL = "http://localhost:11434"
	}
	return &Provider{Endpoint: wire.Endpoint{BaseURL: baseURL}}
}

// Vendor returns "ollama".
func (p *Provider) Vendor() string { return "ollama" }

// String returns the name of the provider, without any header or key.
func (p *Provider) String() string { return "ollama" }

// GoString is String, for %#v.
func (p *Provider) GoString() string { return p.String() }

// Generate asks the model for one reply and streams it. A failure is a [*provider.Error], of kind
// canceled or timeout if ctx has ended. On a failure, the Response carries the usage that the server
// reported with the end of the reply; it is nil if that end did not come. Think and a schema are left out for a
// model that refuses them, which is remembered; see [wire.Refusals.Ask].
func (p *Provider) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	options := []wire.Option{{Name: "think", Words: []string{"support thinking"}}, {Name: "format", Words: []string{"grammar"}}}
	if req.System != "" {
		options = append(options, wire.SystemOption("messages"))
	}
	return p.refusals.Ask(req, options, func(t *wire.Terms) (*provider.Response, error) {
		return p.generate(ctx, req, emit, t)
	})
}

// generate makes one request.
func (p *Provider) generate(
	ctx context.Context, req *provider.Request, emit func(provider.Chunk), t *wire.Terms,
) (*provider.Response, error) {
	body, err := p.encode(req, t)
	if err != nil {
		return nil, err
	}
	x, err := p.Open(ctx, req.ID)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	x.Keep(t)
	x.AddHeader(req.Options)
	if err := x.Send(http.MethodPost, "api/chat", body); err != nil {
		return nil, refine(err, req.Model)
	}
	r := reply{Reply: x.NewReply(emit), exchange: x, window: p.NumCtx, limit: req.MaxTokens}
	r.Heed(req.Options)
	if err := r.read(); err != nil {
		return r.Failed(refine(err, req.Model))
	}
	return r.Done()
}
