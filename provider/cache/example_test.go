package cache_test

import (
	"context"
	"fmt"
	"time"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cache"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A request that was asked before is answered without the vendor.
func Example() {
	vendor := &scripted.Provider{}
	p := &cache.Provider{Provider: vendor, Scope: "tenant-7"}
	for range 2 {
		req := &provider.Request{Model: "model-1", Self: "Ada", Last: provider.Message{Text: "Open the debate."}}
		reply, err := p.Generate(context.Background(), req, func(provider.Chunk) {})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(reply.Text, "cached:", reply.Cached)
	}
	fmt.Println("paid calls:", vendor.Calls())
	// Output:
	// This is what Ada has to say. cached: false
	// This is what Ada has to say. cached: true
	// paid calls: 1
}

// Two tenants share a store's room, but no reply, and what is drawn at a temperature is drawn anew.
func Example_shared() {
	store := &cache.Memory{MaxBytes: 16 << 20, TTL: time.Hour}
	vendor := &scripted.Provider{}
	warm := func(req *provider.Request) bool { return req.Temperature != nil && *req.Temperature > 0 }
	seven := &cache.Provider{Provider: vendor, Store: store, Scope: "tenant-7", Skip: warm}
	eight := &cache.Provider{Provider: vendor, Store: store, Scope: "tenant-8", Skip: warm}

	ask := func(who string, p provider.Provider, temperature float64) {
		req := &provider.Request{Model: "model-1", Self: "Ada", Temperature: &temperature}
		reply, err := p.Generate(context.Background(), req, func(provider.Chunk) {})
		fmt.Println(who, "at", temperature, "cached:", err == nil && reply.Cached)
	}
	ask("seven", seven, 0)
	ask("seven", seven, 0)
	ask("eight", eight, 0)
	ask("seven", seven, 1)
	ask("seven", seven, 1)
	// Output:
	// seven at 0 cached: false
	// seven at 0 cached: true
	// eight at 0 cached: false
	// seven at 1 cached: false
	// seven at 1 cached: false
}
