package limit

import (
	"context"

	"github.com/agonist-dev/debate/provider"
)

// Capped is a provider whose calls run only while a [Concurrency] has a place for them. The fields must
// not change after the first request. From then on, a Capped is safe for concurrent use.
type Capped struct {
	// Provider makes the calls that have a place.
	Provider provider.Provider
	// Concurrency holds the places and the queue. If it is nil, nothing is limited.
	Concurrency *Concurrency
}

var _ provider.Gate = (*Capped)(nil)

// Generate waits for a place and then calls Provider. If ctx is done while it waits, it fails with kind
// canceled or timeout and NotSent set. All other failures are those of Provider.
func (c *Capped) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	if c.Provider == nil {
		return nil, missing()
	}
	if c.Concurrency != nil {
		if err := c.Concurrency.enter(ctx); err != nil {
			return nil, err
		}
		defer c.Concurrency.leave()
	}
	return c.Provider.Generate(ctx, req, emit)
}

// Pass makes a call of an ability in a place of its own, if one is free. Otherwise it fails at once, as [Paced.Pass] does.
func (c *Capped) Pass(ctx context.Context, _ string, call func(context.Context) error) error {
	if c.Concurrency != nil {
		if err := c.Concurrency.try(ctx); err != nil {
			return err
		}
		defer c.Concurrency.leave()
	}
	return call(ctx)
}

// Unwrap returns Provider.
func (c *Capped) Unwrap() provider.Provider { return c.Provider }

// String returns the name of the wrapper and of what it wraps, if that has one.
func (c *Capped) String() string { return "capped(" + shown(c.Provider) + ")" }

// GoString is String, for %#v.
func (c *Capped) GoString() string { return c.String() }
