package debate_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/longform"
)

// plain asserts that an error says nothing of the types of Go that a value was read into.
func plain(t *testing.T, err error) {
	t.Helper()
	for _, word := range []string{"json:", "Go struct", "configJSON", "budgetJSON", "retryJSON", "errorJSON", "debate.", "unmarshal", "UnmarshalJSON"} {
		assert.NotContains(t, err.Error(), word)
	}
}

// Whatever is wrong with a config's JSON is told at once, by its path.
func TestAConfigsJSONIsRefusedByPath(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		fields []string
		says   string
	}{
		"misspelt keys":          {`{"topik":"x","ruonds":1}`, []string{"ruonds", "topik"}, "is not a known key"},
		"a key in another case":  {`{"Topic":"x"}`, []string{"Topic"}, "is not a known key"},
		"a key twice":            {`{"participants":[{"fallbacks":[],"fallbacks":[]}]}`, []string{"participants[0].fallbacks"}, "duplicate key"},
		"a duration":             {`{"turnTimeout":"5"}`, []string{"turnTimeout"}, `"5" is not a duration such as "90s"`},
		"a duration as a number": {`{"roundDelay":5}`, []string{"roundDelay"}, "is a number, not a text"},
		"an amount":              {`{"budget":{"hard":"x"}}`, []string{"budget.hard"}, "is not an amount of USD"},
		"an amount too exact":    {`{"budget":{"soft":1.0000000000000000000000001}}`, []string{"budget.soft"}, "at most 12 decimals"},
		"an amount of nothing":   {`{"budget":{"soft":null}}`, []string{"budget.soft"}, "is not an amount of USD"},
		"a budget's":             {`{"budget":{"hrad":1,"hardTime":"z"}}`, []string{"budget.hardTime", "budget.hrad"}, "is not a known key"},
		"a retry policy's":       {`{"retry":{"bsae":"1s","cap":1,"max":{"network":"3"}}}`, []string{"retry.bsae", "retry.cap", "retry.max.network"}, "is a text, not a number"},
		"a text":                 {`{"topic":1}`, []string{"topic"}, "is a number, not a text"},
		"a number":               {`{"temperature":"hot"}`, []string{"temperature"}, "is a text, not a number"},
		"a fraction":             {`{"rounds":1.5}`, []string{"rounds"}, "is 1.5, not a whole number"},
		"a number too large":     {`{"rounds":99999999999999999999}`, []string{"rounds"}, "out of range"},
		"a truth":                {`{"cutLong":"yes"}`, []string{"cutLong"}, "is a text, not true or false"},
		"a list":                 {`{"participants":{}}`, []string{"participants"}, "is an object, not a list"},
		"an object":              {`{"judging":[]}`, []string{"judging"}, "is a list, not an object"},
		"null in a list":         {`{"participants":[null,7]}`, []string{"participants[1]"}, "is a number, not an object"},
		"deep within": {
			`{"participants":[{},{"maxTokens":"9","fallbacks":["a",true]}],"customFormat":{"phases":[{"slots":[{},{"exchanges":"x"}]}]}}`,
			[]string{"customFormat.phases[0].slots[1].exchanges", "participants[1].fallbacks[1]", "participants[1].maxTokens"},
			"is true or false, not a text",
		},
		"a label":    {`{"labels":{"tenant":1}}`, []string{"labels.tenant"}, "is a number, not a text"},
		"an edge":    {`{"customFormat":{"reads":{"edges":{"Ada":["Ben",1]}}}}`, []string{"customFormat.reads.edges.Ada[1]"}, "is a number, not a text"},
		"no JSON":    {`{"rounds":nope}`, []string{"rounds"}, "JSON: offset 10"},
		"not a byte": {``, []string{""}, "JSON: offset 0"},
		"two values": {`{} {}`, []string{""}, "JSON: offset 3"},
		"no object":  {`[1]`, []string{""}, "the JSON is a list, not an object"},
	} {
		t.Run(name, func(t *testing.T) {
			kept := debate.Config{Topic: "kept"}
			err := kept.UnmarshalJSON([]byte(c.text))
			assert.Equal(t, c.fields, fields(t, err))
			assert.ErrorContains(t, err, c.says)
			assert.Contains(t, err.Error(), "read config: ")
			plain(t, err)
			assert.Equal(t, debate.Config{Topic: "kept"}, kept)
		})
	}
}

