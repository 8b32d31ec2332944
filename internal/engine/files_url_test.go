package engine_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
)

// A URL may hold a password or a signature. The function that fetches it gets both; no log and no export has them.
func TestTheSecretsOfAURLAreNotKept(t *testing.T) {
	const given = "https://bob:hunter2secret@bucket.example/a%2Fb/x.png?X-Amz-Signature=abcdef0123456789#hunter2secret"
	for name, file := range map[string]flow.File{
		"fetched": {URL: given}, "given": {URL: given, Data: stage.PNG}, "no host": {URL: "mailto:hunter2secret?X-Amz-Signature=1", Data: stage.PNG},
		"no URL": {URL: "://hunter2secret?X-Amz-Signature=1", Data: stage.PNG},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.Illustrated()
			config.Attachments, config.Documents = []flow.File{file}, nil
			engine, _ := stage.Engine(config)
			fetched := ""
			engine.Fetch = func(_ context.Context, url string) (debate.Fetched, error) {
				fetched = url
				return debate.Fetched{Body: io.NopCloser(bytes.NewReader(stage.PNG))}, nil
			}
			r := played(t, engine, config)
			want := ""
			if file.URL == given {
				want = "https://bucket.example/a%2Fb/x.png"
			}
			assert.Equal(t, want, r.Files()[0].URL)
			if file.Data == nil {
				assert.Equal(t, given, fetched)
			}
			assert.Equal(t, file.URL, config.Attachments[0].URL, "the caller's config is not touched")
			var out strings.Builder
			require.NoError(t, engine.Export(t.Context(), r.ID, &out))
			assert.NotContains(t, out.String(), "hunter2secret")
			assert.NotContains(t, out.String(), "X-Amz-Signature")
			_, err := engine.Start(t.Context(), config)
			require.NoError(t, err, "it is the same config")
		})
	}
}
