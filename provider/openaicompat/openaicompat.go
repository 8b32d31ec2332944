// Package openaicompat speaks the chat-completions protocol that OpenAI published and that
// OpenRouter, Mistral, Ollama, vLLM, Groq, DeepSeek, xAI and many others serve too. It uses net/http
// alone.
//
// A reply counts as whole only if the server gave a finish_reason. Every failure is a
// [*provider.Error] without keys, requests or headers in it; nothing is retried here.
package openaicompat

import (
	"context"
	"net/http"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// Defaults of a Provider's limits.
const (
	DefaultIdleTimeout = 5 * time.Minute // a reasoning model may think this long before its first word
	DefaultMaxBody     = 32 << 20        // bytes
	DefaultMaxLine     = 1 << 20         // bytes
)

// Provider is a [provider.Provider] for one server. Only BaseURL is required. The fields must not
// change once the first request is made; after that, a Provider is safe for concurrent use.
type Provider struct {
	// BaseURL is what the paths of the protocol are appended to: "https://api.openai.com/v1".
	BaseURL string
	// Key yields the bearer token; nil or an empty token sends none. An error of Key is shown as it
	// is, so it must not hold the key.
	Key provider.Key
	// Client makes the requests, over http.DefaultTransport if nil. Its redirect policy is
	// tightened: a redirect to another host, scheme or method is never followed.
	Client *http.Client
	// VendorName is what Vendor yields: the vendor in the model table, "" if it has none.
	VendorName string
	// Header is added to each request. Values of eight bytes and more are treated as secrets and
	// cut out of error messages.
	Header http.Header

	// IdleTimeout is the longest silence of the server, before its first byte and between two
	// bytes; comments that keep a stream alive count as bytes. DefaultIdleTimeout if 0, none if
	// negative.
	IdleTimeout time.Duration
	// MaxBody is the most bytes that a reply may take, decompressed; DefaultMaxBody if 0.
	MaxBody int64
	// MaxLine is the most bytes that one event of a stream may take; DefaultMaxLine if 0.
	MaxLine int

	// MaxCompletionTokens sends the limit of output tokens as max_completion_tokens, as OpenAI's
	// reasoning models demand, not as max_tokens, which is all that many others know.
	MaxCompletionTokens bool
	// NoStreamOptions leaves out stream_options, which Mistral refuses; usage then arrives only if
	// the server reports it unasked.
	NoStreamOptions bool
}

var (
	_ provider.Provider = (*Provider)(nil)
	_ provider.Checker  = (*Provider)(nil)
	_ provider.Vendor   = (*Provider)(nil)
)

// OpenAI is a Provider for api.openai.com.
func OpenAI(key string) *Provider {
	p := Compatible("https://api.openai.com/v1", key)
	p.VendorName = "openai"
	p.MaxCompletionTokens = true
	return p
}

// OpenRouter is a Provider for openrouter.ai.
func OpenRouter(key string) *Provider {
	p := Compatible("https://openrouter.ai/api/v1", key)
	p.VendorName = "openrouter"
	return p
}

// Mistral is a Provider for api.mistral.ai.
func Mistral(key string) *Provider {
	p := Compatible("https://api.mistral.ai/v1", key)
	p.VendorName = "mistral"
	p.NoStreamOptions = true
	return p
}

// Compatible is a Provider for any other server: Ollama ("http://localhost:11434/v1"), vLLM, a
// gateway. An empty key sends none.
func Compatible(baseURL, key string) *Provider {
	p := &Provider{BaseURL: baseURL}
	if key != "" {
		p.Key = provider.StaticKey(key)
	}
	return p
}

// Vendor yields VendorName.
func (p *Provider) Vendor() string { return p.VendorName }

// String names the provider, so that printing it shows no header and no key.
func (p *Provider) String() string {
	if p.VendorName == "" {
		return "openaicompat"
	}
	return "openaicompat(" + p.VendorName + ")"
}

// GoString is String, for %#v.
func (p *Provider) GoString() string { return p.String() }

// Generate asks the model for one reply and streams it. A failure is a [*provider.Error]; the
// Response beside one carries the usage that the server reported before it, and is nil if there was
// none. The end of ctx gives kind canceled or timeout.
func (p *Provider) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	body, err := p.encode(req)
	if err != nil {
		return nil, &provider.Error{
			Kind: provider.KindValidation, Code: "request", NotSent: true,
			Message: "the request cannot be written as JSON: " + err.Error(),
		}
	}
	x, err := p.open(ctx, http.MethodPost, "chat/completions", body, req.ID)
	if err != nil {
		return nil, err
	}
	defer x.close()

	r := reply{exchange: x, emit: emit}
	if err := r.read(); err != nil {
		return r.known(), err
	}
	return r.response()
}
