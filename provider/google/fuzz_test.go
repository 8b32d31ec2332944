package google_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/providertest"
)

func FuzzStream(f *testing.F) {
	for _, w := range providertest.Wholes(f, "testdata/whole") {
		_, body, _ := bytes.Cut(w.Answer, []byte("\n\n"))
		f.Add(string(body))
	}
	for _, fault := range providertest.Faults(f, "testdata/fault") {
		_, body, _ := bytes.Cut(fault.Answer, []byte("\n\n"))
		f.Add(string(body))
	}
	f.Add("data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{}}]},\"finishReason\":\"STOP\"}]}\r\r{")
	f.Fuzz(func(t *testing.T, body string) {
		p, transport := played(body)
		p.MaxLine, p.MaxBody = 1<<12, 1<<14
		r, chunks, err := ask(t, p, request())
		if err == nil {
			require.Equal(t, r.Text, strings.Join(chunks, ""))
			require.NotEmpty(t, r.Stop)
			for _, c := range r.Calls {
				require.True(t, json.Valid(c.Arguments))
				require.True(t, json.Valid(c.Opaque))
			}
		} else {
			var e *provider.Error
			require.ErrorAs(t, err, &e)
			require.NotEmpty(t, e.Kind)
			require.NotContains(t, fmt.Sprintf("%v %+v %#v", err, e, e), canary)
		}
		// How the bytes fall into packets makes no difference.
		transport.wrap = iotest.OneByteReader
		r2, chunks2, err2 := ask(t, p, request())
		require.Equal(t, r, r2)
		require.Equal(t, chunks, chunks2)
		require.Equal(t, fmt.Sprint(err), fmt.Sprint(err2))
	})
}
