package web_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/web"
)

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

	_, err = h.Do(as("ben"), http.MethodGet, "conversations/done", nil)
	require.ErrorIs(t, err, flow.ErrNotFound)
	for _, err := range h.Events(as("ben"), "done", 0) {
		require.ErrorIs(t, err, flow.ErrNotFound)
	}
	foreign := as("ann")
	foreign.Header.Set("Sec-Fetch-Site", "cross-site")
	_, err = h.Do(foreign, http.MethodGet, "conversations/done", nil)
	assert.Equal(t, http.StatusForbidden, web.Explain(err).Status)
}
