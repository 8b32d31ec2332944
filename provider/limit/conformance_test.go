package limit_test

import (
	"context"
	"errors"
	"testing"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/limit"
	"github.com/agonist-dev/debate/provider/providertest"
)

func TestConformance(t *testing.T) {
	for _, order := range []string{"the rate inside", "the rate outside"} {
		t.Run(order, func(t *testing.T) {
			providertest.Run(t, func(_ *testing.T, s providertest.Scenario) provider.Provider {
				// Sixteen calls at once have to wait a little, for both.
				limits := &limit.Rate{Requests: 60_000, Burst: 2, Tokens: 100_000_000}
				return bothOrders(limits, &limit.Concurrency{Calls: 2}, actor{s})[order]
			})
		})
	}
}

// actor does in process what a scenario says.
type actor struct{ providertest.Scenario }

func (a actor) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	if a.Sent != nil {
		a.Sent(sent(req))
	}
	text := ""
	for i, piece := range a.Reply {
		emit(provider.Chunk{Text: piece})
		text += piece
		if i == 0 && a.Hold != nil {
			select {
			case <-a.Hold:
			case <-ctx.Done():
				kind := provider.KindCanceled
				if errors.Is(ctx.Err(), context.DeadlineExceeded) {
					kind = provider.KindTimeout
				}
				return nil, &provider.Error{Kind: kind, Err: ctx.Err()}
			}
		}
	}
	switch {
	case a.Cut:
		return nil, &provider.Error{Kind: provider.KindNetwork}
	case a.Fail != "":
		return nil, &provider.Error{Kind: a.Fail, RetryAfter: a.RetryAfter}
	}
	return &provider.Response{Text: text, Calls: a.Calls, Stop: a.Stop, Usage: a.Usage, Model: a.Model}, nil
}

func sent(req *provider.Request) providertest.Sent {
	s := providertest.Sent{Model: req.Model, MaxTokens: req.MaxTokens, Temperature: req.Temperature, Schema: req.Schema != nil}
	for role, text := range req.Chat() {
		if role == provider.RoleSystem {
			s.System = text
			continue
		}
		s.Turns = append(s.Turns, providertest.Turn{Role: role, Text: text})
	}
	for i := range req.Tools {
		s.Tools = append(s.Tools, req.Tools[i].Name)
	}
	return s
}
