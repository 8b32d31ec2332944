package debate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/agonist-dev/debate/provider"
)

// Perform makes the call of a command and returns the input for its core's next step. emit is called on this
// goroutine, with each piece of text as it arrives. emit may be nil.
//
// A failure of a provider or a judge is an input like any other. An error means misuse: the command names something
// that this engine does not have.
//
// Perform waits for a free slot under MaxCalls, and returns soon after ctx is done.
func (e *Engine) Perform(ctx context.Context, c *Command, emit func(provider.Chunk)) (Input, error) {
	live, err := e.freeze()
	if err != nil {
		return Input{}, err
	}
	if c == nil {
		return Input{}, &Error{Kind: KindValidation, Op: "perform", Err: errors.New("the command is nil")}
	}
	var call callContext
	live.bound(&call, c)
	call.attach(ctx)
	defer call.cancel()
	signal, err := live.perform(&call, c, emit)
	if err != nil {
		return Input{}, err
	}
	return newInput(signal), nil
}

// bound begins the time of a call. If calls have to queue for a slot, perform begins it later instead.
func (l *live) bound(call *callContext, c *Command) {
	if l.slots == nil || c.Use != nil {
		call.limit(c.Timeout)
	}
}

// perform makes the call, in a context that bound has prepared.
func (l *live) perform(ctx *callContext, c *Command, emit func(provider.Chunk)) (Signal, error) {
	things := 0
	for _, there := range []bool{c.Request != nil, c.Task != nil, c.Use != nil} {
		count(&things, there)
	}
	if things != 1 {
		err := errors.New("a command holds either a request, a judge's task or the use of a tool")
		return nil, &Error{Kind: KindValidation, Op: "perform", Err: err}
	}
	if l.slots != nil && c.Use == nil {
		select {
		case l.slots <- struct{}{}:
			defer func() { <-l.slots }()
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil { // a slot may have become free at the same time
			return Failed{Call: c.Call, Attempt: c.Attempt, Error: Classify(err), Free: true}, nil
		}
		var call callContext
		call.attach(ctx)
		call.limit(c.Timeout)
		defer call.cancel()
		ctx = &call
	}
	switch {
	case c.Use != nil:
		return l.useTool(ctx, c)
	case c.Task != nil:
		return l.askJudge(ctx, c)
	default:
		return l.askModel(ctx, c, emit)
	}
}

func (l *live) askModel(ctx *callContext, c *Command, emit func(provider.Chunk)) (Signal, error) {
	host := l.providers[c.Provider]
	if host == nil {
		return nil, &Error{Kind: KindValidation, Op: c.Call, Field: "provider", Err: fmt.Errorf("no provider %q is registered", c.Provider)}
	}
	if emit == nil {
		emit = func(provider.Chunk) {}
	}
	heard := false
	response, err := host.Generate(ctx, c.Request, func(chunk provider.Chunk) {
		heard = true
		emit(chunk)
	})
	took := ctx.took()
	if err == nil && response == nil {
		err = &provider.Error{Kind: KindInvalidResponse, Message: "the provider returned neither a reply nor an error"}
	}
	if err != nil {
		failed := Failed{Call: c.Call, Attempt: c.Attempt, Error: explain(ctx, err), Free: !heard && unpaid(err), Took: took}
		if response != nil && !response.Usage.IsZero() {
			failed.Usage, failed.Free = KnownUsage(response.Usage), false
		}
		return failed, nil
	}
	return Result{
		Call: c.Call, Attempt: c.Attempt, Text: response.Text, Stop: response.Stop, Usage: KnownUsage(response.Usage),
		Free: response.Cached, Took: took, Calls: response.Calls,
	}, nil
}

func (l *live) useTool(ctx *callContext, c *Command) (Signal, error) {
	tool := l.tools[c.Tool]
	if tool == nil {
		return nil, &Error{Kind: KindValidation, Op: c.Call, Field: "tool", Err: fmt.Errorf("no tool %q is registered", c.Tool)}
	}
	answer, err := l.guarded(ctx, tool, c)
	took := ctx.took()
	if err == nil {
		return Result{Call: c.Call, Attempt: c.Attempt, Text: answer, Took: took}, nil
	}
	failure := &Error{Kind: KindAPI, Err: err}
	if ctx.Err() != nil {
		failure = explain(ctx, err)
	}
	return Failed{Call: c.Call, Attempt: c.Attempt, Error: failure, Free: true, Took: took}, nil
}

// guarded uses a tool. If the tool panics, its use has failed. Its arguments come from a model, and what a model
// writes must not end a debate.
func (l *live) guarded(ctx context.Context, tool Tool, c *Command) (answer string, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			if l.logger != nil {
				l.logger.Error("tool panicked", slog.String("id", c.Debate), slog.String("tool", c.Tool), slog.String("stack", string(debug.Stack())))
			}
			answer, err = "", errors.New("the tool has broken down")
		}
	}()
	return tool.Use(ctx, *c.Use)
}

func (l *live) askJudge(ctx *callContext, c *Command) (Signal, error) {
	judge := l.judges[c.Judge]
	if judge == nil {
		return nil, &Error{Kind: KindValidation, Op: c.Call, Field: "judge", Err: fmt.Errorf("no judge %q is registered", c.Judge)}
	}
	task, ok := c.Task.(*JudgeTask)
	if !ok {
		err := fmt.Errorf("a judge is asked with a *JudgeTask, not with a %T", c.Task)
		return nil, &Error{Kind: KindValidation, Op: c.Call, Field: "task", Err: err}
	}
	answer, err := judge.Judge(ctx, *task)
	took := ctx.took()
	if err != nil {
		return Failed{Call: c.Call, Attempt: c.Attempt, Error: explain(ctx, err), Free: true, Took: took}, nil
	}
	return Result{Call: c.Call, Attempt: c.Attempt, Text: string(answer), Took: took}, nil
}

// explain classifies a failure. If the context has ended the call, that is the reason, whatever wraps the error.
func explain(ctx context.Context, err error) *Error {
	switch cause := ctx.Err(); {
	case errors.Is(cause, context.DeadlineExceeded):
		return &Error{Kind: KindTimeout, Err: errors.New("no reply in time")}
	case cause != nil:
		return &Error{Kind: KindCanceled, Err: errors.New("broken off")}
	default:
		failure := Classify(err)
		if failure.Kind == KindCanceled { // the engine has not canceled the call
			failure.Kind = KindAPI
		}
		return failure
	}
}

// unpaid reports whether the failure shows that nothing was paid: the request never left, or the vendor answered
// with an error instead of a reply. A reply that has begun is never free.
func unpaid(err error) bool {
	var failure *provider.Error
	return errors.As(err, &failure) && (failure.NotSent || failure.Status >= 400)
}
