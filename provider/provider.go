// Package provider is the contract between a conversation and the models that it asks.
//
// A [Provider] is one method: it makes one attempt at a reply. The engine decides which model is asked, keeps within the budget, retries
// and falls back. The adapters of vendors are packages below this one, such as openai, anthropic, google and openaicompat.
//
//   - what is asked: [Request] with its [Message] list, [Options], [Schema], [Tool] and [Part]. [Request.Chat] is the form that most
//     protocols have.
//   - what comes back: [Chunk] while the text arrives, then one [Response] with its [Usage], [ToolCall] and [Citation] lists
//   - what fails: [*Error]. Its [Kind] decides whether the engine retries, falls back or gives up.
//
// What a provider can do beyond that are interfaces of one method: [Checker], [Lister], [Vendor] and [Voucher]. What a model may lack
// is an [Ability].
//
// # Wrappers
//
// A [Wrapper] is a provider around another one. Packages limit, cache, logger and cassette have some. [As] finds an ability behind
// wrappers. [Through] also passes the [Gate] wrappers, which hold calls back. A wrapper that queues calls puts [Waiting] around the wait.
//
// # An adapter of one's own
//
// This package imports nothing else of the module, so an adapter depends on it alone. Package wire does what every adapter over HTTP needs.
// Package providertest is the conformance suite, and package scripted a provider for tests.
package provider

import (
	"context"
	"encoding/json"
)

// Provider asks a model for one reply.
//
// Generate returns the whole reply. While the text arrives, it calls emit with each piece, on the calling
// goroutine. Chunks are for watching; the Response is what counts. emit is never nil.
//
// An implementation keeps these rules:
//
//   - It returns soon after ctx is done.
//   - It does not modify or keep req.
//   - It does not retry. The one exception is a part of the request, such as a temperature or the role of the system prompt, that the
//     vendor refuses for the model with a status of 400 or above, which costs nothing. An implementation may then ask again without it,
//     or with another form of it. It remembers that for the model, and names a parameter that was left out in Response.Left.
//   - It sends each option, tool and file, or fails with kind validation before it sends anything: wire.Lacking.
//   - It sends a history in a form that its vendor takes, whatever models wrote in it. Package wire makes one: wire.Form.
//   - It is safe for concurrent use.
//   - It must not panic: the panic would end the whole program.
//
// Failures on which the engine can act are *[Error]. An Error with NotSent says that the request was
// never sent and cost nothing. If its kind is network too, the provider could not be connected to. Other errors are final, because
// the engine does not know whether they pass. The exceptions are those of a context, of package net, and of an HTTP client, unless they
// show a mistake in the address.
//
// Generate may return a Response together with an error. Its usage is what the vendor has counted of the failed
// attempt, and its text is ignored. If the vendor has counted only a part, as in a reply that was cut off, the
// Response has Partial set: what the rest may have cost is counted apart, as an upper bound.
type Provider interface {
	Generate(ctx context.Context, req *Request, emit func(Chunk)) (*Response, error)
}

// Key returns an API key. Adapters call it for each request, so a host program can renew a key while
// debates run. It must be safe for concurrent use. An adapter keeps the key no longer than the request.
type Key func(ctx context.Context) (string, error)

// StaticKey returns a Key that always returns s.
func StaticKey(s string) Key {
	return func(context.Context) (string, error) { return s, nil }
}

// Chunk is one piece of a reply, in the order of arrival.
type Chunk struct {
	Text string
	// Reasoning means that the piece belongs to the text of the model's thoughts, not to the reply.
	Reasoning bool
	// Recall takes the reply's text so far back: it was thoughts, of which the model has marked only the end. A reader drops
	// that text. Thoughts so far stay, and Text is added to them; it is empty if thoughts are hidden. Reasoning is set too. The
	// reply's text begins with the next piece.
	Recall bool
}

// Request is one question to a model. Requests that run at the same time may share Messages, so a
// provider must not write to it. Its JSON, and that of a Response, is what package cassette writes.
type Request struct {
	// ID names the conversation, the call and its attempt: "cars/r1.opening.Ada/1" is the first attempt at Ada's opening
	// in round 1 of the debate "cars" (Config.ID). No two attempts share it, so it serves as an idempotency key.
	ID          string            `json:"id,omitempty"`
	Model       string            `json:"model,omitempty"`       // as the vendor names it
	System      string            `json:"system,omitempty"`      // the same for a whole debate, so that prompt caches hit
	Self        string            `json:"self,omitempty"`        // the participant who is asked; Own tells its messages
	Messages    []Message         `json:"messages,omitempty"`    // the conversation so far, oldest first
	Last        Message           `json:"last,omitzero"`         // the instruction of this call
	MaxTokens   int               `json:"maxTokens,omitempty"`   // limit of output tokens; 0: the vendor's default
	Temperature *float64          `json:"temperature,omitempty"` // nil: the vendor's default; 0 is a value of its own
	Schema      *Schema           `json:"schema,omitempty"`      // what the reply must match; nil: free text
	Tools       []Tool            `json:"tools,omitempty"`       // the tools that the model may call
	Options     *Options          `json:"options,omitempty"`     // nil: the vendor's defaults; read only
	Labels      map[string]string `json:"labels,omitempty"`      // labels of the host program (a tenant, a trace); read only
}

