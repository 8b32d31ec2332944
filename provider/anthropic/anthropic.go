package anthropic

import (
	"context"
	"net/http"
	"net/url"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// DefaultMaxTokens is the limit of output tokens of a request that sets none, because the API requires
// one. The engine always sets it.
const DefaultMaxTokens = 4096

// Provider is a [provider.Provider] for Anthropic's Messages API, or for a server that implements it. The
// fields must not change after the first request. From then on, a Provider is safe for concurrent use.
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
}

var (
	_ provider.Provider     = (*Provider)(nil)
	_ provider.Checker      = (*Provider)(nil)
	_ provider.Vendor       = (*Provider)(nil)
	_ provider.TokenCounter = (*Provider)(nil)
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

// Vendor returns "anthropic".
func (p *Provider) Vendor() string { return "anthropic" }

// String returns the name of the provider, without any header or key.
func (p *Provider) String() string { return "anthropic" }

// GoString is String, for %#v.
func (p *Provider) GoString() string { return p.String() }

// Generate asks the model for one reply and streams it. A failure is a [*provider.Error], of kind
// canceled or timeout if ctx has ended. On a failure, the Response carries the usage if the vendor had
// counted the output; otherwise it is nil.
func (p *Provider) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	x, err := p.Open(ctx, req.ID)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	params := p.params(req)
	params.SetExtraFields(map[string]any{"stream": true})
	if err := p.send(x, http.MethodPost, "v1/messages", params); err != nil {
		return nil, err
	}
	r := reply{Reply: x.NewReply(emit), exchange: x, blocks: map[int64]*block{}}
	return r.response(r.read())
}

// send lets the SDK write a request, which the exchange carries. params may be nil.
func (p *Provider) send(x *wire.Exchange, method, path string, params any) error {
	client := sdk.NewClient(
		option.WithoutEnvironmentDefaults(),
		option.WithoutOpenTelemetry(),
		option.WithMaxRetries(0),
		option.WithHTTPClient(x.Client()),
	)
	// The SDK's own base URL would lose the query of a gateway.
	base, err := url.Parse(p.BaseURL)
	if err == nil {
		err = client.Execute(x.Context(), method, base.JoinPath(path).String(), params, nil)
	}
	return explain(x, x.Answered(err))
}
