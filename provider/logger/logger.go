// Package logger writes a line for each call of a provider, with log/slog:
//
//	p := &logger.Provider{Provider: vendor, Logger: slog.Default()}
//
// A line is written when the call is over. Its message is "model call" or "model call failed", and its
// attributes stand in the group "call". What is empty or zero is left out, but for took. slog's JSON handler
// writes durations in nanoseconds.
//
//	id            string    the request's ID: call and attempt
//	model         string    as it was asked for
//	self          string    who was asked to speak
//	messages      int       in the conversation
//	bytesIn       int       of system prompt, messages, tool calls and results, schema and tools
//	bytesOut      int       of the reply's text; of the chunks, if the call failed
//	chunks        int
//	firstChunk    duration  from the call to the first chunk
//	took          duration  from the call to its end
//	stop          string    why the reply ended
//	answeredBy    string    the model as the vendor reports it, if it is another one
//	cached        bool      the reply is a former one's
//	usage         group     input, cachedInput, cacheWrite, output, reasoning: tokens, as the vendor counts
//	tools         group     calls: how many the model wants; names: of the first 16
//	error         group     kind, status, code, requestId, retryAfter, notSent; type, of an error that is no
//	                        *provider.Error
//
// No text of the debate is among them, and no key: the log of a provider may go where prompts may not.
// An error's message is left out for the same reason. Adapters cut their keys out of it, but it is written
// by a vendor, who may quote the prompt, or by a host's own provider, which promises nothing; kind, status,
// code and the vendor's request id say what an operator acts on.
//
// With [Provider.Bodies] these are written as well:
//
//	text          group     system, conversation (each message under its speaker's name), last, reply,
//	                        arguments (of the first 16 tool calls)
//	error         group     message
//
// Names, codes and texts may be hostile. They are cut, with a mark where more was; that nothing in them
// makes a line of its own is the handler's work, and slog's own handlers do it.
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

// Messages of the lines.
const (
	done   = "model call"
	failed = "model call failed"
)

// Provider is a [provider.Provider] that logs what another one is asked, and what came of it. Requests,
// chunks and replies are handed on untouched. Where neither level is enabled nothing is counted and
// nothing allocated.
//
// Only Provider is required. The fields must not change once the first request is made; after that, a
// Provider is safe for concurrent use.
type Provider struct {
	Provider provider.Provider
	// Logger gets the lines, with the context of the call; slog.Default() if nil.
	Logger *slog.Logger
	// Level is that of calls that succeed, and of those that their caller gave up; slog.LevelInfo if nil.
	Level slog.Leveler
	// FailureLevel is that of calls that fail; slog.LevelWarn if nil: the engine may yet try again.
	FailureLevel slog.Leveler
	// Bodies logs texts too: prompts, speeches and the messages of errors. They are as sensitive as what
	// the debate is about, and a call reads all of the conversation so far.
	Bodies bool
	// MaxText is the most bytes of each text; DefaultMaxText if not positive.
	MaxText int
}

var _ provider.Wrapper = (*Provider)(nil)

// Unwrap yields the provider that is asked. Its other abilities are not logged.
func (p *Provider) Unwrap() provider.Provider { return p.Provider }

// String names the provider and the wrapped one, if that has a String of its own.
func (p *Provider) String() string {
	if inner, ok := p.Provider.(fmt.Stringer); ok {
		return fmt.Sprintf("logger(%v)", inner)
	}
	return "logger"
}

// GoString is String, for %#v.
func (p *Provider) GoString() string { return p.String() }

// Generate asks the wrapped provider and logs the call. Reply and failure are the wrapped provider's; if
// there is none, it fails with kind validation.
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
