package logger_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/logger"
	"github.com/agonist-dev/debate/provider/providertest"
	"github.com/agonist-dev/debate/provider/scripted"
)

// options take the time out of a record; level is the least that is written.
func options(level slog.Level) *slog.HandlerOptions {
	return &slog.HandlerOptions{Level: level, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
}

func question() *provider.Request {
	return &provider.Request{
		ID: "d1/r2.rebuttal.ada/1", Model: "model-1", System: "You are Ada.", Self: "Ada",
		Messages: []provider.Message{
			{Text: "The topic is cars."},
			{Speaker: "Ben", Text: "Ban them.", Fence: "7315"},
			{Speaker: "Ada", ToolCalls: []provider.ToolCall{{ID: "c1", Name: "lookup", Arguments: json.RawMessage(`{"a":1}`)}}},
			{Speaker: "Ada", ToolResult: &provider.ToolResult{ID: "c1", Text: "found"}},
		},
		Last: provider.Message{Text: "Rebut."}, MaxTokens: 100,
		Schema: &provider.Schema{Name: "answer", JSON: json.RawMessage(`{"type":"object"}`)},
		Tools:  []provider.Tool{{Name: "lookup", Description: "Looks up.", Parameters: json.RawMessage(`{"type":"object"}`)}},
	}
}

// model answers every call in the same way.
type model struct {
	response *provider.Response
	err      error
}

func (m model) Generate(context.Context, *provider.Request, func(provider.Chunk)) (*provider.Response, error) {
	return m.response, m.err
}

// sink takes lines, and is not switched off as slog.DiscardHandler is.
type sink struct{}

func (sink) Write(p []byte) (int, error) { return len(p), nil }

// hostile is a text that would be lines of its own.
const hostile = "x\ntime=now level=ERROR msg=\"forged\" \x1b[2J\r\n{\"level\":\"ERROR\"}\u2028\u202e\x00\xff"

func TestLines(t *testing.T) {
	lookup := provider.ToolCall{ID: "c", Name: "lookup", Arguments: json.RawMessage(`{"word":"kerb"}`)}
	for name, inner := range map[string]provider.Provider{
		"speech": &scripted.Provider{Reply: func(*provider.Request) scripted.Reply {
			return scripted.Reply{
				Text: "Price them instead, Ben.", Chunks: 3, Delay: 1500 * time.Millisecond, Interval: 250 * time.Millisecond,
				Usage: provider.Usage{Input: 120, CachedInput: 64, CacheWrite: 8, Output: 30, Reasoning: 10}, Model: "model-1-2026",
			}
		}},
		"tools": model{response: &provider.Response{
			Stop: provider.StopTool, Model: "model-1",
			Calls: append(make([]provider.ToolCall, 0, 20), lookup, lookup),
		}},
		"many tools": model{response: &provider.Response{Stop: provider.StopTool, Calls: make([]provider.ToolCall, 20)}},
		"cached":     model{response: &provider.Response{Text: "Again.", Stop: provider.StopEnd, Cached: true}},
		"left out":   model{response: &provider.Response{Text: "Yes.", Stop: provider.StopEnd, Left: []string{"temperature", "stop"}}},
		"told": model{response: &provider.Response{
			Text: "Yes.", Stop: provider.StopEnd, ID: "gen-1", Reasoning: "The topic is Ben.", Cost: new(0.0125),
			Citations: []provider.Citation{{Title: "Price", URL: "https://ban.example/Ban"}},
		}},
		"failure": model{
			response: &provider.Response{Usage: provider.Usage{Input: 12}},
			err: &provider.Error{
				Kind: provider.KindRateLimit, Status: 429, Code: "rate_limit_exceeded", Message: "slow down, says Ben",
				RequestID: "req-1", RetryAfter: 7 * time.Second,
			},
		},
		"not sent": model{err: &provider.Error{Kind: provider.KindValidation, NotSent: true}},
		"in mid-stream": &scripted.Provider{Reply: func(*provider.Request) scripted.Reply {
			return scripted.Reply{Text: "Half a reply", Chunks: 2, AfterChunks: 1, Err: &provider.Error{Kind: provider.KindNetwork}}
		}},
		"canceled":    model{err: &provider.Error{Kind: provider.KindCanceled, Err: context.Canceled}},
		"given up":    model{err: fmt.Errorf("model: %w", context.Canceled)},
		"other error": model{err: errors.New("secret sk-123")},
		"wrapped":     model{err: fmt.Errorf("model: %w", &provider.Error{Kind: provider.KindQuota})},
		"no error":    model{err: (*provider.Error)(nil)},
		"nothing":     model{},
		"hostile": model{response: &provider.Response{
			Text: hostile, Stop: hostile, Model: hostile, Calls: []provider.ToolCall{{Name: hostile, Arguments: json.RawMessage(hostile)}},
		}},
		"hostile failure": model{err: &provider.Error{
			Kind: hostile, Code: hostile + strings.Repeat("é", 300), RequestID: hostile, Message: hostile,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var all strings.Builder
			for _, bodies := range []bool{false, true} {
				for _, made := range []func(io.Writer) slog.Handler{
					func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, options(slog.LevelInfo)) },
					func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, options(slog.LevelInfo)) },
				} {
					var line bytes.Buffer
					p := &logger.Provider{Provider: inner, Logger: slog.New(made(&line)), Bodies: bodies, MaxText: 60}
					synctest.Test(t, func(t *testing.T) {
						_, _ = p.Generate(t.Context(), question(), func(provider.Chunk) {})
					})
					assert.Equal(t, 1, strings.Count(line.String(), "\n"), "one line")
					for _, c := range []string{"\r", "\x1b", "\x00", "\u2028"} {
						assert.NotContains(t, line.String(), c)
					}
					if !bodies {
						for _, secret := range []string{"You are", "topic", "Ban", "Rebut", "found", "Price", "kerb", "Half", "Ben", "sk-123"} {
							assert.NotContains(t, line.String(), secret)
						}
					}
					all.WriteString(line.String())
				}
			}
			adaptertest.Golden(t, strings.ReplaceAll(name, " ", "_")+".golden", all.String())
		})
	}
}

