// Command arbiter lets two agents write and review a text in a temporary folder. They use its files through tools; an arbiter decides
// who acts next, and when the task is complete. Each use of a tool that writes needs a person's approval.
//
//	go run ./examples/arbiter
//	go run ./examples/arbiter -me    # you approve, at the terminal: approve, or deny and why
//
// A script plays everybody, and approves unless you do.
//
// It prints:
//
//	arbiter: select writer. Nothing is written yet.
//	writer uses write_file {"path":"notice.txt","content":"The lift is out of order until Friday."}
//	  Approve it? Answered: approve
//	  …
//	writer has succeeded: The notice is written.
//	arbiter: select reviewer. Somebody else has to read it.
//	reviewer uses file_read {"path":"notice.txt"}
//	  …
//	reviewer has succeeded: It says until when.
//	arbiter: complete. The notice is written and reviewed.
//
//	2 executions, 2 uses of tools. The folder holds notice.txt: "The lift is out of order until Friday."
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/tool"
)

func main() {
	person := io.Reader(strings.NewReader("approve\n"))
	if slices.Contains(os.Args, "-me") {
		person = os.Stdin
	}
	if err := run(context.Background(), bufio.NewScanner(person)); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, person *bufio.Scanner) error {
	const model = "script/any"
	folder, err := os.MkdirTemp("", "arbiter")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	dir, err := tool.OpenDir(folder, tool.Limits{}) // tools reach nothing outside of it
	if err != nil {
		return err
	}
	defer dir.Close()
	write, failed := tool.WriteFile(dir, tool.Writing{Only: []string{"*.txt"}})
	read, err := tool.ReadFile(dir)
	if err = errors.Join(failed, err); err != nil {
		return err
	}
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{"script": script()},
		Flows:     map[string]*debate.Flow{arbiter.FlowName: arbiter.Flow()},
		Tools:     map[string]debate.Tool{tool.WriteFileName: write, tool.ReadFileName: read},
	}
	session, err := engine.Start(ctx, arbiter.Config{
		Task: "Write a notice for the broken lift, and have it reviewed.", Arbiter: arbiter.Arbiter{Model: model}, MaxIterations: 6,
		Agents: []arbiter.Agent{
			{Name: "writer", Description: "writes texts", Prompt: "Write plainly.", Model: model, Tools: []string{tool.WriteFileName}},
			{Name: "reviewer", Description: "reviews texts", Prompt: "Be strict.", Model: model, Tools: []string{tool.ReadFileName}},
		},
	})
	if err != nil {
		return err
	}
	defer session.Close()
	for event, err := range session.Events(ctx, 0) {
		if err != nil {
			return err
		}
		switch body := event.Body.(type) {
		case *arbiter.Decision:
			fmt.Println(strings.TrimSpace("arbiter: "+string(body.Move)+" "+strings.Join(body.Agents, ", ")) + ". " + body.Reason + body.Summary)
		case *flow.ToolCalls:
			fmt.Printf("%s uses %s %s\n", body.By, body.Uses[0].Name, body.Uses[0].Arguments)
		case *flow.Inquiry:
			if body.Use == nil {
				return errors.New(body.Question) // what becomes of a call that has failed for good
			}
			fmt.Print("  Approve it? ")
			if !person.Scan() {
				return errors.Join(io.ErrUnexpectedEOF, person.Err())
			}
			word, why, _ := strings.Cut(person.Text(), " ")
			fmt.Println("Answered:", word)
			if err := session.Answer(ctx, flow.Answer{Inquiry: body.ID, Option: flow.Option(word), Text: why}); err != nil {
				return err
			}
		case *flow.ToolResult: // as hostile as any other text
			fmt.Println(" ", strings.Join(strings.Fields(body.Text), " "))
		case *debate.Turn:
			if result, ok := arbiter.ResultOf(body); ok {
				fmt.Printf("%s has %s: %s\n", body.Speaker, map[bool]string{true: "succeeded", false: "failed"}[result.Success], result.Output)
			}
		}
	}
	record, err := session.Wait(ctx)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(folder, "notice.txt"))
	fmt.Printf("\n%d executions, %d uses of tools. The folder holds notice.txt: %q\n", record.Round, len(record.ToolUses), text)
	return err
}

// script plays the arbiter and the agents.
func script() *scripted.Provider {
	answer := func(v any) scripted.Reply {
		text, err := json.Marshal(v)
		return scripted.Reply{Text: string(text), Err: err}
	}
	use := func(name, arguments string) scripted.Reply {
		return scripted.Reply{Calls: []provider.ToolCall{{ID: "1", Name: name, Arguments: json.RawMessage(arguments)}}}
	}
	return &scripted.Provider{Replies: map[string][]scripted.Reply{
		"arbiter": {
			answer(arbiter.Ruling{Move: arbiter.MoveSelect, Agents: []string{"writer"}, Reason: "Nothing is written yet."}),
			answer(arbiter.Ruling{Move: arbiter.MoveSelect, Agents: []string{"reviewer"}, Reason: "Somebody else has to read it."}),
			answer(arbiter.Ruling{Move: arbiter.MoveComplete, Agents: []string{}, Summary: "The notice is written and reviewed."}),
		},
		"writer": {
			use(tool.WriteFileName, `{"path":"notice.txt","content":"The lift is out of order until Friday."}`),
			answer(arbiter.Result{Success: true, Output: "The notice is written."}),
		},
		"reviewer": {use(tool.ReadFileName, `{"path":"notice.txt"}`), answer(arbiter.Result{Success: true, Output: "It says until when."})},
	}}
}
