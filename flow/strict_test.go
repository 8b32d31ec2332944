package flow_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
)

type base struct {
	Depth int    `json:"depth"`
	Name  []bool // the outer one goes before it
}

type more struct {
	Flag bool `json:"flag"`
}

func TestDecodeStrictReadsWhatAHostWrites(t *testing.T) {
	var part flowPart
	require.NoError(t, flow.DecodeStrict("read config", []byte(`{"depth":1,"Name":"x","other":2,"quoted":"3","any":{"free":[1]},
		"bytes":"eA==","pair":[1,2],"big":123456789012345678901234567890,"at":"2026-01-02T03:04:05Z","small":255,
		"config":{"topic":"t","budget":{"hard":0.5}}}`), &part))
	assert.Equal(t, 1, part.Depth)
	assert.Equal(t, 3, part.Quoted)
	assert.Equal(t, "123456789012345678901234567890", part.Big.String())
	assert.Equal(t, debate.USD/2, part.Config.Budget.Hard)
	assert.Zero(t, part.own)
	require.NoError(t, flow.DecodeStrict("read config", []byte(`{"at":null,"big":null,"config":null,"any":null,"depth":null}`), &part))

	for text, want := range map[string]string{
		`{"own":1}`:                            "own",
		`{"Hidden":1}`:                         "Hidden",
		`{"-":1}`:                              "-",
		`{"name":"x"}`:                         "name",
		`{"Renamed":1}`:                        "Renamed",
		`{"Name":[true]}`:                      "Name",
		`{"depth":"1"}`:                        "depth",
		`{"quoted":3}`:                         "quoted",
		`{"quoted":"x"}`:                       "",
		`{"bytes":"?"}`:                        "bytes",
		`{"bytes":7}`:                          "bytes",
		`{"pair":[1,"2"]}`:                     "pair[1]",
		`{"at":"soon"}`:                        "at",
		`{"at":7}`:                             "at",
		`{"small":256}`:                        "small",
		`{"small":-1}`:                         "small",
		`{"config":{"retry":{"base":"soon"}}}`: "config.retry.base",
		`{"config":{"topik":1}}`:               "config.topik",
	} {
		err := flow.DecodeStrict("read config", []byte(text), &part)
		assert.Equal(t, []string{want}, stage.FieldsOf(t, err), text)
		stage.NamesNoTypes(t, err)
	}
	var pointed struct{ *more }
	assert.Equal(t, []string{"flag"}, stage.FieldsOf(t, flow.DecodeStrict("read config", []byte(`{"flag":1}`), &pointed)))
	for _, into := range []any{nil, part, (*flowPart)(nil)} {
		assert.Error(t, flow.DecodeStrict("read config", []byte(`{}`), into), "%T cannot be written to", into)
	}
}

// A flow's problems with its config are told one by one, by their paths; in a log they are those of its first event.
func TestAFlowsPartIsRefusedByPath(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	config, engine, _ := newSurvey(t)
	l := stage.LogOf(t, engine, stage.Run(t, engine, config).ID)
	imported := func(text string) error {
		events := l.Copied(t)
		body.As[flow.Start](events[0]).Config = flow.Value{JSON: json.RawMessage(text)}
		_, other, _ := newSurvey(t)
		_, err := other.Import(t.Context(), bytes.NewReader(stage.Snapshot(t, l.ID, events)))
		return err
	}
	const head = `{"topic":"How was the debate?","people":["Ada","Ben"],"model":"test/any"`
	_, err := engine.Flows["survey"].Decode([]byte(head + `,"part":{"depth":"x","pair":{},"deep":1}}`))
	assert.Equal(t, []string{"part.deep", "part.depth", "part.pair"}, stage.FieldsOf(t, err))
	const at = "events[0].body.config."
	err = imported(head + `,"part":{"depth":"x","pair":{},"deep":1}}`)
	assert.Equal(t, []string{at + "part.deep", at + "part.depth", at + "part.pair"}, stage.FieldsOf(t, err))
	stage.NamesNoTypes(t, err)
	require.NoError(t, imported(head+`,"part":{"depth":1}}`))
	require.NoError(t, imported(head+`}`))
	config.Tone = json.RawMessage(`"` + strings.Repeat("x", 16<<20) + `"`)
	assert.Len(t, stage.FieldsOf(t, engine.Validate(t.Context(), config)), 1)
}
