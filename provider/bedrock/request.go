package bedrock

import (
	"encoding/json"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/wire"
)

// answerTool is the tool that stands for a schema: models that accept no schema have to answer by calling
// it.
const answerTool = "answer"

// These short messages stand where the API requires one.
const (
	opening = "(The conversation begins with your own words.)"
	between = "(The conversation goes on.)"
	noted   = "(The results are noted.)"
)

// The roles of the API.
const (
	user      = "user"
	assistant = "assistant"
)

// converse is the body of a request.
type converse struct {
	Messages        []turn          `json:"messages"`
	System          []content       `json:"system,omitempty"`
	InferenceConfig inference       `json:"inferenceConfig,omitzero"`
	ToolConfig      *toolConfig     `json:"toolConfig,omitempty"`
	Guardrail       *Guardrail      `json:"guardrailConfig,omitempty"`
	ModelFields     json.RawMessage `json:"additionalModelRequestFields,omitempty"`
	OutputConfig    *outputConfig   `json:"outputConfig,omitempty"`
	ServiceTier     serviceTier     `json:"serviceTier,omitzero"`
}

type serviceTier struct {
	Type string `json:"type"`
}

type inference struct {
	MaxTokens     int      `json:"maxTokens,omitempty"`
	Temperature   *float64 `json:"temperature,omitempty"`
	TopP          *float64 `json:"topP,omitempty"`
	StopSequences []string `json:"stopSequences,omitempty"`
}

// turn is a message of the conversation.
type turn struct {
	Role    string    `json:"role"`
	Content []content `json:"content"`
}

// content is one block. Exactly one field is set.
type content struct {
	Text       string      `json:"text,omitempty"`
	ToolUse    *toolUse    `json:"toolUse,omitempty"`
	ToolResult *toolResult `json:"toolResult,omitempty"`
	Reasoning  *reasoned   `json:"reasoningContent,omitempty"`
	CachePoint *cachePoint `json:"cachePoint,omitempty"`
}

type cachePoint struct {
	Type string `json:"type"` // "default"
}

type outputConfig struct {
	TextFormat struct {
		Type      string `json:"type"` // "json_schema"
		Structure struct {
			Schema jsonSchema `json:"jsonSchema"`
		} `json:"structure"`
	} `json:"textFormat"`
}

type jsonSchema struct {
	Name   string `json:"name,omitempty"`
	Schema string `json:"schema"` // JSON in a string
}

// answering reports whether the model has to answer by calling a tool.
func (w *converse) answering() bool { return w.ToolConfig != nil && w.ToolConfig.Choice != nil }

// request writes a request.
func (p *Provider) request(req *provider.Request) (*converse, error) {
	f := p.family(req.Model)
	w := &converse{
		InferenceConfig: inference{MaxTokens: max(req.MaxTokens, 0), Temperature: req.Temperature},
		Guardrail:       p.Guardrail,
		ServiceTier:     serviceTier{p.ServiceTier},
		ModelFields:     p.ModelFields,
	}
	if err := w.options(req); err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if len(p.ModelFields) > 0 {
		if json.Unmarshal(p.ModelFields, &fields) != nil {
			return nil, unsendable("model_fields", "ModelFields is not a JSON object")
		}
	}
	if !blank(req.System) {
		w.System = []content{{Text: req.System}}
	}
	c := conversation{family: f, owner: p.owner(req.Model)}
	c.view(req)
	view := c.blocks()
	c.chat(&provider.Request{Last: req.Last})
	w.Messages = c.turns
	w.ToolConfig = tools(req.Tools, c.called)
	if req.Schema != nil {
		asked := req.Options != nil && req.Options.Extra["additionalModelRequestFields"] != nil
		if asked || fields["thinking"] != nil || fields["reasoningConfig"] != nil {
			f.choice = false // a model that thinks refuses to be told which tool to call
		}
		w.form(req.Schema, f)
	}
	if f.cache {
		w.mark(view)
	}
	return w, nil
}

// form asks for a reply that matches a schema: in a format for the reply, or by a tool that has to be
// called. A request with tools of its own, or for a model that has neither, goes without the schema; the
// engine validates the reply in any case.
func (w *converse) form(s *provider.Schema, f family) {
	strict, ok := openaicompat.StrictSchema(s.JSON, nil)
	switch {
	case f.schema && ok:
		w.OutputConfig = &outputConfig{}
		w.OutputConfig.TextFormat.Type = "json_schema"
		w.OutputConfig.TextFormat.Structure.Schema = jsonSchema{Name: s.Name, Schema: string(strict)}
	case f.choice && w.ToolConfig == nil && isObject(s.JSON):
		answer := toolSpec{Name: answerTool, Description: "Gives your answer. Call it exactly once."}
		answer.Schema.JSON = s.JSON
		w.ToolConfig = &toolConfig{Tools: []tool{{answer}}, Choice: &toolChoice{}}
		w.ToolConfig.Choice.Tool.Name = answerTool
	}
}

// isObject reports whether a schema is one of objects, as the arguments of a tool have to be.
func isObject(schema json.RawMessage) bool {
	var s struct {
		Type json.RawMessage `json:"type"`
	}
	return json.Unmarshal(schema, &s) == nil && string(s.Type) == `"object"`
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// conversation collects messages. Neighbouring messages of one role become blocks of one message.
type conversation struct {
	family family
	owner  wire.Owner
	turns  []turn
	ids    map[string]bool // of tool calls, as they are sent
	called []string        // names of tools, each once
}

// view writes the messages of a request as [provider.Request.Chat] describes them. The speaker's own tool
// calls and their results have blocks of their own. Those of other speakers are left out.
func (c *conversation) view(req *provider.Request) {
	sent := map[*provider.ToolResult]bool{}
	for i := range req.Messages {
		m := &req.Messages[i]
		switch {
		case calling(m, req.Self):
			c.call(m, req.Messages[i+1:], req.Self, sent)
		case m.ToolResult != nil && sent[m.ToolResult]:
		default:
			c.chat(&provider.Request{Self: req.Self, Messages: req.Messages[i : i+1]})
		}
	}
}

// chat adds texts. Blank ones are left out, because the API refuses them.
func (c *conversation) chat(part *provider.Request) {
	for role, text := range part.Chat() {
		switch {
		case blank(text):
		case role == provider.RoleAssistant:
			c.add(assistant, content{Text: text})
		default:
			c.add(user, content{Text: text})
		}
	}
}

func (c *conversation) add(role string, block content) {
	last := len(c.turns) - 1
	switch {
	case last < 0 && role == assistant:
		c.add(user, content{Text: opening})
		last = 0
	case last >= 0 && c.family.alone && role == user && c.turns[last].Role == user && block.ToolResult == nil && c.turns[last].results():
		c.add(assistant, content{Text: noted})
		last++
	}
	if last < 0 || c.turns[last].Role != role {
		c.turns = append(c.turns, turn{Role: role})
		last++
	}
	c.turns[last].Content = append(c.turns[last].Content, block)
}

// results reports whether a message holds results of tools.
func (t *turn) results() bool { return len(t.Content) > 0 && t.Content[0].ToolResult != nil }

// blocks returns the number of blocks.
func (c *conversation) blocks() int {
	n := 0
	for i := range c.turns {
		n += len(c.turns[i].Content)
	}
	return n
}
