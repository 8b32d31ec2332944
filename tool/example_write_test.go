package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/tool"
)

// Two agents have read the same file. The second one to write is told to read again, so that it loses nothing.
func ExampleEditFile() {
	root, err := os.MkdirTemp("", "docs")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(root) }()
	dir, err := tool.OpenDir(root, tool.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = dir.Close() }()
	writing := tool.Writing{Only: []string{"*.md"}, Unasked: true}
	write, err := tool.WriteFile(dir, writing)
	if err != nil {
		fmt.Println(err)
		return
	}
	edit, err := tool.EditFile(dir, writing)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, use := range []struct {
		tool      flow.Tool
		arguments string
	}{
		{write, `{"path":"design.md","content":"# Design\nA queue.\n"}`},
		{edit, `{"path":"design.md","hash":"be24193181645c6f","old":"A queue.","new":"A queue with a bound."}`},
		{edit, `{"path":"design.md","hash":"be24193181645c6f","old":"A queue.","new":"Two queues."}`},
		{write, `{"path":"design.go","content":"package design\n"}`},
	} {
		answer, err := use.tool.Use(context.Background(), flow.ToolUse{Arguments: json.RawMessage(use.arguments)})
		if err != nil {
			fmt.Println("refused:", err)
			continue
		}
		fmt.Println(answer)
	}
	// Output:
	// The file is new: 18 bytes. Hash be24193181645c6f.
	// Changed 1 place. Hash 811760a544627426.
	//
	// @@ line 2 @@
	//  # Design
	// -A queue.
	// +A queue with a bound.
	//
	// refused: "design.md": has changed since it was read: read it again
	// refused: "design.go": may not be written: the host program excludes it
}

// A model may run the tests, and nothing else. Without Unasked, a person approves each use.
func ExampleRunCommand() {
	dir, err := tool.OpenDir(".", tool.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = dir.Close() }()
	run, err := tool.RunCommand(dir, tool.Commands{
		Programs: []tool.Program{{Name: "go", Check: func(_ string, arguments []string) error {
			if !slices.Equal(arguments, []string{"version"}) {
				return errors.New("only go version may be run")
			}
			return nil
		}}},
		Inherit: []string{"PATH", "HOME"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("a person approves:", run.Describe().Approval)
	answer, err := run.Use(context.Background(), flow.ToolUse{Arguments: json.RawMessage(`{"program":"go","arguments":["version"]}`)})
	fmt.Println(answer[:min(len(answer), 12)], err)
	_, err = run.Use(context.Background(), flow.ToolUse{Arguments: json.RawMessage(`{"program":"go","arguments":["env"]}`)})
	fmt.Println(err)
	_, err = run.Use(context.Background(), flow.ToolUse{Arguments: json.RawMessage(`{"program":"rm","arguments":["-rf","/"]}`)})
	fmt.Println(err)
	// Output:
	// a person approves: true
	// Exit code 0. <nil>
	// only go version may be run
	// "rm" may not be run: only go
}
