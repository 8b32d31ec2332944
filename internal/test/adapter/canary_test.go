package adapter_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/export"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/otel"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cache"
	"github.com/agonist-dev/debate/provider/cassette"
	"github.com/agonist-dev/debate/provider/limit"
	"github.com/agonist-dev/debate/provider/logger"
	"github.com/agonist-dev/debate/store"
)

// canary is a key that must be seen nowhere but in the request's header.
const canary = "sk-proj-canary/5f1d+7a0c93be=42~Zx9Qw.Lm4Rt7/Yb2"

// faults are what a server does to give a key away: it repeats what the request's headers hold.
var faults = map[string]func(w http.ResponseWriter, r *http.Request){
	"refused key": func(w http.ResponseWriter, r *http.Request) { echo(w, r, http.StatusUnauthorized) },
	"quota":       func(w http.ResponseWriter, r *http.Request) { echo(w, r, http.StatusPaymentRequired) },
	"rate limit": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "3600")
		echo(w, r, http.StatusTooManyRequests)
	},
	"bad request": func(w http.ResponseWriter, r *http.Request) { echo(w, r, http.StatusBadRequest) },
	"its failure": func(w http.ResponseWriter, r *http.Request) { echo(w, r, http.StatusInternalServerError) },
	"under 200":   func(w http.ResponseWriter, r *http.Request) { echo(w, r, http.StatusOK) },
	"plain words": func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprint(w, "not with ", r.Header)
	},
	"page": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, "<html>", r.Header)
	},
	"garbage": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "data: {%q\n\n", r.Header)
	},
	"mid-stream": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, ": %v\n\nevent: error\ndata: %s\n\n", r.Header, fault(r))
	},
	"cut": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Length", "100000")
		_, _ = fmt.Fprintf(w, "data: {\"x\":%q", keyOf(r))
	},
	"elsewhere": func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:1/?key="+url.QueryEscape(keyOf(r)), http.StatusTemporaryRedirect)
	},
	"silence": func(w http.ResponseWriter, r *http.Request) { // until the call's time is over
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, ": %v\n\ndata: {\"x\":%q", r.Header, keyOf(r))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	},
	"without an end": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			if _, err := fmt.Fprintf(w, ": %v\n\n", r.Header); err != nil {
				return
			}
		}
	},
	"a line without an end": func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, keyOf(r)); err != nil {
				return
			}
		}
	},
	"packed": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(http.StatusUnauthorized)
		packed := gzip.NewWriter(w)
		_, _ = io.WriteString(packed, fault(r)+strings.Repeat(" "+keyOf(r), 1<<16))
		_ = packed.Close()
	},
	"odd reason": func(w http.ResponseWriter, r *http.Request) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = fmt.Fprintf(connection, "HTTP/1.1 418 %s\r\nX-Request-Id: %s\r\nContent-Length: 0\r\n\r\n", keyOf(r), keyOf(r))
			_ = connection.Close()
		}
	},
}

// keyOf returns the key that a request came with.
func keyOf(r *http.Request) string {
	for _, name := range []string{"X-Amz-Security-Token", "Authorization", "X-Api-Key", "X-Goog-Api-Key"} {
		if key := strings.TrimPrefix(r.Header.Get(name), "Bearer "); key != "" {
			return key
		}
	}
	return ""
}

func fault(r *http.Request) string {
	body, _ := json.Marshal(map[string]any{"error": map[string]any{
		"message": "not with " + keyOf(r) + ", that is " + url.QueryEscape(keyOf(r)), "type": keyOf(r), "code": keyOf(r), "param": r.Header,
	}})
	return string(body)
}

func echo(w http.ResponseWriter, r *http.Request, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Request-ID", keyOf(r))
	w.Header().Set("X-Debug", fmt.Sprint(r.Header))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, fault(r))
}

