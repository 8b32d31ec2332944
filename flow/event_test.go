package flow_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
)

// TestAnUnknownKindIsKept: a store keeps the body of a kind that the program does not know, byte for byte. Only a
// newline between two tokens becomes a space.
func TestAnUnknownKindIsKept(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`{"a": 1,  "b":1.50e+1}`, `{"a": 1,  "b":1.50e+1}`},
		{`{"html":"<&>","escaped":"\u003c"}`, `{"html":"<&>","escaped":"\u003c"}`},
		{"{\n\"a\":1}", `{ "a":1}`},
		{`null`, `null`},
		{`[1, 2]`, `[1, 2]`},
	} {
		event := flow.Event{Seq: 3, At: time.Unix(9, 0).UTC(), Body: &flow.Foreign{Kind: `a "kind"`, JSON: json.RawMessage(c.body)}}
		var line bytes.Buffer
		require.NoError(t, event.WriteLine(&line))
		assert.Equal(t, 1, bytes.Count(line.Bytes(), []byte("\n")))
		var read flow.Event
		require.NoError(t, read.UnmarshalJSON(line.Bytes()))
		assert.Equal(t, flow.Event{Seq: 3, At: event.At, Body: &flow.Foreign{Kind: `a "kind"`, JSON: json.RawMessage(c.want)}}, read)
	}
	for _, body := range []string{``, `{`, `{}{}`} {
		event := flow.Event{Seq: 3, Body: &flow.Foreign{Kind: "x", JSON: json.RawMessage(body)}}
		require.ErrorContains(t, event.WriteLine(&bytes.Buffer{}), "is no JSON", body)
	}
	require.ErrorContains(t, flow.Event{Seq: 3}.WriteLine(&bytes.Buffer{}), "without a body")
	require.ErrorContains(t, new(flow.Event).UnmarshalJSON([]byte(`{"seq":1,"at":"2026-11-22T10:00:00Z","kind":"x"}`)), "has no body")
}

// TestSpectatorsSeeNoDocuments: of a quotation they see where it stands and whether it is true.
func TestSpectatorsSeeNoDocuments(t *testing.T) {
	turn := &flow.Turn{Text: `<quote document="merger.txt">a public word</quote>`, Quotations: []flow.Quotation{{
		Start: 29, End: 42, Status: flow.QuoteAltered, File: "merger.txt", Hash: "5eed", From: 3, To: 22, Changed: `"public" for "confidential"`,
	}}}
	shown, ok := flow.Event{Body: turn}.Spectator()
	require.True(t, ok)
	seen, ok := shown.Body.(*flow.Turn)
	require.True(t, ok)
	assert.Equal(t, []flow.Quotation{{Start: 29, End: 42, Status: flow.QuoteAltered}}, seen.Quotations)
	assert.Equal(t, "merger.txt", turn.Quotations[0].File, "the log keeps it")
}
