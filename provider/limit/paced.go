package limit

import (
	"context"
	"fmt"

	"github.com/agonist-dev/debate/provider"
)

// Paced is a provider whose calls start no faster than a [Rate] lets them. The fields must not change once
// the first request is made; after that, it is safe for concurrent use.
type Paced struct {
	// Name stands for the account that is limited, see [Rate.Wrap].
	Name string
	// Provider is asked when it is a call's turn.
	Provider provider.Provider
	// Rate holds the limits and the queues; without one nothing is limited.
	Rate *Rate
}

var _ provider.Wrapper = (*Paced)(nil)

// Generate waits for its turn and asks the provider. If ctx is done before, it fails with kind canceled or
// timeout, and NotSent; every other failure is the provider's.
func (p *Paced) Generate(
	ctx context.Context, req *provider.Request, emit func(provider.Chunk),
) (response *provider.Response, err error) {
	if p.Provider == nil {
		return nil, missing()
	}
	if p.Rate == nil {
		return p.Provider.Generate(ctx, req, emit)
	}
	pass, err := p.Rate.enter(ctx, p.Name, req)
	if err != nil {
		return nil, err
	}
	defer func() { p.Rate.leave(pass, response, err) }()
	return p.Provider.Generate(ctx, req, emit)
}

// Unwrap yields Provider.
func (p *Paced) Unwrap() provider.Provider { return p.Provider }

// String names the wrapper and what it wraps, as far as that has a name.
func (p *Paced) String() string { return "paced(" + shown(p.Provider) + ")" }

// GoString is String, for %#v.
func (p *Paced) GoString() string { return p.String() }

// missing is the failure of a wrapper without a provider.
func missing() error {
	return &provider.Error{Kind: provider.KindValidation, Message: "a limit wraps no provider", NotSent: true}
}

// shown yields what a provider calls itself, or its type: its fields may hold keys.
func shown(p provider.Provider) string {
	if s, ok := p.(fmt.Stringer); ok {
		return fmt.Sprint(s)
	}
	return fmt.Sprintf("%T", p)
}
