// Package provider is the contract between a debate and the models that speak in it.
//
// It is a leaf: it imports nothing from this module, so an adapter for a new vendor depends on this
// package alone. An adapter implements [Provider], classifies its failures as [*Error], and proves
// itself with one call to the conformance suite in package providertest.
package provider

import (
	"context"
	"encoding/json"
)

// Provider asks a model for one reply.
//
// Generate calls emit, on the calling goroutine, for each piece of text as it arrives, and returns
// the whole reply: the Response is what counts, chunks are for watching. emit is never nil.
//
// Generate returns soon after ctx is done, does not modify or keep req, does not retry, and is safe
// for concurrent use. It must not panic: that would be the whole program's panic. Failures that the
// engine can act on are *[Error]; an Error's NotSent says that the request never left and nothing was
// paid. A non-nil Response beside an error carries what the failed attempt costs in all: its usage is
// charged in place of a bound, and its text is ignored. Where the vendor has counted only a part, as of a
// reply that was cut, there is none.
type Provider interface {
	Generate(ctx context.Context, req *Request, emit func(Chunk)) (*Response, error)
}

// Key yields an API key. Adapters call it for each request, so that a host can renew a key while
// debates run. It must be safe for concurrent use. Its result lives no longer than the request.
type Key func(ctx context.Context) (string, error)

// StaticKey is a Key that always yields s.
func StaticKey(s string) Key {
	return func(context.Context) (string, error) { return s, nil }
}

// Chunk is a piece of a reply's text, as it arrived.
type Chunk struct {
	Text string
}

// Request is one question to a model. Messages may be shared between requests that run at the same
// time: it is read only.
type Request struct {
	ID          string            // the call and its attempt: an idempotency key
	Model       string            // as the vendor names it
	System      string            // constant over a debate, so that prompt caches hit
	Self        string            // who is asked; messages of this speaker are its own
	Messages    []Message         // the conversation so far, oldest first
	Last        Message           // the instruction of this call
	MaxTokens   int               // most tokens of output; 0: the vendor's default
	Temperature *float64          // nil: the vendor's default; 0 is a value
	Schema      *Schema           // what the reply must match; nil: free text
	Tools       []Tool            // what the model may call
	Labels      map[string]string // the host's own marks (a tenant, a trace); read only
}

// Message is one contribution to the conversation.
//
// A Message with a Fence is material that somebody else wrote: [Request.Chat] encloses its text
// between markers made of Speaker and Fence, so that nothing inside passes for an instruction. The
// text must not contain the fence; whoever builds the message escapes it.
type Message struct {
	Speaker    string // whose words these are; "" for the engine's own
	Text       string
	Fence      string      // the secret word of the markers; "": no fence
	ToolCalls  []ToolCall  // what the speaker asked tools to do
	ToolResult *ToolResult // what a tool answered
}

// Schema is a JSON schema (draft 2020-12) that a reply must match. An adapter lowers it to what its
// vendor accepts; the engine validates the reply itself.
type Schema struct {
	Name string // letters, digits, '_' and '-', at most 64
	JSON json.RawMessage
}

// Tool describes a function that the model may ask to be called.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON schema of the arguments
}

// ToolCall is a model's wish to call a tool.
type ToolCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	// Opaque belongs to the adapter that made the call (a signature, sealed thoughts): it goes back
	// with the call, unread and unchanged. Another vendor's adapter ignores what is not its own.
	Opaque json.RawMessage `json:"opaque,omitempty"`
}

// ToolResult is the answer of a tool to the call with the same ID.
type ToolResult struct {
	ID    string
	Text  string
	Error bool // the tool failed; Text says how
}

// StopReason says why a reply ended.
type StopReason string

// Reasons for the end of a reply.
const (
	StopEnd     StopReason = "end"     // the model was done
	StopLength  StopReason = "length"  // cut at the limit of output tokens
	StopTool    StopReason = "tool"    // the model waits for tools
	StopRefusal StopReason = "refusal" // the model declined
	StopFilter  StopReason = "filter"  // the vendor's filter cut it
)

// Response is a whole reply. It is returned only if the vendor said that the reply is complete.
type Response struct {
	Text  string
	Calls []ToolCall
	Stop  StopReason
	Usage Usage
	Model string // as the vendor reports it; "" if it does not
	// Cached: the reply is a former one's, given again by a cache of the host's, and nothing was paid.
	// Usage is then zero.
	Cached bool
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

// IsZero reports whether the vendor reported no usage.
func (u Usage) IsZero() bool { return u == Usage{} }

// Add yields the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input:       u.Input + v.Input,
		CachedInput: u.CachedInput + v.CachedInput,
		CacheWrite:  u.CacheWrite + v.CacheWrite,
		Output:      u.Output + v.Output,
		Reasoning:   u.Reasoning + v.Reasoning,
	}
}
