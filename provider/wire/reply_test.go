package wire_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

func TestReply(t *testing.T) {
	var chunks []string
	reply := func() *wire.Reply {
		chunks = nil
		x := open(t, endpoint(nil))
		return x.NewReply(func(c provider.Chunk) { chunks = append(chunks, c.Text) })
	}
	usage := provider.Usage{Input: 3, Output: 2}

	r := reply()
	r.Show("Yes")
	r.Show("")
	r.Show(".")
	r.Stop, r.Usage, r.Model = provider.StopEnd, usage, "m"
	got, err := r.Done()
	require.NoError(t, err)
	assert.Equal(t, &provider.Response{Text: "Yes.", Stop: provider.StopEnd, Usage: usage, Model: "m"}, got)
	assert.Equal(t, []string{"Yes", "."}, chunks)
	assert.Equal(t, 4, r.Len())

	r.Stop = ""
	got, err = r.Done()
	assert.Equal(t, "truncated", failure(t, err, provider.KindNetwork).Code, "without a stop it was cut")
	assert.Equal(t, &provider.Response{Usage: usage, Model: "m", Partial: true}, got, "what the rest of a cut reply costs is unknown")
	r.Settled = true
	got, err = r.Failed(errors.New("it failed"))
	require.EqualError(t, err, "it failed")
	assert.Equal(t, &provider.Response{Usage: usage, Model: "m"}, got, "the vendor's last word is a price")
	r.Settled, r.Stop = false, "tea"
	got, err = r.Done()
	failure(t, err, provider.KindInvalidResponse)
	assert.Equal(t, &provider.Response{Usage: usage, Model: "m"}, got, "it has ended, whatever for")

	r = reply()
	r.Refused, r.Stop = true, provider.StopEnd
	got, err = r.Done()
	require.NoError(t, err)
	assert.Equal(t, provider.StopRefusal, got.Stop)
	r = reply()
	r.Stop = provider.StopFilter
	_, err = r.Done()
	require.NoError(t, err, "a filter need not leave a text")

	for _, stop := range []provider.StopReason{provider.StopEnd, provider.StopLength, provider.StopTool} {
		r = reply()
		r.Show(" \n")
		r.Stop = stop
		got, err = r.Done()
		assert.Equal(t, "blank", failure(t, err, provider.KindInvalidResponse).Code)
		assert.Equal(t, stop == provider.StopLength, failure(t, err, provider.KindInvalidResponse).Capped)
		assert.Nil(t, got)
	}
	r = reply()
	r.Call(0, "a", "look", `{"w`)
	r.Stop = provider.StopLength
	_, err = r.Done()
	assert.True(t, failure(t, err, provider.KindInvalidResponse).Capped, "the limit has cut the only call")
}

func TestReplyCalls(t *testing.T) {
	x := open(t, endpoint(nil))
	r := x.NewReply(func(provider.Chunk) {})
	assert.False(t, r.Call(1, "", "", ""), "the first place is 0")
	assert.False(t, r.Call(-1, "", "", ""))
	assert.True(t, r.Call(0, "a", "look", `{"w`))
	assert.True(t, r.Call(0, "", "", `":1}`))
	assert.True(t, r.Call(1, "", "now", ""))
	owner := wire.Owner{Host: "model.test"}
	kept := []byte(`{"s":1}`)
	r.Seal(0, owner, json.RawMessage(kept))
	kept[2] = 'x'
	r.Seal(7, owner, kept)
	r.Replace(7, "{}")
	r.Stop = provider.StopEnd
	got, err := r.Done()
	require.NoError(t, err)
	assert.Equal(t, []provider.ToolCall{
		{ID: "a", Name: "look", Arguments: json.RawMessage(`{"w":1}`), Opaque: json.RawMessage(`{"host":"model.test","kept":{"s":1}}`)},
		{ID: "call_1", Name: "now", Arguments: json.RawMessage(`{}`)},
	}, got.Calls)
	assert.Equal(t, provider.StopTool, got.Stop, "whatever the server calls it")

	r.Replace(0, `{"half`)
	_, err = r.Done()
	assert.Equal(t, "malformed", failure(t, err, provider.KindInvalidResponse).Code)
	for _, stop := range []provider.StopReason{provider.StopFilter, provider.StopRefusal} {
		r.Stop = stop
		got, err = r.Done()
		require.NoError(t, err)
		assert.Empty(t, got.Calls, "what stopped the reply has cut the call")
		assert.Equal(t, stop, got.Stop)
	}
	r.Stop = provider.StopLength
	r.Show("Text.")
	for _, arguments := range []string{`{"half`, "", "{}", `{"w":1}`} { // what looks whole may have been cut as well
		r.Replace(0, arguments)
		got, err = r.Done()
		require.NoError(t, err)
		assert.Empty(t, got.Calls, "a call that was cut is none: %s", arguments)
		assert.Equal(t, provider.StopLength, got.Stop)
	}

	nameless := x.NewReply(func(provider.Chunk) {})
	nameless.Call(0, "a", "", "{}")
	nameless.Stop = provider.StopTool
	_, err = nameless.Done()
	assert.Contains(t, failure(t, err, provider.KindInvalidResponse).Message, "has no name")

	many := x.NewReply(func(provider.Chunk) {})
	for i := range 1000 {
		many.Call(i, "", "f", "")
	}
	assert.Equal(t, 128, many.Calls(), "a reply has no room for more")
}

func TestUnknownStop(t *testing.T) {
	x := open(t, endpoint(nil))
	r := x.NewReply(func(provider.Chunk) {})
	r.Show("Yes.")
	r.Stop = "phase of " + secret
	_, err := r.Done()
	failure(t, err, provider.KindInvalidResponse)
}
