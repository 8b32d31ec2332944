package debate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
)

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
		"a duration as a number": {`{"roundTimeout":5}`, []string{"roundTimeout"}, "is a number, not a text"},
		"an amount":              {`{"budget":{"hard":"x"}}`, []string{"budget.hard"}, "is not an amount of USD"},
		"an amount too exact":    {`{"budget":{"soft":1.0000000000000000000000001}}`, []string{"budget.soft"}, "at most 12 decimals"},
		"an amount of nothing":   {`{"budget":{"soft":null}}`, []string{"budget.soft"}, "is not an amount of USD"},
		"a budget's":             {`{"budget":{"hrad":1,"hardTime":"z"}}`, []string{"budget.hardTime", "budget.hrad"}, "is not a known key"},
		"a retry policy's":       {`{"retry":{"bsae":"1s","cap":1,"max":{"network":"3"}}}`, []string{"retry.bsae", "retry.cap", "retry.max.network"}, "is a text, not a number"},
		"a text":                 {`{"topic":1}`, []string{"topic"}, "is a number, not a text"},
		"a number":               {`{"temperature":"hot"}`, []string{"temperature"}, "is a text, not a number"},
		"a fraction":             {`{"rounds":1.5}`, []string{"rounds"}, "is 1.5, not a whole number"},
		"a number too large":     {`{"rounds":99999999999999999999}`, []string{"rounds"}, "out of range"},
		"a truth":                {`{"truncateTurns":"yes"}`, []string{"truncateTurns"}, "is a text, not true or false"},
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
			assert.Equal(t, c.fields, stage.FieldsOf(t, err))
			assert.ErrorContains(t, err, c.says)
			assert.Contains(t, err.Error(), "read config: ")
			stage.NamesNoTypes(t, err)
			assert.Equal(t, debate.Config{Topic: "kept"}, kept)
		})
	}
}

// Parts that are read by themselves tell paths from themselves on.
func TestPartsOfAConfigAreRefusedByPath(t *testing.T) {
	var budget debate.Budget
	assert.Equal(t, []string{"hard", "hrad"}, stage.FieldsOf(t, budget.UnmarshalJSON([]byte(`{"hard":"x","hrad":1}`))))
	var policy debate.RetryPolicy
	assert.Equal(t, []string{"base", "max.network"}, stage.FieldsOf(t, policy.UnmarshalJSON([]byte(`{"base":"x","max":{"network":0.5}}`))))
	_, err := format.Parse([]byte(`{"name":7,"phases":[{"slots":[{"minute":1}]}],"rounds":"2"}`))
	assert.Equal(t, []string{"name", "phases[0].slots[0].minute", "rounds"}, stage.FieldsOf(t, err))
}

// A hostile text has any number of problems, and an error has little of them.
func TestFewProblemsAreTold(t *testing.T) {
	longform.Lone(t)
	key := strings.Repeat("k\u202e\n", 200)
	var text strings.Builder
	for i := range 5_000 {
		fmt.Fprintf(&text, `,%s:1,`, stage.JSON(key+fmt.Sprint(i)))
		fmt.Fprintf(&text, `"%d":[]`, i)
	}
	var config debate.Config
	err := config.UnmarshalJSON([]byte(`{"participants":[` + strings.TrimSuffix(strings.Repeat(`1,`, 60), ",") + `]` + text.String() + `}`))
	assert.Len(t, stage.FieldsOf(t, err), 50)
	assert.Less(t, len(err.Error()), 10_000)
	assert.NotContains(t, err.Error(), "\u202e")

	err = config.UnmarshalJSON([]byte(`{"watch":[` + strings.TrimSuffix(strings.Repeat(`1,`, 60), ",") + `],"zeal":1}`))
	assert.Len(t, stage.FieldsOf(t, err), 50, "in a list too")
	var list []string
	assert.Len(t, stage.FieldsOf(t, flow.DecodeStrict("read config", []byte(`[`+strings.TrimSuffix(strings.Repeat(`1,`, 60), ",")+`]`), &list)), 50)

	stage.Soon(t, func() { // a long key costs nothing for each of what it holds
		label := stage.JSON(strings.Repeat("x", 1<<20))
		edges := `{"customFormat":{"reads":{"edges":{` + label + `:[` + strings.Repeat(`"Ada",`, 100_000) + `1]}}}}`
		assert.Len(t, stage.FieldsOf(t, config.UnmarshalJSON([]byte(edges))), 1)
	})
}

// Wherever a value of another kind stands, the error names the place.
func TestEveryWrongKindIsToldByItsPath(t *testing.T) {
	t.Parallel()
	var tree any
	config := full()
	config.Budget.Hard = debate.USD // which a float64 holds
	require.NoError(t, json.Unmarshal([]byte(stage.JSON(config)), &tree))
	tried := 0
	for _, n := range stage.Nodes("", tree) {
		if strings.HasPrefix(n.Path, "flowConfig") {
			continue // the flow's
		}
		for _, other := range []any{true, 1.25, "x", []any{[]any{}}, map[string]any{"misspelt": 1}} {
			if fmt.Sprintf("%T", other) == fmt.Sprintf("%T", n.Value) && fmt.Sprintf("%T", other) != "map[string]interface {}" {
				continue // of the same kind
			}
			if strings.Contains(n.Path, ".extra.") {
				continue // any value goes there
			}
			n.Put(other)
			var config debate.Config
			err := config.UnmarshalJSON([]byte(stage.JSON(tree)))
			n.Put(n.Value)
			if _, ok := other.(map[string]any); ok && (n.Path == "labels" || n.Path == "retry.max" || strings.HasSuffix(n.Path, ".extra")) {
				continue // any keys go here
			}
			tried++
			require.Error(t, err, "%s: %v", n.Path, other)
			for _, field := range stage.FieldsOf(t, err) {
				assert.True(t, strings.HasPrefix(field, n.Path), "%s: %v", n.Path, err)
			}
			stage.NamesNoTypes(t, err)
		}
	}
	assert.Greater(t, tried, 250)
}
