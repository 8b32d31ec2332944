package google

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

const (
	version       = "v1beta" // v1 supports neither tools nor schemas
	versionVertex = "v1beta1"
)

// Provider is a [provider.Provider] for the Gemini API, or for a server that implements it. The fields
// must not change after the first request. From then on, a Provider is safe for concurrent use. It must not
// be copied.
type Provider struct {
	// Endpoint is the server. Its BaseURL has no version: "https://generativelanguage.googleapis.com".
	wire.Endpoint

	// Safety sets what the vendor's filters block. A filter that is not listed keeps the vendor's
	// default.
	Safety []Safety
	// Thinking sets how much the model thinks, by level or by budget, whichever the model supports; nil:
	// the vendor's default. Thoughts are never part of a reply's text, even if they are requested.
	Thinking *Thinking
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

// New returns a Provider for generativelanguage.googleapis.com. If key is empty, none is sent.
func New(key string) *Provider {
	p := &Provider{Endpoint: wire.Endpoint{
		BaseURL:   "https://generativelanguage.googleapis.com",
		Authorize: func(header http.Header, key string) { header.Set("X-Goog-Api-Key", key) },
	}}
	if key != "" {
		p.Key = provider.StaticKey(key)
	}
	return p
}

// Vendor returns "google", or "vertex" on Vertex AI.
func (p *Provider) Vendor() string {
	if p.Vertex != "" {
		return "vertex"
	}
	return vendor
}

// String returns the name of the provider, without any header or key.
func (p *Provider) String() string { return p.Vendor() }

// GoString is String, for %#v.
func (p *Provider) GoString() string { return p.String() }

// Generate asks the model for one reply and streams it. A failure is a [*provider.Error], of kind
// canceled or timeout if ctx has ended. On a failure, the Response carries the usage that the vendor
// reported with the end of the reply; it is nil if that end did not come. A parameter that the model refuses
// is left out, and remembered for the model; see [wire.Refusals.Ask].
func (p *Provider) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	return p.refusals.Ask(req, options(req), func(t *wire.Terms) (*provider.Response, error) {
		return p.generate(ctx, req, emit, t)
	})
}

// optionJSON is the part of a request that makes the reply JSON. It cannot have a schema without it.
const optionJSON = "generationConfig.responseMimeType"

// options returns the parts of a request that models refuse.
func options(req *provider.Request) []wire.Option {
	list := []wire.Option{
		{Name: "generationConfig.temperature"},
		{Name: "generationConfig.topP"},
		{Name: "generationConfig.seed"},
		{Name: "serviceTier"},
		{Name: "generationConfig.thinkingConfig", Words: []string{
			"thinking level", "thinking_level", "thinking budget", "thinking_budget", "thinking_config", "thinking is not", "thinking mode",
		}},
		{Name: "generationConfig.responseJsonSchema", Words: []string{"response schema", "specified schema", "schema in generationconfig"}},
		{Name: optionJSON, Own: true, Words: []string{"json mode", "mime type", "responsemimetype", "response_mime_type"}},
	}
	if req.System != "" { // Gemma has no system instruction
		list = append(list, wire.SystemOption("systemInstruction"))
	}
	return list
}

// generate makes one request.
func (p *Provider) generate(
	ctx context.Context, req *provider.Request, emit func(provider.Chunk), t *wire.Terms,
) (*provider.Response, error) {
	body, err := p.write(req, t)
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
	if err := p.post(x, req.Model, json.RawMessage(body)); err != nil {
		return nil, err
	}
	r := reply{Reply: x.NewReply(emit), exchange: x, owner: p.owner()}
	r.Heed(req.Options)
	r.searched = req.Options != nil && req.Options.Search
	if err := r.read(); err != nil {
		return r.Failed(err)
	}
	r.cite()
	return r.Done()
}

// post asks a model. It fails unless the answer is a success.
func (p *Provider) post(x *wire.Exchange, model string, body json.RawMessage) error {
	path, err := p.path(model)
	if err != nil {
		return err
	}
	data, err := wire.Body(body)
	if err != nil {
		return err
	}
	return x.Send(http.MethodPost, path+":streamGenerateContent?alt=sse", data)
}

// path returns the path of a model with the version of the API. On Vertex AI, models are those of Google, or
// endpoints of the project: "endpoints/123".
func (p *Provider) path(model string) (string, error) {
	name, err := modelPath(model)
	if err != nil || p.Vertex == "" {
		return version + "/" + name, err
	}
	if endpoint := strings.TrimPrefix(name, "models/"); strings.HasPrefix(endpoint, "endpoints/") {
		return versionVertex + "/" + p.Vertex + "/" + endpoint, nil
	}
	return versionVertex + "/" + p.Vertex + "/publishers/google/" + name, nil
}

// modelPath returns the path of a model. The name of a tuned model has its collection in it.
func modelPath(model string) (string, error) {
	name := modelName(model)
	if strings.HasSuffix(name, "/") || strings.Contains(name, "//") || strings.Contains(name, "..") ||
		strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c >= 0x7f || strings.ContainsRune(`?#%&\:`, c) }) {
		return "", wire.Unwritable("model", "invalid name of a model: "+wire.Clip(model))
	}
	return name, nil
}

// modelName returns the name of a model in the form that the API's messages have.
func modelName(model string) string {
	if strings.HasPrefix(model, "models/") || strings.HasPrefix(model, "tunedModels/") {
		return model
	}
	return "models/" + model
}
