package redaction_test

import (
	"errors"
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
	changed, fact, err := redaction.Apply(flow.Redaction{Texts: []string{secret}, With: "X"}, nil, log, nil)
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
	changed, fact, err = redaction.Apply(flow.Redaction{Events: []int64{5}}, nil, log, nil)
	require.NoError(t, err)
	require.Len(t, changed, 1)
	assert.Equal(t, "[redacted]", body.As[flow.Turn](changed[0]).Text)
	assert.Equal(t, secret, body.As[flow.Turn](changed[0]).Speaker)
	assert.Equal(t, []int64{5}, fact.Events)
	changed, _, err = redaction.Apply(flow.Redaction{Events: []int64{2}}, nil, log, nil)
	require.NoError(t, err)
	assert.Len(t, changed, 4, "what is long is removed wherever it stands")
}

// TestATurnThatIsRedactedLosesItsPlaces: they are counted in bytes of its text. Those in the document stay, and what it has in other words
// is a text too.
func TestATurnThatIsRedactedLosesItsPlaces(t *testing.T) {
	const secret, words = "Zora Quill", "All is well"
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	turn := func(seq int64, said string) flow.Event {
		start := strings.Index(said, words)
		return flow.Event{Seq: seq, At: at, Body: &flow.Turn{
			Speaker: "Ada", Text: said,
			Citations: []provider.Citation{{Title: "A page", Start: start, End: start + len(words)}},
			Quotations: []flow.Quotation{{
				Start: start, End: start + len(words), Status: flow.QuoteAltered, File: "report.txt", Hash: flow.HashOf(nil), From: 3, To: 14,
				Changed: `"nobody" for "` + secret + `"`,
			}},
		}}
	}
	log := []flow.Event{
		{Seq: 1, At: at, Body: &flow.Start{Settings: flow.Settings{Topic: "Anything"}}}, turn(2, secret+" says: "+words), turn(3, words),
	}
	changed, _, err := redaction.Apply(flow.Redaction{Texts: []string{secret}, With: "X"}, nil, log, nil)
	require.NoError(t, err)
	require.Len(t, changed, 2)
	for i, want := range [][]int{{0, 0}, {0, len(words)}} {
		got := body.As[flow.Turn](changed[i])
		assert.Equal(t, want, []int{got.Quotations[0].Start, got.Quotations[0].End})
		assert.Equal(t, want, []int{got.Citations[0].Start, got.Citations[0].End})
		got.Quotations[0].Start, got.Quotations[0].End = 0, 0
		assert.Equal(t, flow.Quotation{
			Status: flow.QuoteAltered, File: "report.txt", Hash: flow.HashOf(nil), From: 3, To: 14, Changed: `"nobody" for "X"`,
		}, got.Quotations[0])
	}
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
		changed, fact, err := redaction.Apply(c.of, nil, log, nil)
		require.NoError(t, err, c.said)
		require.Len(t, changed, 1, c.said)
		assert.Equal(t, c.want, body.As[flow.Turn](changed[0]).Text, c.said)
		assert.Equal(t, []int64{2}, fact.Events)
	}
	log := []flow.Event{{Seq: 1, Body: &flow.Start{Settings: flow.Settings{Topic: "a text", Labels: map[string]string{"]xx": ""}}}}, {Seq: 2, Body: &flow.Turn{Text: "]x"}}}
	_, fact, err := redaction.Apply(flow.Redaction{Texts: []string{"]x"}}, nil, log, nil)
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
			changed, fact, err := redaction.Apply(c.of, nil, log, nil)
			require.ErrorContains(t, err, c.want)
			assert.Equal(t, provider.KindValidation, flow.Classify(err).Kind)
			assert.Nil(t, fact)
			assert.Empty(t, changed)
		})
	}
}

// wish is the config of a flow of a host program's own, and opinion is an event of it. voice is what a turn of it holds.
type (
	wish struct {
		People []string          `json:"people" redact:"-"`
		Note   string            `json:"note"`
		Kinds  map[string]string `json:"kinds" redact:"keys"`
		Free   map[string]string `json:"free"`
	}
	opinion struct {
		flow.Spend

		By  string `json:"by" redact:"-"`
		Why string `json:"why"`
	}
	voice struct {
		For  []string `json:"for" redact:"-"`
		Says string   `json:"says"`
	}
)