// Parts that are read by themselves tell paths from themselves on.
func TestPartsOfAConfigAreRefusedByPath(t *testing.T) {
	var budget debate.Budget
	assert.Equal(t, []string{"hard", "hrad"}, fields(t, budget.UnmarshalJSON([]byte(`{"hard":"x","hrad":1}`))))
	var policy debate.RetryPolicy
	assert.Equal(t, []string{"base", "max.network"}, fields(t, policy.UnmarshalJSON([]byte(`{"base":"x","max":{"network":0.5}}`))))
	_, err := format.Parse([]byte(`{"name":7,"phases":[{"slots":[{"minute":1}]}],"rounds":"2"}`))
	assert.Equal(t, []string{"name", "phases[0].slots[0].minute", "rounds"}, fields(t, err))
}

// A hostile text has any number of problems, and an error has little of them.
func TestFewProblemsAreTold(t *testing.T) {
	longform.Lone(t)
	key := strings.Repeat("k\u202e\n", 200)
	var text strings.Builder
	for i := range 5_000 {
		fmt.Fprintf(&text, `,%s:1,`, toJSON(key+fmt.Sprint(i)))
		fmt.Fprintf(&text, `"%d":[]`, i)
	}
	var config debate.Config
	err := config.UnmarshalJSON([]byte(`{"participants":[` + strings.TrimSuffix(strings.Repeat(`1,`, 60), ",") + `]` + text.String() + `}`))
	assert.Len(t, fields(t, err), 50)
	assert.Less(t, len(err.Error()), 10_000)
	assert.NotContains(t, err.Error(), "\u202e")

	err = config.UnmarshalJSON([]byte(`{"watch":[` + strings.TrimSuffix(strings.Repeat(`1,`, 60), ",") + `],"zeal":1}`))
	assert.Len(t, fields(t, err), 50, "in a list too")
	var list []string
	assert.Len(t, fields(t, flow.DecodeStrict("read config", []byte(`[`+strings.TrimSuffix(strings.Repeat(`1,`, 60), ",")+`]`), &list)), 50)

	soon(t, func() { // a long key costs nothing for each of what it holds
		label := toJSON(strings.Repeat("x", 1<<20))
		edges := `{"customFormat":{"reads":{"edges":{` + label + `:[` + strings.Repeat(`"Ada",`, 100_000) + `1]}}}}`
		assert.Len(t, fields(t, config.UnmarshalJSON([]byte(edges))), 1)
	})
}

// node is a place in a JSON tree: where it is, what is there, and how to put something else there.
type node struct {
	path  string
	value any
	put   func(any)
}

// nodes yields all places of a tree below its root.
func nodes(path string, tree any) (all []node) {
	switch v := tree.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			at := strings.TrimPrefix(path+"."+key, ".")
			all = append(append(all, node{at, v[key], func(x any) { v[key] = x }}), nodes(at, v[key])...)
		}
	case []any:
		for i := range v {
			at := fmt.Sprintf("%s[%d]", path, i)
			all = append(append(all, node{at, v[i], func(x any) { v[i] = x }}), nodes(at, v[i])...)
		}
	}
	return all
}

