package adapter_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/otel"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cache"
	"github.com/agonist-dev/debate/provider/cassette"
	"github.com/agonist-dev/debate/provider/limit"
	"github.com/agonist-dev/debate/provider/logger"
	"github.com/agonist-dev/debate/store"
)

// canary is a key that must be seen nowhere but in the request's header.
const canary = "sk-canary/5f1d+7a0c93be=42"

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
	for _, name := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"} {
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
	searched := 0
	for name, answer := range faults {
		t.Run(name, func(t *testing.T) {
			came := map[string]bool{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				came[r.URL.Path] = keyOf(r) == canary
				answer(w, r)
			}))
			t.Cleanup(server.Close)
			client := server.Client()
			t.Cleanup(client.CloseIdleConnections)
			for vendor, p := range adapters(server.URL, canary, client) {
				t.Run(vendor, func(t *testing.T) {
					clear(came)
					for what, data := range everything(t, vendor, p) {
						require.NotEmpty(t, data, what)
						for _, form := range []string{
							canary, url.QueryEscape(canary), url.PathEscape(canary), base64.StdEncoding.EncodeToString([]byte(canary)), canary[:14],
						} {
							assert.NotContains(t, string(data), form, what)
						}
						searched++
					}
					assert.NotEmpty(t, came)
					for path, with := range came {
						assert.True(t, with, "the key was not sent to %s: nothing is proved", path)
					}
				})
			}
		})
	}
	t.Logf("canary: %d faults x %d adapters, %d places searched, 0 leaks", len(faults), len(adapters("", "", nil)), searched)
}

// everything plays a debate that fails, and yields what it leaves behind.
func everything(t *testing.T, vendor string, p provider.Provider) map[string][]byte {
	t.Helper()
	var lines bytes.Buffer
	level := &slog.HandlerOptions{Level: slog.LevelDebug, AddSource: true}
	file := filepath.Join(t.TempDir(), "debate.cassette")
	tape, err := cassette.Open(file, cassette.Options{Mode: cassette.Record})
	require.NoError(t, err)
	bare := p
	p = &logger.Provider{Provider: p, Logger: slog.New(slog.NewJSONHandler(&lines, level)), Bodies: true}
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
		ID: "canary", TurnTimeout: 300 * time.Millisecond, Topic: "Should keys be shown?", Rounds: 1, MaxTokens: 200, Unattended: &flow.Unattended{},
		Retry: &flow.RetryPolicy{
			Max:  map[flow.Kind]int{provider.KindNetwork: 1, provider.KindAPI: 1, provider.KindRateLimit: 0, provider.KindTimeout: 0, provider.KindInvalidResponse: 0},
			Base: time.Millisecond, Jitter: time.Millisecond,
		},
		Participants: []debate.Participant{{Name: "Ada", Model: vendor + "/model"}, {Name: "Ben", Model: vendor + "/model"}},
	}
	found := map[string][]byte{}
	show := func(what string, values ...any) {
		for _, v := range values {
			data, err := json.Marshal(v)
			require.NoError(t, err)
			found[what] = fmt.Appendf(append(found[what], data...), "\n%v\n%+v\n%#v\n", v, v, v)
		}
	}
	checking, enough := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer enough()
	if err := engine.Validate(checking, config); err != nil { // Check meets the server too
		show("validation", err.Error(), fmt.Sprintf("%#v", err))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = bare.Generate(ctx, &provider.Request{
		ID: "x", Model: "model", System: "s", Self: "Ada", Last: provider.Message{Text: "Speak."}, MaxTokens: 9,
	}, func(provider.Chunk) {})
	require.Error(t, err)
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
		if to := body.As[flow.Transition](event); to != nil && (to.To == flow.StateError || to.To == flow.StateAwaitingInput) {
			break
		}
	}
	record, err := session.Record(t.Context())
	require.NoError(t, err)
	show("record", record)
	if record.Failure != nil {
		show("failure", record.Failure, record.Failure.Hint())
	}
	snapshot, err := session.Snapshot(t.Context())
	require.NoError(t, err)
	show("snapshot", snapshot)
	require.NoError(t, session.Close())
	require.NoError(t, tape.Close())
	found["cassette"], err = os.ReadFile(file)
	require.NoError(t, err)
	found["log"] = lines.Bytes()
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
