package providertest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/providertest"
	"github.com/agonist-dev/debate/provider/wire"
)

// adapter speaks the protocol of a vendor that nobody knows: events with a piece of text, and one that
// says why the reply ended.
type adapter struct{ wire.Endpoint }

func (a *adapter) String() string   { return "adapter" }
func (a *adapter) GoString() string { return "adapter" }

func (a *adapter) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	body, err := json.Marshal(providertest.Direct(req))
	if err != nil {
		return nil, err
	}
	x, err := a.Open(ctx, req.ID)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	if err := x.Send(http.MethodPost, "reply", body); err != nil {
		return nil, err
	}
	r := x.NewReply(emit)
	events := x.Events()
	for r.Stop == "" {
		event, err := events.Next()
		if err != nil {
			return r.Failed(x.Cut(err))
		}
		var e struct {
			Text  string              `json:"text"`
			Call  *provider.ToolCall  `json:"call"`
			Stop  provider.StopReason `json:"stop"`
			Usage provider.Usage      `json:"usage"`
			Error json.RawMessage     `json:"error"`
		}
		if json.Unmarshal(event.Data, &e) != nil {
			return r.Failed(x.Invalid("malformed", "an event is not JSON"))
		}
		if !e.Usage.IsZero() {
			r.Usage = e.Usage
		}
		if wire.Present(e.Error) {
			r.Settled = !e.Usage.IsZero()
			return r.Failed(x.Fault(event.Data))
		}
		r.Show(e.Text)
		if e.Call != nil {
			r.Call(r.Calls(), e.Call.ID, e.Call.Name, string(e.Call.Arguments))
		}
		r.Stop = e.Stop
	}
	return r.Done()
}

// Embed asks for vectors, as Check asks for models.
func (a *adapter) Embed(ctx context.Context, model string, texts []string) (*provider.Embedding, error) {
	var list struct {
		Data []struct{ Vector []float32 }
	}
	if err := a.fetch(ctx, "embed", &list); err != nil {
		return nil, err
	}
	e := &provider.Embedding{Model: model, Vectors: make([][]float32, len(texts))}
	for i := range list.Data {
		e.Vectors[i] = list.Data[i].Vector
	}
	return e, nil
}

func (a *adapter) Check(ctx context.Context, _ string) error {
	return a.fetch(ctx, "models", new(struct{ Data []struct{ ID string } }))
}

func (a *adapter) fetch(ctx context.Context, path string, to any) error {
	x, err := a.Open(ctx, "")
	if err != nil {
		return err
	}
	defer x.Close()
	if err := x.Send(http.MethodGet, path, nil); err != nil {
		return err
	}
	data, err := io.ReadAll(x)
	if err != nil {
		return x.Cut(err)
	}
	if json.Unmarshal(data, to) != nil {
		return x.Invalid("malformed", "the list is not JSON")
	}
	return nil
}

const stream = "HTTP/1.1 200 OK\nContent-Type: text/event-stream\n\n"

func wholes() []providertest.Whole {
	return []providertest.Whole{{
		Name: "reply", Text: "Cars are loud.", Stop: provider.StopEnd, Calls: []provider.ToolCall{},
		Answer: []byte(stream + "data: {\"text\":\"Cars \"}\n\ndata: {\"text\":\"are \",\"usage\":{\"input\":9}}\n\ndata: {\"text\":\"loud.\"}\n\n" +
			"data: {\"stop\":\"end\",\"usage\":{\"input\":9,\"output\":4}}\n\n"),
	}, {
		Name: "tools", Stop: provider.StopTool,
		Calls: []provider.ToolCall{{ID: "c1", Name: "look", Arguments: json.RawMessage(`{"at": "cars"}`)}, {Name: "now", Arguments: json.RawMessage(`{}`)}},
		Answer: []byte(stream + "data: {\"call\":{\"id\":\"c1\",\"name\":\"look\",\"arguments\":{\"at\":\"cars\"}}}\n\n" +
			"data: {\"call\":{\"name\":\"now\",\"arguments\":{}}}\n\ndata: {\"stop\":\"tool\"}\n\n"),
	}}
}

