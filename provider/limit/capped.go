package limit

import (
	"context"

	"github.com/agonist-dev/debate/provider"
)

// Capped is a provider of which no more calls run at once than a [Concurrency] has places for. The fields
// must not change once the first request is made; after that, it is safe for concurrent use.
type Capped struct {
	// Provider is asked when there is a place.
	Provider provider.Provider
	// Concurrency holds the places and the queue; without one nothing is limited.
	Concurrency *Concurrency
}

var _ provider.Wrapper = (*Capped)(nil)

// Generate waits for a place and asks the provider. If ctx is done before, it fails with kind canceled or
// timeout, and NotSent; every other failure is the provider's.
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

// Unwrap yields Provider.
func (c *Capped) Unwrap() provider.Provider { return c.Provider }

// String names the wrapper and what it wraps, as far as that has a name.
func (c *Capped) String() string { return "capped(" + shown(c.Provider) + ")" }

// GoString is String, for %#v.
func (c *Capped) GoString() string { return c.String() }