// Message is one contribution to the conversation.
//
// A Message with a Fence is material that another speaker wrote. [Request.Chat] encloses its text between
// markers made of Fence and Speaker, so that a model does not take the text for instructions. The text
// must not contain the fence word; the code that builds the message escapes it.
type Message struct {
	Speaker string `json:"speaker,omitempty"` // the author; "" for the engine
	Text    string `json:"text,omitempty"`
	Fence   string `json:"fence,omitempty"` // the secret word in the markers; "": no fence
	// Label says in the opening marker what the text is, such as "round 2, question to Ben"; "": not told.
	Label      string      `json:"label,omitempty"`
	ToolCalls  []ToolCall  `json:"toolCalls,omitempty"`  // the tool calls that the speaker asked for
	ToolResult *ToolResult `json:"toolResult,omitempty"` // the result of a tool call
	Parts      []Part      `json:"parts,omitempty"`      // files that come before Text; read only
}

// Schema is a JSON Schema (draft 2020-12) that a reply must match. An adapter reduces it to the subset
// that its vendor accepts. The engine validates the reply itself.
type Schema struct {
	Name string          `json:"name,omitempty"` // letters, digits, '_' and '-', at most 64
	JSON json.RawMessage `json:"json,omitempty"`
}

// Tool describes a function that the model may ask to be called.
type Tool struct {
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"` // JSON schema of the arguments
}

// ToolCall is a model's request to call a tool.
type ToolCall struct {
	ID        string          `json:"id" redact:"-"`
	Name      string          `json:"name" redact:"-"`
	Arguments json.RawMessage `json:"arguments"`
	// Opaque belongs to the adapter that made the call (a signature, encrypted reasoning). It is sent
	// back with the call, unread and unchanged. An adapter of another vendor ignores it. Engine.Redact drops it whole
	// where it finds a text in it. The adapter then sends the call as one without it.
	Opaque json.RawMessage `json:"opaque,omitempty" redact:"whole"`
}

// ToolResult is a tool's answer to the call with the same ID.
type ToolResult struct {
	ID    string `json:"id,omitempty"`
	Text  string `json:"text,omitempty"`
	Error bool   `json:"error,omitempty"` // the tool failed; Text says how
}

// StopReason says why a reply ended.
type StopReason string

// These are the reasons for the end of a reply.
const (
	StopEnd     StopReason = "end"     // the model finished
	StopLength  StopReason = "length"  // cut at the limit of output tokens
	StopTool    StopReason = "tool"    // the model waits for tools
	StopRefusal StopReason = "refusal" // the model declined
	StopFilter  StopReason = "filter"  // the vendor's filter cut it
)

// Response is a whole reply. A provider returns it only if the vendor reported the reply as complete;
// [Provider] names the exception.
type Response struct {
	Text  string     `json:"text,omitempty"`
	Calls []ToolCall `json:"calls,omitempty"`
	Stop  StopReason `json:"stop,omitempty"`
	Usage Usage      `json:"usage,omitzero"`
	ID    string     `json:"id,omitempty"`    // of the reply, as the vendor reports it; "" if it reports none
	Model string     `json:"model,omitempty"` // as the vendor reports it; "" if it reports none
	// Reasoning is the text of the model's thoughts, as far as the vendor sends it. Chunks with Reasoning set have shown it.
	Reasoning string     `json:"reasoning,omitempty"`
	Citations []Citation `json:"citations,omitempty"` // the sources that the vendor's own search has found, in the order of the reply
	Uncited   int        `json:"uncited,omitempty"`   // sources that the adapter has dropped, because they were more than [MaxCitations]
	// Cost is what the vendor itself says that the request costs, in USD. nil: it says nothing.
	Cost *float64 `json:"cost,omitempty"`
	// Left names the parameters of the request that the model refuses and that were therefore left out, by their
	// names in the vendor's API: "temperature". What the vendor takes under another name is not left out.
	Left []string `json:"left,omitempty"`
	// Partial means, beside an error, that Usage is what the vendor had counted until the reply was broken off: more may be charged.
	Partial bool `json:"partial,omitempty"`
	// Cached reports that a cache of the host program returned an earlier reply, at no cost. Usage is
	// then zero.
	Cached bool `json:"cached,omitempty"`
}

// Usage counts the tokens of one request, as the vendor reports them. The zero Usage means that the
// vendor reported none.
type Usage struct {
	Input       int `json:"input,omitempty"`       // all input tokens, cached and cache-written ones included
	CachedInput int `json:"cachedInput,omitempty"` // of Input: read from the vendor's cache
	CacheWrite  int `json:"cacheWrite,omitempty"`  // of Input: written to the vendor's cache
	Output      int `json:"output,omitempty"`      // all output tokens, reasoning included
	Reasoning   int `json:"reasoning,omitempty"`   // of Output: spent on thinking
}

// IsZero reports whether the vendor reported no usage at all.
func (u Usage) IsZero() bool { return u == Usage{} }

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input:       u.Input + v.Input,
		CachedInput: u.CachedInput + v.CachedInput,
		CacheWrite:  u.CacheWrite + v.CacheWrite,
		Output:      u.Output + v.Output,
		Reasoning:   u.Reasoning + v.Reasoning,
	}
}
