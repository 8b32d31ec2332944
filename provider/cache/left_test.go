package cache_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cache"
)

type picky struct{}

func (picky) Generate(context.Context, *provider.Request, func(provider.Chunk)) (*provider.Response, error) {
	return &provider.Response{Text: "Yes.", Stop: provider.StopEnd, Left: []string{"temperature"}}, nil
}

// TestWhatWasLeftOutIsKept: a reply from the cache tells as well which parameters its model has refused.
func TestWhatWasLeftOutIsKept(t *testing.T) {
	p := &cache.Provider{Provider: picky{}, Store: shelf{}}
	for _, cached := range []bool{false, true} {
		r, _ := ask(t, p, question())
		assert.Equal(t, cached, r.Cached)
		assert.Equal(t, []string{"temperature"}, r.Left)
	}
}