// Wherever a value of another kind stands, the error names the place.
func TestEveryWrongKindIsToldByItsPath(t *testing.T) {
	t.Parallel()
	var tree any
	config := full()
	config.Budget.Hard = debate.USD // which a float64 holds
	require.NoError(t, json.Unmarshal([]byte(toJSON(config)), &tree))
	tried := 0
	for _, n := range nodes("", tree) {
		if strings.HasPrefix(n.path, "flowConfig") {
			continue // the flow's
		}
		for _, other := range []any{true, 1.25, "x", []any{[]any{}}, map[string]any{"misspelt": 1}} {
			if fmt.Sprintf("%T", other) == fmt.Sprintf("%T", n.value) && fmt.Sprintf("%T", other) != "map[string]interface {}" {
				continue // of the same kind
			}
			if strings.Contains(n.path, ".extra.") {
				continue // any value goes there
			}
			n.put(other)
			var config debate.Config
			err := config.UnmarshalJSON([]byte(toJSON(tree)))
			n.put(n.value)
			if _, ok := other.(map[string]any); ok && (n.path == "labels" || n.path == "retry.max" || strings.HasSuffix(n.path, ".extra")) {
				continue // any keys go here
			}
			tried++
			require.Error(t, err, "%s: %v", n.path, other)
			for _, field := range fields(t, err) {
				assert.True(t, strings.HasPrefix(field, n.path), "%s: %v", n.path, err)
			}
			plain(t, err)
		}
	}
	assert.Greater(t, tried, 250)
}

// A log that is restored tells the path from the snapshot on.
func TestASnapshotIsRefusedByPath(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	config := twoDebaters()
	config.ID = "one"
	l := playedLog(t, config)
	engine, _ := engineFor(config)
	restore := func(change func(start map[string]any)) error {
		var tree map[string]any
		require.NoError(t, json.Unmarshal(snapshot(t, l.id, l.events), &tree))
		change(tree["events"].([]any)[0].(map[string]any)["body"].(map[string]any))
		_, err := engine.Restore(t.Context(), []byte(toJSON(tree)))
		plain(t, err)
		return err
	}
	configured := func(change func(c map[string]any)) error {
		return restore(func(start map[string]any) { change(start["config"].(map[string]any)) })
	}
	assert.Equal(t, []string{"events[0].body.config.topic", "events[0].body.config.topik"},
		fields(t, configured(func(c map[string]any) { c["topik"], c["topic"] = c["topic"], 7 })))
	assert.Equal(t, []string{"events[0].body.config.budget.hard", "events[0].body.config.retry.bsae", "events[0].body.config.turnTimeout"},
		fields(t, configured(func(c map[string]any) {
			c["budget"], c["retry"], c["turnTimeout"] = map[string]any{"hard": "x"}, map[string]any{"bsae": 1}, "5"
		})))
	assert.Equal(t, []string{"events[0].body.config.participants[1].name", "events[0].body.config.topic"},
		fields(t, configured(func(c map[string]any) {
			c["topic"], c["participants"].([]any)[1].(map[string]any)["name"] = "", "Ada"
		})), "of what is not right though it reads")
	assert.Equal(t, []string{"events[0].body.frozen.phases"},
		fields(t, restore(func(start map[string]any) { start["frozen"].(map[string]any)["phases"] = []any{} })))
	assert.Equal(t, []string{"events[0].body.models.test/debater.input", "events[0].body.modles"},
		fields(t, restore(func(start map[string]any) {
			start["modles"], start["models"] = 1, map[string]any{"test/debater": map[string]any{"input": "x"}}
		})))

	var tree any
	require.NoError(t, json.Unmarshal(snapshot(t, l.id, l.events), &tree))
	tried, step := 0, longform.Or(1, 4)
	for i, n := range nodes("", tree) {
		if i%step != 0 {
			continue
		}
		if strings.Contains(n.path, ".texts") || strings.Contains(n.path, ".data") || n.path == "version" {
			continue
		}
		var other any = true
		if _, ok := n.value.(bool); ok {
			other = 1.25
		}
		n.put(other)
		_, err := engine.Restore(t.Context(), []byte(toJSON(tree)))
		n.put(n.value)
		tried++
		require.Error(t, err, n.path)
		assert.Equal(t, []string{n.path}, fields(t, err))
		plain(t, err)
	}
	assert.Greater(t, tried, 300/step*3/4)
}

