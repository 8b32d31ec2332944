// Package openaicompat implements the chat-completions protocol that OpenAI published, and that
// OpenRouter, Mistral, Ollama, vLLM, Groq, DeepSeek, xAI and many others serve too. It needs only
// net/http.
//
// A reply counts as complete only if the server gave a finish_reason. Every failure is a
// [*provider.Error] without keys, requests or headers in it. Nothing is retried here.
package openaicompat

import (
	"context"
	"net/http"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// Provider is a [provider.Provider] for one server. Only BaseURL is required. The fields must not change
// after the first request. From then on, a Provider is safe for concurrent use.
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
	// SchemaOrTools adds the schema to the last message as text if tools are offered too: Groq accepts
	// only one of the two.
	SchemaOrTools bool
	// JoinRoles joins neighbouring messages of one role, with a blank line between them. Some servers
	// have models whose chat templates refuse two user messages in a row, and several opponents and the
	// task are just that. The price is a shorter cached prefix: the message that the task is joined to
	// changes with the next request. Leave it off for servers that do not require alternating roles.
	JoinRoles bool
	// AssistantAfterTools adds an assistant message "I have the results." if a user message would
	// directly follow a tool result. Mistral refuses that sequence (code 3230).
	AssistantAfterTools bool
	// ShortIDs sends ids of tool calls as nine letters and digits, the only form that Mistral accepts.
	// Other ids, such as another vendor's in the same conversation, are hashed, in the call and its
	// result alike.
	ShortIDs bool
	// KeyPath is where Check tests the key, for servers that list their models without one: OpenRouter's
	// "key".
	KeyPath string
	// Extra is added to the body of each request for a reply: fields of a vendor, such as
	// "reasoning_effort". The fields of the protocol take precedence.
	Extra map[string]any
}

var (
	_ provider.Provider = (*Provider)(nil)
	_ provider.Checker  = (*Provider)(nil)
	_ provider.Embedder = (*Provider)(nil)
	_ provider.Vendor   = (*Provider)(nil)
)

// Vendor returns VendorName.
func (p *Provider) Vendor() string { return p.VendorName }

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
func (p *Provider) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	body, err := p.encode(req)
	if err != nil {
		return nil, &provider.Error{
			Kind: provider.KindValidation, Code: "request", NotSent: true,
			Message: "the request cannot be written as JSON: " + err.Error(),
		}
	}
	x, err := p.Open(ctx, req.ID)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	if err := x.Send(http.MethodPost, "chat/completions", body); err != nil {
		return nil, err
	}
	r := reply{Reply: x.NewReply(emit), exchange: x}
	if err := r.read(); err != nil {
		return r.Failed(err)
	}
	return r.response()
}
