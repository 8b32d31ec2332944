package engine

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/callctx"
	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// maxPanic caps the value of a tool's panic in the log, in bytes.
const maxPanic = 1000

// bound begins the time of a call. If calls have to queue for a slot, perform begins it later instead.
func (l *Engine) bound(call *callctx.Context, c *flow.Command) {
	if l.slots == nil || c.Use != nil {
		call.Limit(c.Timeout)
	}
}

// perform makes the call, in a context that bound has prepared. Right before the call is made, launch is asked whether it
// still may be.
func (l *Engine) perform(ctx *callctx.Context, c *flow.Command, launch func() error, emit func(provider.Chunk)) (flow.Signal, error) {
	things := 0
	for _, there := range []bool{c.Request != nil, c.Task != nil, c.Use != nil} {
		if there {
			things++
		}
	}
	if things != 1 {
		err := errors.New("a command holds either a request, a function's task or the use of a tool")
		return nil, &flow.Error{Kind: provider.KindValidation, Op: "perform", Err: err}
	}
	if l.slots != nil && c.Use == nil {
		resume := ctx.Pause()
		l.queued.Add(1)
		select {
		case l.slots <- struct{}{}:
			ctx.Hold(func() { <-l.slots }) // whoever gives up the call frees the slot
			defer ctx.Free()
		case <-ctx.Done():
		}
		l.queued.Add(-1)
		resume()
		if ctx.Err() == nil { // a slot may have become free at the same time
			ctx.Limit(c.Timeout)
		}
	}
	err := ctx.Err()
	if err == nil {
		err = launch()
	}
	if err != nil {
		return flow.Failed{Call: c.Call, Attempt: c.Attempt, Error: flow.Classify(err), Free: true}, nil
	}
	l.calls.Add(1)
	defer l.calls.Add(-1)
	switch {
	case c.Use != nil:
		return l.useTool(ctx, c)
	case c.Task != nil:
		return l.askFunction(ctx, c)
	default:
		return l.askModel(ctx, c, emit)
	}
}

func (l *Engine) askModel(ctx *callctx.Context, c *flow.Command, emit func(provider.Chunk)) (flow.Signal, error) {
	host := l.providers[c.Provider]
	if host == nil {
		err := unregistered("provider", "Providers", c.Provider, l.providers)
		return nil, &flow.Error{Kind: provider.KindValidation, Op: c.Call, Field: "provider", Err: err}
	}
	if emit == nil {
		emit = func(provider.Chunk) {}
	}
	heard := false
	response, err := host.Generate(ctx, c.Request, func(chunk provider.Chunk) {
		heard = true
		emit(chunk)
	})
	took, queued := ctx.Took(), ctx.Queued()
	if err == nil && response == nil {
		err = &provider.Error{Kind: provider.KindInvalidResponse, Message: "the provider returned neither a reply nor an error"}
	}
	if err != nil {
		failed := flow.Failed{
			Call: c.Call, Attempt: c.Attempt, Error: explain(ctx, err), Free: !heard && unpaid(err), Unreached: !heard && unreached(err),
			Took: took, Queued: queued,
		}
		if failed.Unreached && failed.Error.Kind == provider.KindTimeout { // what the adapter says of it helps more
			failed.Error = classify(err)
		}
		if response != nil && (!response.Usage.IsZero() || response.Cost != nil) {
			failed.Usage, failed.Free, failed.Metadata = response.Usage, false, flow.MetadataOf(response)
			failed.Partial = response.Partial
		}
		return failed, nil
	}
	return flow.Result{
		Call: c.Call, Attempt: c.Attempt, Text: response.Text, Stop: response.Stop, Usage: response.Usage,
		Free: response.Cached, Took: took, Queued: queued, Calls: response.Calls, Metadata: flow.MetadataOf(response),
	}, nil
}

func (l *Engine) useTool(ctx *callctx.Context, c *flow.Command) (flow.Signal, error) {
	tool := l.tools[c.Tool]
	if tool == nil {
		err := unregistered("tool", "Tools", c.Tool, l.tools)
		return nil, &flow.Error{Kind: provider.KindValidation, Op: c.Call, Field: "tool", Err: err}
	}
	answer, err := l.guarded(ctx, tool, c)
	took, queued := ctx.Took(), ctx.Queued()
	if err == nil {
		return flow.Result{Call: c.Call, Attempt: c.Attempt, Text: answer, Took: took, Queued: queued}, nil
	}
	failure := &flow.Error{Kind: provider.KindAPI, Err: err}
	if cause := ctx.Err(); cause != nil { // what the tool says of it counts too
		failure.Kind = explain(ctx, err).Kind
		if errors.Is(err, cause) {
			failure = explain(ctx, err)
		}
	}
	return flow.Failed{Call: c.Call, Attempt: c.Attempt, Error: failure, Free: true, Took: took, Queued: queued}, nil
}

