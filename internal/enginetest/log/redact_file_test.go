package log_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/redaction"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// TestFilesAreRemoved removes an image and a PDF while the first turn is spoken: the debate goes on with files that say nothing.
func TestFilesAreRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.Illustrated()
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		engine.Store = &store.Memory{}
		var last []provider.Part
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			last = nil
			for _, m := range req.Messages {
				last = append(last, m.Parts...)
			}
			return reply(req)
		}
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		defer session.Close()
		stage.Pass(500 * time.Millisecond)
		fact, err := engine.Redact(t.Context(), session.ID(), flow.Redaction{Files: []string{flow.HashOf(stage.PNG), flow.HashOf(stage.PDF)}})
		require.NoError(t, err)
		require.Len(t, fact.Files, 2)
		assert.Equal(t, len(stage.PNG), fact.Files[0].Size)
		assert.Equal(t, len(stage.PDF), fact.Files[1].Size)
		record, err := session.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, flow.StateCompleted, record.State)
		require.Len(t, last, 2)
		for i, part := range last {
			assert.Equal(t, fact.Files[i].As, part.Hash)
			assert.Equal(t, flow.HashOf(part.Data), part.Hash)
		}
		assert.Equal(t, "image/png", last[0].Type)
		assert.Equal(t, "application/pdf", last[1].Type)
		for _, data := range [][]byte{stage.PNG, stage.PDF} {
			_, err := engine.File(t.Context(), session.ID(), flow.HashOf(data))
			require.ErrorIs(t, err, flow.ErrNoFile)
		}
		var out bytes.Buffer
		require.NoError(t, engine.Export(t.Context(), session.ID(), &out))
		other, _ := stage.Engine(config)
		_, err = other.Import(t.Context(), &out)
		require.NoError(t, err, "it is whole")
		again, err := engine.Redact(t.Context(), session.ID(), flow.Redaction{Files: []string{flow.HashOf(stage.PNG)}})
		require.NoError(t, err, "it is done already")
		assert.Equal(t, fact, again)
	})
}

// TestATextIsFoundInEveryPlace removes a text that stands in JSON within a text, in a label, in an answer's data and in a key.
func TestATextIsFoundInEveryPlace(t *testing.T) {
	const secret = "Zora \"Zo\" Quill\n<née Brand>"
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	quoted := stage.JSON(map[string]string{"note": secret})
	log := []flow.Event{
		{Seq: 1, At: at, Body: &flow.Start{Terms: flow.Terms{Topic: "About " + secret, Labels: map[string]string{"name": secret, "tenant": "acme"}}}},
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
		log := []flow.Event{{Seq: 1, Body: &flow.Start{Terms: flow.Terms{Topic: "motors"}}}, {Seq: 2, Body: &flow.Turn{Speaker: "Ada", Text: c.said}}}
		changed, fact, err := redaction.Apply(c.of, log, nil)
		require.NoError(t, err, c.said)
		require.Len(t, changed, 1, c.said)
		assert.Equal(t, c.want, body.As[flow.Turn](changed[0]).Text, c.said)
		assert.Equal(t, []int64{2}, fact.Events)
	}
	log := []flow.Event{{Seq: 1, Body: &flow.Start{Terms: flow.Terms{Topic: "a text", Labels: map[string]string{"]xx": ""}}}}, {Seq: 2, Body: &flow.Turn{Text: "]x"}}}
	_, fact, err := redaction.Apply(flow.Redaction{Texts: []string{"]x"}}, log, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"event 1"}, fact.Kept, "nor where a name that is kept is told")
}

func TestRedactionsThatAreRefused(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	log := []flow.Event{
		{Seq: 1, At: at, Body: &flow.Start{Terms: flow.Terms{Topic: "cars"}}},
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

func TestAStoreThatCannotRewriteLogsSaysSo(t *testing.T) {
	engine := &debate.Engine{Store: stage.Fileless{Store: &store.Memory{}}}
	_, err := engine.Redact(t.Context(), "a", flow.Redaction{Texts: []string{"a text"}})
	require.ErrorContains(t, err, "it is no store.Redactor")
	_, err = (&debate.Engine{Store: &store.Memory{}}).Redact(t.Context(), "a", flow.Redaction{Texts: []string{"a text"}})
	require.ErrorIs(t, err, debate.ErrNotFound)
}

// halfway is a store that fails once after it has rewritten a log.
type halfway struct {
	*store.Memory

	failed bool
}

func (u *halfway) Redact(ctx context.Context, id string, after int64, events []flow.Event, blobs []string) error {
	err := u.Memory.Redact(ctx, id, after, events, blobs)
	if err == nil && !u.failed {
		u.failed = true
		return errors.New("the disk is full")
	}
	return err
}

// TestAStoreThatFailsAfterItHasRewrittenALog is asked again: nothing is removed twice, and nothing is missing.
func TestAStoreThatFailsAfterItHasRewrittenALog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, of := range []flow.Redaction{{Events: []int64{6}}, {Texts: []string{"from the centre"}}} {
			config := stage.TwoDebaters()
			engine, p := stage.Engine(config)
			p.Reply = func(*provider.Request) scripted.Reply { return scripted.Reply{Text: "Cars must go from the centre."} }
			config.Judging = nil
			kept := &halfway{Memory: &store.Memory{}}
			engine.Store = kept
			session, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			before, err := session.Wait(t.Context())
			require.NoError(t, err)
			fact, err := engine.Redact(t.Context(), session.ID(), of)
			require.NoError(t, err)
			require.True(t, kept.failed)
			after, err := engine.Record(t.Context(), session.ID())
			require.NoError(t, err)
			assert.Equal(t, before.Seq+1, after.Seq)
			assert.Equal(t, []flow.Redacted{*fact}, after.Redactions)
		}
	})
}
