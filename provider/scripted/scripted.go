// Package scripted answers for a model with what its script says: replies, delays and faults, in
// process and without a network. Tests, demonstrations and benchmarks use it in a vendor's place.
package scripted

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// Provider is a [provider.Provider] that follows a script. The zero Provider answers each request
// with a sentence of its own.
//
// A request is answered by the first of these that knows it: ByID, Replies, Reply. Only Replies
// depends on the order of the requests. The fields must not change once the first request is made;
// after that, a Provider is safe for concurrent use. It must not be copied.
type Provider struct {
	// ByID holds replies by the request's ID. A reply is given as often as it is asked for, so a
	// script of this kind gives the same debate whatever is repeated or overtaken.
	ByID map[string]Reply
	// Replies holds a queue for each speaker, by the request's Self. A reply is given once. A
	// speaker whose queue is empty gets Reply's, or a validation error if Reply is nil.
	Replies map[string][]Reply
	// Reply makes up an answer; it may be called concurrently and must only read the request. If
	// nil, a speaker without a script says one sentence.
	Reply func(req *provider.Request) Reply

	// Record keeps a copy of each request for Requests. It costs time and memory in proportion to
	// the conversation: leave it off where that is measured.
	Record bool
	// VendorName is what Vendor yields.
	VendorName string
	// OnCheck answers Check; if nil, every model is fine.
	OnCheck func(ctx context.Context, model string) error
	// OnCount answers CountTokens; if nil, the count is the estimate that a reply without Usage reports.
	OnCount func(ctx context.Context, req *provider.Request) (int, error)
	// OnEmbed makes the vector of one text; if nil, it is made of the text's words: texts with the same
	// words have the same vector, and texts that share none have nearly orthogonal ones. It may be called
	// concurrently.
	OnEmbed func(ctx context.Context, model, text string) ([]float32, error)

	calls    atomic.Int64
	mu       sync.Mutex
	given    map[string]int // of Replies, by speaker
	requests []provider.Request
}

var (
	_ provider.Provider     = (*Provider)(nil)
	_ provider.Checker      = (*Provider)(nil)
	_ provider.TokenCounter = (*Provider)(nil)
	_ provider.Embedder     = (*Provider)(nil)
	_ provider.Vendor       = (*Provider)(nil)
)

// Generate answers as the script says. It fails with the reply's Err, with kind canceled or timeout
// once ctx is done, and with kind validation if the script has nothing left for the speaker.
func (p *Provider) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	p.calls.Add(1)
	if p.Record {
		p.keep(req)
	}
	if err := ctx.Err(); err != nil {
		return nil, ended(err, true)
	}
	reply, err := p.reply(req)
	if err != nil {
		return nil, err
	}
	return reply.perform(ctx, req, emit)
}

// Vendor yields VendorName.
func (p *Provider) Vendor() string { return p.VendorName }

// Calls yields how often Generate was called, failures included.
func (p *Provider) Calls() int { return int(p.calls.Load()) }

// Requests yields copies of the requests so far, in the order in which they came, if Record is set.
// They are the caller's.
func (p *Provider) Requests() []provider.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	requests := make([]provider.Request, len(p.requests))
	for i := range p.requests {
		requests[i] = clone(&p.requests[i])
	}
	return requests
}

// reply finds the answer to req.
func (p *Provider) reply(req *provider.Request) (Reply, error) {
	if reply, ok := p.ByID[req.ID]; ok {
		return reply, nil
	}
	if queue, ok := p.Replies[req.Self]; ok {
		p.mu.Lock()
		n := p.given[req.Self]
		if n < len(queue) {
			if p.given == nil {
				p.given = map[string]int{}
			}
			p.given[req.Self]++
			p.mu.Unlock()
			return queue[n], nil
		}
		p.mu.Unlock()
		if p.Reply == nil {
			return Reply{}, &provider.Error{
				Kind:    provider.KindValidation,
				Code:    "script_ended",
				Message: fmt.Sprintf("the script has %d replies for %q; request %q is one too many", n, req.Self, req.ID),
				NotSent: true,
			}
		}
	}
	if p.Reply != nil {
		return p.Reply(req), nil
	}
	return Reply{Text: "This is what " + req.Self + " has to say."}, nil
}

func (p *Provider) keep(req *provider.Request) {
	kept := clone(req)
	p.mu.Lock()
	p.requests = append(p.requests, kept)
	p.mu.Unlock()
}

// clone yields a copy that shares nothing that a reader could change.
func clone(req *provider.Request) provider.Request {
	c := *req
	c.Messages = make([]provider.Message, len(req.Messages))
	for i := range req.Messages {
		c.Messages[i] = cloneMessage(&req.Messages[i])
	}
	c.Last = cloneMessage(&req.Last)
	if req.Temperature != nil {
		t := *req.Temperature
		c.Temperature = &t
	}
	if req.Schema != nil {
		s := *req.Schema
		s.JSON = slices.Clone(s.JSON)
		c.Schema = &s
	}
	c.Tools = slices.Clone(req.Tools)
	for i := range c.Tools {
		c.Tools[i].Parameters = slices.Clone(c.Tools[i].Parameters)
	}
	c.Labels = maps.Clone(req.Labels)
	return c
}

func cloneMessage(m *provider.Message) provider.Message {
	c := *m
	c.ToolCalls = cloneCalls(m.ToolCalls)
	if m.ToolResult != nil {
		r := *m.ToolResult
		c.ToolResult = &r
	}
	return c
}

func cloneCalls(calls []provider.ToolCall) []provider.ToolCall {
	c := slices.Clone(calls)
	for i := range c {
		c[i].Arguments = slices.Clone(c[i].Arguments)
		c[i].Opaque = slices.Clone(c[i].Opaque)
	}
	return c
}

// ended is the failure of a call whose context is done.
func ended(cause error, notSent bool) error {
	kind := provider.KindCanceled
	if errors.Is(cause, context.DeadlineExceeded) {
		kind = provider.KindTimeout
	}
	return &provider.Error{Kind: kind, NotSent: notSent, Err: cause}
}

// sleep waits for d and reports ctx's error if that is done first.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
