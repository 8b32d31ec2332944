package deliberation_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// A stored config offers an agent a tool without a name, and its model calls that. The deliberation ends with an error
// that names the agent.
func TestAStoredConfigWithAToolWithoutAName(t *testing.T) {
	look, err := flow.NewTool(flow.ToolInfo{Description: "looks", ReadOnly: true}, func(context.Context, flow.ToolUse, struct{}) (string, error) { return "", nil })
	require.NoError(t, err)
	config := three()
	config.Agents[0].Tools = &[]string{"look"}
	engine, _ := engineFor(nil)
	engine.Tools = map[string]flow.Tool{"look": look}
	id := play(t, engine, config).ID
	first := events(t, engine, id)[:3]
	line := new(bytes.Buffer)
	require.NoError(t, first[0].WriteLine(line))
	spoiled := bytes.Replace(line.Bytes(), []byte(`"tools":["look"]`), []byte(`"tools":[null]`), 1)
	require.NotEqual(t, line.Bytes(), spoiled)
	require.NoError(t, json.Unmarshal(spoiled, &first[0]))
	require.NotNil(t, body.As[flow.Start](first[0]))

	engine, p := engineFor(nil)
	p.Reply = func(*provider.Request) scripted.Reply {
		return scripted.Reply{Calls: []provider.ToolCall{{ID: "1", Arguments: json.RawMessage(`{}`)}}}
	}
	engine.Tools, engine.Store = map[string]flow.Tool{"look": look}, &store.Memory{}
	require.NoError(t, engine.Store.Append(t.Context(), id, 0, "w", first))
	session := stage.Reopen(t, engine, id)
	record, err := session.Wait(t.Context())
	require.NoError(t, session.Close())
	require.ErrorContains(t, err, `the tool ""`)
	assert.Equal(t, flow.StateError, record.State)
	assert.Equal(t, config.Agents[0].ID, record.Failure.Participant)
	assert.Less(t, record.Seq, int64(20))
	assert.Zero(t, p.Calls())
}

// A config that names a tool without a name is refused before.
func TestAConfigWithAToolWithoutAName(t *testing.T) {
	for _, names := range []string{`[null]`, `[""]`} {
		config := three()
		config.Agents[0].Tools = new([]string)
		require.NoError(t, json.Unmarshal([]byte(names), config.Agents[0].Tools))
		engine, _ := engineFor(nil)
		require.ErrorContains(t, engine.Validate(t.Context(), config), "agents[0].tools[0]: is empty")
	}
}
