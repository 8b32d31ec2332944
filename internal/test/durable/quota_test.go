package durable_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/web"
)

// TestAQuotaHoldsInEveryPlace: whatever two handles of a place start at once over HTTP. The lease and the sum are those of the place.
func TestAQuotaHoldsInEveryPlace(t *testing.T) {
	const quota, each = 5, 8
	for _, kind := range kinds() {
		t.Run(kind, func(t *testing.T) {
			p := newPlace(t, kind)
			config := stage.TwoDebaters()
			config.Budget = &debate.Budget{Soft: debate.USD, Hard: debate.USD}
			sent, err := flow.EncodeConfig(config)
			require.NoError(t, err)
			var starts sync.WaitGroup
			var begun, refused atomic.Int64
			for range 2 {
				engine, _ := stage.Engine(config)
				engine.Store = opened(t, p)
				handler, err := web.New(engine, web.Options{
					Authorize: func(*http.Request, web.Access) (string, error) { return "", nil },
					Start:     engine.Submit,
					Quota:     func(map[string]string) flow.Money { return quota * debate.USD },
				})
				require.NoError(t, err)
				for range each {
					starts.Go(func() {
						request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/conversations", bytes.NewReader(sent))
						request.Header.Set("Content-Type", "application/json")
						answer := httptest.NewRecorder()
						handler.ServeHTTP(answer, request)
						switch answer.Code {
						case http.StatusCreated:
							begun.Add(1)
						case http.StatusPaymentRequired:
							refused.Add(1)
						default:
							t.Errorf("%d: %s", answer.Code, answer.Body)
						}
					})
				}
			}
			starts.Wait()
			assert.Equal(t, []int64{quota, 2*each - quota}, []int64{begun.Load(), refused.Load()})
			sum, err := store.SumOf(t.Context(), opened(t, p), store.Filter{})
			require.NoError(t, err)
			assert.Equal(t, quota*debate.USD, sum.Most())
		})
	}
}
