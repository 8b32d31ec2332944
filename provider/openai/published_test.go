package openai_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider/openai"
	"github.com/agonist-dev/debate/provider/providertest"
)

// published reads a definition of the API description that OpenAI publishes.
func published(t *testing.T, file, name string) *providertest.Description {
	t.Helper()
	d, err := providertest.ReadDescription(filepath.Join("testdata", "published", file), name)
	require.NoError(t, err)
	return d
}

// What is sent to /responses is what OpenAI describes, and nothing else.
func TestRequestsAreAsPublished(t *testing.T) {
	reply := published(t, "responses.json", "CreateResponse")
	paths, err := filepath.Glob(filepath.Join("testdata", "request", "*.golden"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		body, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.NoError(t, reply.Check(body), path)
	}
	require.ErrorContains(t, reply.Check([]byte(`{"model":"gpt-5","max_tokens":7}`)), "max_tokens", "another API's field is found")
	require.Error(t, reply.Check([]byte(`{"model":"gpt-5","tools":[{"type":"function","name":"x","strict":"yes","parameters":{}}]}`)))
	t.Logf("%d requests are as published", len(paths))
}

// listener keeps what is sent, and answers nothing.
type listener struct{ bodies [][]byte }

func (s *listener) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	s.bodies = append(s.bodies, body)
	return &http.Response{StatusCode: http.StatusBadRequest, Body: io.NopCloser(&bytes.Buffer{}), Request: r}, err
}

// The same of what is sent to OpenAI's /chat/completions.
func TestChatRequestsAreAsPublished(t *testing.T) {
	chat := published(t, "chat.json", "CreateChatCompletionRequest")
	for name, req := range requests() {
		sent := &listener{}
		p := openai.New(canary)
		p.API, p.Client = openai.ChatCompletions, &http.Client{Transport: sent}
		_, err := ask(t, p, &req)
		require.Error(t, err)
		require.Len(t, sent.bodies, 1)
		assert.NoError(t, chat.Check(sent.bodies[0]), "%s: %s", name, sent.bodies[0])
	}
}
