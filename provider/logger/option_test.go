package logger_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/logger"
	"github.com/agonist-dev/debate/provider/scripted"
)

// TestWhatIsAskedFor: a line names what a request asks for, without values that are texts, and counts files and thoughts.
func TestWhatIsAskedFor(t *testing.T) {
	var line bytes.Buffer
	p := &logger.Provider{
		Provider: &scripted.Provider{Reply: func(*provider.Request) scripted.Reply { return scripted.Reply{Text: "Yes.", Reasoning: "Hidden."} }},
		Logger:   slog.New(slog.NewJSONHandler(&line, nil)),
	}
	req := &provider.Request{
		Model: "m", Messages: []provider.Message{{Parts: []provider.Part{{Type: "image/png", Name: "secret.png", Data: []byte("123456")}}}},
		Last: provider.Message{Text: "Go.", Parts: []provider.Part{{Type: "application/pdf", Data: []byte("123")}}},
		Options: &provider.Options{
			Effort: provider.EffortLow, Stop: []string{"secret"}, Seed: new(int64(1)),
			Extra: map[string]json.RawMessage{"x": []byte(`"secret"`)}, Header: map[string]string{"x-title": "secret"},
		},
	}
	_, err := p.Generate(t.Context(), req, func(provider.Chunk) {})
	require.NoError(t, err)
	var record struct {
		Call struct {
			Files, BytesIn, BytesOut, BytesThought, Chunks int
			Options, Extra, Headers                        []string
			Effort                                         string
		}
	}
	require.NoError(t, json.Unmarshal(line.Bytes(), &record))
	c := record.Call
	assert.Equal(t, []int{2, 12, 4, 7, 2}, []int{c.Files, c.BytesIn, c.BytesOut, c.BytesThought, c.Chunks})
	assert.Equal(t, []string{"effort", "stop", "seed"}, c.Options)
	assert.Equal(t, "low", c.Effort)
	assert.Equal(t, []string{"x"}, c.Extra)
	assert.Equal(t, []string{"x-title"}, c.Headers)
	assert.NotContains(t, line.String(), "secret")
	assert.NotContains(t, line.String(), "Hidden")
}
