package bedrock

import (
	"encoding/json"
	"slices"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

const maxID = 64 // characters of the id of a tool call

type toolConfig struct {
	Tools  []tool      `json:"tools"`
	Choice *toolChoice `json:"toolChoice,omitempty"`
}

type tool struct {
	Spec toolSpec `json:"toolSpec"`
}

type toolSpec struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Schema      struct {
		JSON json.RawMessage `json:"json"`
	} `json:"inputSchema"`
}

type toolChoice struct {
	Tool struct {
		Name string `json:"name"`
	} `json:"tool"`
}

type toolUse struct {
	ID    string          `json:"toolUseId"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type toolResult struct {
	ID      string    `json:"toolUseId"`
	Content []content `json:"content"`
	Status  string    `json:"status,omitempty"` // "error"
}

// tools writes the tools that the model may call. called names those that it has called before: the API
// refuses calls in a conversation without a list of tools. So if none are offered any more, the list has
// these, with the remark that they are not.
func tools(offered []provider.Tool, called []string) *toolConfig {
	var list toolConfig
	for _, t := range offered {
		spec := toolSpec{Name: t.Name, Description: t.Description}
		spec.Schema.JSON = t.Parameters
		list.Tools = append(list.Tools, tool{spec})
	}
	if len(offered) == 0 {
		for _, name := range called {
			spec := toolSpec{Name: name, Description: "Not available any more. Do not call it."}
			spec.Schema.JSON = json.RawMessage(`{"type":"object","properties":{}}`)
			list.Tools = append(list.Tools, tool{spec})
		}
	}
	if len(list.Tools) == 0 {
		return nil
	}
	return &list
}

// call adds a message in which the speaker called tools.
func (c *conversation) call(m *provider.Message) {
	for i := range m.ToolCalls {
		t := &m.ToolCalls[i]
		thoughts := unseal(t.Opaque, c.owner)
		if n := len(c.turns); i == 0 && n > 0 && c.turns[n-1].Role == assistant {
			// A message that calls tools begins with its thoughts, and has nothing but text before its calls.
			c.add(user, content{Text: between})
		}
		for _, one := range thoughts {
			c.add(assistant, content{Reasoning: one})
		}
		if i == 0 && m.Text != "" {
			c.add(assistant, content{Text: m.Text})
		}
		if !slices.Contains(c.called, t.Name) {
			c.called = append(c.called, t.Name)
		}
		c.add(assistant, content{ToolUse: &toolUse{ID: t.ID, Name: t.Name, Input: t.Arguments}})
	}
}

// result writes the result of a tool call. That a tool failed is said in words where the model has no
// field for it.
func (c *conversation) result(r *provider.ToolResult) *toolResult {
	text := r.Text
	w := &toolResult{ID: r.ID}
	switch {
	case r.Error && c.family.noStatus:
		text = "Error: " + text
	case r.Error:
		w.Status = "error"
	}
	w.Content = []content{{Text: text}}
	return w
}

// id returns how the ids of calls are made valid: for some models they have '.' and ':' too.
func (f *family) id() func(id string, n int) string {
	if f.strictIDs {
		return wire.PlainID(maxID, "")
	}
	return wire.PlainID(maxID, ".:")
}
