package anthropic

import (
	"cmp"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// form returns a request in the form of the API. Servers that put a model's chat template behind it may take no text beside results.
func form(req *provider.Request, t *wire.Terms) (*provider.Request, error) {
	f := wire.Form{ID: wire.PlainID(callID, ""), Beside: !t.Leaves(wire.OptionRoles), NoSystem: t.Leaves(wire.OptionSystem)}
	return f.Request(req)
}

// params writes a request that is in its form, in the SDK's types.
func (p *Provider) params(req *provider.Request, t *wire.Terms) sdk.MessageNewParams {
	maxTokens := int64(cmp.Or(req.MaxTokens, DefaultMaxTokens))
	c := conversation{owner: p.owner()}
	c.view(req)
	plan := p.plan(req, maxTokens)
	thinking := plan.option(maxTokens, c.messages)
	thinks := thinking.OfAdaptive != nil || thinking.OfEnabled != nil
	if (plan.budget > 0 || plan.off != "") && !thinks { // a model that does not think gets no thoughts
		c = conversation{}
		c.view(req)
	}
	view := c.blocks()
	c.say(&req.Last, false)

	w := sdk.MessageNewParams{
		Model:     req.Model,
		MaxTokens: maxTokens,
		Messages:  c.messages,
		Tools:     tools(req.Tools),
		Thinking:  thinking,
	}
	if req.System != "" {
		w.System = []sdk.TextBlockParam{{Text: req.System}}
	}
	if req.Temperature != nil && !thinks {
		w.Temperature = param.NewOpt(*req.Temperature)
	}
	w.OutputConfig.Effort = sdk.OutputConfigEffort(plan.effort)
	if req.Schema != nil {
		w.OutputConfig.Format = format(req.Schema, t)
	}
	if req.Options != nil && req.Options.Search {
		w.Tools = append(w.Tools, sdk.ToolUnionParam{OfWebSearchTool20250305: &sdk.WebSearchTool20250305Param{}})
	}
	if !p.NoCache {
		p.mark(&w, view)
	}
	return w
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// between separates the speaker's own words from a call of the next turn, whose thoughts have to begin a
// message.
const between = "(The conversation goes on.)"

// conversation collects messages. Neighbouring messages of one role become blocks of one message.
type conversation struct {
	messages []sdk.MessageParam
	owner    wire.Owner // of the thoughts that are sent; zero: none are
}

// view writes the messages of a request that is in its form.
func (c *conversation) view(req *provider.Request) {
	for i := range req.Messages {
		switch m := &req.Messages[i]; {
		case m.ToolResult != nil:
			c.add(sdk.MessageParamRoleUser, result(m.ToolResult))
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
		c.add(sdk.MessageParamRoleAssistant, sdk.NewTextBlock(m.Text))
	default:
		c.add(sdk.MessageParamRoleUser, sdk.NewTextBlock(m.Enclosed()))
	}
}

func (c *conversation) add(role sdk.MessageParamRole, block sdk.ContentBlockParamUnion) {
	last := len(c.messages) - 1
	if last < 0 || c.messages[last].Role != role {
		c.messages = append(c.messages, sdk.MessageParam{Role: role})
		last++
	}
	c.messages[last].Content = append(c.messages[last].Content, block)
}

// blocks returns the number of blocks.
func (c *conversation) blocks() int {
	n := 0
	for i := range c.messages {
		n += len(c.messages[i].Content)
	}
	return n
}
