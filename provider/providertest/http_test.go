package providertest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/providertest"
)

// Each row is one that an adapter can fail.
func TestABadAdapterFails(t *testing.T) {
	longform.Lone(t)
	tests := []struct {
		name  string
		rows  []string
		spoil func(s providertest.Server, p provider.Provider) provider.Provider
		want  string
	}{
		{"takes a cut for the end", []string{"truncated"}, naive, "was taken for whole"},
		{"takes a status for a reply", []string{"authentication", "server-error", "key-leak"}, naive, "want an error"},
		{"follows redirects", []string{"redirect"}, naive, "turned to another host: elsewhere.test:80"},
		{"takes an answer without the prompt", []string{"redirect"}, naive, "without the prompt"},
		{"buffers", []string{"first-chunk-early"}, naive, "no chunk was handed on before"},
		{"ignores silence", []string{"silence"}, naive, "did not return within"},
		{"reads for ever", []string{"endless-body", "endless-line", "gzip-bomb"}, naive, "took all"},
		{"forgets tools", []string{"tool-results"}, naive, "of the speaker's own tool calls"},
		{"mixes up whose tools they are", []string{"tool-results"}, func(_ providertest.Server, p provider.Provider) provider.Provider {
			return generate(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
				own := *req
				own.Self = "Ben"
				return p.Generate(ctx, &own, emit)
			})
		}, "of another speaker's tool calls"},
		{"takes pages for replies", []string{"odd-content"}, naive, "want an error"},
		{"expects no retry-after", []string{"quota", "retry-after-forms"}, naive, "want"},
		{"has no NotSent", []string{"dial"}, naive, "NotSent is false"},
		{"retries", []string{"no-retry", "rate-limit", "server-error", "quota", "truncated"}, failing(
			func(ctx context.Context, p provider.Provider, req *provider.Request, _ *provider.Error) (*provider.Response, error) {
				return p.Generate(ctx, req, func(provider.Chunk) {})
			}), "2 requests"},
		{"sleeps", []string{"huge-retry-after", "retry-after-forms"}, failing(
			func(ctx context.Context, _ provider.Provider, _ *provider.Request, e *provider.Error) (*provider.Response, error) {
				select {
				case <-time.After(min(e.RetryAfter, 30*time.Second)):
				case <-ctx.Done():
				}
				return nil, e
			}), "want at most"},
		{"forgets how long to wait", []string{"huge-retry-after", "retry-after-forms", "quota"}, failing(
			func(_ context.Context, _ provider.Provider, _ *provider.Request, e *provider.Error) (*provider.Response, error) {
				e.RetryAfter = 0
				return nil, e
			}), "RetryAfter is 0s"},
		{"shows the key", []string{"key-leak", "authentication"}, func(s providertest.Server, p provider.Provider) provider.Provider {
			return failing(func(_ context.Context, _ provider.Provider, _ *provider.Request, e *provider.Error) (*provider.Response, error) {
				e.Err = fmt.Errorf("sent with %s", s.Key[len(s.Key)-8:])
				return nil, e
			})(s, p)
		}, "shows the key"},
		{"prints the key", []string{"key-leak"}, func(s providertest.Server, p provider.Provider) provider.Provider {
			return struct {
				provider.Provider
				Key string
			}{p, s.Key}
		}, "printing the provider shows the key"},
		{"sends the key in the URL", []string{"key-leak"}, with(func(a *adapter) {
			key, _ := a.Key(context.Background())
			a.BaseURL += "/?key=" + strings.NewReplacer("+", "%2B", "/", "%2F").Replace(key)
		}), "the key is part of the URL"},
		{"sends no key", []string{"key-leak"}, with(func(a *adapter) { a.Key = nil }), "the key did not reach the server"},
		{"has no idle timeout", []string{"silence"}, with(func(a *adapter) { a.IdleTimeout = -1 }), "did not return within"},
		{"takes slowness for silence", []string{"slow-drip"}, with(func(a *adapter) { a.IdleTimeout /= 3 }), "no byte came"},
		{"has no limit", []string{"endless-body"}, with(func(a *adapter) { a.MaxBody = 1 << 40 }), "took all"},
		{"has no limit of lines", []string{"endless-line"}, with(func(a *adapter) { a.MaxBody, a.MaxLine = 1<<40, 1<<40 }), "took all"},
		{"is deaf", []string{"canceled", "deadline"}, func(_ providertest.Server, p provider.Provider) provider.Provider {
			return generate(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
				return p.Generate(context.WithoutCancel(ctx), req, emit)
			})
		}, "want at most"},
		{"leaves goroutines", []string{"canceled", "length"}, func(_ providertest.Server, p provider.Provider) provider.Provider {
			return generate(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
				go func() { <-time.After(time.Hour) }()
				return p.Generate(ctx, req, emit)
			})
		}, "a goroutine is left"},
		{"waits for the whole of a refusal", []string{"endless-failure", "deadline"}, failing(
			func(ctx context.Context, _ provider.Provider, _ *provider.Request, e *provider.Error) (*provider.Response, error) {
				if ctx.Err() != nil {
					e.Kind, e.Status = provider.KindTimeout, 0
				}
				return nil, e
			}), `is of kind "timeout"`},
		{"mistakes all for one", slices.Concat(
			[]string{"dial", "reset", "truncated", "timeout-status", "rate-limit", "overloaded", "conflict", "server-error", "authentication"},
			[]string{"permission", "too-large", "bad-request", "not-found", "unprocessable", "canceled", "deadline", "huge-retry-after"},
			[]string{"endless-body", "endless-line", "endless-failure", "silence", "quota", "mid-stream-error", "not-http", "odd-content"},
		), keptKind(provider.KindCostLimit), `is of kind "cost_limit"`},
		{"loses the status", []string{"timeout-status", "conflict"}, failing(
			func(_ context.Context, _ provider.Provider, _ *provider.Request, e *provider.Error) (*provider.Response, error) {
				e.Status = 0
				return nil, e
			}), "the status is 0"},
		{"loses the price", []string{"mid-stream-error"}, failing(
			func(_ context.Context, _ provider.Provider, _ *provider.Request, e *provider.Error) (*provider.Response, error) {
				return nil, e
			}), "the usage is"},
		{"says that nothing left", []string{"reset", "conflict", "quota", "canceled", "truncated"}, failing(
			func(_ context.Context, _ provider.Provider, _ *provider.Request, e *provider.Error) (*provider.Response, error) {
				e.NotSent = true
				return nil, e
			}), "NotSent"},
		{"changes the text", []string{"pieces", "comments", "unknown-events", "slow-drip", "after-the-end", "first-chunk-early", "length"}, func(_ providertest.Server, p provider.Provider) provider.Provider {
			return generate(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
				r, err := p.Generate(ctx, req, emit)
				if r != nil {
					r.Text += "!"
				}
				return r, err
			})
		}, "the text is"},
		{"takes a vendor's code for the status", []string{"mid-stream-error", "error-under-200", "truncated"}, failing(
			func(_ context.Context, _ provider.Provider, _ *provider.Request, e *provider.Error) (*provider.Response, error) {
				e.Status = 502
				return nil, e
			}), "would count as free"},
		{"takes what was counted for the price", []string{"truncated"}, failing(
			func(_ context.Context, _ provider.Provider, _ *provider.Request, e *provider.Error) (*provider.Response, error) {
				return &provider.Response{Usage: provider.Usage{Input: 9}}, e
			}), "the usage of a reply without its end"},
		{"takes the whole price for a half", []string{"truncated"}, failing(
			func(_ context.Context, _ provider.Provider, _ *provider.Request, e *provider.Error) (*provider.Response, error) {
				return &provider.Response{Usage: provider.Usage{Input: 9, Output: 4}}, e
			}), "the usage of a reply without its end"},
		{"buffers all but the first", []string{"first-chunk-early"}, gathering(1), "the text of event 2 of 4 was not handed on before event 3"},
		{"buffers all but the first two", []string{"first-chunk-early"}, gathering(2), "the text of event 3 of 4 was not handed on before event 4"},
		{"waits at the end", []string{"after-the-end"}, func(s providertest.Server, p provider.Provider) provider.Provider {
			return changed(p, func(ctx context.Context, _ *provider.Response) {
				select {
				case <-time.After(s.IdleTimeout / 2):
				case <-ctx.Done():
				}
			})
		}, "want at most 10.5s"},
		{"forgets a call", []string{"pieces"}, spoilt(func(r *provider.Response) { r.Calls = r.Calls[:len(r.Calls)/2] }), "the tool calls are"},
		{"renames a call", []string{"pieces"}, spoilt(func(r *provider.Response) { each(r, func(c *provider.ToolCall) { c.Name += "!" }) }), "the tool calls are"},
		{"mixes up calls", []string{"pieces"}, spoilt(func(r *provider.Response) { each(r, func(c *provider.ToolCall) { c.ID = "c0" }) }), "the tool calls are"},
		{"loses arguments", []string{"pieces"}, spoilt(func(r *provider.Response) { each(r, func(c *provider.ToolCall) { c.Arguments = nil }) }), "the tool calls are"},
		{"loses why it ended", []string{"pieces"}, spoilt(func(r *provider.Response) { r.Stop = provider.StopEnd }), "the stop reason is"},
		{"makes up a call", []string{"length", "pieces"}, spoilt(func(r *provider.Response) {
			if r.Text != "" {
				r.Calls = []provider.ToolCall{{ID: "1", Name: "look", Arguments: json.RawMessage("{}")}}
			}
		}), "the tool calls are"},
		{"loses pieces", []string{"pieces", "first-chunk-early"}, spoilt(func(r *provider.Response) { r.Text = strings.TrimSuffix(r.Text, "loud.") }), "the chunks add up to"},
		{"logs the key", []string{"key-leak"}, saying(func(key string) { slog.Debug("sending", "authorization", "Bearer "+key) }), "writes the key to a log"},
		{"logs the key in the old way", []string{"key-leak"}, saying(func(key string) { log.Print("Bearer ", key) }), "writes the key to a log"},
		{"logs with a logger of its own", []string{"key-leak"}, saying(func(key string) { ownLogger.Debug(key) }), "writes the key to a log"},
		{"prints what it sends", []string{"key-leak"}, saying(func(key string) { fmt.Println("Bearer", key) }), "writes the key to a log"},
		{"prints a part of what it sends", []string{"key-leak"}, saying(func(key string) { fmt.Fprintln(os.Stderr, key[9:20]) }), "writes the key to a log"},
		{"cannot bear comments", []string{"comments"}, finicky(": "), "Generate failed"},
		{"cannot bear the unknown", []string{"unknown-events"}, finicky("event: "), "Generate failed"},
		{"cannot bear CRLF", []string{"pieces"}, finicky("\r\n"), "Generate failed"},
		{"has careless abilities", []string{"abilities"}, func(s providertest.Server, p provider.Provider) provider.Provider {
			return &careless{adapter: p.(*adapter), s: s}
		}, "turned to another host"},
		{"has greedy abilities", []string{"abilities"}, with(func(a *adapter) { a.MaxBody = 1 << 40 }), "took all"},
		{"has patient abilities", []string{"abilities"}, with(func(a *adapter) { a.IdleTimeout = -1 }), "did not return within"},
		{"is no use for texts", []string{"odd-content"}, func(_ providertest.Server, p provider.Provider) provider.Provider {
			return generate(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
				r, err := p.Generate(ctx, req, func(c provider.Chunk) { emit(provider.Chunk{Text: c.Text + "\xff"}) })
				if r != nil {
					r.Text += "\xff"
				}
				return r, err
			})
		}, "is not UTF-8"},
	}
	for _, tt := range tests {
		for _, row := range tt.rows {
			t.Run(tt.name+"/"+row, func(t *testing.T) {
				faults := providertest.ExamineHTTP(t, row, suite(tt.spoil))
				require.NotEmpty(t, faults, "the suite noticed nothing")
				assert.Contains(t, strings.Join(faults, "\n"), tt.want)
			})
		}
	}
}

// The suite leaves the process's logs and output as they were.
func TestLogsAreGivenBack(t *testing.T) {
	logger, writer, flags, out, failures := slog.Default(), log.Writer(), log.Flags(), os.Stdout, os.Stderr
	assert.Empty(t, providertest.ExamineHTTP(t, "key-leak", suite(nil)))
	assert.Same(t, logger, slog.Default())
	assert.Same(t, writer, log.Writer())
	assert.Equal(t, flags, log.Flags())
	assert.Same(t, out, os.Stdout)
	assert.Same(t, failures, os.Stderr)
	assert.False(t, logger.Enabled(t.Context(), slog.LevelDebug))
}

// Every row that the suite shows itself is one that does not pass with an adapter which does nothing.
func TestNothingIsNoAdapter(t *testing.T) {
	for _, row := range providertest.Rows() {
		h := suite(func(providertest.Server, provider.Provider) provider.Provider { return nothing{} })
		if _, excused := h.NoSignal[row]; !excused && row != "abilities" {
			assert.NotEmpty(t, providertest.ExamineHTTP(t, row, h), row)
		}
	}
}
