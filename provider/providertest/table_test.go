package providertest_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/provider/providertest"
)

// What an integrator got wrong about the table is said, and not passed over.
func TestTheTableIsComplete(t *testing.T) {
	assert.Len(t, providertest.Rows(), 52)
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(providertest.Rows()))), 52, "a row has one place")
	h := suite(nil)
	assert.Empty(t, providertest.Gaps(h))
	for row := range maps.Keys(h.Lacks) {
		h := suite(nil)
		delete(h.Lacks, row)
		assert.Contains(t, errors.Join(providertest.Gaps(h)...).Error(), row)
	}
	h.Lacks["tea"] = "no"
	h.Faults[0].Row = "tea"
	h.Faults[1].Stop = ""
	h.Wholes = nil
	text := errors.Join(providertest.Gaps(h)...).Error()
	for _, want := range []string{`Lacks names "tea"`, `of row "tea"`, "neither", "no whole answer"} {
		assert.Contains(t, text, want)
	}
}