// TestNoKeyAnywhere plays a debate on each vendor's adapter, behind every wrapper, against a server that
// gives the key back in every way, and looks for it in all that a host can see or keep.
func TestNoKeyAnywhere(t *testing.T) {
	type answer struct {
		good  bool
		serve func(w http.ResponseWriter, r *http.Request, vendor string)
	}
	answers := map[string]answer{}
	for name, serve := range faults {
		answers[name] = answer{false, func(w http.ResponseWriter, r *http.Request, _ string) { serve(w, r) }}
	}
	for _, p := range places() {
		if p.name == "text by the byte" {
			continue // in all codings at once it is longer than MaxBody
		}
		answers["in "+p.name] = answer{p.good, func(w http.ResponseWriter, r *http.Request, vendor string) {
			p.serve(w, vendor, inAll(keyOf(r)))
		}}
	}
	looks, searched := newNet(), 0
	for i, name := range slices.Sorted(maps.Keys(answers)) {
		a := answers[name]
		t.Run(name, func(t *testing.T) {
			for k, vendor := range vendors {
				if (i+k)%longform.Sized(1, 3, 18) != 0 {
					continue // the short form gives each answer to one or two of the adapters
				}
				t.Run(vendor, func(t *testing.T) {
					var came sync.Map
					var silent chan struct{}
					if name == "silence" {
						silent = make(chan struct{}, 1)
					}
					server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						came.Store(r.URL.Path, keyOf(r) == canary)
						select {
						case silent <- struct{}{}:
						default:
						}
						a.serve(w, r, vendor)
					}))
					t.Cleanup(server.Close)
					client := server.Client()
					t.Cleanup(client.CloseIdleConnections)
					for what, data := range everything(t, vendor, adapters(server.URL, canary, client)[vendor], a.good, silent) {
						require.NotEmpty(t, data, what)
						part, found := looks.leaks(string(data))
						assert.False(t, found, "%s shows %s", what, part)
						searched++
					}
					paths := 0
					came.Range(func(path, with any) bool {
						assert.Equal(t, true, with, "the key was not sent to %s: nothing is proved", path)
						paths++
						return true
					})
					assert.Positive(t, paths)
				})
			}
		})
	}
	require.False(t, t.Failed())
	t.Logf("canary: %d answers to up to %d adapters, %d outputs of debates searched, 0 leaks", len(answers), len(vendors), searched)
}

// inAll returns the key in all codings.
func inAll(key string) string {
	var all []string
	for _, c := range codings() {
		all = append(all, c.write(key))
	}
	return strings.Join(all, " or ")
}

// vendors are the names of the adapters.
var vendors = []string{"openaicompat", "openai", "anthropic", "google", "ollama"}

// TestNoKeyInAnyPlace puts the key into each place of each vendor's answers, in each coding, and looks for it in what the
// adapter and the logger around it show.
func TestNoKeyInAnyPlace(t *testing.T) {
	longform.Lone(t)
	looks, planted, replies := newNet(), 0, 0
	for _, vendor := range vendors {
		for _, p := range places() {
			t.Run(vendor+"/"+p.name, func(t *testing.T) {
				var write func(string) string
				served := 0
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if keyOf(r) == canary {
						served++
					}
					p.serve(w, vendor, write(keyOf(r)))
				}))
				defer server.Close()
				client := server.Client()
				defer client.CloseIdleConnections()
				adapter := adapters(server.URL, canary, client)[vendor]
				for i, c := range codings() {
					write = c.write
					var lines bytes.Buffer
					wrapped := &logger.Provider{Provider: adapter, Logger: slog.New(slog.NewJSONHandler(&lines, nil)), Bodies: true}
					var chunks, thoughts []string
					response, err := wrapped.Generate(t.Context(), &provider.Request{
						ID: "x", Model: "model", System: "s", Self: "Ada", Last: provider.Message{Text: "Speak."}, MaxTokens: 9,
						Tools: []provider.Tool{{Name: "look", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}},
					}, func(chunk provider.Chunk) {
						if chunk.Reasoning {
							thoughts = append(thoughts, chunk.Text)
						} else {
							chunks = append(chunks, chunk.Text)
						}
					})
					require.Equal(t, i+1, served, "the key was sent, and came back")
					require.Equal(t, p.good, err == nil, "%s: %v", c.name, err)
					outputs := map[string]string{
						"chunks": strings.Join(chunks, ""), "thoughts": strings.Join(thoughts, ""), "log": lines.String(),
						"response": fmt.Sprintf("%+v %#v %s", response, response, marshal(response)),
					}
					if p.good {
						require.Equal(t, outputs["chunks"], response.Text, "the text is the concatenation of its chunks")
						require.Equal(t, outputs["thoughts"], response.Reasoning, "and so are the thoughts")
						for _, call := range response.Calls {
							require.True(t, json.Valid(call.Arguments))
							outputs["arguments"] += string(call.Arguments) + " " + string(call.Opaque)
						}
						replies++
					}
					for ; err != nil; err = unwrap(err) {
						outputs["error"] += fmt.Sprintf("%v %+v %#v %s\n", err, err, err, marshal(err))
					}
					for what, text := range outputs {
						part, found := looks.leaks(text)
						require.False(t, found, "%s, %s shows %s", c.name, what, part)
					}
					planted++
				}
			})
		}
	}
	require.False(t, t.Failed())
	assert.GreaterOrEqual(t, planted, 1000)
	assert.GreaterOrEqual(t, replies, 500)
	t.Logf("canary: the key in %d places, %d of them in good replies: 0 leaks", planted, replies)
}