// guarded uses a tool. If the tool panics, its use has failed. Its arguments come from a model, and what a model
// writes must not end a debate. The log has the value of the panic; the model and the record have not.
func (l *Engine) guarded(ctx context.Context, tool flow.Tool, c *flow.Command) (answer string, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			l.logger.Error("tool panicked", name("id", c.Conversation), name("tool", c.Tool),
				slog.String("panic", text.OneLine(redact.Foreign(fmt.Sprint(reason)), maxPanic)), slog.String("stack", string(debug.Stack())))
			answer, err = "", errors.New("the tool has broken down")
		}
	}()
	return tool.Use(ctx, *c.Use)
}

func (l *Engine) askFunction(ctx *callctx.Context, c *flow.Command) (flow.Signal, error) {
	function := l.functions[c.Function]
	if function == nil {
		err := unregistered("judge or function", "Functions", c.Function, l.functions)
		return nil, &flow.Error{Kind: provider.KindValidation, Op: c.Call, Field: "function", Err: err}
	}
	answer, err := function.Call(ctx, c.Task)
	took, queued := ctx.Took(), ctx.Queued()
	if err != nil {
		return flow.Failed{Call: c.Call, Attempt: c.Attempt, Error: explain(ctx, err), Free: true, Took: took, Queued: queued}, nil
	}
	return flow.Result{Call: c.Call, Attempt: c.Attempt, Text: string(answer), Took: took, Queued: queued}, nil
}

// explain classifies a failure. If the context has ended the call, that is the reason, whatever wraps the error.
func explain(ctx context.Context, err error) *flow.Error {
	switch cause := ctx.Err(); {
	case errors.Is(cause, context.DeadlineExceeded):
		return &flow.Error{Kind: provider.KindTimeout, Err: errors.New("no reply in time")}
	case cause != nil:
		return &flow.Error{Kind: provider.KindCanceled, Err: errors.New("broken off")}
	default:
		return classify(err)
	}
}

// classify is flow.Classify for a failure of a call that the engine has not ended.
func classify(err error) *flow.Error {
	failure := flow.Classify(err)
	switch {
	case failure.Kind == provider.KindCanceled: // not by the engine
		failure.Kind = provider.KindAPI
	case failure.Kind == provider.KindNetwork && misaddressed(err):
		failure.Kind = provider.KindUnknown
	}
	return failure
}

// unpaid reports whether the failure shows that nothing was paid: the request never left, or the vendor answered
// with an error instead of a reply. A reply that has begun is never free.
func unpaid(err error) bool {
	failure, ok := errors.AsType[*provider.Error](err)
	return ok && (failure.NotSent || failure.Status >= 400) || unreached(err)
}

// unreached reports whether a failure shows that the provider could not be connected to, so that nothing was sent. An adapter says so by
// a *provider.Error. Of other errors only those count that show it for sure.
func unreached(err error) bool {
	if failure, ok := errors.AsType[*provider.Error](err); ok {
		return failure.NotSent && failure.Kind == provider.KindNetwork
	}
	if _, ok := errors.AsType[*flow.Error](err); ok {
		return false
	}
	if dial, ok := errors.AsType[*net.OpError](err); ok && slices.Contains([]string{"dial", "proxyconnect", "socks connect"}, dial.Op) {
		return true
	}
	if _, lookup := errors.AsType[*net.DNSError](err); lookup {
		return true
	}
	request, ok := errors.AsType[*url.Error](err)
	return ok && request.Op != "parse" && misaddressed(err) // a URL that is none may be one of the reply
}

// misaddressed reports whether an HTTP client has met a mistake in an address, which no retry mends: no request can be made from the URL,
// or what answers there is no HTTPS server of that name. To Classify each error of a client looks like one of the connection.
func misaddressed(err error) bool {
	if _, ok := errors.AsType[*provider.Error](err); ok {
		return false
	}
	if _, ok := errors.AsType[*flow.Error](err); ok {
		return false
	}
	request, ok := errors.AsType[*url.Error](err)
	if !ok || request.Err == nil {
		return false
	}
	_, stranger := errors.AsType[*tls.CertificateVerificationError](request.Err)
	_, plain := errors.AsType[tls.RecordHeaderError](request.Err)
	if stranger || plain || errors.Is(request.Err, http.ErrSchemeMismatch) {
		return true
	}
	to, invalid := url.Parse(request.URL)
	usable := invalid == nil && to.Host != "" && (to.Scheme == "http" || to.Scheme == "https")
	return !usable && flow.Classify(request.Err).Kind == provider.KindUnknown
}
