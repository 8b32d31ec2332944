// Package cache gives a reply again to a request that was asked before, and pays nothing for it:
//
//	p := &cache.Provider{Provider: vendor, Scope: "tenant-7"}
//
// A cached debate is the same debate again. Whoever samples, with a temperature, to hear different
// answers gets one answer as often as it is asked for, and so do judges of one model whose prompts are
// equal; [Provider.Skip] names the requests that are to be asked anew. The same holds for what the engine
// does not accept: the reply that was rejected is what an equal request gets again.
//
// # What is the same request
//
// Two requests are the same if model, system prompt, self, messages, last message, limit of tokens,
// temperature, schema and tools are. ID and Labels do not count, and nothing but Scope divides tenants.
//
// The fence words around other speakers' texts are drawn anew for each debate, and the engine's system
// prompts tell them. They would keep two debates from ever asking the same, so that the word itself does
// not count either: wherever it stands in a request or in a reply, a placeholder stands for it in the
// key and in the store, and a reply that is given again has the word of the request that it answers. A
// fence word is the Fence of any message, and, because the first speaker reads no messages, what a line
// "<<<end WORD>>>" of the system prompt names, if it is a number of ten digits or more. What else a debate
// draws at random (the order in which a judge is shown the participants, neutral labels) stays part of
// the request, and makes it another one.
//
// # What is kept
//
// Only whole replies are kept: those whose Stop is end or tool. One that was cut at the limit of tokens is
// half a reply, and the next may be shorter; a refusal and a filter's cut may be a moment's, and the engine
// neither retries nor accepts them: kept, they would last. Blank replies, such that are not UTF-8, and
// failures are not kept for the same reasons. A store holds the replies in clear, and of the requests only
// a hash.
package cache

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/agonist-dev/debate/provider"
)

// DefaultMaxReply is the default of [Provider.MaxReply], in bytes.
const DefaultMaxReply = 1 << 20

// Provider is a [provider.Provider] that asks another one only what its store does not hold. A reply that
// is given again is emitted as one chunk; its Response says Cached, and its Usage is zero.
//
// Requests that are the same and are made at the same time share one call. The first makes it and hears it
// as it is spoken; the others wait for its end, each no longer than its own context, and get the reply as
// if it had been in the store. If the first fails, is canceled or gets what is not kept, each of the others
// asks for itself.
//
// Only Provider is required. The fields must not change once the first request is made; after that, a
// Provider is safe for concurrent use. It must not be copied.
type Provider struct {
	Provider provider.Provider
	// Store holds the replies; a [Memory] of this Provider's own if nil.
	Store Store
	// Scope is part of every key. Providers that share a Store answer for each other if their scopes are
	// equal: give each vendor, account and tenant that must not hear another's replies its own.
	Scope string
	// Skip reports the requests that are asked anew each time: those with a temperature, those of a speaker
	// or of a label. They are neither answered from the store nor kept. It must be safe for concurrent use
	// and must only read the request. Nil: none.
	Skip func(req *provider.Request) bool
	// MaxReply is the most bytes that a kept reply may take, as it is stored and as it is given;
	// DefaultMaxReply if 0. Longer ones are not kept.
	MaxReply int
	// OnError hears of the store's failures and of values that cannot be read. They do not fail a call: it
	// is made as if nothing had been stored. It must be safe for concurrent use. Nil: nobody hears of them.
	OnError func(err error)

	own     Memory
	mu      sync.Mutex
	flights map[string]*flight // by key
}

var _ provider.Wrapper = (*Provider)(nil)

// Unwrap yields the provider that is asked. Its other abilities are not cached.
func (p *Provider) Unwrap() provider.Provider { return p.Provider }

// String names the provider and the wrapped one, if that has a String of its own.
func (p *Provider) String() string {
	if inner, ok := p.Provider.(fmt.Stringer); ok {
		return fmt.Sprintf("cache(%v)", inner)
	}
	return "cache"
}

// GoString is String, for %#v.
func (p *Provider) GoString() string { return p.String() }

// Generate gives the reply that is kept for such a request, or asks the wrapped provider and keeps what
// it says. Its failures are the wrapped provider's; kind canceled or timeout if ctx is done before that
// was asked, and kind validation if there is none.
func (p *Provider) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	switch {
	case p.Provider == nil:
		return nil, &provider.Error{Kind: provider.KindValidation, Message: "the cache wraps no provider", NotSent: true}
	case p.Skip != nil && p.Skip(req):
		return p.Provider.Generate(ctx, req, emit)
	case ctx.Err() != nil:
		return nil, ended(ctx.Err())
	}
	words := fencesOf(req)
	c := codec{key: keyOf(p.Scope, req, words), fences: words, most: p.MaxReply}
	if c.most == 0 {
		c.most = DefaultMaxReply
	}

	f, first := p.board(c.key)
	if !first {
		if err := f.wait(ctx); err != nil {
			return nil, ended(err)
		}
		if response, err := c.decode(f.value); err == nil {
			return give(response, emit), nil
		}
		response, _, err := p.ask(ctx, req, emit, &c)
		return response, err
	}
	defer p.land(c.key, f)
	response, value, err := p.find(ctx, req, emit, &c)
	f.value = value
	return response, err
}

// find looks a reply up, and asks for it if there is none. value is what others may read it from.
func (p *Provider) find(
	ctx context.Context, req *provider.Request, emit func(provider.Chunk), c *codec,
) (response *provider.Response, value []byte, err error) {
	value, ok, err := p.store().Get(ctx, c.key)
	if err == nil && ok {
		if response, err = c.decode(value); err == nil {
			return give(response, emit), value, nil
		}
	}
	p.report("get", err)
	return p.ask(ctx, req, emit, c)
}

// ask asks the wrapped provider, and keeps the reply if it is to be kept; value is nil if it is not.
func (p *Provider) ask(
	ctx context.Context, req *provider.Request, emit func(provider.Chunk), c *codec,
) (response *provider.Response, value []byte, err error) {
	response, err = p.Provider.Generate(ctx, req, emit)
	if err != nil {
		return response, nil, err
	}
	if value = c.encode(response); value != nil {
		p.report("put", p.store().Put(ctx, c.key, value))
	}
	return response, value, nil
}

func (p *Provider) store() Store {
	if p.Store == nil {
		return &p.own
	}
	return p.Store
}

func (p *Provider) report(what string, err error) {
	if err != nil && p.OnError != nil {
		p.OnError(fmt.Errorf("cache: %s: %w", what, err))
	}
}

// give emits a reply as it is given again.
func give(response *provider.Response, emit func(provider.Chunk)) *provider.Response {
	if response.Text != "" {
		emit(provider.Chunk{Text: response.Text})
	}
	return response
}

// ended is the failure of a call whose context is done before anything was asked.
func ended(cause error) error {
	kind := provider.KindCanceled
	if errors.Is(cause, context.DeadlineExceeded) {
		kind = provider.KindTimeout
	}
	return &provider.Error{Kind: kind, NotSent: true, Err: cause}
}
