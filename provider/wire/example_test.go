package wire_test

import (
	"encoding/json"
	"fmt"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// An adapter whose models call tools writes a history from its form. The invented tool gets a valid name, the arguments become an object,
// and what follows the result stands in it.
func ExampleForm() {
	req, err := wire.Form{}.Request(&provider.Request{
		Self: "Ada",
		Messages: []provider.Message{
			{Text: "Which trees grow here?"},
			{Speaker: "Ada", ToolCalls: []provider.ToolCall{{ID: "c/1", Name: "forest.list", Arguments: json.RawMessage(`null`)}}},
			{Speaker: "Ada", ToolResult: &provider.ToolResult{ID: "c/1", Text: "no such tool", Error: true}},
		},
		Last: provider.Message{Text: "Speak."},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range req.Messages {
		switch m := &req.Messages[i]; {
		case m.ToolResult != nil:
			fmt.Printf("tool %s: %q\n", m.ToolResult.ID, wire.Told(m.ToolResult))
		case len(m.ToolCalls) > 0: // the model's own
			for _, c := range m.ToolCalls {
				fmt.Printf("assistant calls %s %s%s\n", c.ID, c.Name, c.Arguments)
			}
		case req.Own(m):
			fmt.Printf("assistant: %s\n", m.Text)
		default:
			fmt.Printf("user: %s\n", m.Enclosed())
		}
	}
	if req.Last.Text != "" {
		fmt.Printf("user: %s\n", req.Last.Enclosed())
	}
	// Output:
	// user: Which trees grow here?
	// assistant calls c_1 forest_list{}
	// tool c_1: "The tool failed: no such tool\n\nSpeak."
}
