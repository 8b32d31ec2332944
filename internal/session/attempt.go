package session

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/callctx"
	"github.com/agonist-dev/debate/provider"
)

// attempt is a call that is being made, by a session or by [Host.Call].
//
// A call runs code of others: a provider, a judge, a tool. Such code may ignore that its context has ended. Whoever makes the call waits
// for the host's Grace, and then gives it up and goes on without it. The goroutine of the call then belongs to that code, which ends
// it by returning.
type attempt struct {
	command flow.Command
	request provider.Request
	ctx     callctx.Context
	home    atomic.Bool // the code that was called has returned
}

// perform makes the call, and returns its outcome. Right before the call is made, may returns nil if it still may be. If the code
// that is called ends the goroutine, ended gets the outcome. A panic goes on, after ended has got nil.
func (h *Host) perform(a *attempt, files *shelf, may func() error, emit emitter, ended func(flow.Signal)) flow.Signal {
	returned := false
	defer func() {
		if returned {
			return
		}
		reason := recover()
		a.home.Store(true)
		a.ctx.Cancel()
		if reason != nil {
			ended(nil)
			panic(reason) //nolint:forbidigo // it is not this one's
		}
		err := errors.New("the code that was called has ended its goroutine")
		ended(flow.Failed{Call: a.command.Call, Attempt: a.command.Attempt, Error: &flow.Error{Kind: provider.KindAPI, Err: err}})
	}()
	var signal flow.Signal
	err := h.attach(&a.ctx, a.command.Conversation, files, &a.request, a.command.Inline)
	if err == nil {
		signal, err = h.Perform(&a.ctx, &a.command, may, emit)
	}
	if result, ok := signal.(flow.Result); ok && err == nil && len(a.command.Quotes) > 0 {
		result.Quotations = h.quotations(&a.ctx, a.command.Conversation, files, a.command.Quotes, a.command.Said+result.Text)
		signal = result
	}
	returned = true
	a.home.Store(true)
	a.ctx.Cancel()
	if err != nil { // a file cannot be read, or the engine lacks what the config names
		return flow.Failed{Call: a.command.Call, Attempt: a.command.Attempt, Error: flow.Classify(err), Free: true}
	}
	return signal
}

// giveUp ends a call that has ignored the end of its context, and returns the failure. Nobody knows what the call costs, so that it counts
// as broken off.
func (h *Host) giveUp(a *attempt) flow.Failed {
	kind := provider.KindTimeout
	if errors.Is(a.ctx.Err(), context.Canceled) {
		kind = provider.KindCanceled
	}
	a.ctx.Cancel()
	a.ctx.Free()
	h.GaveUp(&a.command)
	err := fmt.Errorf("given up: it has not returned %s after its context had ended", h.Grace)
	return flow.Failed{Call: a.command.Call, Attempt: a.command.Attempt, Error: &flow.Error{Kind: kind, Err: err}}
}

// await makes a call that no session makes, and returns its outcome. The call ends with ctx.
func (h *Host) await(ctx context.Context, a *attempt, may func() error, emit emitter) flow.Signal {
	h.Bound(&a.ctx, &a.command)
	a.ctx.Attach(ctx)
	defer a.ctx.Cancel()
	outcome := make(chan flow.Signal, 1)
	go func() {
		outcome <- h.perform(a, &shelf{}, may, emit, func(signal flow.Signal) { outcome <- signal })
	}()
	select {
	case signal := <-outcome:
		return signal
	case <-a.ctx.Done():
	}
	grace := time.NewTimer(h.Grace)
	defer grace.Stop()
	select {
	case signal := <-outcome:
		return signal
	case <-grace.C:
	}
	if a.home.Load() { // its context has ended because it has returned: the outcome is on its way
		return <-outcome
	}
	failed := h.giveUp(a)
	go func() {
		<-outcome
		h.Returned(&a.command)
	}()
	return failed
}