func (wish) Flow() string                  { return "own" }
func (wish) Settings() flow.Settings       { return flow.Settings{} }
func (wish) Seats() flow.Seats             { return func(func(flow.Seat) bool) {} }
func (*opinion) EventKind() flow.EventKind { return "opinion" }
func ownFlow() *flow.Flow {
	return &flow.Flow{
		Name: "own", Decode: flow.DecodeTo[wish], Bodies: []flow.Body{&opinion{}}, Inputs: []flow.Trigger{"hear"},
		Payloads: map[flow.Trigger]any{"hear": &voice{}},
		Schemas:  map[string]*flow.Schema{"voice": flow.AnswerSchema[voice]("voice", flow.AnswerOf[voice]{})},
	}
}

// The types of a flow of a host program's own say which strings are identifiers: of its configs, events, answers and inputs. What such a
// type does not know is text, keys included.
func TestTheTypesOfAFlowSayWhatStays(t *testing.T) {
	const zora = "Zora"
	const voices = `{"for":["Zora"],"says":"I am Zora.","more":{"of Zora":["Zora"],"of [redacted]":1}}`
	log := []flow.Event{
		{Seq: 1, Body: &flow.Start{Flow: "own", Config: flow.Value{JSON: []byte(
			`{"people":["Zora"],"note":"Zora asks.","kinds":{"Zora":"Zora"},"free":{"Zora":"Zora"}}`,
		)}}},
		{Seq: 2, Body: &flow.Intent{Call: "c", By: zora, Schema: "voice"}},
		{Seq: 3, Body: &flow.Turn{Spend: flow.Spend{Call: "c"}, Speaker: zora, Data: []byte(voices)}},
		{Seq: 4, Body: &flow.Foreign{Kind: "opinion", JSON: []byte(`{"call":"Zora","by":"Zora","why":"Zora.","unknown":{"Zora":"Zora"}}`)}},
		{Seq: 5, Body: &flow.Sent{Trigger: "hear", Payload: []byte(voices), Reason: "for Zora"}},
		{Seq: 6, Body: &flow.Foreign{Kind: "unknown", JSON: []byte(`{"by":"Zora"}`)}},
		{Seq: 7, Body: &flow.Redacted{With: "[X]", By: zora, Reason: "Zora asked.", Kept: []string{"event 1: of Zora"}}},
		{Seq: 8, Body: &flow.Transition{To: "Zora", Failure: &flow.Error{Kind: "Zora", Participant: zora, Err: errors.New("no Zora")}}},
	}
	changed, fact, err := redaction.Apply(flow.Redaction{Texts: []string{zora}}, ownFlow(), log, nil)
	require.NoError(t, err)
	lines := make(map[int64]string)
	for i := range changed {
		lines[changed[i].Seq] = stage.JSON(changed[i])
	}
	const heard = `{"for":["Zora"],"says":"I am [redacted].","more":{"of [redacted] 2":["[redacted]"],"of [redacted]":1}}`
	assert.Contains(t, lines[1], `{"people":["Zora"],"note":"[redacted] asks.","kinds":{"Zora":"[redacted]"},"free":{"[redacted]":"[redacted]"}}`)
	assert.Contains(t, lines[3], `"speaker":"Zora","text":"","data":`+heard)
	assert.Contains(t, lines[4], `{"call":"Zora","by":"Zora","why":"[redacted].","unknown":{"[redacted]":"[redacted]"}}`)
	assert.Contains(t, lines[5], `"payload":`+heard+`,"reason":"for [redacted]"`)
	assert.Contains(t, lines[6], `{"by":"[redacted]"}`)
	assert.Contains(t, lines[7], `"kept":["event 1: of [redacted]"],"with":"[X]","by":"[redacted]","reason":"[redacted] asked."`)
	assert.Contains(t, lines[8], `"to":"Zora"`)
	assert.Contains(t, lines[8], `"kind":"Zora","participant":"Zora","message":"no [redacted]"`)
	assert.Equal(t, []int64{1, 3, 4, 5, 6, 7, 8}, fact.Events)
	assert.Equal(t, []string{
		"event 1: config.people", "event 1: config.kinds.[redacted]", "event 2: by", "event 3: speaker", "event 3: data.for",
		"event 4: call", "event 4: by", "event 5: payload.for", "event 8: to", "event 8: failure.kind", "event 8: failure.participant", "event 8: failure.hint",
	}, fact.Kept)
}

