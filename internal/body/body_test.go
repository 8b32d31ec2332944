package body_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
)

// memo is a body that no flow declares.
type memo struct {
	Text string `json:"text"`
}

func (*memo) EventKind() flow.EventKind { return "memo" }

func TestAs(t *testing.T) {
	var read flow.Event
	require.NoError(t, json.Unmarshal([]byte(`{"kind":"memo","body":{"text":"hello"}}`), &read))
	require.IsType(t, &flow.Foreign{}, read.Body)
	assert.Equal(t, &memo{Text: "hello"}, body.As[memo](read), "JSON is decoded")
	assert.Nil(t, body.As[flow.Turn](read), "another body")

	written := flow.Event{Body: &memo{Text: "hello"}}
	assert.Same(t, written.Body, body.As[memo](written))
	assert.Nil(t, body.As[flow.Turn](written))
	assert.Nil(t, body.As[memo](flow.Event{}), "no body")
	assert.Nil(t, body.As[string](read), "what is no body")

	broken := flow.Event{Body: &flow.Foreign{Kind: "memo", JSON: json.RawMessage(`{"text":1}`)}}
	assert.Nil(t, body.As[memo](broken))
}
