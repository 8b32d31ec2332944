package openaicompat_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/openaicompat"
)

// transcript tells what an answer came to, for golden files.
func transcript(r *provider.Response, chunks []string, err error) string {
	var b strings.Builder
	if len(chunks) > 0 {
		fmt.Fprintf(&b, "chunks: %q\n", chunks)
	}
	var e *provider.Error
	switch {
	case errors.As(err, &e):
		fmt.Fprintf(&b, "kind: %s\nstatus: %d\ncode: %s\nmessage: %q\nrequest: %s\n", e.Kind, e.Status, e.Code, e.Message, e.RequestID)
		if e.RetryAfter != 0 {
			fmt.Fprintf(&b, "retry after: %v\n", e.RetryAfter)
		}
		if e.Err != nil {
			fmt.Fprintf(&b, "cause: %v\n", e.Err)
		}
	case err != nil:
		fmt.Fprintf(&b, "unclassified: %v\n", err)
	default:
		fmt.Fprintf(&b, "text: %q\nstop: %s\n", r.Text, r.Stop)
	}
	if r != nil {
		fmt.Fprintf(&b, "model: %s\nusage: %+v\n", r.Model, r.Usage)
		if r.ID != "" {
			fmt.Fprintf(&b, "id: %s\n", r.ID)
		}
		if r.Cost != nil {
			fmt.Fprintf(&b, "cost: %v USD\n", *r.Cost)
		}
		if r.Reasoning != "" {
			fmt.Fprintf(&b, "reasoning: %q\n", r.Reasoning)
		}
		for _, c := range r.Citations {
			fmt.Fprintf(&b, "source: %q %s %q for %q\n", c.Title, c.URL, c.Quote, r.Text[c.Start:c.End])
		}
		for _, c := range r.Calls {
			fmt.Fprintf(&b, "call: %s %s(%s)\n", c.ID, c.Name, c.Arguments)
		}
	}
	return b.String()
}

// Each answer under testdata/answer, sent over a real connection, gives what its golden file says.
func TestAnswers(t *testing.T) {
	for name, answer := range fixtures(t, "answer/*.http") {
		t.Run(name, func(t *testing.T) {
			p := openaicompat.Compatible(raw(t, answer), canary)
			r, chunks, err := ask(t, p, request())
			golden(t, "answer/"+name+".golden", transcript(r, chunks, err))
			assertNoKey(t, err)
			if err == nil {
				assert.Equal(t, r.Text, strings.Join(chunks, ""))
			} else {
				assert.True(t, r == nil || r.Text == "", "beside an error only usage counts")
			}

			// The same bytes, one at a time, come to the same.
			p = played(answer)
			p.Client.Transport = &adaptertest.Playback{Answer: string(answer), Wrap: iotest.OneByteReader}
			r2, chunks2, err2 := ask(t, p, request())
			assert.Equal(t, transcript(r, chunks, err), transcript(r2, chunks2, err2))
		})
	}
}

// A reply whose HTTP transfer breaks after its end is whole: only its usage is unknown.
func TestResetAfterTheEnd(t *testing.T) {
	answer := fixtures(t, "answer/stream_no_done.http")["stream_no_done"]
	p := played(answer)
	p.Client.Transport = &adaptertest.Playback{Answer: string(answer), Wrap: func(r io.Reader) io.Reader {
		return io.MultiReader(r, iotest.ErrReader(errors.New("connection reset by peer")))
	}}
	r := adaptertest.Answer(t, p, request())
	assert.Equal(t, "Whole.", r.Text)
}

func FuzzStream(f *testing.F) {
	seeds := []string{"data: {\"choices\":[{\"delta\":{\"content\":[[]]}}]}\r\r"}
	for _, answer := range fixtures(f, "answer/*.http") {
		if _, body, ok := bytes.Cut(answer, []byte("\n\n")); ok && len(body) < 4000 {
			seeds = append(seeds, string(body))
		}
	}
	adaptertest.Fuzzing{
		Head: "HTTP/1.1 200 OK\nConnection: close\n\n",
		Connect: func(transport http.RoundTripper) provider.Provider {
			p := played(nil)
			p.MaxLine, p.MaxBody, p.Client.Transport = 1<<10, 1<<14, transport
			return p
		},
		Request: request,
		Seeds:   seeds,
	}.Run(f)
}
