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

// DefaultMaxTokens is the limit of output tokens of a request that sets none: the API demands one. The
// engine always sets it.
const DefaultMaxTokens = 4096

// Provider is a [provider.Provider] for Anthropic's Messages API, or for a server that speaks it. The
// fields must not change once the first request is made; after that, a Provider is safe for concurrent
// use.
type Provider struct {
	// Endpoint is the server. Its BaseURL has no version: "https://api.anthropic.com".
	wire.Endpoint

	// NoCache leaves the vendor's prompt cache alone.
	NoCache bool
	// LongCache keeps what is cached for an hour instead of five minutes, for twice the price of input
	// instead of 1.25 times.
	LongCache bool

	// AdaptiveThinking lets the model think as much as it sees fit, within MaxTokens. Models from Claude
	// Opus 4.6 on know it.
	AdaptiveThinking bool
	// ThinkingBudget is the most tokens of thinking, for models that take a budget (up to Claude Opus 4.6);
	// 0: no thinking is asked for. The least is 1024, which a smaller number stands for. A request whose
	// MaxTokens is not above the budget goes without thinking, and so does one whose last tool calls came
	// without thoughts, such as another vendor's. Not used with AdaptiveThinking.
	ThinkingBudget int
	// Effort is how much the model takes pains ("low", "medium", "high", "xhigh", "max"), if it knows
	// efforts; "": its default.
	Effort string
}

var (
	_ provider.Provider     = (*Provider)(nil)
	_ provider.Checker      = (*Provider)(nil)
	_ provider.Vendor       = (*Provider)(nil)
	_ provider.TokenCounter = (*Provider)(nil)
)

// New is a Provider for api.anthropic.com. An empty key sends none.
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

// Vendor yields "anthropic".
func (p *Provider) Vendor() string { return "anthropic" }

// String names the provider, so that printing it shows no header and no key.
func (p *Provider) String() string { return "anthropic" }

// GoString is String, for %#v.
func (p *Provider) GoString() string { return p.String() }

// Generate asks the model for one reply and streams it. A failure is a [*provider.Error]; the Response
// beside one carries the usage if the vendor had counted the output, and is nil otherwise. The end
// of ctx gives kind canceled or timeout.
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
	// The SDK's own base URL would lose a gateway's query.
	base, err := url.Parse(p.BaseURL)
	if err == nil {
		err = client.Execute(x.Context(), method, base.JoinPath(path).String(), params, nil)
	}
	return explain(x, x.Answered(err))
}
