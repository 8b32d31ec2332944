package limittest_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/agonist-dev/debate/provider/limit"
	"github.com/agonist-dev/debate/provider/limit/limittest"
)

// memory is the smallest ledger.
type memory struct {
	mu     sync.Mutex
	values map[string][]byte
}

func (m *memory) UpdateLimit(_ context.Context, name string, change func([]byte, time.Time) []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[name] = change(m.values[name], time.Now())
	return nil
}

func TestConformance(t *testing.T) {
	limittest.Run(t, func(testing.TB) limittest.Open {
		m := &memory{values: map[string][]byte{}}
		return func(testing.TB) limit.Ledger { return m }
	})
}