// Of the schema of a tool the descriptions are texts.
func TestASchemaKeepsItsWords(t *testing.T) {
	log := []flow.Event{{Seq: 1, Body: &flow.Start{Tools: map[string]flow.ToolInfo{"look": {
		Description: "of type object",
		Parameters: []byte(`{"type":"object","description":"an object","examples":[{"type":"an object"}],` +
			`"properties":{"description":{"type":"object"},"properties":{"description":"object"}},"required":["description"]}`),
	}}}}}
	changed, _, err := redaction.Apply(flow.Redaction{Texts: []string{"object"}, With: "X"}, nil, log, nil)
	require.NoError(t, err)
	assert.Contains(t, stage.JSON(changed[0]), `{"look":{"description":"of type X","parameters":`+
		`{"type":"object","description":"an X","examples":[{"type":"an X"}],`+
		`"properties":{"description":{"type":"object"},"properties":{"description":"X"}},"required":["description"]}}}`)
}

// What an adapter keeps with a call, such as a model's thoughts in plain text, nobody may change, since some of it is signed: it goes
// whole where one of the texts stands in it, and with its event. What stays is as it was, byte by byte.
func TestThoughtsBehindACallGoWhole(t *testing.T) {
	const thought = `{"host":"api.deepseek.com","model":"m","kept":{"reasoning_content":"The user, Zora Quill, asks for the time."}}`
	const other = `{ "host": "api.deepseek.com", "kept": {"thinking": "Nobody is \u003cnamed\u003e.", "n": 1.0} }`
	called := func(opaque string) *flow.ToolCalls {
		return &flow.ToolCalls{Text: "Zora Quill asks.", Uses: []flow.AskedTool{
			{Use: "a", ToolCall: provider.ToolCall{ID: "1", Name: "now", Arguments: []byte(`{}`), Opaque: []byte(opaque)}},
			{Use: "b", ToolCall: provider.ToolCall{ID: "2", Name: "now", Arguments: []byte(`{}`), Opaque: []byte(other)}},
		}}
	}
	log := []flow.Event{
		{Seq: 1, Body: &flow.Start{Settings: flow.Settings{Topic: "clocks at api.deepseek.com"}}},
		{Seq: 2, Body: called(thought)},
		{Seq: 3, Body: called(`{"Zora Quill":1}`)},
		{Seq: 4, Body: &flow.ToolCalls{Uses: []flow.AskedTool{{ToolCall: provider.ToolCall{Arguments: []byte(`{}`), Opaque: []byte(thought)}}}}},
	}
	changed, fact, err := redaction.Apply(flow.Redaction{Texts: []string{"Zora Quill"}}, nil, log, nil)
	require.NoError(t, err)
	assert.Equal(t, []int64{2, 3, 4}, fact.Events)
	assert.Empty(t, fact.Kept)
	assert.Equal(t, 5, fact.Texts[0].Count)
	for i := range changed {
		uses := body.As[flow.ToolCalls](changed[i]).Uses
		assert.Nil(t, uses[0].Opaque, "the thought")
		if len(uses) > 1 {
			assert.JSONEq(t, other, string(uses[1].Opaque))
		}
	}

	// An event loses its thoughts with all else that was said in it. The words of an adapter stay wherever else they stand.
	changed, fact, err = redaction.Apply(flow.Redaction{Events: []int64{2}}, nil, log, nil)
	require.NoError(t, err)
	assert.Equal(t, []int64{2, 3}, fact.Events, "the text is long")
	for _, use := range body.As[flow.ToolCalls](changed[0]).Uses {
		assert.Nil(t, use.Opaque)
	}
	assert.NotNil(t, body.As[flow.ToolCalls](changed[1]).Uses[0].Opaque)
	_, fact, err = redaction.Apply(flow.Redaction{Events: []int64{4}}, nil, log, nil)
	require.NoError(t, err)
	assert.Equal(t, []int64{4}, fact.Events)
}

