// Package cache answers a request that was asked before with the same reply, and pays nothing for it:
//
//	p := &cache.Provider{Provider: vendor, Scope: "tenant-7"}
//
// A cached debate repeats itself. If you sample with a temperature to get different answers, you get the
// same answer each time. The same holds for judges of one model whose prompts are equal. [Provider.Skip]
// selects the requests that bypass the cache. A reply that the engine has rejected is also returned again
// for an equal request.
//
// # Equal requests
//
// Two requests are equal if these are: model, system prompt, self, messages, last message, limit of
// tokens, temperature, schema, tools, options, and the files of messages by their type, their name and their data. ID and Labels
// do not count. Options that ask for nothing equal no options. Only Scope separates tenants.
//
// Each debate draws new fence words for the texts of other speakers, and the engine's system prompts
// mention them. If the words counted, no two debates would ever ask the same question. So a placeholder
// replaces each fence word, in the key and in the store, wherever the word stands in a request or a
// reply. A reply from the store gets the word of the request that it answers. A word is a fence word in
// two cases:
//
//   - It is the Fence of a message.
//   - A line "<<<end WORD>>>" of the system prompt names it, and it is a number of at least ten digits.
//     The first speaker reads no messages, so its fence word appears only there.
//
// Everything else that a debate draws at random stays part of the request and makes it a different one:
// the order in which a judge is shown the participants, and neutral labels.
//
// # Stored replies
//
// Only complete replies are stored: those whose Stop is end or tool. Not stored are:
//
//   - Replies that were cut at the limit of tokens: the next attempt may be complete.
//   - Refusals and replies that a filter cut. They may be temporary, and the engine neither retries nor
//     accepts them. Storing them would make them permanent.
//   - Blank replies, replies that are not valid UTF-8, and failures.
//
// A store holds replies in clear text. Of the requests it holds only a hash.
package cache

import (
	"context"
	"fmt"
	"sync"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/ended"
)

// DefaultMaxReply is the default of [Provider.MaxReply], in bytes.
const DefaultMaxReply = 1 << 20

// Provider is a [provider.Provider] that asks another provider only if its store has no reply. A reply
// from the store is emitted as one chunk. Its Response is marked Cached, its Usage is zero, and it
// has no Cost.
//
// Equal requests that are made at the same time share one call. The first request makes the call and
// receives its chunks as they arrive. The others wait for its end, each no longer than its own context,
// and get the reply as if it had been in the store. If the first request fails, is canceled, or gets a
// reply that is not stored, each of the others makes a call of its own.
//
// Only Provider is required. The fields must not change after the first request. From then on, a Provider
// is safe for concurrent use. It must not be copied.
type Provider struct {
	Provider provider.Provider
	// Store holds the replies; nil: a [Memory] of this Provider's own.
	Store Store
	// Scope is part of every key. Providers that share a Store and have the same Scope share replies. Use
	// different scopes for vendors, accounts and tenants that must not see each other's replies.
	Scope string
	// Skip reports whether a request bypasses the cache: its reply is neither looked up nor stored. It
	// can select requests by temperature, speaker or label. It must only read the request, and must be
	// safe for concurrent use. Nil: no request is skipped.
	Skip func(req *provider.Request) bool
	// MaxReply caps the size of a stored reply in bytes, both as it is stored and as it is returned;
	// DefaultMaxReply if 0. Longer replies are not stored.
	MaxReply int
	// OnError receives the failures of the store, and an error for each value that cannot be read. They
	// do not fail a call: the call is made as if nothing had been stored. OnError must be safe for
	// concurrent use. Nil: these errors are ignored.
	OnError func(err error)

	own     Memory
	mu      sync.Mutex
	flights map[string]*flight // by key
}

var _ provider.Wrapper = (*Provider)(nil)

// Unwrap returns the wrapped provider. Its other abilities are not cached.
func (p *Provider) Unwrap() provider.Provider { return p.Provider }

// String returns the name of this provider and, if the wrapped one has a String method, its name.
func (p *Provider) String() string {
	if inner, ok := p.Provider.(fmt.Stringer); ok {
		return fmt.Sprintf("cache(%v)", inner)
	}
	return "cache"
}

// GoString is String, for %#v.
func (p *Provider) GoString() string { return p.String() }

// Generate returns the stored reply to an equal request. If there is none, it asks the wrapped provider
// and stores the reply. Its failures are those of the wrapped provider. If ctx is done before the wrapped
// provider is asked, it fails with kind canceled or timeout. If there is no wrapped provider, it fails
// with kind validation.
func (p *Provider) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	switch {
	case p.Provider == nil:
		return nil, &provider.Error{Kind: provider.KindValidation, Message: "the cache wraps no provider", NotSent: true}
	case p.Skip != nil && p.Skip(req):
		return p.Provider.Generate(ctx, req, emit)
	case ctx.Err() != nil:
		return nil, ended.Unsent(ctx.Err())
	}
	words := fencesOf(req)
	c := codec{key: keyOf(p.Scope, req, words), fences: words, limit: p.MaxReply}
	if c.limit == 0 {
		c.limit = DefaultMaxReply
	}

	f, first := p.board(c.key)
	if !first {
		if err := f.wait(ctx); err != nil {
			return nil, ended.Unsent(err)
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

// find looks up a reply, and asks for it if there is none. value is the stored form, from which other
// callers read the reply.
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

// ask asks the wrapped provider, and stores the reply if it is one to be stored. Otherwise value is nil.
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

// give emits a reply from the store.
func give(response *provider.Response, emit func(provider.Chunk)) *provider.Response {
	if response.Reasoning != "" {
		emit(provider.Chunk{Text: response.Reasoning, Reasoning: true})
	}
	if response.Text != "" {
		emit(provider.Chunk{Text: response.Text})
	}
	return response
}