func TestNothingIsChanged(t *testing.T) {
	response := &provider.Response{Text: "Half", Usage: provider.Usage{Input: 1}}
	failure := &provider.Error{Kind: provider.KindAPI}
	for _, m := range []model{{response, nil}, {nil, failure}, {response, failure}, {nil, nil}} {
		p := &logger.Provider{Provider: m, Logger: slog.New(slog.NewTextHandler(sink{}, nil))}
		req := question()
		got, err := p.Generate(t.Context(), req, func(provider.Chunk) {})
		assert.Same(t, m.response, got)
		assert.Equal(t, m.err, err)
		assert.Equal(t, question(), req)
	}
}

func TestLevels(t *testing.T) {
	fine := model{response: &provider.Response{Text: "Yes.", Stop: provider.StopEnd}}
	broken := model{err: &provider.Error{Kind: provider.KindAPI}}
	canceled := model{err: &provider.Error{Kind: provider.KindCanceled}}
	for name, tt := range map[string]struct {
		inner          provider.Provider
		level, failure slog.Leveler
		least          slog.Level
		want           string
	}{
		"a reply":                    {fine, nil, nil, slog.LevelInfo, "level=INFO msg=\"model call\""},
		"a failure":                  {broken, nil, nil, slog.LevelInfo, "level=WARN msg=\"model call failed\""},
		"a call given up":            {canceled, nil, nil, slog.LevelInfo, "level=INFO msg=\"model call failed\""},
		"a reply, its level off":     {fine, nil, nil, slog.LevelWarn, ""},
		"a failure, the other off":   {broken, nil, nil, slog.LevelWarn, "level=WARN"},
		"given up, its level off":    {canceled, nil, nil, slog.LevelWarn, ""},
		"a failure, all off":         {broken, nil, nil, slog.LevelError, ""},
		"a reply, for debugging":     {fine, slog.LevelDebug, nil, slog.LevelDebug, "level=DEBUG"},
		"a reply, not for debugging": {fine, slog.LevelDebug, nil, slog.LevelInfo, ""},
		"a grave failure":            {broken, nil, slog.LevelError, slog.LevelError, "level=ERROR"},
		"a failure below a reply":    {broken, slog.LevelWarn, slog.LevelDebug, slog.LevelInfo, ""},
	} {
		var line bytes.Buffer
		p := &logger.Provider{
			Provider: tt.inner, Logger: slog.New(slog.NewTextHandler(&line, options(tt.least))),
			Level: tt.level, FailureLevel: tt.failure,
		}
		_, _ = p.Generate(t.Context(), question(), func(provider.Chunk) {})
		if tt.want == "" {
			assert.Empty(t, line.String(), name)
		} else {
			assert.Contains(t, line.String(), tt.want, name)
		}
	}
}

func TestTextsAreCut(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"short":            {strings.Repeat("a", 10), strings.Repeat("a", 10)},
		"long":             {strings.Repeat("a", 11), strings.Repeat("a", 10) + "… [1 bytes more]"},
		"in a character":   {"aaaaaaaaaéé", "aaaaaaaaa… [4 bytes more]"},
		"no character":     {strings.Repeat("\x80", 50), "\ufffd"},
		"not UTF-8":        {strings.Repeat("\x80a", 50), "\ufffda\ufffda… [192 bytes more]"},
		"a long character": {"aaaaaaa🙂a", "aaaaaaa… [5 bytes more]"},
	} {
		var line bytes.Buffer
		p := &logger.Provider{
			Provider: model{response: &provider.Response{Text: tt.text}}, Logger: slog.New(slog.NewJSONHandler(&line, nil)),
			Bodies: true, MaxText: 10,
		}
		_, err := p.Generate(t.Context(), &provider.Request{}, func(provider.Chunk) {})
		require.NoError(t, err)
		var record struct {
			Call struct{ Text struct{ Reply string } }
		}
		require.NoError(t, json.Unmarshal(line.Bytes(), &record))
		assert.Equal(t, tt.want, record.Call.Text.Reply, name)
	}
}

