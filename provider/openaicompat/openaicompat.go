// Package openaicompat implements the chat-completions protocol that OpenAI published, and that
// OpenRouter, Mistral, Ollama, vLLM, Groq, DeepSeek, xAI and many others serve too. It needs only
// net/http.
//
// A reply counts as complete only if the server gave a finish_reason, unless NoFinishReason says that the server gives
// none. Every failure is a [*provider.Error] without keys, requests or headers in it. Nothing is retried here; a parameter
// that the model refuses is left out.
package openaicompat

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// Provider is a [provider.Provider] for one server. Only BaseURL is required. The fields must not change
// after the first request. From then on, a Provider is safe for concurrent use. It must not be copied.
type Provider struct {
	// Endpoint is the server. The paths of the protocol are appended to its BaseURL, as in
	// "https://api.openai.com/v1".
	wire.Endpoint

	// VendorName is the result of Vendor: the vendor in the model table, "" if it has none.
	VendorName string

	// MaxCompletionTokens sends the limit of output tokens as max_completion_tokens, which OpenAI's
	// reasoning models require. Otherwise it is sent as max_tokens, the only name that many other servers
	// know.
	MaxCompletionTokens bool
	// NoStreamOptions omits stream_options, which Mistral refuses. Usage then arrives only if the server
	// reports it unasked.
	NoStreamOptions bool
	// WholeSchema asks for a reply with a schema in one piece: Groq does not stream such a reply.
	WholeSchema bool
	// JSONObject is for servers that can guarantee JSON but no schema, such as DeepSeek. The schema is
	// then added to the last message as text.
	JSONObject bool
	// NoBounds leaves minimum, minItems, pattern and the like out of strict schemas: Groq refuses them.
	NoBounds bool
	// SchemaOrTools adds the schema to the last message as text if tools are offered too: Groq accepts
	// only one of the two.
	SchemaOrTools bool
	// JoinRoles joins neighbouring messages of one role, with a blank line between them. Some servers
	// have models whose chat templates refuse two user messages in a row, and several opponents and the
	// task are just that. The price is a shorter cached prefix: the message that the task is joined to
	// changes with the next request. Without it, they are joined for a model that has refused such messages
	// once.
	JoinRoles bool
	// ShortIDs sends ids of tool calls as nine letters and digits, the only form that Mistral accepts.
	// Other ids, such as another vendor's in the same conversation, are hashed, in the call and its
	// result alike. Without it, ids have 1 to 40 letters, digits, '_' and '-'.
	ShortIDs bool
	// Thoughts is how the server wants back the thoughts that led to tool calls. ThoughtsNone if empty.
	Thoughts Thoughts
	// NoFinishReason is for servers that leave finish_reason empty, as Snowflake does for most models. A
	// reply is then complete when the stream ends with [DONE], or when an answer in one piece is whole. If
	// it took all the output tokens that it was allowed, it counts as cut at that limit: the server does
	// not tell. A finish_reason that comes nevertheless is used.
	NoFinishReason bool
	// KeyPath is where Check tests the key, for servers that list their models without one: OpenRouter's
	// "key".
	KeyPath string
	// Extra is added to the body of each request for a reply: fields of a vendor, such as
	// "reasoning_effort". It is the host program's default: what a request has already takes precedence, and so does a
	// field of the same name in [provider.Options.Extra]. There, a field that the request has already is a failure.
	Extra map[string]any
	// Dialect returns how the server takes the options of a request to a model; nil: the zero Dialect. It must be safe for
	// concurrent use.
	Dialect func(model string) Dialect

	refusals wire.Refusals
}

var (
	_ provider.Provider = (*Provider)(nil)
	_ provider.Checker  = (*Provider)(nil)
	_ provider.Lister   = (*Provider)(nil)
	_ provider.Vendor   = (*Provider)(nil)
	_ provider.Voucher  = (*Provider)(nil)
)

// Vendor returns VendorName.
func (p *Provider) Vendor() string { return p.VendorName }

// Vouches reports whether the server is OpenAI's own. Another server may run any model under a name of OpenAI's, and count its tokens
// otherwise.
func (p *Provider) Vouches(string) bool { return p.Within("openai.com") }

// String returns the name of the provider, without any header or key.
func (p *Provider) String() string {
	if p.VendorName == "" {
		return "openaicompat"
	}
	return "openaicompat(" + p.VendorName + ")"
}

// GoString is String, for %#v.
func (p *Provider) GoString() string { return p.String() }

// Generate asks the model for one reply and streams it. A failure is a [*provider.Error], of kind
// canceled or timeout if ctx has ended.
//
// On a failure, the Response is nil unless the server has said what the attempt costs: with the failure
// itself, or in a complete reply that cannot be used. The Response then carries that usage. Tokens
// counted before a reply was cut off are not the whole price, so they are not reported.
//
// A parameter that the model refuses (a temperature, a strict schema) is left out, and remembered for the
// model; see [wire.Refusals.Ask].
func (p *Provider) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	return p.refusals.Ask(req, p.options(req), func(t *wire.Terms) (*provider.Response, error) {
		return p.generate(ctx, req, emit, t)
	})
}

// generate makes one request.
func (p *Provider) generate(
	ctx context.Context, req *provider.Request, emit func(provider.Chunk), t *wire.Terms,
) (*provider.Response, error) {
	body, err := p.encode(req, t)
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
	if err := x.Send(http.MethodPost, "chat/completions", body); err != nil {
		return nil, p.hint(req, err)
	}
	r := reply{
		Reply: x.NewReply(emit), exchange: x, silent: p.NoFinishReason, limit: req.MaxTokens, tools: req.Tools,
		thoughts: kept{form: p.Thoughts, owner: p.Owner(req.Model)},
	}
	r.Heed(req.Options)
	if err := r.read(); err != nil {
		return r.Failed(err)
	}
	return r.response()
}

// hint adds to the failure of a request with a schema what helps if the server knows no schemas.
func (p *Provider) hint(req *provider.Request, err error) error {
	e, ok := errors.AsType[*provider.Error](err)
	if !ok || e.Kind != provider.KindValidation || req.Schema == nil || p.JSONObject {
		return err
	}
	words := strings.ToLower(e.Message)
	if strings.Contains(words, "response_format") || strings.Contains(words, "json_schema") {
		e.Message += " (if this server or model takes no schemas, set JSONObject)"
	}
	return e
}
