package logger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/agonist-dev/debate/provider"
)

const (
	maxName  = 200 // bytes of a name, a code or an id
	maxTools = 16  // names of tools in a line
)

// call is what the logger knows of one call.
type call struct {
	began    time.Time
	first    time.Duration // to the first chunk
	took     time.Duration
	chunks   int
	bytes    int // of the chunks of text
	thoughts int // bytes of the chunks of thoughts
	req      *provider.Request
	response *provider.Response
	err      error
}

func (c *call) hear(chunk provider.Chunk) {
	if c.chunks == 0 {
		c.first = time.Since(c.began)
	}
	c.chunks++
	if chunk.Reasoning {
		c.thoughts += len(chunk.Text)
	} else {
		c.bytes += len(chunk.Text)
	}
}

// failed reports whether there is no reply. A provider that returns neither reply nor error has failed.
func (c *call) failed() bool { return c.err != nil || c.response == nil }

// failure returns the error if it is a *provider.Error, otherwise nil.
func (c *call) failure() *provider.Error {
	e, _ := errors.AsType[*provider.Error](c.err)
	return e
}

// givenUp reports whether the caller canceled the call.
func (c *call) givenUp() bool {
	e := c.failure()
	return e != nil && e.Kind == provider.KindCanceled || errors.Is(c.err, context.Canceled)
}

// attrs returns the attributes of the record, in order.
func (p *Provider) attrs(c *call) []slog.Attr {
	l := list{}
	l.text("id", c.req.ID)
	l.text("model", c.req.Model)
	l.text("self", c.req.Self)
	l.number("messages", len(c.req.Messages))
	l.asked(c.req)
	l.number("bytesIn", size(c.req))
	if c.failed() {
		l.number("bytesOut", c.bytes)
	} else {
		l.number("bytesOut", len(c.response.Text))
	}
	l.number("bytesThought", c.thoughts)
	l.number("chunks", c.chunks)
	if c.chunks > 0 {
		l = append(l, slog.Duration("firstChunk", c.first))
	}
	l = append(l, slog.Duration("took", c.took))
	if c.response != nil {
		l.reply(c.req, c.response)
	}
	if c.err != nil {
		l.group("error", p.fault(c))
	}
	if p.Bodies {
		l.group("text", p.texts(c))
	}
	return l
}

// fault returns the attributes of the failure.
func (p *Provider) fault(c *call) list {
	l := list{}
	if e := c.failure(); e != nil {
		l.text("kind", string(e.Kind))
		l.number("status", e.Status)
		l.text("code", foreign(e.Code))
		l.text("requestId", foreign(e.RequestID))
		if e.RetryAfter != 0 {
			l = append(l, slog.Duration("retryAfter", e.RetryAfter))
		}
		l.number("window", e.Window)
		l.yes("capped", e.Capped)
		l.yes("notSent", e.NotSent)
	} else {
		l.text("type", fmt.Sprintf("%T", c.err))
	}
	if p.Bodies {
		l.body("message", foreign(c.err.Error()), p.maxText())
	}
	return l
}

// texts returns the texts of the call.
func (p *Provider) texts(c *call) list {
	limit := p.maxText()
	l := list{}
	l.body("system", c.req.System, limit)
	conversation := make([]string, len(c.req.Messages))
	for i := range c.req.Messages {
		m := &c.req.Messages[i]
		text := m.Text
		if text == "" && m.ToolResult != nil {
			text = m.ToolResult.Text
		}
		conversation[i] = cut(text, limit)
		if m.Speaker != "" {
			conversation[i] = named(m.Speaker) + ": " + conversation[i]
			if m.Label != "" {
				conversation[i] = named(m.Label) + " | " + conversation[i]
			}
		}
	}
	l.texts("conversation", conversation)
	l.body("last", c.req.Last.Text, limit)
	if c.failed() {
		return l
	}
	l.body("reasoning", c.response.Reasoning, limit)
	l.body("reply", c.response.Text, limit)
	arguments := make([]string, min(len(c.response.Calls), maxTools))
	for i := range arguments {
		arguments[i] = cut(string(c.response.Calls[i].Arguments), limit)
	}
	l.texts("arguments", arguments)
	return l
}

func (p *Provider) maxText() int {
	if p.MaxText <= 0 {
		return DefaultMaxText
	}
	return p.MaxText
}

// size returns how many bytes of text and files a request sends.
func size(req *provider.Request) int {
	n := len(req.System) + message(&req.Last)
	for i := range req.Messages {
		n += message(&req.Messages[i])
	}
	if req.Schema != nil {
		n += len(req.Schema.JSON)
	}
	for i := range req.Tools {
		t := &req.Tools[i]
		n += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	return n
}

func message(m *provider.Message) int {
	n := len(m.Text)
	for i := range m.ToolCalls {
		n += len(m.ToolCalls[i].Name) + len(m.ToolCalls[i].Arguments)
	}
	if m.ToolResult != nil {
		n += len(m.ToolResult.Text)
	}
	for i := range m.Parts {
		n += len(m.Parts[i].Data)
	}
	return n
}
