package cassette_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cassette"
)

// The fence of a debate is in no file, and a replay has that of its own debate.
func TestFences(t *testing.T) {
	tape, file := recording(t, cassette.Options{})
	ask(tape.Wrap("v", saying(said("The word is 1234", "567890123456: ", fence))), full(fence))
	assert.NotContains(t, contents(t, file), fence)

	tape = open(t, file, cassette.Options{})
	got := ask(tape.Wrap("v", nil), full(otherFence))
	assert.Equal(t, "The word is "+otherFence+": "+otherFence, got.response.Text)
	assert.Equal(t, []string{"The word is " + otherFence, ": ", otherFence}, got.chunks, "a word that was divided comes with the first piece")
}

// Two fences, one of which begins the other, keep their places.
func TestSeveralFences(t *testing.T) {
	req := func(a, b string) *provider.Request {
		return &provider.Request{Messages: []provider.Message{{Fence: a, Text: "1"}, {Fence: b, Text: "2"}, {Fence: a, Text: "3"}}}
	}
	tape, file := recording(t, cassette.Options{})
	ask(tape.Wrap("v", saying(said("abc ab a"))), req("ab", "abc"))
	p := open(t, file, cassette.Options{}).Wrap("v", nil)
	assert.Contains(t, unseen(t, ask(p, req("x", "x")).err), "fence")
	assert.Equal(t, "yy x a", ask(p, req("x", "yy")).response.Text)
}

// A request with more fences than a file may name is recorded, and replayed where they are the same.
func TestManyFences(t *testing.T) {
	req := func(first string) *provider.Request {
		r := &provider.Request{Messages: []provider.Message{{Fence: first, Text: "1"}}}
		for i := range 99 {
			r.Messages = append(r.Messages, provider.Message{Fence: fmt.Sprintf("word-%d-", i), Text: "2"})
		}
		return r
	}
	tape, file := recording(t, cassette.Options{})
	ask(tape.Wrap("v", saying(said("first- word-0- word-98-"))), req("first-"))
	p := open(t, file, cassette.Options{}).Wrap("v", nil)
	assert.Equal(t, "other word-0- word-98-", ask(p, req("other")).response.Text)
	assert.Contains(t, contents(t, file), "⟦fence 64⟧")
	assert.NotContains(t, contents(t, file), "⟦fence 65⟧")
}
