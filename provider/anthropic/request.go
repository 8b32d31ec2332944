package anthropic

import (
	"cmp"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/agonist-dev/debate/provider"
)

// opening stands before a conversation that begins with the speaker's own words: the API wants the
// first message to be a user's.
const opening = "(The conversation begins with your own words.)"

// params writes a request in the SDK's types.
func (p *Provider) params(req *provider.Request) sdk.MessageNewParams {
	maxTokens := int64(cmp.Or(req.MaxTokens, DefaultMaxTokens))
	c := conversation{}
	c.view(req)
	thinking := p.thinking(maxTokens, c.messages)
	if p.ThinkingBudget > 0 && param.IsOmitted(thinking) { // a model that does not think is given no thoughts
		c = conversation{thoughtless: true}
		c.view(req)
	}
	view := c.blocks()
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
	if req.Temperature != nil && param.IsOmitted(w.Thinking) {
		w.Temperature = param.NewOpt(*req.Temperature)
	}
	w.OutputConfig.Effort = sdk.OutputConfigEffort(p.Effort)
	if req.Schema != nil {
		w.OutputConfig.Format = format(req.Schema)
	}
	if !p.NoCache {
		p.mark(&w, view)
	}
	return w
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// between stands between the speaker's own words and a call of the next turn whose thoughts have to begin a
// message.
const between = "(The conversation goes on.)"

// conversation gathers messages. Neighbours of one role become blocks of one message.
type conversation struct {
	messages    []sdk.MessageParam
	ids         map[string]bool // of tool calls, as they are sent
	thoughtless bool            // calls come without their thoughts
}

// view writes the messages of a request. What [provider.Request.Chat] says holds for all of them but the
// speaker's own tool calls and their results, which have blocks of their own; other speakers' are left
// out.
func (c *conversation) view(req *provider.Request) {
	told := map[*provider.ToolResult]bool{}
	for i := range req.Messages {
		m := &req.Messages[i]
		switch {
		case calling(m, req.Self):
			c.call(m, req.Messages[i+1:], req.Self, told)
		case m.ToolResult != nil && told[m.ToolResult]:
		default:
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

// blocks yields how many blocks there are.
func (c *conversation) blocks() int {
	n := 0
	for i := range c.messages {
		n += len(c.messages[i].Content)
	}
	return n
}