// The other abilities show no key either: lists of models and failed checks.
func TestNoKeyFromAbilities(t *testing.T) {
	looks, asked := newNet(), 0
	for _, vendor := range vendors {
		for i, c := range codings() {
			if i%longform.Sized(1, 1, 4) != 0 {
				continue
			}
			for _, status := range []int{http.StatusOK, http.StatusBadRequest} {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					key := marshal(c.write(keyOf(r)))
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(status)
					_, _ = fmt.Fprintf(w, `{"model":%s,"object":"list","data":[{"index":0,"id":%s}],"models":[{"name":%s}]}`, key, key, key)
				}))
				client := server.Client()
				p := adapters(server.URL, canary, client)[vendor]
				see := func(what string, v any, err error) {
					shown := fmt.Sprintf("%+v %#v %s %v %+v", v, v, marshal(v), err, err)
					part, found := looks.leaks(shown)
					require.False(t, found, "%s, %s, %s shows %s", vendor, c.name, what, part)
					asked++
				}
				if l, ok := provider.As[provider.Lister](p); ok {
					got, err := l.Models(t.Context())
					see("list", got, err)
				}
				if k, ok := provider.As[provider.Checker](p); ok {
					see("check", nil, k.Check(t.Context(), "model"))
				}
				client.CloseIdleConnections()
				server.Close()
			}
		}
	}
	t.Logf("canary: %d answers to other questions: 0 leaks", asked)
}

// patience is how long a server is waited for that has got a request and says nothing.
const patience = 300 * time.Millisecond

// called returns the context of a call: if the server falls silent, the call is given up once the server has got its request.
func called(t *testing.T, silent <-chan struct{}) (context.Context, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	if silent != nil {
		go func() {
			defer cancel()
			select {
			case <-silent:
				enough, end := context.WithTimeout(ctx, patience)
				defer end()
				<-enough.Done()
			case <-ctx.Done():
			}
		}()
	}
	return ctx, cancel
}

