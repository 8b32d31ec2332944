// Package scripted provides a model that follows a script: replies, delays and failures, in process and
// without a network. Tests, demonstrations and benchmarks use it in place of a vendor.
package scripted

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/ended"
)

// Provider is a [provider.Provider] that follows a script. The zero Provider answers each request with a
// sentence of its own, or, if the request has a schema, with a small value that the schema allows, of numbers the largest. So it is
// enough for a whole debate with its judges, but not where an answer must fit its prompt, as that of AssignPositions.
//
// The first of these with a reply for the request answers it: ByID, Replies, Reply. Judges, voters and summarizers are asked
// like speakers: a Reply is called for their answers too, and req.Schema is set where JSON is asked for. Only Replies depends
// on the order of the requests. The fields must not change after the first request. From then on, a
// Provider is safe for concurrent use. It must not be copied.
type Provider struct {
	// ByID holds replies by the ID of the request: the conversation's ID (set Config.ID: otherwise it is drawn), the
	// ID of the call and the number of the attempt, as in "cars/r1.opening.Ada/1". Calls of a debate are named
	// "r1.opening.Ada", "r1.assessment.judge" and "verdict.judge". A reply after tool calls has
	// the number of another attempt. A reply can be given any number of times. So the debate is the same even if requests
	// are repeated or arrive in another order.
	ByID map[string]Reply
	// Replies holds a queue of replies for each speaker, by the Self of the request. Each reply is given
	// once: one that a pause aborts is used up, and the attempt after it gets the next. When the queue of a speaker is empty,
	// Reply answers; if Reply is nil, the request fails with kind validation. A speaker without a queue is another case: Reply
	// answers, or the Provider's own sentence.
	Replies map[string][]Reply
	// Reply makes up a reply. It may be called concurrently and must only read the request. If it is nil, a speaker without a
	// queue says one sentence, or gives an answer that the schema of the request allows.
	Reply func(req *provider.Request) Reply

	// Record keeps a copy of each request for Requests. It costs time and memory in proportion to the
	// conversation, so leave it off in benchmarks.
	Record bool
	// VendorName is the result of Vendor.
	VendorName string
	// Vouch is the result of Vouches: the usages of the replies count tokens in the vocabulary that is published for a model's name.
	Vouch bool
	// OnCheck implements Check; if nil, Check accepts every model.
	OnCheck func(ctx context.Context, model string) error

	calls    atomic.Int64
	mu       sync.Mutex
	given    map[string]int // of Replies, by speaker
	requests []provider.Request
}

var (
	_ provider.Provider = (*Provider)(nil)
	_ provider.Checker  = (*Provider)(nil)
	_ provider.Vendor   = (*Provider)(nil)
	_ provider.Voucher  = (*Provider)(nil)
)

// Generate answers as the script says. It fails with the Err of the reply, with kind canceled or timeout
// once ctx is done, and with kind validation if no reply is left for the speaker.
func (p *Provider) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	p.calls.Add(1)
	if p.Record {
		p.keep(req)
	}
	if err := ctx.Err(); err != nil {
		return nil, ended.Unsent(err)
	}
	reply, err := p.reply(req)
	if err != nil {
		return nil, err
	}
	return reply.perform(ctx, req, emit)
}

// Check calls OnCheck.
func (p *Provider) Check(ctx context.Context, model string) error {
	if p.OnCheck == nil {
		return nil
	}
	return p.OnCheck(ctx, model)
}

// Vendor returns VendorName.
func (p *Provider) Vendor() string { return p.VendorName }

// Vouches returns Vouch.
func (p *Provider) Vouches(string) bool { return p.Vouch }

// Calls returns how often Generate was called, failed calls included.
func (p *Provider) Calls() int { return int(p.calls.Load()) }

// Requests returns copies of the requests so far, in order of arrival, if Record is set. The copies
// belong to the caller.
func (p *Provider) Requests() []provider.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	requests := make([]provider.Request, len(p.requests))
	for i := range p.requests {
		requests[i] = clone(&p.requests[i])
	}
	return requests
}

// reply finds the reply to req.
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
				Message: fmt.Sprintf("request %q: the script has only %d replies for %q", req.ID, n, req.Self),
				NotSent: true,
			}
		}
	}
	if p.Reply != nil {
		return p.Reply(req), nil
	}
	words := "This is what " + req.Self + " has to say."
	if req.Schema != nil {
		return Reply{Text: answer(req.Schema, words)}, nil
	}
	return Reply{Text: words}, nil
}

func (p *Provider) keep(req *provider.Request) {
	kept := clone(req)
	p.mu.Lock()
	p.requests = append(p.requests, kept)
	p.mu.Unlock()
}

// clone returns a copy that shares nothing that a reader could change.
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
	c.Options = req.Options.Clone()
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
	c.Parts = slices.Clone(m.Parts)
	for i := range c.Parts {
		c.Parts[i].Data = slices.Clone(c.Parts[i].Data)
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

// sleep waits for d. If ctx is done first, it returns the error of ctx.
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
