package ollama

import (
	"context"
	"net/http"
	"time"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// Provider is a [provider.Provider] for one Ollama server. Only its BaseURL is required. The fields must
// not change once the first request is made; after that, a Provider is safe for concurrent use.
type Provider struct {
	// Endpoint is the server: BaseURL is what api/chat is appended to. A server of one's own wants no key;
	// a proxy before it and ollama.com do.
	wire.Endpoint

	// NumCtx is the window to load models with, in tokens of prompt and reply; the server's own choice if 0.
	NumCtx int
	// KeepAlive is how long the server keeps a model in memory after a request; its own choice if 0, for
	// ever if negative.
	KeepAlive time.Duration
	// Think says whether the model thinks first: true, false, or for some models "low", "medium", "high".
	// The server's default if nil, which is to think if the model can. A model that cannot refuses true.
	// Thoughts are never part of the text, and their tokens count as output.
	Think any
	// Options are further options of the model, such as "top_p" or "seed". What the request and the fields
	// above say takes precedence.
	Options map[string]any
}

var (
	_ provider.Provider = (*Provider)(nil)
	_ provider.Checker  = (*Provider)(nil)
	_ provider.Embedder = (*Provider)(nil)
	_ provider.Vendor   = (*Provider)(nil)
)

// New is a Provider for the server at baseURL, "http://localhost:11434" if it is empty.
func New(baseURL string) *Provider {
	if baseURL == "" {
		baseURL = "http://localhost:11434"
	}
	return &Provider{Endpoint: wire.Endpoint{BaseURL: baseURL}}
}

// Vendor yields "ollama".
func (p *Provider) Vendor() string { return "ollama" }

// String names the provider, so that printing it shows no header and no key.
func (p *Provider) String() string { return "ollama" }

// GoString is String, for %#v.
func (p *Provider) GoString() string { return p.String() }

// Generate asks the model for one reply and streams it. A failure is a [*provider.Error]; the
// Response beside one carries the usage that the server reported with the reply's end, and is nil if that
// did not come. The end of ctx gives kind canceled or timeout.
func (p *Provider) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	body, err := p.encode(req)
	if err != nil {
		return nil, err
	}
	x, err := p.Open(ctx, req.ID)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	if err := x.Send(http.MethodPost, "api/chat", body); err != nil {
		return nil, refine(x, err, req.Model)
	}
	r := reply{Reply: x.NewReply(emit), exchange: x, window: p.NumCtx, limit: req.MaxTokens}
	if err := r.read(); err != nil {
		return r.Failed(refine(x, err, req.Model))
	}
	return r.Done()
}