// suite is what RunHTTP needs to know of an adapter; spoil wraps it.
func suite(spoil func(s providertest.Server, p provider.Provider) provider.Provider) providertest.HTTP {
	h := providertest.HTTP{
		Connect: func(_ testing.TB, s providertest.Server) provider.Provider {
			p := &adapter{wire.Endpoint{
				BaseURL: s.URL, Key: provider.StaticKey(s.Key), Client: s.Client,
				IdleTimeout: s.IdleTimeout, MaxBody: s.MaxBody, MaxLine: s.MaxLine,
			}}
			if spoil != nil {
				return spoil(s, p)
			}
			return p
		},
		Wholes: wholes(),
		Faults: []providertest.Fault{
			{
				Row: "quota", Name: "spent", Kind: provider.KindQuota, Code: "insufficient_quota", RetryAfter: 5 * time.Second,
				Answer: []byte("HTTP/1.1 429 {{KEY}}\nRetry-After: 5\nContent-Length: 62\n\n{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"{{KEY}} spent\"}}"),
			},
			{
				Row: "length", Name: "cut", Stop: provider.StopLength, Text: "Half", Usage: provider.Usage{Input: 2, Output: 1},
				Answer: []byte(stream + "data: {\"text\":\"Half\"}\n\ndata: {\"stop\":\"length\",\"usage\":{\"input\":2,\"output\":1}}\n\n"),
			},
			{
				Row: "length", Name: "cut in a call", Stop: provider.StopLength, Text: "Half", Calls: []provider.ToolCall{},
				Answer: []byte(stream + "data: {\"text\":\"Half\"}\n\ndata: {\"call\":{\"name\":\"look\",\"arguments\":{}}}\n\ndata: {\"stop\":\"length\"}\n\n"),
			},
			{
				Row: "mid-stream-error", Name: "broken", Kind: provider.KindAPI, Usage: provider.Usage{Input: 7}, Message: "Gone",
				Answer: []byte(stream + "data: {\"text\":\"Half\",\"usage\":{\"input\":3}}\n\ndata: {\"error\":{\"message\":\"Gone, {{KEY}}\"},\"usage\":{\"input\":7}}\n\n"),
			},
			{
				Row: "error-under-200", Name: "at once", Kind: provider.KindAPI,
				Answer: []byte(stream + "data: {\"error\":{\"code\":503,\"message\":\"Busy\"}}\n\n"),
			},
		},
		Lacks: map[string]string{},
	}
	for _, row := range []string{
		"error-null", "slow-down", "budget-in-flight", "moderation", "context-overflow", "window-exceeded", "refusal",
		"content-filter", "no-choices", "blank", "only-thinking", "usage-twice",
	} {
		h.Lacks[row] = "the vendor has no such signal"
	}
	return h
}

func TestAGoodAdapterPasses(t *testing.T) {
	providertest.RunHTTP(t, suite(nil))
}

// generate is a Provider that is only its Generate.
type generate func(context.Context, *provider.Request, func(provider.Chunk)) (*provider.Response, error)

func (g generate) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	return g(ctx, req, emit)
}

func ended(ctx context.Context, err error) error {
	e := &provider.Error{Kind: provider.KindNetwork, Message: "broken"}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		e.Kind = provider.KindCanceled
	case ctx.Err() != nil:
		e.Kind = provider.KindTimeout
	case err == nil:
		return nil
	}
	return e
}

// naive asks without package wire, as one would who trusts the server.
func naive(s providertest.Server, _ provider.Provider) provider.Provider {
	return generate(func(ctx context.Context, _ *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/reply", strings.NewReader("{}"))
		if err != nil {
			return nil, err
		}
		req.Header.Set("X-Api-Key", s.Key)
		response, err := s.Client.Do(req)
		if err != nil {
			return nil, ended(ctx, err)
		}
		defer func() { _ = response.Body.Close() }()
		data, err := io.ReadAll(response.Body)
		if err := ended(ctx, err); err != nil {
			return nil, err
		}
		var text strings.Builder
		for line := range bytes.Lines(data) {
			var e struct{ Text string }
			if _, value, ok := bytes.Cut(line, []byte("data: ")); ok && json.Unmarshal(value, &e) == nil && e.Text != "" {
				text.WriteString(e.Text)
				emit(provider.Chunk{Text: e.Text})
			}
		}
		return &provider.Response{Text: text.String(), Stop: provider.StopEnd}, nil
	})
}

// failing hands a failure of the adapter to what deals with it wrongly.
func failing(deal func(ctx context.Context, p provider.Provider, req *provider.Request, e *provider.Error) (*provider.Response, error)) func(providertest.Server, provider.Provider) provider.Provider {
	return func(_ providertest.Server, p provider.Provider) provider.Provider {
		return generate(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
			r, err := p.Generate(ctx, req, emit)
			if e, ok := errors.AsType[*provider.Error](err); ok {
				return deal(ctx, p, req, e)
			}
			return r, err
		})
	}
}

// with changes the adapter's own fields.
func with(change func(a *adapter)) func(providertest.Server, provider.Provider) provider.Provider {
	return func(_ providertest.Server, p provider.Provider) provider.Provider {
		change(p.(*adapter))
		return p
	}
}

func keptKind(kind provider.Kind) func(providertest.Server, provider.Provider) provider.Provider {
	return failing(func(_ context.Context, _ provider.Provider, _ *provider.Request, e *provider.Error) (*provider.Response, error) {
		e.Kind = kind
		return nil, e
	})
}

// Each row is one that an adapter can fail.
func TestABadAdapterFails(t *testing.T) {
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
				assert.Contains(t, errors.Join(faults...).Error(), tt.want)
			})
		}
	}
}

// ownLogger was made before anybody listened.
var ownLogger = slog.Default()

// saying lets the adapter say something with each request.
func saying(say func(key string)) func(providertest.Server, provider.Provider) provider.Provider {
	return func(s providertest.Server, p provider.Provider) provider.Provider {
		return generate(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
			say(s.Key)
			return p.Generate(ctx, req, emit)
		})
	}
}

