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

// FuzzEvent holds the reader of lines to the reader of any JSON: a space before the line makes the second one read.
func FuzzEvent(f *testing.F) {
	at := time.Date(2026, 11, 22, 10, 0, 0, 5, time.UTC)
	for _, body := range []flow.Body{
		&flow.Turn{Text: "a \"word\" and </html>\n", Speaker: "ann"},
		&flow.Transition{To: "debating"},
		&flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue},
		&flow.Foreign{Kind: "vote", JSON: json.RawMessage(`{"for":"ann"}`)},
	} {
		var line bytes.Buffer
		require.NoError(f, flow.Event{Seq: 7, At: at, Body: body}.WriteLine(&line))
		f.Add(line.Bytes())
	}
	const turn = `{"seq":1,"at":"2026-11-22T10:00:00Z","kind":"turn","body":`
	for _, rest := range []string{
		`{}}`, `null}`, `{}`, `{}}}`, `{},"seq":2}`, `{"text":1}}`, "{}}\n\n", `{},"body":{"text":"b"}}`, `[]}`, `}`, ``,
	} {
		f.Add([]byte(turn + rest))
	}
	for _, line := range []string{
		`{"seq":01,"at":"2026-11-22T10:00:00Z","kind":"ack","body":{}}`, `{"seq":,"at":"","kind":"","body":{}}`,
		`{"seq":1,"at":"yesterday","kind":"ack","body":{}}`, `{"seq":99999999999999999999,"at":"2026-11-22T10:00:00Z","kind":"ack","body":{}}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var read, plain flow.Event
		err, errPlain := read.UnmarshalJSON(line), plain.UnmarshalJSON(append([]byte(" "), line...))
		require.Equal(t, errPlain == nil, err == nil, "%v, %v", errPlain, err)
		assert.Equal(t, plain, read)
	})
}
