// Package logger writes one log record for each call of a provider, with log/slog:
//
//	p := &logger.Provider{Provider: vendor, Logger: slog.Default()}
//
// The record is written when the call is over. Its message is "model call" or "model call failed". Its
// attributes are in the group "call". Empty and zero attributes are left out, except took. slog's JSON
// handler writes durations in nanoseconds.
//
//	id            string    the request's ID: call and attempt
//	model         string    as requested
//	self          string    the participant who was asked
//	messages      int       how many the conversation has
//	bytesIn       int       size of system prompt, messages, tool calls and results, schema and tools
//	bytesOut      int       size of the reply's text; of the chunks, if the call failed
//	chunks        int
//	firstChunk    duration  from the call to the first chunk
//	took          duration  from the call to its end
//	stop          string    why the reply ended
//	answeredBy    string    the model that the vendor reports, if it is another one
//	cached        bool      the reply came from a cache
//	usage         group     input, cachedInput, cacheWrite, output, reasoning: tokens, as the vendor counts
//	tools         group     calls: how many the model asked for; names: of the first 16
//	error         group     kind, status, code, requestId, retryAfter, notSent; type, if the error is not a
//	                        *provider.Error
//
// These attributes hold no text of the debate and no key, because a log may go where prompts may not. For
// the same reason they hold no error message. Adapters cut their keys out of it, but a vendor may quote
// the prompt in it, and a host program's own provider guarantees nothing. Kind, status, code and the
// vendor's request id are what an operator acts on.
//
// With [Provider.Bodies] these attributes are added:
//
//	text          group     system, conversation (each message under its speaker's name), last, reply,
//	                        arguments (of the first 16 tool calls)
//	error         group     message
//
// What looks like a key is replaced by "[redacted]" in all of them. In codes, ids and error messages, so are the users and
// queries of URLs, and headers that carry credentials.
//
// Names, codes and texts may be hostile. They are cut, and a mark shows how much is missing. No control character is left in
// them, so names and codes stay on their line in every handler. Texts keep their line breaks: a handler has to keep them from
// starting a new line, and slog's own handlers do.
package logger

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// DefaultMaxText is the default of [Provider.MaxText], in bytes.
const DefaultMaxText = 4096

// These are the messages of the records.
const (
	done   = "model call"
	failed = "model call failed"
)

// Provider is a [provider.Provider] that logs the requests to another provider and their results.
// Requests, chunks and replies pass through unchanged. If the levels are disabled, it counts and
// allocates nothing.
//
// Only Provider is required. The fields must not change after the first request. From then on, a Provider
// is safe for concurrent use.
type Provider struct {
	Provider provider.Provider
	// Logger receives the records, with the context of the call; slog.Default() if nil.
	Logger *slog.Logger
	// Level is the level of calls that succeed or were canceled by their caller; slog.LevelInfo if nil.
	Level slog.Leveler
	// FailureLevel is the level of calls that fail; slog.LevelWarn if nil, because the engine may retry
	// them.
	FailureLevel slog.Leveler
	// Bodies logs texts too: prompts, speeches and error messages. They are as sensitive as the topic of
	// the debate. Each call repeats the whole conversation so far.
	Bodies bool
	// MaxText caps the bytes of each text; DefaultMaxText if not positive.
	MaxText int
}

var _ provider.Wrapper = (*Provider)(nil)

// Unwrap returns the wrapped provider. Its other abilities are not logged.
func (p *Provider) Unwrap() provider.Provider { return p.Provider }

// String returns the name of this provider and, if the wrapped one has a String method, its name.
func (p *Provider) String() string {
	if inner, ok := p.Provider.(fmt.Stringer); ok {
		return fmt.Sprintf("logger(%v)", inner)
	}
	return "logger"
}

// GoString is String, for %#v.
func (p *Provider) GoString() string { return p.String() }

// Generate asks the wrapped provider and logs the call. Reply and failure are those of the wrapped
// provider. If there is none, it fails with kind validation.
func (p *Provider) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	if p.Provider == nil {
		return nil, &provider.Error{Kind: provider.KindValidation, Message: "the logger wraps no provider", NotSent: true}
	}
	log := p.Logger
	if log == nil {
		log = slog.Default()
	}
	if !log.Enabled(ctx, level(p.Level, slog.LevelInfo)) && !log.Enabled(ctx, level(p.FailureLevel, slog.LevelWarn)) {
		return p.Provider.Generate(ctx, req, emit)
	}
	return p.logged(ctx, log, req, emit)
}

func (p *Provider) logged(
	ctx context.Context, log *slog.Logger, req *provider.Request, emit func(provider.Chunk),
) (*provider.Response, error) {
	c := call{began: time.Now(), req: req}
	c.response, c.err = p.Provider.Generate(ctx, req, func(chunk provider.Chunk) {
		c.hear(chunk)
		emit(chunk)
	})
	c.took = time.Since(c.began)

	at, message := level(p.Level, slog.LevelInfo), done
	if c.failed() {
		message = failed
		if !c.givenUp() {
			at = level(p.FailureLevel, slog.LevelWarn)
		}
	}
	if log.Enabled(ctx, at) {
		log.LogAttrs(ctx, at, message, slog.Attr{Key: "call", Value: slog.GroupValue(p.attrs(&c)...)})
	}
	return c.response, c.err
}

func level(l slog.Leveler, otherwise slog.Level) slog.Level {
	if l == nil {
		return otherwise
	}
	return l.Level()
}
