// Package adaptertest is what the tests of adapters share: how an adapter is asked, what holds for the failures of all, tables that are
// tried in the same way, and servers that act a scenario of the conformance suite in a vendor's words.
package adaptertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
)

// Key is the key of the adapters under test. No failure shows it.
const Key = "sk-canary-5f1d7a0c93be"

// Ask calls Generate, and returns the chunks of the text beside the reply. What was recalled is no text. It asserts that the chunks of a
// reply add up to its text, and those of thoughts to its thoughts.
func Ask(t testing.TB, p provider.Provider, req *provider.Request) (*provider.Response, []string, error) {
	t.Helper()
	var chunks []string
	var thoughts strings.Builder
	r, err := p.Generate(t.Context(), req, func(c provider.Chunk) {
		if c.Recall {
			chunks = nil
		}
		if c.Reasoning {
			thoughts.WriteString(c.Text)
			return
		}
		chunks = append(chunks, c.Text)
	})
	if err == nil {
		require.NotNil(t, r)
		assert.Equal(t, r.Text, strings.Join(chunks, ""), "the chunks add up to the text")
		assert.Equal(t, r.Reasoning, thoughts.String(), "and those of thoughts to theirs")
	}
	return r, chunks, err
}

// Answer is the reply to a request that must not fail.
func Answer(t testing.TB, p provider.Provider, req *provider.Request) *provider.Response {
	t.Helper()
	r, _, err := Ask(t, p, req)
	require.NoError(t, err)
	return r
}

// Failure requires a [*provider.Error] of a kind, which does not show Key, and returns it.
func Failure(t testing.TB, err error, kind provider.Kind) *provider.Error {
	t.Helper()
	var e *provider.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, kind, e.Kind, "%v", err)
	NoKey(t, err)
	return e
}

// Unsent requires that a request fails with a code before anything is sent, and returns the failure.
func Unsent(t testing.TB, p provider.Provider, req *provider.Request, code string) *provider.Error {
	t.Helper()
	_, _, err := Ask(t, p, req)
	e := Failure(t, err, provider.KindValidation)
	assert.True(t, e.NotSent)
	assert.Equal(t, code, e.Code)
	return e
}

// NoKey searches every rendition of an error, and of what it wraps, for Key. err may be nil.
func NoKey(t testing.TB, err error) {
	t.Helper()
	for ; err != nil; err = errors.Unwrap(err) {
		text, _ := json.Marshal(err)
		for _, s := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err), string(text)} {
			assert.NotContains(t, s, Key)
			assert.NotContains(t, s, Key[:7], "not even its beginning")
		}
	}
}

// Unwritable is a request for which an adapter's API has no words.
type Unwritable struct {
	Name, Model, Code string
	Options           provider.Options
	Part              string // the media type of a file; "": none
}

// Refused requires that each of these requests fails before anything is sent. sent counts the requests that have reached the server of p.
func Refused(t *testing.T, p provider.Provider, request func() *provider.Request, sent func() int, rows []Unwritable) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.Name, func(t *testing.T) {
			req := request()
			req.Model, req.Options = row.Model, &row.Options
			if row.Part != "" {
				req.Last.Parts = []provider.Part{{Type: row.Part, Data: []byte{0xff}}}
			}
			_ = Unsent(t, p, req, row.Code)
			assert.Zero(t, sent())
		})
	}
}

// Fields reads the extra fields of a request.
func Fields(t testing.TB, object string) (fields map[string]json.RawMessage) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(object), &fields))
	return fields
}
