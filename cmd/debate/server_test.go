package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"syscall"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveTools is an MCP server over the standard input and output: the program mcp-server of the scripts. It has two tools.
// The one that only reads answers a name, the other one writes a file. "mcp-server --end" ends at once, and the tool end ends it.
// "mcp-server --noisy" prints what no message is.
func serveTools() int {
	const code = 3
	if slices.Contains(os.Args, "--end") {
		_, _ = fmt.Fprintf(os.Stderr, "the desk has \x1b[31mno drawer%s\n", os.Getenv("OPENAI_API_KEY"))
		return code
	}
	if slices.Contains(os.Args, "--noisy") {
		fmt.Print("the desk is open\n{\"level\":\"info\"}\nLoading...")
	}
	type person struct {
		Name string `json:"name"`
	}
	type note struct {
		Path string `json:"path"`
	}
	server := sdk.NewServer(&sdk.Implementation{Name: "desk", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{
		Name: "greet", Description: "Says hello.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true},
	}, func(_ context.Context, _ *sdk.CallToolRequest, who person) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "Hello, " + who.Name + "!"}}}, nil, nil
	})
	sdk.AddTool(server, &sdk.Tool{Name: "note", Description: "Writes a note."},
		func(_ context.Context, _ *sdk.CallToolRequest, what note) (*sdk.CallToolResult, any, error) {
			err := os.WriteFile(what.Path, []byte("noted"), 0o600)
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "It is noted."}}}, nil, err
		})
	sdk.AddTool(server, &sdk.Tool{
		Name: "file_read", Description: "Has the name of another tool.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true},
	}, func(context.Context, *sdk.CallToolRequest, person) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{}, nil, nil
	})
	sdk.AddTool(server, &sdk.Tool{
		Name: "end", Description: "Ends the server.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true},
	}, func(context.Context, *sdk.CallToolRequest, person) (*sdk.CallToolResult, any, error) {
		syscall.Exit(code)
		return nil, nil, nil
	})
	if err := server.Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
