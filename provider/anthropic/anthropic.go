package anthropic

import (
	"context"
	"net/http"
	"net/url"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// DefaultMaxTokens is the limit of output tokens of a request that sets none, because the API requires
// one. The engine always sets it.
const DefaultMaxTokens = 4096

// Provider is a [provider.Provider] for Anthropic's Messages API, or for a server that implements it. The
// fields must not change after the first request. From then on, a Provider is safe for concurrent use. It
// must not be copied.
type Provider struct {
	// Endpoint is the server. Its BaseURL has no version: "https://api.anthropic.com".
	wire.Endpoint

	// NoCache does not use the vendor's prompt cache.
	NoCache bool
	// LongCache keeps cached input for an hour instead of five minutes. Writing to the cache then costs
	// twice the price of input instead of 1.25 times.
	LongCache bool

	// AdaptiveThinking lets the model decide how much to think, within MaxTokens. Models from Claude Opus
	// 4.6 on support it.
	AdaptiveThinking bool
	// ThinkingBudget caps the tokens of thinking, for models that take a budget (up to Claude Opus 4.6);
	// 0 asks for no thinking. The minimum is 1024; a smaller number is raised to it. A request goes
	// without thinking if its MaxTokens is not above the budget, or if its last tool calls came without
	// thoughts, such as those of another vendor. With AdaptiveThinking, the budget is not used.
	ThinkingBudget int
	// Effort is how much effort the model makes ("low", "medium", "high", "xhigh", "max"), if it supports
	// that; "": its default.
	Effort string

	// Vertex, if not empty, says that the server is Vertex AI, and names the project and the location there:
	// "projects/debates/locations/global". Package vertex of this repository sets it.
	Vertex string

	refusals wire.Refusals
}

var (
	_ provider.Provider = (*Provider)(nil)
	_ provider.Checker  = (*Provider)(nil)
	_ provider.Vendor   = (*Provider)(nil)
)

// New returns a Provider for api.anthropic.com. If key is empty, none is sent.
func New(key string) *Provider {
	p := &Provider{Endpoint: wire.Endpoint{
		BaseURL:   "https://api.anthropic.com",
		Authorize: func(header http.Header, key string) { header.Set("X-Api-Key", key) },
	}}
	if key != "" {
		p.Key = provider.StaticKey(key)
	}
	return p
}

// Vendor returns "anthropic", or "vertex" on Vertex AI.
func (p *Provider) Vendor() string {
	if p.Vertex != "" {
		return "vertex"
	}
	return "anthropic"
}

// String returns the name of the provider, without any header or key.
func (p *Provider) String() string { return p.Vendor() }

// GoString is String, for %#v.
func (p *Provider) GoString() string { return p.String() }

// Generate asks the model for one reply and streams it. A failure is a [*provider.Error], of kind
// canceled or timeout if ctx has ended. On a failure, the Response carries the usage if the vendor had
// counted the output; otherwise it is nil. A parameter that the model refuses is left out, and remembered for
// the model; see [wire.Refusals.Ask].
func (p *Provider) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	return p.refusals.Ask(req, options(req), func(t *wire.Terms) (*provider.Response, error) {
		return p.generate(ctx, req, emit, t)
	})
}

// options returns the parts of a request that models refuse. A schema is first tried without bounds.
func options(req *provider.Request) []wire.Option {
	list := []wire.Option{
		{Name: "temperature"},
		{Name: "top_p"},
		{Name: "service_tier"},
		{Name: "thinking"},
		{Name: "output_config.effort", Words: []string{"effort parameter"}},
		{Name: optionBounds, Own: true, Quiet: true, Words: wire.BoundWords()},
		{Name: "output_config.format", Words: []string{
			"output format", "output_format", "structured output", "schema is too complex", "grammar",
		}},
		wire.RolesOption("messages"),
	}
	if req.System != "" {
		list = append(list, wire.SystemOption("system"))
	}
	return list
}

// generate makes one request, and further ones if the vendor pauses the reply: it is one reply in pieces.
func (p *Provider) generate(
	ctx context.Context, req *provider.Request, emit func(provider.Chunk), t *wire.Terms,
) (*provider.Response, error) {
	w, err := p.write(req, t)
	if err != nil {
		return nil, err
	}
	r := &reply{owner: p.owner(), pausable: pausable(req)}
	for {
		data, err := body(req, w)
		if err != nil {
			return r.late(err)
		}
		if response, again, err := p.ask(ctx, req, data, r, emit, t, w); !again {
			return response, err
		}
	}
}

// ask makes one request of a reply. again reports that the vendor has paused the reply, and that w continues it.
func (p *Provider) ask(
	ctx context.Context, req *provider.Request, data []byte, r *reply, emit func(provider.Chunk), t *wire.Terms, w *request,
) (response *provider.Response, again bool, err error) {
	x, err := p.Open(ctx, req.ID)
	if err == nil {
		defer x.Close()
		x.Follow(r.exchange)
		x.Keep(t)
		x.AddHeader(req.Options)
		path := "v1/messages"
		if p.Vertex != "" {
			path = p.vertexPath(req.Model)
		}
		err = p.send(x, http.MethodPost, path, data)
	}
	if err != nil {
		response, err = r.late(err)
		return response, false, err
	}
	r.begins(x, emit, req)
	err = r.read()
	if err == nil && r.paused(w) {
		return nil, true, nil
	}
	response, err = r.response(err)
	return response, false, err
}

// These are the versions of the API, the only ones that there are.
const (
	headerVersion = "Anthropic-Version"
	version       = "2023-06-01"
	versionVertex = "vertex-2023-10-16" // in the body
)

// vertexPath returns the path of a model on Vertex AI.
func (p *Provider) vertexPath(model string) string {
	return "v1/" + p.Vertex + "/publishers/anthropic/models/" + url.PathEscape(model) + ":streamRawPredict"
}

// send sends a request; body may be nil.
func (p *Provider) send(x *wire.Exchange, method, path string, body []byte) error {
	x.SetHeader("Accept", "application/json")
	x.SetHeader(headerVersion, version)
	return explain(x, x.Send(method, path, body))
}
