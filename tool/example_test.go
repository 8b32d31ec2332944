package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/tool"
)

// design is what the flow is started with.
type design struct {
	Title     string   `json:"title"`
	Reviewers []string `json:"reviewers"`
	Model     string   `json:"model"`
	Tools     []string `json:"tools"`
}

func (*design) Flow() string { return "review" }

func (d *design) Settings() flow.Settings {
	return flow.Settings{Topic: d.Title, Participants: d.Reviewers, Tools: d.Tools}
}

func (d *design) Seats() flow.Seats {
	return func(yield func(flow.Seat) bool) {
		for _, name := range d.Reviewers {
			if !yield(flow.Seat{By: name, Model: &d.Model}) {
				return
			}
		}
	}
}

// review is a small flow of one's own: everybody says something, once, and may use up to five tools for it.
func review() *flow.Flow {
	return &flow.Flow{
		Name: "review", Version: 1, Start: "reviewing", Decode: flow.DecodeTo[design],
		Rules: []flow.Rule{{From: "reviewing", On: "reviewed", To: flow.StateCompleting}},
		Steps: map[flow.State]flow.Step{"reviewing": {
			Calls: func(r *flow.Record) []*flow.Call {
				var calls []*flow.Call
				config, _ := r.Config().(*design)
				for i, name := range r.Active() {
					if id := "review." + name; !r.Done(id) && !r.Failed(id) {
						calls = append(calls, &flow.Call{
							ID: id, Kind: "review", By: name, Model: config.Model, Slot: i, System: "You review a design.",
							Last:  func(*flow.Record) string { return "Review: " + config.Title },
							Tools: config.Tools, Uses: 5,
						})
					}
				}
				return calls
			},
			Next: func(*flow.Record) (flow.Trigger, flow.Exit, bool) { return "reviewed", flow.Exit{}, true },
		}},
	}
}

// asks is a model that has tools used one after the other, and then says something.
func asks(text string, calls ...provider.ToolCall) *scripted.Provider {
	return &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		asked := 0
		for _, m := range req.Messages {
			asked += len(m.ToolCalls)
		}
		if asked < len(calls) {
			return scripted.Reply{Calls: calls[asked : asked+1]}
		}
		return scripted.Reply{Text: text}
	}}
}

func Example() {
	root, err := os.MkdirTemp("", "docs")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(root) }()
	if err := os.WriteFile(filepath.Join(root, "design.md"), []byte("# Design\nOrders go through a queue.\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	dir, err := tool.OpenDir(root, tool.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = dir.Close() }()
	tools, err := tool.Tools(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	model := asks("The queue needs a bound.",
		provider.ToolCall{ID: "1", Name: tool.ListFilesName, Arguments: json.RawMessage(`{}`)},
		provider.ToolCall{ID: "2", Name: tool.SearchName, Arguments: json.RawMessage(`{"query":"QUEUE","in":"files"}`)},
		provider.ToolCall{ID: "3", Name: tool.ReadFileName, Arguments: json.RawMessage(`{"path":"design.md"}`)},
		provider.ToolCall{ID: "4", Name: tool.ReadFileName, Arguments: json.RawMessage(`{"path":"../passwords"}`)},
	)
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{"acme": model},
		Flows:     map[string]*flow.Flow{"review": review()},
		Tools:     tools,
	}
	config := &design{
		Title: "Orders", Reviewers: []string{"Ada", "Ben"}, Model: "acme/talker",
		Tools: []string{tool.ListFilesName, tool.ReadFileName, tool.SearchName},
	}
	for event, err := range engine.Run(context.Background(), config) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch body := event.Body.(type) {
		case *flow.ToolResult:
			if body.By == "Ada" {
				fmt.Printf("[%s] %s\n", body.Tool, strings.TrimSpace(body.Text))
			}
		case *flow.Turn:
			if body.Speaker == "Ada" {
				fmt.Println("Ada:", body.Text)
			}
		}
	}
	// Output:
	// [list_files] 36 bytes design.md
	// [context_search] design.md, line 2:
	// > # Design
	// > Orders go through a queue.
	// [file_read] Lines 1 to 2 of 2. Hash 3eb9aacacf9ddd41.
	//
	// # Design
	// Orders go through a queue.
	// [file_read] "../passwords": leads out of the folder
	// Ada: The queue needs a bound.
}

// A search in the debate alone needs no folder.
func ExampleSearch() {
	search, err := tool.Search(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := search.Use(context.Background(), flow.ToolUse{
		Arguments: json.RawMessage(`{"query":"congestion"}`),
		Turns: []*flow.Turn{
			{Speaker: "Ada", Round: 1, Kind: "opening", Text: "A charge cuts congestion by a third."},
			{Speaker: "Ben", Round: 1, Kind: "opening", Text: "It hits the poor."},
		},
	})
	fmt.Println(strings.TrimSpace(answer), err)
	// Output:
	// Ada, round 1, opening:
	// > A charge cuts congestion by a third. <nil>
}
