package web_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/web"
)

// TestAStreamLastsAsLongAsItsRight: who may no longer view a conversation is shown nothing more of it, and neither is somebody else.
func TestAStreamLastsAsLongAsItsRight(t *testing.T) {
	for name, now := range map[string]func() (string, error){
		"no right":      func() (string, error) { return "", errors.New("no") },
		"somebody else": func() (string, error) { return "ben", nil },
		"another scope": func() (string, error) { return "ann", nil },
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			engine, _ := stage.Engine(stage.TwoDebaters())
			engine.Store = &store.Memory{}
			_, err := engine.Submit(t.Context(), labelled("x", map[string]string{"tenant": "a"}))
			require.NoError(t, err)
			require.NoError(t, engine.Control(t.Context(), "x", flow.Pause{}))
			left := false
			h, err := web.New(engine, web.Options{
				Authorize: func(*http.Request, web.Access) (string, error) {
					if left {
						return now()
					}
					return "ann", nil
				},
				Scope: func(*http.Request, string) map[string]string {
					if left && name == "another scope" {
						return map[string]string{"tenant": "b"}
					}
					return map[string]string{"tenant": "a"}
				},
			})
			require.NoError(t, err)
			began, told := time.Now(), error(nil)
			for e, err := range h.Events(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody), "x", 0, time.Second) {
				if told = err; err != nil {
					break
				}
				left = left || time.Since(began) > 40*time.Second && e.Kind() == flow.EventHeartbeat
				require.Less(t, time.Since(began), time.Minute, "nobody ends the stream")
			}
			assert.Equal(t, http.StatusForbidden, web.Explain(told).Status)
			assert.Greater(t, time.Since(began), 40*time.Second)
		}))
	}
}

// TestAnotherProtocolHasTheSameRights: what a handler of the host program's own asks for is what its client may ask for.
func TestAnotherProtocolHasTheSameRights(t *testing.T) {
	engine := world(t, map[string]string{"tenant": "ann"})
	h, err := web.New(engine, web.Options{Authorize: anybody, Scope: tenants, Streams: 1})
	require.NoError(t, err)
	as := func(who string) *http.Request {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/other", http.NoBody)
		r.Header.Set("Who", who)
		return r
	}
	data, err := h.Do(as("ann"), http.MethodGet, "conversations/done?fields=state", nil)
	require.NoError(t, err)
	assert.Contains(t, string(data), `"record":{"state":"completed"}`)
	_, err = h.Do(as("ann"), http.MethodPost, "conversations/rests/cancel", []byte(`{"reason":"late"}`))
	require.NoError(t, err)
	assert.Equal(t, flow.StateCanceled, stage.StoredRecord(t, engine, "rests").State)
	_, err = h.Do(as("ann"), http.MethodPost, "conversations/done/pause", nil)
	assert.Equal(t, http.StatusConflict, web.Explain(err).Status)
	_, err = h.Do(as("ann"), http.MethodPost, "conversations/done/cancel", []byte(`{"person":"ben"}`))
	assert.Equal(t, "person", web.Explain(err).Field)
	for _, path := range []string{"nothing", "conversations/../presets", "%zz"} {
		_, err = h.Do(as("ann"), http.MethodGet, path, nil)
		require.Error(t, err, path)
		assert.Less(t, web.Explain(err).Status, http.StatusInternalServerError, path)
	}

	seen := 0
	for e, err := range h.Events(as("ann"), "done", 0) {
		require.NoError(t, err)
		seen++
		for _, err := range h.Events(as("ann"), "done", e.Seq) {
			assert.Equal(t, http.StatusServiceUnavailable, web.Explain(err).Status, "there is one stream at a time")
			break
		}
	}
	assert.EqualValues(t, stage.StoredRecord(t, engine, "done").Seq, seen)

	held, release, err := h.Hold(as("ann"))
	require.NoError(t, err)
	_, _, err = h.Hold(as("ann"))
	assert.Equal(t, http.StatusServiceUnavailable, web.Explain(err).Status)
	for range 2 { // one after the other
		for _, err := range h.Events(held, "done", 0) {
			require.NoError(t, err, "the request has its stream")
		}
	}
	release()
	_, release, err = h.Hold(as("ann"))
	require.NoError(t, err)
	release()

	_, err = h.Do(as("ben"), http.MethodGet, "conversations/done", nil)
	require.ErrorIs(t, err, flow.ErrNotFound)
	for _, err := range h.Events(as("ben"), "done", 0) {
		require.ErrorIs(t, err, flow.ErrNotFound)
	}
	foreign := as("ann")
	foreign.Header.Set("Sec-Fetch-Site", "cross-site")
	_, err = h.Do(foreign, http.MethodGet, "conversations/done", nil)
	assert.Equal(t, http.StatusForbidden, web.Explain(err).Status)
	_, _, err = h.Hold(foreign)
	assert.Equal(t, http.StatusForbidden, web.Explain(err).Status)
}

// TestBodiesOfAnotherProtocol: they have the bounds and the statuses of the API's.
func TestBodiesOfAnotherProtocol(t *testing.T) {
	h, err := web.New(world(t, nil), web.Options{Bodies: 10})
	require.NoError(t, err)
	for _, c := range []struct {
		method, media, body string
		status              int
	}{
		{http.MethodPost, "application/json; charset=utf-8", `{"a":1}`, http.StatusOK},
		{http.MethodGet, "application/json", "", http.StatusMethodNotAllowed},
		{http.MethodPost, "text/plain", `{"a":1}`, http.StatusUnsupportedMediaType},
		{http.MethodPost, "application/json", `{"a":12345}`, http.StatusRequestEntityTooLarge},
		{http.MethodPost, "application/json", `{"a":`, http.StatusBadRequest},
		{http.MethodPost, "application/json", "", http.StatusBadRequest},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, "http://localhost/other", strings.NewReader(c.body))
		r.RemoteAddr = "127.0.0.1:1"
		r.Header.Set("Content-Type", c.media)
		answer := httptest.NewRecorder()
		data, err := h.Body(answer, r)
		if c.status == http.StatusOK {
			require.NoError(t, err)
			assert.Equal(t, c.body, string(data))
			continue
		}
		require.Error(t, err, c.status)
		assert.Equal(t, c.status, web.Explain(err).Status)
		assert.Equal(t, c.status == http.StatusMethodNotAllowed, answer.Header().Get("Allow") == http.MethodPost)
	}
}
