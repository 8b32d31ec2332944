package limit

import (
	"context"
	"fmt"

	"github.com/agonist-dev/debate/provider"
)

// Paced is a provider whose calls start no faster than a [Rate] allows. The fields must not change after
// the first request. From then on, a Paced is safe for concurrent use.
type Paced struct {
	// Name identifies the account that is limited, see [Rate.Wrap].
	Name string
	// Provider makes the calls whose turn has come.
	Provider provider.Provider
	// Rate holds the limits and the queues. If it is nil, nothing is limited.
	Rate *Rate
}

var _ provider.Gate = (*Paced)(nil)

// Generate waits for its turn and then calls Provider. If ctx is done while it waits, it fails with kind
// canceled or timeout and NotSent set. All other failures are those of Provider.
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

// Pass makes a call of an ability if it may start now. It counts as a request of the model. A call that is about no model counts
// against limits of its own.
//
// Unlike Generate, Pass does not wait in a queue: callers can do without the answer. If the call may not start, Pass fails at once with
// kind rate_limit and NotSent set. If a [Ledger] has to be asked first, that takes a second at most.
func (p *Paced) Pass(ctx context.Context, model string, call func(context.Context) error) (err error) {
	if p.Rate == nil {
		return call(ctx)
	}
	pass, err := p.Rate.try(ctx, p.Name, model)
	if err != nil {
		return err
	}
	defer func() { p.Rate.leave(pass, nil, err) }()
	return call(ctx)
}

// Unwrap returns Provider.
func (p *Paced) Unwrap() provider.Provider { return p.Provider }

// String returns the name of the wrapper and of what it wraps, if that has one.
func (p *Paced) String() string { return "paced(" + shown(p.Provider) + ")" }

// GoString is String, for %#v.
func (p *Paced) GoString() string { return p.String() }

// missing returns the failure of a wrapper without a provider.
func missing() error {
	return &provider.Error{Kind: provider.KindValidation, Message: "a limit wraps no provider", NotSent: true}
}

// shown returns the String of a provider or, without one, its type. Its fields may hold keys.
func shown(p provider.Provider) string {
	if s, ok := p.(fmt.Stringer); ok {
		return fmt.Sprint(s)
	}
	return fmt.Sprintf("%T", p)
}
