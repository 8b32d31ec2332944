package anthropic

import (
	"cmp"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// opening precedes a conversation that begins with the speaker's own words, because the API requires a
// user message first.
const opening = "(The conversation begins with your own words.)"

// params writes a request in the SDK's types.
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
	c.parts(&req.Last)
	c.chat(&provider.Request{Last: req.Last})

	w := sdk.MessageNewParams{
		Model:     req.Model,
		MaxTokens: maxTokens,
		Messages:  c.messages,
		Tools:     tools(req.Tools),
		Thinking:  thinking,
	}
	if !blank(req.System) {
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
	ids      map[string]bool // of tool calls, as they are sent
	owner    wire.Owner      // of the thoughts that are sent; zero: none are
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
			c.parts(m)
			c.chat(&provider.Request{Self: req.Self, Messages: req.Messages[i : i+1]})
		}
	}
}

// chat adds texts.
func (c *conversation) chat(part *provider.Request) {
	for role, text := range part.Chat() {
		switch {
		case blank(text):
		case role == provider.RoleAssistant:
			c.add(sdk.MessageParamRoleAssistant, sdk.NewTextBlock(text))
		default:
			c.add(sdk.MessageParamRoleUser, sdk.NewTextBlock(text))
		}
	}
}

func (c *conversation) add(role sdk.MessageParamRole, block sdk.ContentBlockParamUnion) {
	if len(c.messages) == 0 && role == sdk.MessageParamRoleAssistant {
		c.add(sdk.MessageParamRoleUser, sdk.NewTextBlock(opening))
	}
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
