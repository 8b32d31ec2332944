package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/tool/mcp"
)

// The server runs in this process here; elsewhere the transport is a command, or streamable HTTP.
func Example() {
	type person struct {
		Name string `json:"name"`
	}
	server := sdk.NewServer(&sdk.Implementation{Name: "greeter", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "greet", Description: "Says hello."},
		func(_ context.Context, _ *sdk.CallToolRequest, who person) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "Hello, " + who.Name + "!"}}}, nil, nil
		})
	ctx := context.Background()
	here, there := sdk.NewInMemoryTransports()
	serving, err := server.Connect(ctx, there, nil)
	if err != nil {
		fmt.Println(err)
		return
	}

	session, tools, err := mcp.Open(ctx, here)
	if err != nil {
		fmt.Println(err)
		return
	}
	engine := &debate.Engine{Tools: tools} // and config.Tools = []string{"greet"}

	// This is what the engine does when a model asks for it.
	answer, err := engine.Tools["greet"].Use(ctx, flow.ToolUse{Arguments: json.RawMessage(`{"name":"Ada"}`)})
	fmt.Println(answer, err)

	if err := session.Close(); err != nil { // after engine.Shutdown
		fmt.Println(err)
	}
	_ = serving.Wait()
	// Output: Hello, Ada! <nil>
}
