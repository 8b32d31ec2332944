package wire_test

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// A good reply that repeats the key shows it neither in a chunk nor in its text, however it is divided, and both are
// equal.
func TestAReplyRepeatsTheKey(t *testing.T) {
	divided := 0
	for _, form := range []string{
		secret, secret[9:29], url.QueryEscape(secret), strings.Join(strings.Split(secret, ""), "\n"),
		base64.StdEncoding.EncodeToString([]byte("Bearer " + secret)), base64.URLEncoding.EncodeToString([]byte("u:" + secret)),
	} {
		text := "The key is " + form + ", and here is more."
		for i := range len(text) {
			var shown strings.Builder
			r := open(t, endpoint(nil)).NewReply(func(c provider.Chunk) {
				assert.NotEmpty(t, c.Text)
				shown.WriteString(c.Text)
			})
			r.Show(text[:i])
			r.Show(text[i:])
			r.Stop, r.Model = provider.StopEnd, "model-of-"+secret
			got, err := r.Done()
			require.NoError(t, err)
			assert.Equal(t, len(text), r.Len())
			assert.Equal(t, shown.String(), got.Text)
			assert.Contains(t, got.Text, "[redacted]")
			assert.True(t, strings.HasSuffix(got.Text, "re is more."), got.Text)
			assert.Equal(t, "model-of-[redacted]", got.Model)
			for at := 0; at+20 <= len(form); at++ {
				require.NotContains(t, got.Text, form[at:at+20])
			}
			divided++
		}
	}
	t.Logf("%d divided replies: 0 leaks", divided)
}

// A reply passes as it comes. Only what may be the beginning of the key waits.
func TestChunksAreNotHeldBack(t *testing.T) {
	var shown []string
	r := open(t, endpoint(nil)).NewReply(func(c provider.Chunk) { shown = append(shown, c.Text) })
	for _, piece := range []string{"Keys begin with sk-", "test", " as ", "a rule. ", secret[:12], " is not all"} {
		r.Show(piece)
	}
	assert.Equal(t, []string{"Keys begin with sk-", "test", " as ", "a rule. ", secret[:12] + " is not all"}, shown)
	r.Show(" of it: " + secret[3:15])
	r.Stop = provider.StopLength
	got, err := r.Done()
	require.NoError(t, err)
	assert.Equal(t, strings.Join(shown, ""), got.Text)
	assert.True(t, strings.HasSuffix(got.Text, " of it: "+secret[3:15]), "what is no key comes at the end")
}

// Tool calls go back to their vendor, and into the log: they stay JSON, and keep ids that differ.
func TestToolCallsRepeatTheKey(t *testing.T) {
	x := open(t, endpoint(nil))
	r := x.NewReply(func(provider.Chunk) {})
	quoted, err := json.Marshal(secret)
	require.NoError(t, err)
	for i, arguments := range []string{
		`{"q":` + string(quoted) + `}`, `{"q":"\n` + secret[1:] + `","` + secret + `":[1.50,"x\\",` + string(quoted) + `]}`,
		`{"q":"` + base64.StdEncoding.EncodeToString([]byte(secret)) + `"}`, `{ "q": "no key" }`,
	} {
		id := secret
		if i == 1 {
			id = "call_0"
		}
		require.True(t, r.Call(i, id, "look", arguments[:9]))
		require.True(t, r.Call(i, "", "", arguments[9:]))
		r.Seal(i, wire.Owner{Host: "model.test"}, json.RawMessage(`{"thought":`+string(quoted)+`,"n":1}`))
	}
	require.True(t, r.Call(4, "call_2", secret, "{}"))
	r.Seal(4, wire.Owner{Host: "model.test"}, json.RawMessage("not JSON "+secret))
	r.Stop = provider.StopTool
	got, err := r.Done()
	require.NoError(t, err)
	data, err := json.Marshal(got)
	require.NoError(t, err)
	assert.NotContains(t, string(data), "0123456789")
	assert.NotContains(t, string(data), "MDEyMzQ1Njc4")
	ids := map[string]bool{}
	for _, c := range got.Calls {
		ids[c.ID] = true
		assert.True(t, json.Valid(c.Arguments), string(c.Arguments))
	}
	assert.Len(t, ids, 5)
	assert.JSONEq(t, `{"q":"[redacted]"}`, string(got.Calls[0].Arguments))
	assert.JSONEq(t, `{"host":"model.test","kept":{"thought":"[redacted]","n":1}}`, string(got.Calls[0].Opaque))
	assert.Contains(t, string(got.Calls[3].Arguments), `{ "q": "no key" }`, "what has no key stays as it is")
	assert.Equal(t, "redacted", got.Calls[4].Name)
	assert.Nil(t, got.Calls[4].Opaque)
}

// What replaces a part of an argument must not break its JSON.
func TestRedactedArgumentsStayJSON(t *testing.T) {
	e := endpoint(nil)
	e.Key = provider.StaticKey("nabcdefghijklmnopqrstuvwxyz0123456789")
	digits := "12345678901234567890123456789"
	for _, arguments := range []string{
		`{"a":"\nabcdefghijklmnopqrstuvwxyz"}`, `{"a":"x\\nabcdefghijklmnopqrstuvwxyz\u0030123456789"}`, `["nabcdefghijklmnopqrstuvwxyz"]`,
	} {
		r := open(t, e).NewReply(func(provider.Chunk) {})
		r.Call(0, "1", "f", arguments)
		r.Stop = provider.StopTool
		got, err := r.Done()
		require.NoError(t, err)
		assert.True(t, json.Valid(got.Calls[0].Arguments), string(got.Calls[0].Arguments))
		assert.NotContains(t, string(got.Calls[0].Arguments), "defghij")
	}
	e.Key = provider.StaticKey(digits)
	r := open(t, e).NewReply(func(provider.Chunk) {})
	r.Call(0, "1", "f", `{"n": `+digits+`, "m": [true, 1]}`)
	r.Stop = provider.StopTool
	got, err := r.Done()
	require.NoError(t, err)
	assert.Contains(t, string(got.Calls[0].Arguments), `{"n": "[redacted]", "m": [true, 1]}`)
}