// everything plays a debate, and yields what it leaves behind. good: the server's replies count. silent gets a value when a server
// that falls silent has got a request; nil: the server answers.
func everything(t *testing.T, vendor string, p provider.Provider, good bool, silent <-chan struct{}) map[string][]byte {
	t.Helper()
	var calls, lines bytes.Buffer // two handlers do not share a lock
	level := &slog.HandlerOptions{Level: slog.LevelDebug, AddSource: true}
	file := filepath.Join(t.TempDir(), "debate.cassette")
	tape, err := cassette.Open(file, cassette.Options{Mode: cassette.Record})
	require.NoError(t, err)
	bare := p
	p = &logger.Provider{Provider: p, Logger: slog.New(slog.NewJSONHandler(&calls, level)), Bodies: true}
	p = (&limit.Rate{Requests: 60_000}).Wrap(vendor, (&limit.Concurrency{Calls: 2}).Wrap(p))
	kept := &cache.Memory{}
	p = tape.Wrap(vendor, &cache.Provider{Provider: p, Store: kept})

	spans, reader := tracetest.NewInMemoryExporter(), metric.NewManualReader()
	tracers := trace.NewTracerProvider(trace.WithSyncer(spans))
	observer := &otel.Observer{
		TracerProvider: tracers, MeterProvider: metric.NewMeterProvider(metric.WithReader(reader)), Labels: true, Content: true,
	}
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{vendor: p}, Store: &store.Memory{},
		Logger: slog.New(slog.NewTextHandler(&lines, level)),
	}
	config := debate.Config{
		ID: "canary", Topic: "Should keys be shown?", Rounds: 1, MaxTokens: 200, Unattended: true,
		Patience: time.Millisecond,
		Retry: &flow.RetryPolicy{
			Max:  map[flow.Kind]int{provider.KindNetwork: 1, provider.KindAPI: 1, provider.KindRateLimit: 0, provider.KindTimeout: 0, provider.KindInvalidResponse: 0},
			Base: time.Millisecond, Jitter: time.Millisecond,
		},
		Participants: []debate.Participant{{Name: "Ada", Model: vendor + "/model"}, {Name: "Ben", Model: vendor + "/model"}},
	}
	if silent != nil {
		config.TurnTimeout = patience
	}
	found := map[string][]byte{}
	show := func(what string, values ...any) {
		for _, v := range values {
			data, err := json.Marshal(v)
			require.NoError(t, err)
			found[what] = fmt.Appendf(append(found[what], data...), "\n%v\n%+v\n%#v\n", v, v, v)
		}
	}
	checking, enough := called(t, silent)
	defer enough()
	if err := engine.Validate(checking, config); err != nil { // Check meets the server too
		show("validation", err.Error(), fmt.Sprintf("%#v", err))
	}
	ctx, cancel := called(t, silent)
	defer cancel()
	response, err := bare.Generate(ctx, &provider.Request{
		ID: "x", Model: "model", System: "s", Self: "Ada", Last: provider.Message{Text: "Speak."}, MaxTokens: 9,
	}, func(chunk provider.Chunk) { show("chunks", chunk.Text) })
	require.Equal(t, good, err == nil, "%v", err)
	if good {
		show("response", response)
	}
	for ; err != nil; err = unwrap(err) {
		show("error", err, err.Error())
	}
	show("provider", fmt.Sprintf("%v %+v %#v", bare, bare, p))

	engine = &debate.Engine{ // whose models cannot be checked
		Providers: map[string]debate.Provider{vendor: unchecked{p}}, Store: engine.Store, Logger: engine.Logger,
	}
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	for event, err := range observer.Watch(t.Context(), session.Events(t.Context(), 0)) {
		if err != nil {
			show("end", err.Error())
			break
		}
		show("events", event)
		if to := body.As[flow.Transition](event); to != nil && slices.Contains([]flow.State{flow.StateError, flow.StateAwaitingInput, flow.StateCompleted}, to.To) {
			break
		}
	}
	record := stage.SessionRecord(t, session)
	show("record", record)
	if record.Failure != nil {
		show("failure", record.Failure, record.Failure.Hint())
	}
	snapshot, err := session.Snapshot(t.Context())
	require.NoError(t, err)
	show("snapshot", snapshot)
	for what, write := range map[string]func(io.Writer, *flow.Record) error{"markdown": export.Markdown, "html": export.HTML} {
		var document bytes.Buffer
		require.NoError(t, write(&document, record))
		found[what] = document.Bytes()
	}
	require.NoError(t, session.Close())
	require.NoError(t, tape.Close())
	found["cassette"], err = os.ReadFile(file)
	require.NoError(t, err)
	found["log"] = append(calls.Bytes(), lines.Bytes()...)
	show("trace", spans.GetSpans().Snapshots())
	for _, span := range spans.GetSpans() {
		show("trace", fmt.Sprintf("%+v", span))
	}
	var metrics metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &metrics))
	show("metrics", metrics)
	return found
}

func unwrap(err error) error {
	if u, ok := err.(interface{ Unwrap() error }); ok {
		return u.Unwrap()
	}
	return nil
}

// unchecked hides a provider's abilities.
type unchecked struct{ provider provider.Provider }

func (u unchecked) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	return u.provider.Generate(ctx, req, emit)
}