// changed does something to each reply.
func changed(p provider.Provider, change func(context.Context, *provider.Response)) provider.Provider {
	return generate(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
		r, err := p.Generate(ctx, req, emit)
		if err == nil {
			change(ctx, r)
		}
		return r, err
	})
}

func spoilt(change func(r *provider.Response)) func(providertest.Server, provider.Provider) provider.Provider {
	return func(_ providertest.Server, p provider.Provider) provider.Provider {
		return changed(p, func(_ context.Context, r *provider.Response) { change(r) })
	}
}

func each(r *provider.Response, change func(c *provider.ToolCall)) {
	for i := range r.Calls {
		change(&r.Calls[i])
	}
}

// gathering hands on some chunks at once, and the rest at the end.
func gathering(most int) func(providertest.Server, provider.Provider) provider.Provider {
	return func(_ providertest.Server, p provider.Provider) provider.Provider {
		return generate(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
			var rest strings.Builder
			n := 0
			r, err := p.Generate(ctx, req, func(c provider.Chunk) {
				if n++; n <= most {
					emit(c)
					return
				}
				rest.WriteString(c.Text)
			})
			if rest.Len() > 0 {
				emit(provider.Chunk{Text: rest.String()})
			}
			return r, err
		})
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

// careless asks for models without package wire.
type careless struct {
	*adapter

	s providertest.Server
}

func (c *careless) Check(ctx context.Context, _ string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.s.URL+"/models", http.NoBody)
	if err != nil {
		return err
	}
	response, err := c.s.Client.Do(req)
	if err != nil {
		return ended(ctx, err)
	}
	defer func() { _ = response.Body.Close() }()
	_, err = io.ReadAll(response.Body)
	return ended(ctx, err)
}

// finicky is an adapter that gives up on an answer with some bytes in its body.
func finicky(bytes string) func(providertest.Server, provider.Provider) provider.Provider {
	return func(s providertest.Server, p provider.Provider) provider.Provider {
		s.Client.Transport = picky{s.Client.Transport, bytes}
		return p
	}
}

type picky struct {
	http.RoundTripper

	bytes string
}

func (p picky) RoundTrip(req *http.Request) (*http.Response, error) {
	r, err := p.RoundTripper.RoundTrip(req)
	if err == nil {
		in, out := io.Pipe()
		body := r.Body
		go func() {
			for line, err := range lines(body) {
				switch {
				case strings.Contains(line, p.bytes):
					_ = out.CloseWithError(errors.New("did not like that"))
				case err != nil:
					_ = out.CloseWithError(err)
				default:
					_, _ = io.WriteString(out, line)
				}
			}
		}()
		r.Body = struct {
			io.Reader
			io.Closer
		}{in, closers{in, body}}
	}
	return r, err
}

type closers []io.Closer

func (c closers) Close() error {
	for _, one := range c {
		_ = one.Close()
	}
	return nil
}

// lines returns the lines of r, and its error at last.
func lines(r io.Reader) func(yield func(string, error) bool) {
	return func(yield func(string, error) bool) {
		in := bufio.NewReader(r)
		for {
			line, err := in.ReadString('\n')
			if !yield(line, nil) || err != nil {
				yield("", err)
				return
			}
		}
	}
}

// Every row that the suite shows itself is one that does not pass with an adapter which does nothing.
func TestNothingIsNoAdapter(t *testing.T) {
	for _, row := range providertest.Rows() {
		h := suite(func(providertest.Server, provider.Provider) provider.Provider { return nothing{} })
		if _, lacking := h.Lacks[row]; !lacking && row != "abilities" {
			assert.NotEmpty(t, providertest.ExamineHTTP(t, row, h), row)
		}
	}
}

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

	other := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(other, "a.http"), []byte("text: \"Yes.\"\nstop: tool\ncalls: [{\"name\":\"f\",\"arguments\":{}}]\n---\nHTTP/1.1 200 OK\n\n"), 0o600))
	assert.Equal(t, []providertest.Whole{{
		Name: "a", Text: "Yes.", Stop: provider.StopTool, Calls: []provider.ToolCall{{Name: "f", Arguments: json.RawMessage("{}")}},
		Answer: []byte("HTTP/1.1 200 OK\n\n"),
	}}, providertest.Wholes(t, other))
}

func TestBrokenFixtures(t *testing.T) {
	for name, text := range map[string]string{
		"no end": "row: quota\n", "no value": "row\n---\nHTTP/1.1 200 OK\n\n", "unknown": "colour: red\n---\nHTTP/1.1 200 OK\n\n",
		"bad duration": "retry-after: soon\n---\nHTTP/1.1 200 OK\n\n", "bad text": "text: Yes.\n---\nHTTP/1.1 200 OK\n\n",
		"bad calls": "calls: {}\n---\nHTTP/1.1 200 OK\n\n",
		"bad usage": "usage: {\"tokens\":1}\n---\nHTTP/1.1 200 OK\n\n", "no HTTP": "row: quota\n---\n{}",
	} {
		path := filepath.Join(t.TempDir(), "x.http")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := providertest.LoadFault(path)
		assert.Error(t, err, name)
	}
	_, err := providertest.LoadFault("nowhere")
	assert.Error(t, err)
}

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
