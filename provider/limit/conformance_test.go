package limit_test

import (
	"testing"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/limit"
	"github.com/agonist-dev/debate/provider/providertest"
)

func TestConformance(t *testing.T) {
	for _, order := range []string{"the rate inside", "the rate outside"} {
		t.Run(order, func(t *testing.T) {
			providertest.Run(t, func(_ *testing.T, s providertest.Scenario) provider.Provider {
				// Sixteen calls at once have to wait a little, for both.
				limits := &limit.Rate{Requests: 60_000, Burst: 2, Tokens: 100_000_000}
				return bothOrders(limits, &limit.Concurrency{Calls: 2}, adaptertest.Acting(s))[order]
			})
		})
	}
}