func TestTheDefaultOfMaxText(t *testing.T) {
	var line bytes.Buffer
	p := &logger.Provider{Provider: &scripted.Provider{}, Logger: slog.New(slog.NewTextHandler(&line, nil)), Bodies: true}
	req := &provider.Request{System: strings.Repeat("s", logger.DefaultMaxText+1)}
	_, err := p.Generate(t.Context(), req, func(provider.Chunk) {})
	require.NoError(t, err)
	assert.Contains(t, line.String(), "s… [1 bytes more]")
}

// traced is a handler that sees the context.
type traced struct {
	slog.Handler

	seen *[]any
}

type traceKey struct{}

func (h traced) Handle(ctx context.Context, _ slog.Record) error {
	*h.seen = append(*h.seen, ctx.Value(traceKey{}))
	return nil
}

func TestTheHandlerSeesTheContext(t *testing.T) {
	var seen []any
	p := &logger.Provider{Provider: &scripted.Provider{}, Logger: slog.New(traced{slog.NewTextHandler(sink{}, nil), &seen})}
	_, err := p.Generate(context.WithValue(t.Context(), traceKey{}, "trace-1"), question(), func(provider.Chunk) {})
	require.NoError(t, err)
	assert.Equal(t, []any{"trace-1"}, seen)
}

func TestTheDefaultLogger(t *testing.T) {
	before := slog.Default()
	defer slog.SetDefault(before)
	var line bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&line, nil)))
	p := &logger.Provider{Provider: &scripted.Provider{}}
	_, err := p.Generate(t.Context(), question(), func(provider.Chunk) {})
	require.NoError(t, err)
	assert.Contains(t, line.String(), "call.self=Ada")
}

func TestNothingIsAllocatedWhereNothingIsLogged(t *testing.T) {
	p := &logger.Provider{
		Provider: model{response: &provider.Response{Text: "Yes."}},
		Logger:   slog.New(slog.NewTextHandler(sink{}, &slog.HandlerOptions{Level: slog.LevelError})),
		Bodies:   true,
	}
	ctx, req, emit := t.Context(), question(), func(provider.Chunk) {}
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = p.Generate(ctx, req, emit) }))
}

func TestACanceledCallEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var line bytes.Buffer
		p := &logger.Provider{
			Provider: &scripted.Provider{Reply: func(*provider.Request) scripted.Reply { return scripted.Reply{Delay: time.Hour} }},
			Logger:   slog.New(slog.NewTextHandler(&line, options(slog.LevelInfo))),
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := p.Generate(ctx, question(), func(provider.Chunk) {})
		require.ErrorIs(t, err, context.Canceled)
		assert.Contains(t, line.String(), "call.took=1s call.error.kind=canceled")
	})
}

func TestAZeroProviderFails(t *testing.T) {
	var p logger.Provider
	_, err := p.Generate(t.Context(), question(), func(provider.Chunk) {})
	failure, ok := errors.AsType[*provider.Error](err)
	require.True(t, ok)
	assert.Equal(t, provider.KindValidation, failure.Kind)
	assert.True(t, failure.NotSent)
	assert.Equal(t, "logger", p.String())
}

func TestAbilitiesAreFoundThroughIt(t *testing.T) {
	p := &logger.Provider{Provider: &scripted.Provider{VendorName: "acme"}}
	vendor, ok := provider.As[provider.Vendor](p)
	require.True(t, ok)
	assert.Equal(t, "acme", vendor.Vendor())
	_, ok = provider.As[provider.Checker](p)
	assert.True(t, ok)
}

type named struct{ scripted.Provider }

func (*named) String() string { return "named" }

func TestItsNameShowsNothingOfWhatIsWrapped(t *testing.T) {
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		assert.Equal(t, "logger(named)", fmt.Sprintf(format, &logger.Provider{Provider: &named{}}))
		assert.Equal(t, "logger", fmt.Sprintf(format, &logger.Provider{Provider: &scripted.Provider{VendorName: "secret"}}))
	}
}

func TestConformance(t *testing.T) {
	log := slog.New(slog.NewTextHandler(sink{}, nil))
	providertest.Run(t, func(t *testing.T, s providertest.Scenario) provider.Provider {
		t.Helper()
		return &logger.Provider{Provider: adaptertest.Acting(s), Logger: log, Bodies: true}
	})
}

func BenchmarkProvider(b *testing.B) {
	inner := model{response: &provider.Response{Text: "Yes.", Stop: provider.StopEnd, Usage: provider.Usage{Input: 9, Output: 1}}}
	ctx, req, emit := b.Context(), question(), func(provider.Chunk) {}
	for name, level := range map[string]slog.Level{"enabled": slog.LevelInfo, "disabled": slog.LevelError} {
		b.Run(name, func(b *testing.B) {
			p := &logger.Provider{
				Provider: inner, Logger: slog.New(slog.NewJSONHandler(sink{}, &slog.HandlerOptions{Level: level})),
			}
			b.ReportAllocs()
			for b.Loop() {
				_, _ = p.Generate(ctx, req, emit)
			}
		})
	}
}
