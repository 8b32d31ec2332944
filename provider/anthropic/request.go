package anthropic

import (
	"cmp"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// form returns a request in the form of the API. Servers that put a model's chat template behind it may take no text beside results.
func form(req *provider.Request, t *wire.Terms) (*provider.Request, error) {
	f := wire.Form{ID: wire.PlainID(callID, ""), Beside: !t.Leaves(wire.OptionRoles), NoSystem: t.Leaves(wire.OptionSystem)}
	return f.Request(req)
}

// request writes a request that is in its form.
func (p *Provider) request(req *provider.Request, t *wire.Terms) *request {
	maxTokens := int64(cmp.Or(req.MaxTokens, DefaultMaxTokens))
	c := conversation{owner: p.owner()}
	c.view(req)
	plan := p.plan(req, maxTokens)
	thinking := plan.option(maxTokens, c.turns)
	thinks := thinking.thinks()
	if (plan.budget > 0 || plan.off != "") && !thinks { // a model that does not think gets no thoughts
		c = conversation{}
		c.view(req)
	}
	view := c.blocks()
	c.say(&req.Last, false)

	w := &request{
		MaxTokens: maxTokens,
		Messages:  make([]any, len(c.turns)),
		Model:     req.Model,
		Thinking:  thinking,
		Tools:     tools(req.Tools),
		Stream:    true,
	}
	if p.Vertex != "" {
		w.Model, w.Version = "", versionVertex
	}
	if req.System != "" {
		w.System = []content{said(req.System)}
	}
	if !thinks {
		w.Temperature = req.Temperature
	}
	w.OutputConfig.Effort = plan.effort
	if req.Schema != nil {
		w.OutputConfig.Format = format(req.Schema, t)
	}
	if req.Options != nil && req.Options.Search {
		w.Tools = append(w.Tools, tool{Name: searchName, Type: "web_search_20250305"})
	}
	if !p.NoCache {
		p.mark(w, c.turns, view)
	}
	for i := range c.turns {
		w.Messages[i] = c.turns[i]
	}
	return w
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// between separates the speaker's own words from a call of the next turn, whose thoughts have to begin a
// message.
const between = "(The conversation goes on.)"

// conversation collects messages. Neighbouring messages of one role become blocks of one message.
type conversation struct {
	turns []turn
	owner wire.Owner // of the thoughts that are sent; zero: none are
}

// view writes the messages of a request that is in its form.
func (c *conversation) view(req *provider.Request) {
	for i := range req.Messages {
		switch m := &req.Messages[i]; {
		case m.ToolResult != nil:
			c.add(user, result(m.ToolResult))
		case len(m.ToolCalls) > 0:
			c.call(m)
		default:
			c.say(m, req.Own(m))
		}
	}
}

// say adds the files and the text of a message.
func (c *conversation) say(m *provider.Message, own bool) {
	c.parts(m)
	switch {
	case m.Text == "":
	case own:
		c.add(assistant, said(m.Text))
	default:
		c.add(user, said(m.Enclosed()))
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