func TestHeadsOfSnapshotsArePlain(t *testing.T) {
	engine, _ := engineFor(twoDebaters())
	for text, says := range map[string]string{
		`[]`:              "this is no snapshot: it is no object",
		`"text"`:          "this is no snapshot: it is no object",
		`{"version":"1"}`: "version: is not a whole number",
		`{"version":1.5}`: "version: is not a whole number",
		`{`:               "this is no snapshot: unexpected end",
		`{"version":1,"id":3,"events":{}}`: "debate: validation: restore: id: is a number, not a text\n" +
			"debate: validation: restore: events: is an object, not a list",
		`{"version":1,"id":"a","id":"b","events":[]}`: "restore: id: stands there twice",
		`{"version":1,"id":"a","more":1,"events":[]}`: "restore: more: is not a known key",
		`{"version":1,"id":"a","events":[]}`:          "restore: events: is empty",
		`{"version":1,"id":"a","events":[`:            "this is no snapshot: unexpected end",
		`{"version":1,"id":"a","events":[]} x`:        "this is no snapshot: invalid character",
	} {
		_, err := engine.Restore(t.Context(), []byte(text))
		require.ErrorContains(t, err, says)
		plain(t, err)
	}
}

// flowPart is a config of a flow as a host may write it, with all that encoding/json allows.
type flowPart struct {
	base
	*more

	Name    string
	Renamed int            `json:"other,omitempty"`
	Quoted  int            `json:"quoted,string"`
	Hidden  int            `json:"-"`
	Any     any            `json:"any"`
	Bytes   []byte         `json:"bytes"`
	Pair    [2]int         `json:"pair"`
	Big     *big.Int       `json:"big"`
	At      *time.Time     `json:"at"`
	Small   uint8          `json:"small"`
	Config  *debate.Config `json:"config"`
	own     int
}

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
		assert.Equal(t, []string{want}, fields(t, err), text)
		plain(t, err)
	}
	var pointed struct{ *more }
	assert.Equal(t, []string{"flag"}, fields(t, flow.DecodeStrict("read config", []byte(`{"flag":1}`), &pointed)))
	for _, into := range []any{nil, part, (*flowPart)(nil)} {
		assert.Error(t, flow.DecodeStrict("read config", []byte(`{}`), into), "%T cannot be written to", into)
	}
}

// A flow's problems with its config are told one by one, by their paths; in a log they are those of its first event.
func TestAFlowsPartIsRefusedByPath(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	config, engine, _ := newSurvey(t)
	l := logOf(t, engine, run(t, engine, config).ID)
	imported := func(text string) error {
		events := l.copied(t)
		as[flow.Start](events[0]).Config = flow.Value{JSON: json.RawMessage(text)}
		_, other, _ := newSurvey(t)
		_, err := other.Import(t.Context(), bytes.NewReader(snapshot(t, l.id, events)))
		return err
	}
	const head = `{"topic":"How was the debate?","people":["Ada","Ben"],"model":"test/any"`
	_, err := engine.Flows["survey"].Decode([]byte(head + `,"part":{"depth":"x","pair":{},"deep":1}}`))
	assert.Equal(t, []string{"part.deep", "part.depth", "part.pair"}, fields(t, err))
	const at = "events[0].body.config."
	err = imported(head + `,"part":{"depth":"x","pair":{},"deep":1}}`)
	assert.Equal(t, []string{at + "part.deep", at + "part.depth", at + "part.pair"}, fields(t, err))
	plain(t, err)
	require.NoError(t, imported(head+`,"part":{"depth":1}}`))
	require.NoError(t, imported(head+`}`))
	config.Tone = json.RawMessage(`"` + strings.Repeat("x", 16<<20) + `"`)
	assert.Len(t, fields(t, engine.Validate(t.Context(), config)), 1)
}
