package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

type kept struct {
	Thought string `json:"thought"`
	Place   int    `json:"place"`
}

// opaque is what a call keeps for an owner.
func opaque(t *testing.T, owner wire.Owner, data any) json.RawMessage {
	t.Helper()
	r := open(t, endpoint(nil)).NewReply(func(provider.Chunk) {})
	require.True(t, r.Call(0, "a", "look", "{}"))
	r.Seal(0, owner, data)
	r.Stop = provider.StopTool
	got, err := r.Done()
	require.NoError(t, err)
	return got.Calls[0].Opaque
}

// TestOwner: all hosts of a vendor are one owner, and every other host is its own, whatever it looks like.
func TestOwner(t *testing.T) {
	for url, want := range map[string]string{
		"https://vendor.com":                 "vendor.com",
		"https://API.Vendor.com:443/v1?a=1":  "vendor.com",
		"https://eu.api.vendor.com/v1":       "vendor.com",
		"https://vendor.cn":                  "vendor.com",
		"https://evilvendor.com":             "evilvendor.com",
		"https://vendor.com.evil.net":        "vendor.com.evil.net",
		"https://vendor.com@evil.net/v1":     "evil.net",
		"http://localhost:4000/vendor.com":   "localhost:4000",
		"http://Localhost:4001":              "localhost:4001",
		"https://gateway.net/?x=.vendor.com": "gateway.net",
		"vendor.com":                         "",
		"://":                                "",
	} {
		e := wire.Endpoint{BaseURL: url}
		assert.Equal(t, want, e.Owner("m", "vendor.com", "vendor.cn").Host, url)
		assert.Equal(t, want == "vendor.com", e.Within("vendor.com", "vendor.cn"), url)
	}
	assert.Equal(t, "api.vendor.com", (&wire.Endpoint{BaseURL: "https://api.vendor.com"}).Owner("m").Host)
}

// TestUnseal: what was kept is for its owner alone.
func TestUnseal(t *testing.T) {
	want := kept{"Hm, <a> & \xff.", 7}
	mine := wire.Owner{Host: "a.com", Model: "m"}
	sealed := opaque(t, mine, want)
	want.Thought = strings.ToValidUTF8(want.Thought, "\uFFFD")
	assert.Equal(t, want, wire.Unseal[kept](sealed, mine))
	for _, other := range []wire.Owner{{Host: "b.com", Model: "m"}, {Host: "a.com", Model: "n"}, {Host: "a.com"}, {Model: "m"}, {}} {
		assert.Zero(t, wire.Unseal[kept](sealed, other), "%v", other)
	}
	anyModel := opaque(t, wire.Owner{Host: "a.com"}, want)
	assert.Equal(t, want, wire.Unseal[kept](anyModel, mine))
	assert.Equal(t, want, wire.Unseal[kept](anyModel, wire.Owner{Host: "a.com"}))

	assert.Nil(t, opaque(t, wire.Owner{Model: "m"}, want), "nobody's")
	assert.Nil(t, opaque(t, mine, func() {}), "no JSON")
	assert.Nil(t, opaque(t, mine, kept{Thought: strings.Repeat("x", 1<<20)}), "the record keeps no more")
	for _, foreign := range []string{
		``, `null`, `7`, `"x"`, `[]`, `{`, `{}`, `{"host":7}`, `{"host":"a.com"}`, `{"thought":"x"}`, `{"kept":{"thought":"x"}}`,
		`{"host":"","kept":{"thought":"x"}}`, `{"host":"a.com","kept":[1]}`, `{"host":"a.com","kept":{"thought":"x","place":"y"}}`,
	} {
		assert.Zero(t, wire.Unseal[kept](json.RawMessage(foreign), mine), foreign)
		assert.Zero(t, wire.Unseal[kept](json.RawMessage(foreign), wire.Owner{}), foreign)
	}
}
