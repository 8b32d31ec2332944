package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/web"
	"github.com/agonist-dev/debate/web/mcp"
)

// An agent starts debates with a tool. Its program has begun this one, and speaks to it over standard input and output.
func ExampleRun() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	engine := &debate.Engine{Store: &store.Memory{}, Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}}
	handler, err := web.New(engine, web.Options{Presets: []web.Preset{{Name: "quick", Config: json.RawMessage(`{
		"topic": "what the agent asks", "rounds": 1,
		"participants": [{"name": "Ada", "side": "for", "model": "acme/talker"}, {"name": "Ben", "side": "against", "model": "acme/talker"}]
	}`)}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	agent, transport := sdk.NewInMemoryTransports() // in place of &sdk.StdioTransport{}
	go func() { _ = mcp.Run(ctx, handler, transport, nil) }()

	session, err := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, nil).Connect(ctx, agent, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = session.CallTool(ctx, &sdk.CallToolParams{
		Name: "debate_start", Arguments: map[string]any{"topic": "Should cities ban private cars?", "id": "cars"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	waited, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "debate_wait", Arguments: map[string]any{"id": "cars"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var out struct {
		Over bool
		Said []struct{ By string }
	}
	if text, ok := waited.Content[0].(*sdk.TextContent); !ok || json.Unmarshal([]byte(text.Text), &out) != nil {
		fmt.Println(waited.Content)
		return
	}
	fmt.Println(out.Over, out.Said)
	// Output: true [{Ada} {Ben}]
}
