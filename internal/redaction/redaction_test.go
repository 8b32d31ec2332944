package redaction_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/redaction"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// TestATextIsFoundInEveryPlace removes a text that stands in JSON within a text, in a label, in an answer's data and in a key.
func TestATextIsFoundInEveryPlace(t *testing.T) {
	const secret = "Zora \"Zo\" Quill\n<née Brand>"
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	quoted := stage.JSON(map[string]string{"note": secret})
	log := []flow.Event{
		{Seq: 1, At: at, Body: &flow.Start{Settings: flow.Settings{Topic: "About " + secret, Labels: map[string]string{"name": secret, "tenant": "acme"}}}},
		{Seq: 2, At: at, Body: &flow.Turn{Speaker: "Ada", Text: quoted, Data: []byte(quoted)}},
		{Seq: 3, At: at, Body: &flow.ToolCalls{Text: stage.JSON(quoted), Uses: []flow.AskedTool{{Use: "u", ToolCall: provider.ToolCall{
			Name: "mail", Arguments: []byte(`{"name": ` + stage.JSON(secret) + `, "n": 1.50}`),
		}}}}},
		{Seq: 4, At: at, Body: &flow.Foreign{Kind: "own", JSON: []byte(`{"call": "c", "n": 12345678901234567890, "note": [` + stage.JSON(secret) + `]}`)}},
		{Seq: 5, At: at, Body: &flow.Turn{Speaker: secret, Text: "nothing"}},
		{Seq: 6, At: at, Body: &flow.Turn{Speaker: "Ben", Text: "nothing of it"}},
	}
	changed, fact, err := redaction.Apply(flow.Redaction{Texts: []string{secret}, With: "X"}, log, nil)
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 2, 3, 4}, fact.Events)
	assert.Equal(t, []string{"event 5: speaker"}, fact.Kept)
	assert.Equal(t, []flow.Removed{{Hash: flow.HashOf([]byte(secret)), Size: len(secret), Count: 7}}, fact.Texts)
	lines := make([]string, len(changed))
	for i := range changed {
		lines[i] = stage.JSON(changed[i])
	}
	assert.Contains(t, lines[0], `"topic":"About X","labels":{"name":"X","tenant":"acme"}`)
	assert.Contains(t, lines[1], `"text":"{\"note\":\"X\"}","data":{"note":"X"}`)
	assert.Contains(t, lines[2], `"arguments":{"name":"X","n":1.50}`)
	assert.Contains(t, lines[3], `{"call":"c","n":12345678901234567890,"note":["X"]}`)
	assert.Contains(t, stage.JSON(log[0]), "Zora", "the log itself is as it was")

	// An event loses all that was said in it, and what is short only there.
	changed, fact, err = redaction.Apply(flow.Redaction{Events: []int64{5}}, log, nil)
	require.NoError(t, err)
	require.Len(t, changed, 1)
	assert.Equal(t, "[redacted]", body.As[flow.Turn](changed[0]).Text)
	assert.Equal(t, secret, body.As[flow.Turn](changed[0]).Speaker)
	assert.Equal(t, []int64{5}, fact.Events)
	changed, _, err = redaction.Apply(flow.Redaction{Events: []int64{2}}, log, nil)
	require.NoError(t, err)
	assert.Len(t, changed, 4, "what is long is removed wherever it stands")
}

// A text that would stand there anew, made of what takes its place and of what stood beside it, is removed with all around it.
func TestATextIsNotFormedAnew(t *testing.T) {
	for _, c := range []struct {
		of         flow.Redaction
		said, want string
	}{
		{flow.Redaction{Texts: []string{"]x"}}, "a ]xx b", "[redacted]"},
		{flow.Redaction{Texts: []string{"x["}}, "a xx[ b", "[redacted]"},
		{flow.Redaction{Texts: []string{"]["}}, "a ][][ b", "[redacted]"},
		{flow.Redaction{Texts: []string{"aXb", "c"}, With: "X"}, "acb", "X"},
		{flow.Redaction{Texts: []string{"ba"}, With: "b"}, "baa", "b"},
		{flow.Redaction{Texts: []string{"]x"}}, "a ]x b", "a [redacted] b"},
	} {
		log := []flow.Event{{Seq: 1, Body: &flow.Start{Settings: flow.Settings{Topic: "motors"}}}, {Seq: 2, Body: &flow.Turn{Speaker: "Ada", Text: c.said}}}
		changed, fact, err := redaction.Apply(c.of, log, nil)
		require.NoError(t, err, c.said)
		require.Len(t, changed, 1, c.said)
		assert.Equal(t, c.want, body.As[flow.Turn](changed[0]).Text, c.said)
		assert.Equal(t, []int64{2}, fact.Events)
	}
	log := []flow.Event{{Seq: 1, Body: &flow.Start{Settings: flow.Settings{Topic: "a text", Labels: map[string]string{"]xx": ""}}}}, {Seq: 2, Body: &flow.Turn{Text: "]x"}}}
	_, fact, err := redaction.Apply(flow.Redaction{Texts: []string{"]x"}}, log, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"event 1"}, fact.Kept, "nor where a name that is kept is told")
}

func TestRedactionsThatAreRefused(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	log := []flow.Event{
		{Seq: 1, At: at, Body: &flow.Start{Settings: flow.Settings{Topic: "cars"}}},
		{Seq: 2, At: at, Body: &flow.Turn{Speaker: "Ada", Text: "a text"}},
	}
	for name, c := range map[string]struct {
		of   flow.Redaction
		want string
	}{
		"nothing":         {flow.Redaction{}, "texts, events or files are missing"},
		"nowhere":         {flow.Redaction{Texts: []string{"other"}}, "stand nowhere in the log"},
		"a name":          {flow.Redaction{Texts: []string{"Ada"}}, "names: event 2: speaker"},
		"empty":           {flow.Redaction{Texts: []string{""}}, "texts[0]: is empty"},
		"no UTF-8":        {flow.Redaction{Texts: []string{"\xff"}}, "no UTF-8"},
		"itself":          {flow.Redaction{Texts: []string{"text"}, With: "no text"}, "contained in what takes its place"},
		"lines":           {flow.Redaction{Texts: []string{"text"}, With: "a\nb"}, "with: is not one line"},
		"a long reason":   {flow.Redaction{Texts: []string{"text"}, Reason: strings.Repeat("x", 2000)}, "reason: "},
		"the reason":      {flow.Redaction{Texts: []string{"text"}, Reason: "a text was there"}, "repeats what is to be removed"},
		"no hash":         {flow.Redaction{Files: []string{"x"}}, "files[0]: is no SHA-256"},
		"no event":        {flow.Redaction{Events: []int64{3}}, "event 3 is not in the log"},
		"the start":       {flow.Redaction{Events: []int64{1}}, "name the texts"},
		"a negative":      {flow.Redaction{Events: []int64{-1}}, "event -1 is not in the log"},
		"too many events": {flow.Redaction{Events: make([]int64, 101)}, "more than 100"},
	} {
		t.Run(name, func(t *testing.T) {
			changed, fact, err := redaction.Apply(c.of, log, nil)
			require.ErrorContains(t, err, c.want)
			assert.Equal(t, provider.KindValidation, flow.Classify(err).Kind)
			assert.Nil(t, fact)
			assert.Empty(t, changed)
		})
	}
}
