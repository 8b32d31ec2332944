package providertest_test

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/providertest"
)

// What an integrator got wrong about the table is said, and not passed over.
func TestTheTableIsComplete(t *testing.T) {
	assert.Len(t, providertest.Rows(), 52)
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(providertest.Rows()))), 52, "a row has one place")
	h := suite(nil)
	assert.Empty(t, providertest.Gaps(h))
	for row := range maps.Keys(h.NoSignal) {
		h := suite(nil)
		delete(h.NoSignal, row)
		assert.Contains(t, errors.Join(providertest.Gaps(h)...).Error(), row)
	}
	h.NoSignal["tea"] = "no"
	h.Faults[0].Row = "tea"
	h.Faults[1].Stop = ""
	h.Wholes = nil
	text := errors.Join(providertest.Gaps(h)...).Error()
	for _, want := range []string{`NoSignal names "tea"`, `of row "tea"`, "neither", "no whole answer"} {
		assert.Contains(t, text, want)
	}
}

// Evidence says of each answer with a source what it came to, also where that is not what was expected.
func TestEvidence(t *testing.T) {
	assert.Subset(t, providertest.Rows(), providertest.Signals())
	assert.NotContains(t, providertest.Signals(), "dial")
	h := suite(nil)
	assert.Empty(t, h.Evidence(t), "no fixture has a source")
	source := providertest.Source{Origin: providertest.Recorded, From: "a thread", Seen: "2026-11-23"}
	var vendors []string
	connect := h.Connect
	h.Connect = func(t testing.TB, s providertest.Server) provider.Provider {
		vendors = append(vendors, s.Vendor)
		return connect(t, s)
	}
	h.Faults[0].Source, h.Faults[0].Vendor, h.Faults[0].Kind = source, "acme", provider.KindStore
	h.Wholes[0].Source, h.Wholes[0].Vendor, h.Wholes[0].Usage = source, "coyote", provider.Usage{Input: 1}
	h.Wholes[0].Calls = nil
	h.Faults[0].RetryAfter = time.Second
	f, w := &h.Faults[0], &h.Wholes[0]
	w.Answer = bytes.Replace(w.Answer, []byte("\n\n"), []byte("\n\n: hold on\n\n"), 1)
	lines := strings.Split(strings.TrimSpace(h.Evidence(t)), "\n")
	found := map[string]string{}
	for _, line := range lines {
		parts := strings.Split(line, " | ")
		require.Len(t, parts, 6)
		found[parts[0]+" "+parts[1]] = parts[3] + ", " + parts[4]
		assert.Equal(t, "recorded", parts[2])
	}
	assert.Len(t, found, 5)
	assert.Contains(t, found["acme "+f.Row], "store, ")
	assert.NotContains(t, found["acme "+f.Row], "store, store")
	assert.Equal(t, found["acme "+f.Row], found["acme retry-after-forms"])
	for _, row := range []string{"reply", "comments", "usage"} {
		assert.True(t, strings.HasPrefix(found["coyote "+row], "reply"), row)
	}
	assert.Equal(t, []string{"acme", "coyote"}, vendors)
}
