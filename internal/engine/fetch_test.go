package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
)

// linked returns a debate with a file for each URL, and an engine that finds these bytes there and counts what it fetches.
func linked(found []byte, media string, urls ...string) (debate.Config, *debate.Engine, map[string]int) {
	config := stage.Illustrated()
	config.Documents, config.Attachments = nil, nil
	for _, url := range urls {
		config.Attachments = append(config.Attachments, flow.File{URL: url})
	}
	engine, _ := stage.Engine(config)
	asked := map[string]int{}
	engine.Fetch = func(_ context.Context, url string) (debate.Fetched, error) {
		asked[url]++
		return debate.Fetched{Body: io.NopCloser(bytes.NewReader(found)), Type: media}, nil
	}
	return config, engine, asked
}

// The engine remembers what was under a URL for ten minutes.
func TestFetchedFilesAreRememberedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, engine, asked := linked(stage.PNG, "", "https://a")
		validate := func(want int) {
			t.Helper()
			require.NoError(t, engine.Validate(t.Context(), config))
			assert.Equal(t, want, asked["https://a"])
		}
		validate(1)
		stage.Pass(10*time.Minute - 1)
		validate(1)
		stage.Pass(1)
		validate(2)
	})
}

// What the engine remembers is bounded: what was fetched first is forgotten.
func TestFetchedFilesAreBounded(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	large := append(bytes.Clone(stage.PNG), make([]byte, flow.MaxFile-len(stage.PNG))...)
	config, engine, asked := linked(large, "")
	validate := func(at int) {
		t.Helper()
		config.Attachments = []flow.File{{URL: fmt.Sprintf("https://%d", at)}}
		require.NoError(t, engine.Validate(t.Context(), config))
	}
	for _, at := range []int{0, 1, 0, 1, 2, 2, 1, 0} {
		validate(at)
	}
	assert.Equal(t, map[string]int{"https://0": 2, "https://1": 1, "https://2": 1}, asked)
}

// The bytes decide of which type a fetched file is, whatever the server says. Only text has no signature.
func TestTheBytesOfAFetchedFileShowItsType(t *testing.T) {
	for _, tc := range []struct {
		data        []byte
		media, want string
	}{
		{stage.PNG, "text/html; charset=utf-8", "image/png"},
		{stage.PNG, "image/jpeg", "image/png"},
		{stage.PNG, "IMAGE/PNG", "image/png"},
		{stage.PNG, "binary/octet-stream", "image/png"},
		{stage.PNG, "", "image/png"},
		{stage.PDF, "text/plain", "application/pdf"},
		{[]byte("<p>text</p>"), "text/html; charset=utf-8", "text/html"},
		{[]byte("text"), "", "text/plain"},
		{[]byte{0, 1, 2}, "application/zip", "application/zip"},
	} {
		config, engine, _ := linked(tc.data, tc.media, "https://a")
		assert.Equal(t, tc.want, played(t, engine, config).Files()[0].Type, tc.media)
	}
}
