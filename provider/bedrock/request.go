package bedrock

import (
	"encoding/json"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/wire"
)

// answerTool is the tool that stands for a schema: models that accept no schema have to answer by calling
// it.
const answerTool = "answer"

// between stands between two messages of the assistant, where the API requires a user's.
const between = "(The conversation goes on.)"

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
func (p *Provider) request(req *provider.Request, t *wire.Terms) (*converse, error) {
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
			return nil, wire.Unwritable("model_fields", "ModelFields is not a JSON object")
		}
	}
	req, err := wire.Form{ID: f.id(), Beside: !f.alone, NoSystem: t.Leaves(wire.OptionSystem)}.Request(req)
	if err != nil {
		return nil, err
	}
	if req.System != "" {
		w.System = []content{{Text: req.System}}
	}
	c := conversation{family: f, owner: p.owner(req.Model)}
	c.view(req)
	view := c.blocks()
	c.say(&req.Last, false)
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

// conversation collects messages. Neighbouring messages of one role become blocks of one message.
type conversation struct {
	family family
	owner  wire.Owner
	turns  []turn
	called []string // names of tools, each once
}

// view writes the messages of a request that is in its form.
func (c *conversation) view(req *provider.Request) {
	for i := range req.Messages {
		switch m := &req.Messages[i]; {
		case m.ToolResult != nil:
			c.add(user, content{ToolResult: c.result(m.ToolResult)})
		case len(m.ToolCalls) > 0:
			c.call(m)
		default:
			c.say(m, req.Own(m))
		}
	}
}

// say adds the text of a message.
func (c *conversation) say(m *provider.Message, own bool) {
	switch {
	case m.Text == "":
	case own:
		c.add(assistant, content{Text: m.Text})
	default:
		c.add(user, content{Text: m.Enclosed()})
	}
}

func (c *conversation) add(role string, block content) {
	last := len(c.turns) - 1
	if last < 0 || c.turns[last].Role != role {
		c.turns = append(c.turns, turn{Role: role})
		last++
	}
	c.turns[last].Content = append(c.turns[last].Content, block)
}

// blocks returns the number of blocks.
func (c *conversation) blocks() int {
	n := 0
	for i := range c.turns {
		n += len(c.turns[i].Content)
	}
	return n
}
