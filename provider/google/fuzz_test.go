package google_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

func FuzzStream(f *testing.F) {
	adaptertest.Fuzzing{
		Head: head,
		Connect: func(transport http.RoundTripper) provider.Provider {
			p, _ := played("")
			p.MaxLine, p.MaxBody, p.Client.Transport = 1<<12, 1<<14, transport
			return p
		},
		Request: request,
		Seeds:   []string{"data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{}}]},\"finishReason\":\"STOP\"}]}\r\r{"},
		Also: func(t *testing.T, _ []byte, r *provider.Response, err error) {
			if err != nil {
				return
			}
			for _, c := range r.Calls {
				require.True(t, json.Valid(c.Opaque))
			}
		},
	}.Run(f)
}
