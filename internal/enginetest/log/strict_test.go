package log_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
)

// A log that is restored tells the path from the snapshot on.
func TestASnapshotIsRefusedByPath(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	config := stage.TwoDebaters()
	config.ID = "one"
	l := stage.PlayedLog(t, config)
	engine, _ := stage.Engine(config)
	restore := func(change func(start map[string]any)) error {
		var tree map[string]any
		require.NoError(t, json.Unmarshal(stage.Snapshot(t, l.ID, l.Events), &tree))
		change(tree["events"].([]any)[0].(map[string]any)["body"].(map[string]any))
		_, err := stage.Restore(t.Context(), engine, []byte(stage.JSON(tree)))
		stage.NamesNoTypes(t, err)
		return err
	}
	configured := func(change func(c map[string]any)) error {
		return restore(func(start map[string]any) { change(start["config"].(map[string]any)) })
	}
	assert.Equal(t, []string{"events[0].body.config.topic", "events[0].body.config.topik"},
		stage.FieldsOf(t, configured(func(c map[string]any) { c["topik"], c["topic"] = c["topic"], 7 })))
	assert.Equal(t, []string{"events[0].body.config.budget.hard", "events[0].body.config.retry.bsae", "events[0].body.config.turnTimeout"},
		stage.FieldsOf(t, configured(func(c map[string]any) {
			c["budget"], c["retry"], c["turnTimeout"] = map[string]any{"hard": "x"}, map[string]any{"bsae": 1}, "5"
		})))
	assert.Equal(t, []string{"events[0].body.config.participants[1].name", "events[0].body.config.topic"},
		stage.FieldsOf(t, configured(func(c map[string]any) {
			c["topic"], c["participants"].([]any)[1].(map[string]any)["name"] = "", "Ada"
		})), "of what is not right though it reads")
	assert.Equal(t, []string{"events[0].body.frozen.phases"},
		stage.FieldsOf(t, restore(func(start map[string]any) { start["frozen"].(map[string]any)["phases"] = []any{} })))
	assert.Equal(t, []string{"events[0].body.models.test/debater.input", "events[0].body.modles"},
		stage.FieldsOf(t, restore(func(start map[string]any) {
			start["modles"], start["models"] = 1, map[string]any{"test/debater": map[string]any{"input": "x"}}
		})))

	var tree any
	require.NoError(t, json.Unmarshal(stage.Snapshot(t, l.ID, l.Events), &tree))
	tried, step := 0, longform.Or(1, 4)
	for i, n := range stage.Nodes("", tree) {
		if i%step != 0 {
			continue
		}
		if strings.Contains(n.Path, ".texts") || strings.Contains(n.Path, ".data") || n.Path == "version" {
			continue
		}
		var other any = true
		if _, ok := n.Value.(bool); ok {
			other = 1.25
		}
		n.Put(other)
		_, err := stage.Restore(t.Context(), engine, []byte(stage.JSON(tree)))
		n.Put(n.Value)
		tried++
		require.Error(t, err, n.Path)
		assert.Equal(t, []string{n.Path}, stage.FieldsOf(t, err))
		stage.NamesNoTypes(t, err)
	}
	assert.Greater(t, tried, 300/step*3/4)
}

func TestHeadsOfSnapshotsArePlain(t *testing.T) {
	engine, _ := stage.Engine(stage.TwoDebaters())
	for text, says := range map[string]string{
		`[]`:              "this is no snapshot: it is no object",
		`"text"`:          "this is no snapshot: it is no object",
		`{"version":"1"}`: "version: is not a whole number",
		`{"version":1.5}`: "version: is not a whole number",
		`{`:               "this is no snapshot: unexpected end",
		`{"version":1,"id":3,"events":{}}`: "debate: validation: restore: id: is a number, not a text\n" +
			"debate: validation: restore: events: is an object, not a list",
		`{"version":1,"id":"a","id":"b","events":[]}`: "restore: id: is a duplicate",
		`{"version":1,"id":"a","more":1,"events":[]}`: "restore: more: is not a known key",
		`{"version":1,"id":"a","events":[]}`:          "restore: events: is empty",
		`{"version":1,"id":"a","events":[`:            "this is no snapshot: unexpected end",
		`{"version":1,"id":"a","events":[]} x`:        "this is no snapshot: invalid character",
	} {
		_, err := stage.Restore(t.Context(), engine, []byte(text))
		require.ErrorContains(t, err, says)
		stage.NamesNoTypes(t, err)
	}
}
