package openai

import (
	"context"
	"net/url"
	"strings"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/wire"
)

const (
	baseURL = "https://api.openai.com/v1"
	vendor  = "openai"
	// The last event of a reply repeats its whole text, its sealed thoughts and the instructions.
	maxLine = 4 << 20
)

// Provider is a [provider.Provider] for OpenAI, or for a server that speaks as OpenAI does. The fields
// must not change once the first request is made; after that, a Provider is safe for concurrent use. It
// must not be copied.
type Provider struct {
	// Endpoint is the server: BaseURL is what the paths of the API are appended to.
	wire.Endpoint

	// API is how replies are asked for; if Auto, found out with the first request, or Responses at OpenAI.
	API API

	found finding
}

var (
	_ provider.Provider     = (*Provider)(nil)
	_ provider.Checker      = (*Provider)(nil)
	_ provider.Vendor       = (*Provider)(nil)
	_ provider.TokenCounter = (*Provider)(nil)
	_ provider.Embedder     = (*Provider)(nil)
)

// New is a Provider for api.openai.com. For another server, set BaseURL. An empty key sends none.
func New(key string) *Provider {
	p := &Provider{Endpoint: wire.Endpoint{BaseURL: baseURL, MaxLine: maxLine, Kinds: kinds()}}
	if key != "" {
		p.Key = provider.StaticKey(key)
	}
	return p
}

// kinds are the codes of OpenAI's policies, which package wire would take for failures that may pass.
func kinds() map[string]provider.Kind {
	return map[string]provider.Kind{
		"bio_policy": provider.KindContentFilter, "cyber_policy": provider.KindContentFilter,
		"misalignment_policy_violation": provider.KindContentFilter, "data_residency_mismatch": provider.KindValidation,
	}
}

// Vendor yields "openai".
func (p *Provider) Vendor() string { return vendor }

// String names the provider, so that printing it shows no header and no key.
func (p *Provider) String() string { return vendor }

// GoString is String, for %#v.
func (p *Provider) GoString() string { return p.String() }

// Generate asks the model for one reply and streams it. A failure is a [*provider.Error]; the Response
// beside one carries the usage that the server reported of the failed attempt, and is nil if there was
// none. The end of ctx gives kind canceled or timeout.
func (p *Provider) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	switch p.API {
	case Auto:
		if p.own() { // which has it: a page of its edge says nothing else
			return p.respond(ctx, req, emit, func() {})
		}
		return p.discover(ctx, req, emit)
	case Responses:
		return p.respond(ctx, req, emit, func() {})
	case ChatCompletions:
		return p.chat().Generate(ctx, req, emit)
	default:
		return nil, unknownAPI()
	}
}

// respond asks for a reply at /responses, and calls begun once the answer has begun.
func (p *Provider) respond(
	ctx context.Context, req *provider.Request, emit func(provider.Chunk), begun func(),
) (*provider.Response, error) {
	x, err := p.Open(ctx, req.ID)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	service := responses.NewResponseService(p.options(x)...)
	stream := service.NewStreaming(x.Context(), newRequest(req))
	err = x.Answered(stream.Err())
	_ = stream.Close() // of the empty answer
	if err != nil {
		return nil, err
	}
	begun()
	r := reply{Reply: x.NewReply(emit), exchange: x, asked: req.Model}
	if err := r.read(); err != nil {
		return r.Failed(err)
	}
	return r.Done()
}

// options is how the SDK makes the one request of an exchange.
func (p *Provider) options(x *wire.Exchange) []option.RequestOption {
	list := []option.RequestOption{
		option.WithHTTPClient(x.Client()), option.WithBaseURL(p.BaseURL), option.WithMaxRetries(0),
	}
	if base, err := url.Parse(p.BaseURL); err == nil { // the SDK drops a query such as Azure's api-version
		for name, values := range base.Query() {
			for _, v := range values {
				list = append(list, option.WithQueryAdd(name, v))
			}
		}
	}
	return list
}

// chat is the same server by its older protocol.
func (p *Provider) chat() *openaicompat.Provider {
	return &openaicompat.Provider{Endpoint: p.Endpoint, VendorName: vendor, MaxCompletionTokens: p.genuine()}
}

// genuine reports whether the server runs OpenAI's own software, whose reasoning models refuse
// max_tokens. Many others know nothing else.
func (p *Provider) genuine() bool { return p.own() || p.within(".azure.com") }

// own reports whether the server is OpenAI's.
func (p *Provider) own() bool { return p.within(".openai.com") }

func (p *Provider) within(domain string) bool {
	base, err := url.Parse(p.BaseURL)
	return err == nil && strings.HasSuffix("."+strings.ToLower(base.Hostname()), domain)
}
