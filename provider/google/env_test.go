package google_test

import (
	"bytes"
	"log"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

// No variable that the SDK's client reads changes what is sent, and nothing is logged: that client says
// so each time it is made while two of them are set.
func TestEnvironmentHasNoEffect(t *testing.T) {
	var logged bytes.Buffer
	former := log.Writer()
	log.SetOutput(&logged)
	defer log.SetOutput(former)
	exchange := func() []sent {
		p, all := serve(t, http.StatusOK, yes, `{"name":"models/x"}`)
		adaptertest.Answer(t, p, request())
		require.NoError(t, p.Check(t.Context(), "x"))
		return *all
	}
	want := exchange()
	for name, value := range map[string]string{
		"GOOGLE_API_KEY": "env-google", "GEMINI_API_KEY": "env-gemini",
		"GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_GENAI_USE_ENTERPRISE": "1",
		"GOOGLE_CLOUD_PROJECT": "env-project", "GOOGLE_CLOUD_LOCATION": "env-location", "GOOGLE_CLOUD_REGION": "env-region",
		"GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:1", "GOOGLE_VERTEX_BASE_URL": "http://127.0.0.1:1",
		"GOOGLE_APPLICATION_CREDENTIALS": "/nonexistent", "GOOGLE_GENAI_REPLAYS_DIRECTORY": "/nonexistent",
	} {
		t.Setenv(name, value)
	}
	assert.Equal(t, want, exchange())
	assert.Empty(t, logged.String())
	for _, r := range want {
		assert.Equal(t, canary, r.header.Get("X-Goog-Api-Key"))
	}
}
