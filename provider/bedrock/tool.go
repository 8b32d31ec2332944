package bedrock

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/provider"
)

// noResult stands in for a missing result: the API requires one for each call.
const noResult = "The tool gave no result."

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
		spec.Schema.JSON = parameters(t.Parameters)
		list.Tools = append(list.Tools, tool{spec})
	}
	if len(offered) == 0 {
		for _, name := range called {
			spec := toolSpec{Name: name, Description: "Not available any more. Do not call it."}
			spec.Schema.JSON = parameters(nil)
			list.Tools = append(list.Tools, tool{spec})
		}
	}
	if len(list.Tools) == 0 {
		return nil
	}
	return &list
}

// parameters returns the schema of a tool's arguments, which has to be one of objects.
func parameters(schema json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(schema)) == 0 || string(bytes.TrimSpace(schema)) == "{}" {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return schema
}

// calling reports whether a message holds tool calls of self.
func calling(m *provider.Message, self string) bool {
	return len(m.ToolCalls) > 0 && m.Speaker != "" && m.Speaker == self
}

// call adds a message in which the speaker called tools, and after it all results in one message, as the
// API requires. It looks for the results in following, up to the speaker's next calls, and records them
// in sent.
func (c *conversation) call(m *provider.Message, following []provider.Message, self string, sent map[*provider.ToolResult]bool) {
	for i := range following {
		if calling(&following[i], self) {
			following = following[:i]
			break
		}
	}
	ids := make([]string, len(m.ToolCalls))
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
		if i == 0 && !blank(m.Text) {
			c.add(assistant, content{Text: m.Text})
		}
		if !slices.Contains(c.called, t.Name) {
			c.called = append(c.called, t.Name)
		}
		ids[i] = c.id(t.ID)
		c.add(assistant, content{ToolUse: &toolUse{ID: ids[i], Name: t.Name, Input: object(t.Arguments)}})
	}
	for i := range m.ToolCalls {
		c.add(user, content{ToolResult: c.result(ids[i], find(m.ToolCalls[i].ID, following, sent))})
	}
}

// find looks for the result of a call that has not been written yet.
func find(id string, in []provider.Message, sent map[*provider.ToolResult]bool) *provider.ToolResult {
	for i := range in {
		if r := in[i].ToolResult; r != nil && r.ID == id && !sent[r] {
			sent[r] = true
			return r
		}
	}
	return nil
}

// result writes the result of a tool call. That a tool failed is said in words where the model has no
// field for it.
func (c *conversation) result(id string, r *provider.ToolResult) *toolResult {
	if r == nil {
		r = &provider.ToolResult{Text: noResult, Error: true}
	}
	text := r.Text
	if blank(text) {
		text = "(empty)" // the API refuses blank text
	}
	w := &toolResult{ID: id}
	switch {
	case r.Error && c.family.noStatus:
		text = "Error: " + text
	case r.Error:
		w.Status = "error"
	}
	w.Content = []content{{Text: text}}
	return w
}

// id turns the id of a call into one that the model accepts and that was not used before: letters,
// digits, '_' and '-', for some models '.' and ':' too. The models' own ids stay unchanged.
func (c *conversation) id(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		case !c.family.strictIDs && (r == '.' || r == ':'):
			return r
		}
		return '_'
	}, s)
	if s == "" {
		s = "call"
	}
	s = s[:min(len(s), maxID)]
	id := s
	for n := 2; c.ids[id]; n++ {
		suffix := "_" + strconv.Itoa(n)
		id = s[:min(len(s), maxID-len(suffix))] + suffix
	}
	if c.ids == nil {
		c.ids = map[string]bool{}
	}
	c.ids[id] = true
	return id
}

// object returns the arguments of a call if they are a JSON object; the API accepts nothing else.
func object(arguments json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(arguments, &fields) != nil || fields == nil {
		return json.RawMessage("{}")
	}
	return arguments
}
