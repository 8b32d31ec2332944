package adaptertest

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
)

// Hostile is an answer of many small elements: First, Part as often as it fits into Size bytes, and Last. A # in Part is the number of
// the part.
type Hostile struct {
	First, Part, Last string
	Size              int
	Check             bool          // answers Check in place of Generate
	Want              provider.Kind // of the failure; "": there is none
}

func (h *Hostile) body() string {
	const number = 20 // bytes of a number
	var b strings.Builder
	b.WriteString(h.First)
	for i := 0; b.Len() < h.Size-len(h.Last)-len(h.Part)-number; i++ {
		b.WriteString(strings.ReplaceAll(h.Part, "#", strconv.Itoa(i)))
	}
	b.WriteString(h.Last)
	return b.String()
}

// TakesLittleMemory requires that reading each answer allocates fewer than most bytes, with those that are freed meanwhile. play returns
// the adapter, whose server gives a body.
func TakesLittleMemory(
	t *testing.T, most int, play func(t *testing.T, body string) provider.Provider, req *provider.Request, answers map[string]Hostile,
) {
	t.Helper()
	longform.Lone(t)
	for name, h := range answers {
		t.Run(name, func(t *testing.T) {
			p := play(t, h.body())
			generate := func() error {
				_, err := p.Generate(t.Context(), req, func(provider.Chunk) {})
				return err
			}
			if h.Check {
				generate = func() error { return p.(provider.Checker).Check(t.Context(), req.Model) }
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := generate()
			runtime.ReadMemStats(&after)
			if h.Want != "" {
				_ = Failure(t, err, h.Want)
			} else {
				assert.NoError(t, err)
			}
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(most))
		})
	}
}
