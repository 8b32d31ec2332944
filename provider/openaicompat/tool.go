package openaicompat

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

const (
	roleTool = "tool"
	idLength = 9
	kimiID   = 64 // bytes of an id, as models called Kimi write them
)

// tools writes the tools that the model may call, and the server's own search if the request asks for it.
func (d *Dialect) tools(req *provider.Request) []wireTool {
	var list []wireTool // nil, so that none are sent if there are none
	for _, t := range req.Tools {
		list = append(list, wireTool{Type: "function", Function: &wireFunction{
			Name: t.Name, Description: t.Description, Parameters: t.Parameters,
		}})
	}
	if d.searches(req) {
		list = append(list, wireTool{Type: d.SearchTool})
	}
	return list
}

// searches reports whether a request has the server's own search as a tool.
func (d *Dialect) searches(req *provider.Request) bool {
	return req.Options != nil && req.Options.Search && d.SearchTool != ""
}

// calls writes a message in which the speaker called tools.
func (p *Provider) calls(m *provider.Message, model string) wireMessage {
	w := wireMessage{Role: string(provider.RoleAssistant)}
	if m.Text != "" {
		w.text = &m.Text
	}
	for _, c := range m.ToolCalls {
		w.ToolCalls = append(w.ToolCalls, wireToolCall{
			ID: c.ID, Type: "function", Function: wireFunction{Name: c.Name, Arguments: string(c.Arguments)},
		})
	}
	p.giveBack(&w, m, model)
	return w
}

// form returns the form of a conversation for a model. The ids of Kimi's calls have a dot and a colon, and its chat template shows the
// model its ids again.
func (p *Provider) form(model string, t *wire.Terms) wire.Form {
	f := wire.Form{NoSystem: t.Leaves(wire.OptionSystem)}
	switch {
	case p.ShortIDs:
		f.ID = shortID
	case strings.Contains(strings.ToLower(model), "kimi"):
		f.ID = wire.PlainID(kimiID, ".:")
	}
	return f
}

// shortID returns an id of nine letters and digits. The first use of an id of that form stays. Others are replaced by a hash.
func shortID(id string, n int) string {
	const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	if n > 1 {
		id += "_" + strconv.Itoa(n)
	}
	if len(id) == idLength && strings.Trim(id, alphabet) == "" {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:idLength]
}
