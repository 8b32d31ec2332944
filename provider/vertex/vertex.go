package vertex

import (
	"context"
	"net/url"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/anthropic"
	"github.com/agonist-dev/debate/provider/google"
	"github.com/agonist-dev/debate/provider/wire"
)

// Provider is a [provider.Provider] for Vertex AI. Models whose names begin with "claude" are asked by
// Claude, all others by Gemini. The fields, and those of what they point to, must not change after the
// first request. From then on, a Provider is safe for concurrent use.
type Provider struct {
	Gemini *google.Provider    // for Google's models, and for endpoints of the project: "endpoints/123"
	Claude *anthropic.Provider // for Anthropic's models: "claude-sonnet-4-5@20250929"
}

var (
	_ provider.Provider = (*Provider)(nil)
	_ provider.Checker  = (*Provider)(nil)
	_ provider.Vendor   = (*Provider)(nil)
)

// New returns a Provider for a project and a location: a region such as "europe-west4", the regions "us" or
// "eu" together, or "global". token returns an access token for each request; [Tokens] and [ServiceAccount]
// make one of credentials. Settings that both vendors' adapters have, such as Client or IdleTimeout, are set
// in each of the fields.
func New(project, location string, token provider.Key) *Provider {
	place := "projects/" + url.PathEscape(project) + "/locations/" + url.PathEscape(location)
	endpoint := wire.Endpoint{BaseURL: address(location), Key: token}
	return &Provider{
		Gemini: &google.Provider{Endpoint: endpoint, Vertex: place},
		Claude: &anthropic.Provider{Endpoint: endpoint, Vertex: place},
	}
}

// address returns the URL of a location.
func address(location string) string {
	switch location {
	case "global":
		return "https://aiplatform.googleapis.com"
	case "us", "eu":
		return "https://aiplatform." + location + ".rep.googleapis.com"
	}
	return "https://" + location + "-aiplatform.googleapis.com"
}

// adapter is what both vendors' adapters can do.
type adapter interface {
	provider.Provider
	provider.Checker
}

// of returns the adapter for a model.
func (p *Provider) of(model string) adapter {
	if strings.HasPrefix(model, "claude") {
		return p.Claude
	}
	return p.Gemini
}

// Vendor returns "vertex".
func (p *Provider) Vendor() string { return "vertex" }

// String returns the name of the provider, without any header or token.
func (p *Provider) String() string { return "vertex" }

// GoString is String, for %#v.
func (p *Provider) GoString() string { return p.String() }

// Generate asks the model for one reply and streams it. A failure is a [*provider.Error], of kind
// canceled or timeout if ctx has ended.
func (p *Provider) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	return p.of(req.Model).Generate(ctx, req, emit)
}

// Check asks for the description of the model, which costs nothing. It needs the permission
// aiplatform.models.get or a role such as Vertex AI User. It fails with kind authentication if the token is
// refused, and with kind validation if the vendor does not know the model. Endpoints of the project are not
// described there, so Check finds nothing wrong with them.
func (p *Provider) Check(ctx context.Context, model string) error {
	if strings.HasPrefix(model, "endpoints/") {
		return nil
	}
	return p.of(model).Check(ctx, model)
}
