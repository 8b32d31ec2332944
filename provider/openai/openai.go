package openai

import (
	"context"
	"net/http"
	"sync"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/wire"
)

const (
	baseURL = "https://api.openai.com/v1"
	domain  = "openai.com"
	vendor  = "openai"
	// The last event of a reply repeats its whole text, its encrypted thoughts and the instructions.
	maxLine = 4 << 20
)

// Provider is a [provider.Provider] for OpenAI, or for a server with the same interface. The fields must
// not change after the first request. From then on, a Provider is safe for concurrent use. It must not be
// copied.
type Provider struct {
	// Endpoint is the server. The paths of the API are appended to its BaseURL.
	wire.Endpoint

	// API selects the interface for replies. Auto means Responses at OpenAI; for other servers, the first
	// request finds out.
	API API

	found    finding
	refusals wire.Refusals
	chatOnce sync.Once
	chatting *openaicompat.Provider // set by chat
}

var (
	_ provider.Provider = (*Provider)(nil)
	_ provider.Checker  = (*Provider)(nil)
	_ provider.Lister   = (*Provider)(nil)
	_ provider.Vendor   = (*Provider)(nil)
	_ provider.Voucher  = (*Provider)(nil)
)

// New returns a Provider for api.openai.com. For another server, set BaseURL. If key is empty, none is
// sent.
func New(key string) *Provider {
	p := &Provider{Endpoint: wire.Endpoint{BaseURL: baseURL, MaxLine: maxLine, Kinds: kinds()}}
	if key != "" {
		p.Key = provider.StaticKey(key)
	}
	return p
}

// kinds returns codes that OpenAI alone has: those that its API description lists for a reply that failed.
// Package wire would take them for temporary failures.
func kinds() map[string]provider.Kind {
	list := map[string]provider.Kind{
		"data_residency_mismatch": provider.KindValidation,
		"vector_store_timeout":    provider.KindTimeout,
	}
	for _, code := range []string{
		"invalid_image", "invalid_image_format", "invalid_base64_image", "invalid_image_url", "image_too_large", "image_too_small",
		"image_parse_error", "invalid_image_mode", "image_file_too_large", "unsupported_image_media_type", "empty_image_file",
		"failed_to_download_image", "image_file_not_found",
	} {
		list[code] = provider.KindValidation
	}
	return list
}

// Vendor returns "openai".
func (p *Provider) Vendor() string { return vendor }

// Vouches reports whether the server is OpenAI's own. Another server may run any model under a name of OpenAI's, and count its tokens
// otherwise.
func (p *Provider) Vouches(string) bool { return p.own() }

// String returns the name of the provider, without any header or key.
func (p *Provider) String() string { return vendor }

// GoString is String, for %#v.
func (p *Provider) GoString() string { return p.String() }

// Generate asks the model for one reply and streams it. A failure is a [*provider.Error], of kind
// canceled or timeout if ctx has ended. On a failure, the Response carries the usage that the server
// reported for the failed attempt; it is nil if the server reported none. A parameter that the model refuses
// is left out, and remembered for the model; see [wire.Refusals.Ask].
func (p *Provider) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	switch p.API {
	case Auto:
		if p.own() { // it has /responses; a page from its edge servers means something else
			return p.respond(ctx, req, emit, func() {})
		}
		return p.discover(ctx, req, emit)
	case Responses:
		return p.respond(ctx, req, emit, func() {})
	case ChatCompletions:
		return p.chat().Generate(ctx, req, emit)
	default:
		return nil, unknownAPI(p.API)
	}
}

// respond asks for a reply at /responses. It calls begun with each event that only this API has, so that an error under a status of
// 200 does not count as an answer.
func (p *Provider) respond(
	ctx context.Context, req *provider.Request, emit func(provider.Chunk), begun func(),
) (*provider.Response, error) {
	return p.refusals.Ask(req, options(req), func(t *wire.Terms) (*provider.Response, error) {
		return p.respondOn(ctx, req, emit, begun, t)
	})
}

// respondOn makes one request.
func (p *Provider) respondOn(
	ctx context.Context, req *provider.Request, emit func(provider.Chunk), begun func(), t *wire.Terms,
) (*provider.Response, error) {
	data, err := p.body(req, t)
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
	x.SetHeader("Accept", "application/json")
	if err := x.Send(http.MethodPost, "responses", data); err != nil {
		return nil, err
	}
	r := reply{Reply: x.NewReply(emit), exchange: x, owner: p.owner(req.Model), begun: begun}
	r.Heed(req.Options)
	if err := r.read(); err != nil {
		return r.Failed(err)
	}
	return r.Done()
}

// chat returns a provider for the same server that uses Chat Completions.
func (p *Provider) chat() *openaicompat.Provider {
	p.chatOnce.Do(func() {
		p.chatting = &openaicompat.Provider{Endpoint: p.Endpoint, VendorName: vendor, MaxCompletionTokens: p.genuine()}
		if p.genuine() {
			p.chatting.Dialect = openaicompat.OpenAIDialect
		}
	})
	return p.chatting
}

// genuine reports whether the server runs OpenAI's own software, whose reasoning models refuse
// max_tokens. Many other servers support no other field.
func (p *Provider) genuine() bool { return p.own() || p.Within("azure.com") }

// own reports whether the server is OpenAI's.
func (p *Provider) own() bool { return p.Within(domain) }
