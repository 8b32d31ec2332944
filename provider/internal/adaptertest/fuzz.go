package adaptertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/providertest"
)

// Fuzzing is how an adapter is fed with answers of any bytes.
type Fuzzing struct {
	Head    string                                              // of each answer
	Connect func(transport http.RoundTripper) provider.Provider // with small limits of bodies and lines
	Request func() *provider.Request
	Seeds   []string // bodies, besides those of the fixtures under testdata
	// Also says what else holds; nil: nothing. r may be nil.
	Also func(t *testing.T, body []byte, r *provider.Response, err error)
}

// Run fuzzes the adapter. Whatever comes, it returns a reply whose chunks are its text and whose calls are JSON, or an error of the
// contract that does not show Key. How the bytes fall into packets makes no difference.
func (z Fuzzing) Run(f *testing.F) {
	f.Helper()
	add := func(answer []byte) {
		if _, body, ok := bytes.Cut(answer, []byte("\n\n")); ok {
			f.Add(body)
		}
	}
	for _, w := range providertest.Wholes(f, "testdata/whole") {
		add(w.Answer)
	}
	for _, fault := range providertest.Faults(f, "testdata/fault") {
		add(fault.Answer)
	}
	for _, seed := range z.Seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		transport := &Playback{Answer: z.Head + string(body)}
		p := z.Connect(transport)
		r, chunks, err := Ask(t, p, z.Request())
		if err == nil {
			require.NotEmpty(t, r.Stop)
			for _, c := range r.Calls {
				require.True(t, json.Valid(c.Arguments))
				require.True(t, len(c.Opaque) == 0 || json.Valid(c.Opaque))
			}
		} else {
			var e *provider.Error
			require.ErrorAs(t, err, &e)
			require.NotEmpty(t, e.Kind)
			NoKey(t, err)
		}
		if z.Also != nil {
			z.Also(t, body, r, err)
		}
		transport.Wrap = iotest.OneByteReader
		r2, chunks2, err2 := Ask(t, p, z.Request())
		require.Equal(t, r, r2)
		require.Equal(t, chunks, chunks2)
		require.Equal(t, fmt.Sprint(err), fmt.Sprint(err2))
	})
}
