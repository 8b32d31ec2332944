package bedrock

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// vendor is the vendor's name in the model table.
const vendor = "bedrock"

// Provider is a [provider.Provider] for Amazon Bedrock's Converse API. The fields must not change after
// the first request. From then on, a Provider is safe for concurrent use. It must not be copied.
type Provider struct {
	// Endpoint is the server: "https://bedrock-runtime.eu-central-1.amazonaws.com". If its Key is set, it
	// is an API key of Bedrock, and requests are not signed.
	wire.Endpoint

	// Region is the region of AWS that requests are signed for.
	Region string
	// Credentials are what requests are signed with. They are asked for each request. Those of an
	// [aws.Config] keep what they have fetched, and renew it before it expires.
	Credentials aws.CredentialsProvider

	// ModelFields is sent as additionalModelRequestFields with each request, unless it is empty: a JSON
	// object of what only some models understand, such as {"thinking":{"type":"adaptive"}}. The models of
	// one provider value get the same. Register a second value under another name for other models.
	ModelFields json.RawMessage
	// ServiceTier is how urgent the requests are: "flex" at half the price for what can wait, "priority";
	// "": the vendor's default. Only some models have tiers. Prices of a tier are those of Engine.Models.
	ServiceTier string
	// Guardrail is applied to each request, if it is not nil.
	Guardrail *Guardrail
	// CachePoints reports whether a model accepts marks for the vendor's prompt cache; nil: it is told by
	// the model's name. A model that does not accept them refuses the request.
	CachePoints func(model string) bool
	// Schemas reports whether a model accepts a schema for its reply (outputConfig); nil: it is told by the
	// model's name. A model that does not accept one refuses the request.
	Schemas func(model string) bool

	refusals wire.Refusals
}

// Guardrail is a filter of Bedrock that the account has defined.
type Guardrail struct {
	ID      string `json:"guardrailIdentifier"` // or its ARN
	Version string `json:"guardrailVersion"`    // a number, or "DRAFT"
}

var (
	_ provider.Provider = (*Provider)(nil)
	_ provider.Vendor   = (*Provider)(nil)
)

// New returns a Provider with the region, the credentials and, if it has one, the base URL of a config of
// AWS. [config.LoadDefaultConfig] reads such a config from the environment, from the files of the AWS CLI
// and from the services that give credentials to machines:
//
//	cfg, err := config.LoadDefaultConfig(ctx)
//	…
//	p := bedrock.New(cfg)
//
// Nothing else of the config is used; in particular, New sends nothing.
//
// [config.LoadDefaultConfig]: https://pkg.go.dev/github.com/aws/aws-sdk-go-v2/config#LoadDefaultConfig
func New(config aws.Config) *Provider {
	p := &Provider{
		Endpoint: wire.Endpoint{BaseURL: address(config.Region)},
		Region:   config.Region, Credentials: config.Credentials,
	}
	if config.BaseEndpoint != nil && *config.BaseEndpoint != "" {
		p.BaseURL = *config.BaseEndpoint
	}
	p.Signer = p.signature
	return p
}

// WithKey returns a Provider that sends an API key of Bedrock in place of signatures.
func WithKey(region, key string) *Provider {
	p := New(aws.Config{Region: region})
	p.Key = provider.StaticKey(key)
	return p
}

// address returns the URL of the runtime in a region.
func address(region string) string {
	domain := "amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		domain = "amazonaws.com.cn"
	}
	return "https://bedrock-runtime." + region + "." + domain
}

// Vendor returns "bedrock".
func (p *Provider) Vendor() string { return vendor }

// String returns the name of the provider, without any header or key.
func (p *Provider) String() string { return vendor }

// GoString is String, for %#v.
func (p *Provider) GoString() string { return p.String() }

// Generate asks the model for one reply and streams it. A failure is a [*provider.Error], of kind
// canceled or timeout if ctx has ended. On a failure, the Response carries the usage if the vendor had
// counted the reply; otherwise it is nil. A model that refuses system prompts gets them before the first message, which is
// remembered for the model; see [wire.Refusals.Ask].
func (p *Provider) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	var options []wire.Option
	if req.System != "" {
		options = append(options, wire.SystemOption("system"))
	}
	return p.refusals.Ask(req, options, func(t *wire.Terms) (*provider.Response, error) {
		return p.generate(ctx, req, emit, t)
	})
}

// generate makes one request.
func (p *Provider) generate(
	ctx context.Context, req *provider.Request, emit func(provider.Chunk), t *wire.Terms,
) (*provider.Response, error) {
	body, answering, err := p.body(req, t)
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
	if err := p.post(x, req.Model, body); err != nil {
		return nil, err
	}
	r := reply{Reply: x.NewReply(emit), exchange: x, owner: p.owner(req.Model), answering: answering, blocks: map[int]*block{}}
	r.Heed(req.Options)
	if err := r.read(p.maxFrame()); err != nil {
		return r.Failed(err)
	}
	return r.Done()
}

// post asks a model. It fails unless the answer is a success.
func (p *Provider) post(x *wire.Exchange, model string, body []byte) error {
	name := segment(model)
	if name == "" || strings.Trim(name, ".") == "" {
		return wire.Unwritable("model", "invalid name of a model: "+wire.Clip(model))
	}
	return x.Send(http.MethodPost, "model/"+name+"/converse-stream", body)
}

// segment escapes a text for a path in the way that AWS does it: everything but letters, digits and
// "-._~".
func segment(s string) string {
	return strings.NewReplacer("+", "%20", "%7E", "~").Replace(url.QueryEscape(s))
}
