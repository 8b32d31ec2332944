package limit_test

import (
	"context"
	"testing"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/limit"
)

// instant answers with the same reply, without any work.
type instant struct{ response *provider.Response }

func (i instant) Generate(context.Context, *provider.Request, func(provider.Chunk)) (*provider.Response, error) {
	return i.response, nil
}

// BenchmarkUncontended is what a call costs that does not have to wait.
func BenchmarkUncontended(b *testing.B) {
	bare := instant{&provider.Response{Text: "Yes.", Usage: provider.Usage{Input: 10, Output: 10}}}
	req := &provider.Request{Model: "m", MaxTokens: 100, Messages: make([]provider.Message, 20)}
	for _, bench := range []struct {
		name string
		p    provider.Provider
	}{
		{"bare", bare},
		{"rate", (&limit.Rate{Requests: 1 << 40}).Wrap("v", bare)},
		{"rate and tokens", (&limit.Rate{Requests: 1 << 40, Tokens: 1 << 50}).Wrap("v", bare)},
		{"concurrency", (&limit.Concurrency{Calls: 100}).Wrap(bare)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bench.p.Generate(b.Context(), req, silent); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
