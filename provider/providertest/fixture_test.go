package providertest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/providertest"
)

func TestFixtures(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name+".http"), []byte(text), 0o600))
	}
	write("full", "row: quota\nkind: quota\ncode: spent: all\nmessage: \"Spent\\n\"\nretry-after: 1m5s\nusage: {\"input\":3,\"cacheWrite\":1}\nnote: x\n\n---\nHTTP/1.1 429 X\nA: b\n\n{}\n\n---\n")
	write("seconds", "row: length\nstop: length\nretry-after: 1.5\ntext: \"a\\u00e4\"\ncalls: []\n---\nHTTP/1.1 200 OK\r\n\r\nx")
	got := providertest.Faults(t, folder)
	assert.Equal(t, []providertest.Fault{
		{
			Row: "quota", Name: "full", Kind: provider.KindQuota, Code: "spent: all", Message: "Spent\n", RetryAfter: 65 * time.Second,
			Usage: provider.Usage{Input: 3, CacheWrite: 1}, Answer: []byte("HTTP/1.1 429 X\nA: b\n\n{}\n\n---\n"),
		},
		{Row: "length", Name: "seconds", Stop: provider.StopLength, RetryAfter: 1500 * time.Millisecond, Text: "aä", Calls: []provider.ToolCall{}, Answer: []byte("HTTP/1.1 200 OK\r\n\r\nx")},
	}, got)

	require.NoError(t, os.Mkdir(filepath.Join(folder, "acme"), 0o700))
	write("acme/429", "source: recorded; https://acme.test/a;b ; 2026-11-23\nvendor: acme\nrow: rate-limit\nkind: rate_limit\n---\nHTTP/1.1 429 X\n\n")
	f := providertest.Faults(t, folder)[2]
	assert.Equal(t, "acme/429", f.Name)
	assert.Equal(t, "acme", f.Vendor)
	assert.Equal(t, providertest.Source{Origin: providertest.Recorded, From: "https://acme.test/a;b", Seen: "2026-11-23"}, f.Source)
	assert.True(t, f.Source.Real())
	assert.False(t, providertest.Source{Origin: providertest.Inferred}.Real())

	other := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(other, "a.http"), []byte("source: published; the API description; 2026-11-23\nvendor: acme\nusage: {\"input\":3}\ntext: \"Yes.\"\nstop: tool\ncalls: [{\"name\":\"f\",\"arguments\":{}}]\n---\nHTTP/1.1 200 OK\n\n"), 0o600))
	assert.Equal(t, []providertest.Whole{{
		Name: "a", Vendor: "acme", Source: providertest.Source{Origin: providertest.Published, From: "the API description", Seen: "2026-11-23"},
		Usage: provider.Usage{Input: 3}, Text: "Yes.", Stop: provider.StopTool, Calls: []provider.ToolCall{{Name: "f", Arguments: json.RawMessage("{}")}},
		Answer: []byte("HTTP/1.1 200 OK\n\n"),
	}}, providertest.Wholes(t, other))
}

func TestBrokenFixtures(t *testing.T) {
	for name, text := range map[string]string{
		"no end": "row: quota\n", "no value": "row\n---\nHTTP/1.1 200 OK\n\n", "unknown": "colour: red\n---\nHTTP/1.1 200 OK\n\n",
		"bad duration": "retry-after: soon\n---\nHTTP/1.1 200 OK\n\n", "bad text": "text: Yes.\n---\nHTTP/1.1 200 OK\n\n",
		"bad end": "ended: soon\n---\nHTTP/1.1 200 OK\n\n", "bad calls": "calls: {}\n---\nHTTP/1.1 200 OK\n\n",
		"bad usage": "usage: {\"tokens\":1}\n---\nHTTP/1.1 200 OK\n\n", "no HTTP": "row: quota\n---\n{}",
		"no vendor": "source: recorded; x; 2026-11-23\n---\nHTTP/1.1 200 OK\n\n", "no source": "vendor: acme\n---\nHTTP/1.1 200 OK\n\n",
		"a vendor's title": "source: recorded; x; 2026-11-23\nvendor: The Acme\n---\nHTTP/1.1 200 OK\n\n",
		"another origin":   "source: heard; x; 2026-11-23\nvendor: acme\n---\nHTTP/1.1 200 OK\n\n",
		"from nowhere":     "source: recorded; ; 2026-11-23\nvendor: acme\n---\nHTTP/1.1 200 OK\n\n",
		"no date":          "source: recorded; x\nvendor: acme\n---\nHTTP/1.1 200 OK\n\n",
		"another date":     "source: recorded; x; yesterday\nvendor: acme\n---\nHTTP/1.1 200 OK\n\n",
	} {
		path := filepath.Join(t.TempDir(), "x.http")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := providertest.LoadFault(path)
		assert.Error(t, err, name)
	}
	_, err := providertest.LoadFault("nowhere")
	assert.Error(t, err)
}
