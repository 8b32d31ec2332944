package limit_test

import (
	"context"
	"fmt"
	"time"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/limit"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/scripted"
)

// One Rate serves all vendors, each account under its name; a model on one's own machine answers two calls
// at once.
func Example() {
	limits := &limit.Rate{
		Requests: 500,
		Models:   map[string]limit.Allowance{"openai/o3-pro": {Requests: 20, Tokens: 30_000}},
	}
	machine := &limit.Concurrency{Calls: 2}
	providers := map[string]provider.Provider{
		"openai":  limits.Wrap("openai", openaicompat.OpenAI("key")),
		"mistral": limits.Wrap("mistral", openaicompat.Mistral("key")),
		"local":   machine.Wrap(openaicompat.Compatible("http://localhost:11434/v1", "")),
	}
	for _, name := range []string{"openai", "mistral", "local"} {
		fmt.Println(providers[name])
	}
	// Output:
	// paced(openaicompat(openai))
	// paced(openaicompat(mistral))
	// capped(openaicompat)
}

// A vendor that refuses a call for a while is left alone for so long, and asked at half the pace afterwards.
func ExampleRate() {
	vendor := &scripted.Provider{Replies: map[string][]scripted.Reply{"Ada": {
		{Err: &provider.Error{Kind: provider.KindRateLimit, RetryAfter: 30 * time.Second}},
	}}}
	limits := &limit.Rate{Requests: 60}
	p := limits.Wrap("acme", vendor)
	asked := time.Now()
	_, err := p.Generate(context.Background(), &provider.Request{Model: "m1", Self: "Ada"}, func(provider.Chunk) {})
	fmt.Println(err)
	for _, s := range limits.Status() {
		paused := !s.PausedUntil.Before(asked.Add(30 * time.Second))
		fmt.Printf("%s/%s: %.0f calls a minute, paused for 30s: %t\n", s.Name, s.Model, s.Requests, paused)
	}
	// Output:
	// provider: rate_limit
	// acme/m1: 30 calls a minute, paused for 30s: true
}

// A call that waits for its place can be given up; it has not been sent.
func ExampleConcurrency() {
	hold := make(chan struct{})
	vendor := &scripted.Provider{Reply: func(*provider.Request) scripted.Reply {
		return scripted.Reply{Text: "At last.", Hold: hold}
	}}
	machine := &limit.Concurrency{Calls: 1}
	p := machine.Wrap(vendor)

	began, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = p.Generate(context.Background(), &provider.Request{}, func(provider.Chunk) { close(began) })
	}()
	<-began
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_, err := p.Generate(ctx, &provider.Request{}, func(provider.Chunk) {})
	fmt.Println(err)
	fmt.Printf("%+v\n", machine.Status())
	close(hold)
	<-ended
	fmt.Printf("%+v\n", machine.Status())
	// Output:
	// provider: timeout: context deadline exceeded
	// {Calls:1 Waiting:0 InFlight:1}
	// {Calls:1 Waiting:0 InFlight:0}
}
