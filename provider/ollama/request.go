package ollama

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

type wireRequest struct {
	Model     string          `json:"model"`
	Messages  []wireMessage   `json:"messages"`
	Stream    bool            `json:"stream"`
	Truncate  bool            `json:"truncate"`
	Shift     bool            `json:"shift"`
	Think     any             `json:"think,omitempty"`
	KeepAlive string          `json:"keep_alive,omitempty"`
	Format    json.RawMessage `json:"format,omitempty"`
	Tools     []wireTool      `json:"tools,omitempty"`
	Options   map[string]any  `json:"options,omitempty"`
}

type wireMessage struct {
	Role       string     `json:"role"`
	Images     [][]byte   `json:"images,omitempty"` // in base64; the server puts them before the text
	Content    string     `json:"content"`
	ToolCalls  []wireCall `json:"tool_calls,omitempty"`
	ToolName   string     `json:"tool_name,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type wireCall struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // an object
	} `json:"function"`
}

type wireTool struct {
	Type     string       `json:"type"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// encode writes the body of the request. Its failures are [*provider.Error] with NotSent.
func (p *Provider) encode(req *provider.Request, t *wire.Terms) ([]byte, error) {
	if err := p.vet(req); err != nil {
		return nil, err
	}
	req, err := wire.Form{NoSystem: t.Leaves(wire.OptionSystem)}.Request(req)
	if err != nil {
		return nil, err
	}
	w := wireRequest{
		Model:     req.Model,
		Messages:  messages(req),
		Stream:    true,
		Think:     p.Think,
		KeepAlive: p.keepAlive(),
		Options:   p.options(),
	}
	if len(w.Messages) == 0 { // the server would load the model and return no reply
		return nil, wire.Unwritable("request", "the request has no message")
	}
	if req.MaxTokens > 0 {
		w.Options["num_predict"] = req.MaxTokens
	}
	if req.Temperature != nil {
		w.Options["temperature"] = *req.Temperature
	}
	if err := w.ask(req); err != nil {
		return nil, err
	}
	if req.Schema != nil {
		w.Format = req.Schema.JSON
	}
	for _, t := range req.Tools {
		w.Tools = append(w.Tools, wireTool{
			Type: "function", Function: wireFunction{Name: t.Name, Description: t.Description, Parameters: t.Parameters},
		})
	}
	body, err := wire.Body(&w)
	if err != nil || req.Options == nil {
		return body, err
	}
	return wire.Extend(body, req.Options.Extra, reserved...)
}

// options returns the options of every request. The map belongs to the caller.
func (p *Provider) options() map[string]any {
	o := make(map[string]any, len(p.Options)+3)
	maps.Copy(o, p.Options)
	if p.NumCtx > 0 {
		o["num_ctx"] = p.NumCtx
	}
	return o
}

// keepAlive writes KeepAlive in the server's format. Any negative time means for ever.
func (p *Provider) keepAlive() string {
	if p.KeepAlive == 0 {
		return ""
	}
	return p.KeepAlive.String()
}

// conversation collects the messages of a request.
type conversation struct {
	list  []wireMessage
	texts []string // of the last message, while neighbours may still join it
	open  bool     // they may
}

// messages writes the conversation of a request that is in its form.
func messages(req *provider.Request) []wireMessage {
	c := conversation{list: make([]wireMessage, 0, len(req.Messages)+2)}
	if req.System != "" {
		c.say(string(provider.RoleSystem), req.System)
	}
	names := map[string]string{} // of tools, by the ids of their calls
	for i := range req.Messages {
		switch m := &req.Messages[i]; {
		case m.ToolResult != nil:
			c.add(wireMessage{
				Role: "tool", Content: wire.Told(m.ToolResult), ToolName: names[m.ToolResult.ID], ToolCallID: m.ToolResult.ID,
			})
		case len(m.ToolCalls) > 0:
			c.add(ownCalls(m, names))
		default:
			c.tell(m, req.Own(m))
		}
	}
	c.tell(&req.Last, false)
	c.settle()
	return c.list
}

// tell adds the images and the text of a message.
func (c *conversation) tell(m *provider.Message, own bool) {
	c.show(m.Parts)
	switch {
	case m.Text == "":
	case own:
		c.say(string(provider.RoleAssistant), m.Text)
	default:
		c.say(string(provider.RoleUser), m.Enclosed())
	}
}

// say adds a text. Neighbouring texts of one role become one message.
func (c *conversation) say(role, text string) {
	c.join(role)
	c.texts = append(c.texts, text)
}

// show adds images, which begin a message: the server puts them before all its text. What follows can join it.
func (c *conversation) show(parts []provider.Part) {
	if len(parts) == 0 {
		return
	}
	m := wireMessage{Role: string(provider.RoleUser)}
	for i := range parts {
		m.Images = append(m.Images, parts[i].Data)
	}
	c.add(m)
	c.open = true
}

// join returns the last message if what comes next can join it, and otherwise a new one.
func (c *conversation) join(role string) *wireMessage {
	if !c.open || c.list[len(c.list)-1].Role != role {
		c.add(wireMessage{Role: role})
		c.open = true
	}
	return &c.list[len(c.list)-1]
}

// add adds a message. A following text is joined to it only if say added it.
func (c *conversation) add(m wireMessage) {
	c.settle()
	c.list, c.open = append(c.list, m), false
}

// settle writes the texts of the last message.
func (c *conversation) settle() {
	if len(c.texts) > 0 {
		c.list[len(c.list)-1].Content = strings.Join(c.texts, "\n\n")
		c.texts = c.texts[:0]
	}
}

// ownCalls writes a message in which the speaker called tools, and records the names of the calls.
func ownCalls(m *provider.Message, names map[string]string) wireMessage {
	w := wireMessage{Role: string(provider.RoleAssistant), Content: m.Text}
	for _, call := range m.ToolCalls {
		names[call.ID] = call.Name
		out := wireCall{ID: call.ID}
		out.Function.Name, out.Function.Arguments = call.Name, call.Arguments
		w.ToolCalls = append(w.ToolCalls, out)
	}
	return w
}
