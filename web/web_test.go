package web_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/web"
)

// client asks a handler as a program on this machine.
type client struct {
	t       *testing.T
	handler http.Handler
	header  http.Header
}

// as returns a client who is somebody.
func (c client) as(who string) client {
	c.header = http.Header{"Who": {who}}
	return c
}

// ask sends a request. A body is JSON.
func (c client) ask(method, path, body string) *httptest.ResponseRecorder {
	c.t.Helper()
	request := httptest.NewRequestWithContext(c.t.Context(), method, "/api/"+path, strings.NewReader(body))
	request.RemoteAddr, request.Host = "127.0.0.1:40000", "localhost:8080"
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
	}
	maps.Copy(request.Header, c.header)
	answer := httptest.NewRecorder()
	c.handler.ServeHTTP(answer, request)
	return answer
}

// get reads an address into a value.
func (c client) get(path string, into any) {
	c.t.Helper()
	answer := c.ask(http.MethodGet, path, "")
	require.Equal(c.t, http.StatusOK, answer.Code, "%s: %s", path, answer.Body)
	require.NoError(c.t, json.Unmarshal(answer.Body.Bytes(), into))
}

// post sends a body, and reads an answer of this status.
func (c client) post(path, body string, status int) map[string]any {
	c.t.Helper()
	answer := c.ask(http.MethodPost, path, body)
	require.Equal(c.t, status, answer.Code, "%s: %s", path, answer.Body)
	out := map[string]any{}
	require.NoError(c.t, json.Unmarshal(answer.Body.Bytes(), &out))
	return out
}

// problem is a document as clients read it.
type problem struct {
	Title, Detail, Kind, Field, Hint, State string
	Status                                  int
	RetryAfter                              float64
	Legal                                   []string
	Answered                                *struct{ Person, Option string }
	Problems                                []struct{ Field string }
}

// problemOf reads the document of an answer.
func problemOf(t *testing.T, answer *httptest.ResponseRecorder) (p problem) {
	t.Helper()
	require.Equal(t, "application/problem+json", answer.Header().Get("Content-Type"), answer.Body)
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &p))
	require.Equal(t, answer.Code, p.Status)
	title := map[int]string{ // where RFC 9110 has newer phrases than net/http
		http.StatusRequestEntityTooLarge: "Content Too Large", http.StatusUnprocessableEntity: "Unprocessable Content",
	}[p.Status]
	require.Equal(t, cmp.Or(title, http.StatusText(p.Status)), p.Title)
	return p
}

// handler serves an engine.
func handler(t *testing.T, engine *debate.Engine, o web.Options) client {
	t.Helper()
	h, err := web.New(engine, o)
	require.NoError(t, err)
	return client{t: t, handler: h}
}

// anybody may do everything under the name in the header Who.
func anybody(r *http.Request, _ web.Access) (string, error) { return r.Header.Get("Who"), nil }

// body is a config as it is sent.
func body(t *testing.T, config flow.Config) string {
	t.Helper()
	data, err := flow.EncodeConfig(config)
	require.NoError(t, err)
	return string(data)
}

// labelled is a debate of two with an id and labels.
func labelled(id string, labels map[string]string) debate.Config {
	config := stage.TwoDebaters()
	config.ID, config.Labels = id, labels
	return config
}

// world is a store with conversations in several states, and an engine for it:
//   - done is completed
//   - asks waits for a person, because Ben has refused
//   - rests is paused
//   - noted is a conversation of the flow "notes" that takes inputs; it is paused too
func world(t *testing.T, labels map[string]string) *debate.Engine {
	t.Helper()
	done := labelled("done", labels)
	engine, _ := stage.Engine(done)
	engine.Store, engine.Flows = &store.Memory{}, map[string]*debate.Flow{"notes": stage.Notes()}
	_, err := engine.Play(t.Context(), done)
	require.NoError(t, err)

	asks := labelled("asks", labels)
	asks.Unattended = false
	other, source := stage.Engine(asks)
	other.Store = engine.Store
	stage.Befall(source, provider.KindRefusal, stage.Said("Ben", 2))
	session, err := other.Start(t.Context(), asks)
	require.NoError(t, err)
	stage.AwaitsInput(t, session)
	require.NoError(t, session.Close())

	for _, id := range []string{"rests", "noted"} {
		var config flow.Config = labelled(id, labels)
		if id == "noted" {
			config = flow.Named("notes", config)
		}
		_, err := engine.Submit(t.Context(), config)
		require.NoError(t, err)
		require.NoError(t, engine.Control(t.Context(), id, flow.Pause{}))
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		assert.NoError(t, engine.Shutdown(ctx))
	})
	return engine
}

// question returns the id of the question that a conversation of world waits for.
func question(t *testing.T, engine *debate.Engine) string {
	t.Helper()
	record := stage.StoredRecord(t, engine, "asks")
	require.Len(t, record.Inquiries, 1)
	return record.Inquiries[0].ID
}

// broken is a store that fails.
type broken struct{ store.Store }

var errBroken = errors.New("SECRET: the disk is gone")

func (broken) Read(context.Context, string, int64) iter.Seq2[flow.Event, error] {
	return func(yield func(flow.Event, error) bool) { yield(flow.Event{}, errBroken) }
}

func (broken) List(context.Context, store.Filter) iter.Seq2[store.Info, error] {
	return func(yield func(store.Info, error) bool) { yield(store.Info{}, errBroken) }
}

// TestNewRefuses: a handler that would forget its conversations, or that has rights without knowing who asks.
func TestNewRefuses(t *testing.T) {
	_, err := web.New(nil, web.Options{})
	require.ErrorContains(t, err, "Engine.Store")
	_, err = web.New(&debate.Engine{}, web.Options{})
	require.ErrorContains(t, err, "Engine.Store")
	engine := &debate.Engine{Store: &store.Memory{}}
	scope := func(*http.Request, string) map[string]string { return nil }
	_, err = web.New(engine, web.Options{Scope: scope})
	require.ErrorContains(t, err, "Authorize")
	_, err = web.New(engine, web.Options{Presets: []web.Preset{{Config: json.RawMessage(`{"topik":"x"}`)}}})
	failure := stage.RequireKind(t, err, provider.KindValidation)
	assert.Equal(t, "Presets[0].Config.topik", failure.Field)
}

// TestTheTable: each operation has an id and an address of its own, a right, and an answer.
func TestTheTable(t *testing.T) {
	ids, addresses := make(map[string]bool), make(map[string]bool)
	for _, row := range web.Rows() {
		assert.NotEmpty(t, row.Action, row.ID)
		assert.NotZero(t, row.Status, row.ID)
		assert.False(t, ids[row.ID] || addresses[row.Method+row.Path], row.ID)
		ids[row.ID], addresses[row.Method+row.Path] = true, true
	}
}
