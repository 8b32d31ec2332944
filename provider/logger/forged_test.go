package logger_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/logger"
)

// joining is a handler that joins values by blanks, and quotes none.
type joining struct {
	slog.Handler

	lines *strings.Builder
}

func (h joining) Enabled(context.Context, slog.Level) bool { return true }

func (h joining) Handle(_ context.Context, r slog.Record) error {
	h.lines.WriteString(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		h.join(a)
		return true
	})
	h.lines.WriteString("\n")
	return nil
}

func (h joining) join(a slog.Attr) {
	if a.Value.Kind() != slog.KindGroup {
		fmt.Fprintf(h.lines, " %s=%v", a.Key, a.Value.Any())
		return
	}
	for _, member := range a.Value.Group() {
		h.join(member)
	}
}

// TestNoHandlerIsForged: whatever vendors, models and host programs choose as a name is a part of one line, also for a handler
// that quotes nothing.
func TestNoHandlerIsForged(t *testing.T) {
	const key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKL"
	for _, forged := range []string{
		hostile, "x\nlevel=ERROR", "\x1b[2J", "\u2028", "a\u202eb", strings.Repeat("x\n", 512<<10), "x\n" + key, key[:20] + "\x00" + key[20:],
	} {
		for name, inner := range map[string]model{
			"a reply": {response: &provider.Response{
				Stop: provider.StopReason(forged), Model: forged, ID: forged, Left: []string{forged}, Calls: []provider.ToolCall{{Name: forged}},
			}},
			"a failure": {err: &provider.Error{Kind: provider.Kind(forged), Code: forged, RequestID: forged, Message: forged}},
		} {
			t.Run(name, func(t *testing.T) {
				var lines strings.Builder
				p := &logger.Provider{Provider: inner, Logger: slog.New(joining{lines: &lines})}
				req := question()
				req.ID, req.Model, req.Self = forged, forged+"2", forged
				req.Options = &provider.Options{
					Effort: provider.Effort(forged), Extra: map[string]json.RawMessage{forged: nil}, Header: map[string]string{forged: ""},
				}
				_, _ = p.Generate(t.Context(), req, func(provider.Chunk) {})
				line, rest, found := strings.Cut(lines.String(), "\n")
				require.True(t, found)
				assert.Empty(t, rest, "one line")
				assert.Equal(t, -1, strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }), "%q", line[:min(len(line), 500)])
				assert.Less(t, len(line), 5_000)
				assert.NotContains(t, line, key)
			})
		}
	}
}

// TestControlCharactersHideNoCredential: what vendors say is looked through in the form in which it is written.
func TestControlCharactersHideNoCredential(t *testing.T) {
	const token = "9f8e7d6c5b4a"
	for _, said := range []string{
		"Authorization: Token " + token, "Auth\x00orization: Token " + token, "\ufeffAuthori\x1bzation\u202e: Token " + token,
	} {
		var lines strings.Builder
		p := &logger.Provider{
			Provider: model{err: &provider.Error{Kind: provider.KindAPI, Code: said, RequestID: said, Message: said}},
			Logger:   slog.New(joining{lines: &lines}), Bodies: true,
		}
		_, _ = p.Generate(t.Context(), question(), func(provider.Chunk) {})
		p.Provider = model{response: &provider.Response{ID: said, Stop: provider.StopEnd}}
		_, _ = p.Generate(t.Context(), question(), func(provider.Chunk) {})
		assert.GreaterOrEqual(t, strings.Count(lines.String(), "[redacted]"), 4, lines.String())
		assert.NotContains(t, lines.String(), token)
	}
}

// TestTextsKeepTheirLines: with Bodies texts keep their line breaks, and nothing else that controls a terminal.
func TestTextsKeepTheirLines(t *testing.T) {
	var lines strings.Builder
	p := &logger.Provider{
		Provider: model{response: &provider.Response{
			Text: "one\r\n\ttwo\x1b[2J\u202e sk-proj-\x00abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKL\x9b2J", Stop: provider.StopEnd,
		}},
		Logger: slog.New(joining{lines: &lines}), Bodies: true,
	}
	req := question()
	req.Messages = append(req.Messages, provider.Message{Speaker: "Ada", ToolResult: &provider.ToolResult{ID: "1", Text: "a\fb\x1b[2J\x9b2J"}})
	_, err := p.Generate(t.Context(), req, func(provider.Chunk) {})
	require.NoError(t, err)
	assert.Contains(t, lines.String(), "reply=one\r\n\ttwo[2J [redacted]\ufffd2J\n")
	assert.Contains(t, lines.String(), "Ada: ab[2J\ufffd2J]", "an answer of a tool")
}