// A text is found within JSON that is a text, however its writer escapes: Go, Python, PHP and models do so in their own ways.
func TestATextIsFoundInAllEscapes(t *testing.T) {
	const secret = "Zoë </Quill> \U0001F600\n\"née\""
	for _, said := range []string{
		secret,
		`{"name": "Zo\u00eb \u003c/Quill\u003e \ud83d\ude00\n\"n\u00e9e\""}`,
		`{"name": "Zo\u00EB <\/Quill> \uD83D\uDE00\u000A\u0022née\""}`,
		`{"name": "\u005ao\u00eb <\u002FQuill\u003E 😀\n\"n\u00E9e\""}`,
		`"{\"name\": \"Zo\\u00eb <\\/Quill> \\ud83d\\ude00\\n\\\"n\u00e9e\\\"\"}"`,
		`C:\new \x \u12 \ud83d \ud83dx \` + "\n" + secret + `\`,
	} {
		log := []flow.Event{{Seq: 1, Body: &flow.Start{}}, {Seq: 2, Body: &flow.ToolResult{Text: "é " + said + " é", Tool: "find"}}}
		changed, fact, err := redaction.Apply(flow.Redaction{Texts: []string{secret}, With: "X"}, nil, log, nil)
		require.NoError(t, err, said)
		assert.Equal(t, 1, fact.Texts[0].Count)
		left := body.As[flow.ToolResult](changed[0]).Text
		before, _, _ := strings.Cut(said, "Zo")
		before, _, _ = strings.Cut(before, `\u005a`)
		assert.True(t, strings.HasPrefix(left, "é "+before+"X"), left)
		assert.NotContains(t, left, "Quill")
		assert.NotContains(t, left, "e9e")
		assert.True(t, strings.HasSuffix(left, " é"), left)
	}
}

// A number that is one of the texts is removed from JSON without a type. Where a program counts with it, it stays, and the fact says so.
func TestNumbersOfModelsAreTexts(t *testing.T) {
	const card = "4111111111111111"
	log := []flow.Event{
		{Seq: 1, Body: &flow.Start{Flow: "own", Config: flow.Value{JSON: []byte(`{"people":["Ada"],"note":"x","unknown":4111111111111111}`)}}},
		{Seq: 2, Body: &flow.ToolCalls{Uses: []flow.AskedTool{{ToolCall: provider.ToolCall{
			Name: "pay", Arguments: []byte(`{"card":4111111111111111,"of":[12,4111111111111111],"sum":41111111111111110}`), Opaque: []byte(`{"thought":[4111111111111111]}`),
		}}}}},
		{Seq: 3, Body: &flow.Sent{Trigger: "other", Payload: []byte(`4111111111111111`)}},
		{Seq: 4, Body: &flow.Turn{Round: 4111111111111111, Text: "It is 4111111111111111.", Data: []byte(`{"card":4111111111111111,"age":41}`)}},
	}
	changed, fact, err := redaction.Apply(flow.Redaction{Texts: []string{card}, With: "X"}, ownFlow(), log, nil)
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 2, 3, 4}, fact.Events)
	assert.Equal(t, []string{"event 4: round"}, fact.Kept)
	assert.Contains(t, stage.JSON(changed[0]), `"unknown":"X"`)
	assert.Contains(t, stage.JSON(changed[1]), `"arguments":{"card":"X","of":[12,"X"],"sum":41111111111111110}}`)
	assert.Contains(t, stage.JSON(changed[2]), `"payload":"X"`)
	assert.Contains(t, stage.JSON(changed[3]), `"data":{"card":"X","age":41}`)
	_, _, err = redaction.Apply(flow.Redaction{Texts: []string{card}}, nil, []flow.Event{log[0], {Seq: 2, Body: &flow.Turn{Round: 4111111111111111}}}[1:], nil)
	require.ErrorContains(t, err, "as numbers or as names: event 2: round")

	// An event loses its free numbers with its texts: what is long goes wherever it stands.
	changed, fact, err = redaction.Apply(flow.Redaction{Events: []int64{4}, With: "X"}, ownFlow(), log, nil)
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 2, 3, 4}, fact.Events)
	assert.Contains(t, stage.JSON(changed[3]), `"round":4111111111111111,`)
	assert.Contains(t, stage.JSON(changed[3]), `"data":{"card":"X","age":"X"}`)
}
