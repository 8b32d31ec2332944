package deliberation_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	promptpkg "github.com/agonist-dev/debate/prompt"
)

// registered is an engine that has everything.
type registered struct{}

func (registered) Function(string) error { return nil }
func (registered) Model(string) error    { return nil }

// FuzzConfig: whatever a config says, it is refused with errors that name their fields, or normalized. The flow reads
// what it has normalized, and normalizes it to the same.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		toJSON(three()), `{}`, `{"problem":"x","agents":[{"id":"a"},{"id":"b"}]}`,
		`{"problem":"x","agents":[{"id":"a","model":"t/a"},{"id":"b","model":"t/b"}],"judge":{"model":"t/j"},"topology":{"kind":"nearest","k":1}}`,
		`{"problem":"x","roles":[{"name":"r","system":"s"}],"agents":[{"id":"a","model":"t/a","role":"r"}],"termination":{"threshold":1e999}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var config deliberation.Config
		if err := json.Unmarshal(data, &config); err != nil {
			return
		}
		for i := range config.Agents {
			config.Agents[i].PromptFile = ""
		}
		config.Judge.PromptFile = ""
		kind := deliberation.Flow()
		normalized, err := kind.Normalize(&config)
		require.NoError(t, err)
		if found := kind.Check(normalized, nil, registered{}); len(found) > 0 {
			for _, field := range fields(t, errors.Join(found...)) {
				assert.NotEmpty(t, field)
			}
			return
		}
		read, err := kind.Decode([]byte(toJSON(normalized)))
		require.NoError(t, err)
		assert.JSONEq(t, toJSON(normalized), toJSON(read))
		again, err := kind.Normalize(read)
		require.NoError(t, err)
		assert.JSONEq(t, toJSON(normalized), toJSON(again), "what is normalized stays as it is")
		texts, err := kind.Texts(flow.Setup{Config: normalized, Prompts: sets(t), Fence: "1234567890"})
		require.NoError(t, err)
		for name, text := range texts {
			assert.NotEmpty(t, text, name)
		}
	})
}

// sets returns the templates of a deliberation.
func sets(t *testing.T) *promptpkg.Set {
	t.Helper()
	set, err := promptpkg.Parse(nil, deliberation.Flow().Prompts)
	require.NoError(t, err)
	return set
}

// FuzzFrozen: the config of a hostile log is refused or read, and its prompts can be rendered.
func FuzzFrozen(f *testing.F) {
	settled, err := deliberation.Flow().Normalize(new(three()))
	require.NoError(f, err)
	f.Add([]byte(toJSON(settled)))
	f.Add([]byte(`{"problem":"x","agents":[{"id":"a"},{"id":"a"}],"termination":{"kind":"fixed"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		kind := deliberation.Flow()
		config, err := kind.Decode(data)
		if err != nil {
			return
		}
		_ = kind.Check(config, nil, registered{})
		_, err = kind.Texts(flow.Setup{Config: config, Prompts: sets(t), Fence: "1"})
		require.NoError(t, err)
		engine, _ := engineFor(nil)
		core := stage.CoreOf(t, engine, "frozen", []flow.Event{{Seq: 1, Body: &flow.Start{
			Version: 1, Flow: kind.Name, FlowVersion: kind.Version, Config: flow.Value{JSON: data}, Settings: config.Settings(),
		}}})
		d := view(core.Record())
		require.NoError(t, d.Fold(&flow.Event{Body: &flow.Transition{}}))
		assert.NotEmpty(t, d.Prompts())
	})
}
