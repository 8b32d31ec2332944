package cassette_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cassette"
	"github.com/agonist-dev/debate/provider/scripted"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// contents returns a file as a text.
func contents(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(data)
}

// answer is what a provider does.
type answer struct {
	chunks   []string
	response *provider.Response
	err      error
}

// vendor is a provider that can do everything.
type vendor struct {
	scripted.Provider

	answer func(req *provider.Request) answer
}

func (v *vendor) Generate(_ context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	a := v.answer(req)
	for _, chunk := range a.chunks {
		emit(provider.Chunk{Text: chunk})
	}
	return a.response, a.err
}

// saying is a vendor that always gives one answer.
func saying(a answer) *vendor { return &vendor{answer: func(*provider.Request) answer { return a }} }

// said is a whole reply in these chunks.
func said(chunks ...string) answer {
	a := answer{chunks: chunks, response: &provider.Response{Stop: provider.StopEnd, Usage: provider.Usage{Input: 12, Output: 3}, Model: "m-1"}}
	for _, c := range chunks {
		a.response.Text += c
	}
	return a
}

// ask makes a request and yields all that comes of it.
func ask(p provider.Provider, req *provider.Request) answer {
	var a answer
	a.response, a.err = p.Generate(context.Background(), req, func(c provider.Chunk) { a.chunks = append(a.chunks, c.Text) })
	return a
}

func open(t *testing.T, file string, options cassette.Options) *cassette.Cassette {
	t.Helper()
	tape, err := cassette.Open(file, options)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, tape.Close()) })
	return tape
}

// recording opens a new file.
func recording(t *testing.T, options cassette.Options) (tape *cassette.Cassette, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "tape.json")
	options.Mode = cassette.Record
	return open(t, file, options), file
}

// unseen asserts that a failure is that of a request which is not recorded, and yields its message.
func unseen(t *testing.T, err error) string {
	t.Helper()
	var e *provider.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, provider.KindValidation, e.Kind)
	assert.Equal(t, cassette.CodeUnseen, e.Code)
	assert.True(t, e.NotSent)
	return e.Message
}
