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

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// Provider is a [provider.Provider] for one server. Only its BaseURL is required. The fields must not
// change once the first request is made; after that, a Provider is safe for concurrent use.
type Provider struct {
	// Endpoint is the server: BaseURL is what the paths of the protocol are appended to, as in
	// "https://api.openai.com/v1".
	wire.Endpoint

	// VendorName is what Vendor yields: the vendor in the model table, "" if it has none.
	VendorName string

	// MaxCompletionTokens sends the limit of output tokens as max_completion_tokens, as OpenAI's
	// reasoning models demand, not as max_tokens, which is all that many others know.
	MaxCompletionTokens bool
	// NoStreamOptions leaves out stream_options, which Mistral refuses; usage then arrives only if
	// the server reports it unasked.
	NoStreamOptions bool
	// WholeSchema asks for a reply with a schema in one piece, not as a stream: Groq has the one without
	// the other.
	WholeSchema bool
	// JSONObject is for servers that can be held to JSON but to no schema, such as DeepSeek: the schema is
	// put into the last message's words.
	JSONObject bool
	// SchemaOrTools puts the schema into the last message's words if tools are offered too: Groq takes one
	// without the other.
	SchemaOrTools bool
	// JoinRoles joins neighbouring messages of one role with a blank line, for servers whose models have chat
	// templates that refuse two turns of a user in a row, as several opponents and the task are. It changes
	// the message that the task is joined to, so that a cached prefix ends before that message in the next
	// request; servers that need no alternation are better off without.
	JoinRoles bool
	// AssistantAfterTools puts "I have the results." in the speaker's mouth where a user's message would
	// follow a tool's result directly, which Mistral refuses (code 3230).
	AssistantAfterTools bool
	// ShortIDs sends ids of tool calls as nine letters and digits, which is all that Mistral takes. Other
	// ids, such as another vendor's in the same conversation, are hashed, the same way in call and result.
	ShortIDs bool
	// KeyPath is where Check asks whether the key is good, for servers that list their models to anybody:
	// OpenRouter's "key".
	KeyPath string
	// Extra is added to the body of each request for a reply: a vendor's own fields, such as
	// "reasoning_effort". The protocol's fields take precedence.
	Extra map[string]any
}

var (
	_ provider.Provider = (*Provider)(nil)
	_ provider.Checker  = (*Provider)(nil)
	_ provider.Embedder = (*Provider)(nil)
	_ provider.Vendor   = (*Provider)(nil)
)

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

// Generate asks the model for one reply and streams it. A failure is a [*provider.Error]. The Response
// beside one is nil unless the server has said what the attempt costs: with the failure itself, or in a
// reply that came to its end and cannot be used. It then carries that usage. What was counted before a
// reply was cut is not the whole price, and is left out. The end of ctx gives kind canceled or timeout.
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
