// Command arbiter lets three agents plan, write and review a small Go function in a temporary folder. They read and write
// its files and run its test; an arbiter decides who acts next. The agents are the files agents/*.md.
//
//	go run ./examples/arbiter
//	go run ./examples/arbiter -approve
//	OPENAI_API_KEY=… go run ./examples/arbiter
//	OPENAI_API_KEY=… go run ./examples/arbiter -task "Write func Reverse(text string) string, by characters, and its test."
//
// OPENROUTER_API_KEY and MISTRAL_API_KEY work too. OPENAI_BASE_URL with OPENAI_MODEL selects your own server. Without a key,
// a script plays everybody, and the tools are the real ones. With -approve a person approves each use of a tool that writes
// or runs something. With a key that is the default: a test does whatever the model has written into it.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/arbiter/agentfile"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/tool"
)

const demoTask = `Write the Go function Shorten(text string, most int) string, and its test. It cuts a text to at most that many
characters, of which there is at least one. If something is cut off, the last of them is "…".`

//go:embed agents/*.md
var agentFiles embed.FS

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdin, stage.Printer{Out: os.Stdout}, os.Args[1:], os.Getenv)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, stage.Clean(err.Error()))
		os.Exit(1)
	}
}

func run(ctx context.Context, in io.Reader, p stage.Printer, args []string, getenv func(string) string) error {
	engine, model := stage.Choose(getenv, script())
	_, demo := engine.Providers["script"]
	o, err := parse(args, demo)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	folder, remove, err := newFolder()
	if err != nil {
		return err
	}
	defer remove()
	dir, err := tool.OpenDir(folder, tool.Limits{})
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // when nothing of the work is running any more
	if engine.Tools, err = toolbox(dir); err != nil {
		return err
	}
	config, err := newConfig(o.task, model)
	if err != nil {
		return err
	}
	var by *person
	if o.approve {
		by = newPerson(p, in)
	} else {
		config.Unattended, config.ToolPolicy.Approval = true, flow.OptionApprove
	}
	if err := work(ctx, p, engine, config, by); err != nil {
		return err
	}
	return showFiles(p, folder)
}

type options struct {
	approve bool
	task    string
}

func parse(args []string, demo bool) (options, error) {
	o := options{}
	flags := flag.NewFlagSet("arbiter", flag.ContinueOnError)
	flags.BoolVar(&o.approve, "approve", !demo, "ask before each use of a tool that writes or runs something")
	flags.StringVar(&o.task, "task", demoTask, "what is to be written")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if demo && o.task != demoTask {
		return o, errors.New("without a key a script plays, which knows only its own task")
	}
	return o, nil
}

// newConfig returns the config of the work, with the agents of the files.
func newConfig(task, model string) (arbiter.Config, error) {
	config := arbiter.Config{
		ID: "shorten", Task: task, Arbiter: arbiter.Arbiter{Model: model}, MaxIterations: 8, // executions of agents
		TurnTimeout: 2 * commandTime, // that of a tool too
	}
	folder, err := fs.Sub(agentFiles, "agents")
	if err != nil {
		return config, err
	}
	config.Agents, err = agentfile.Load(folder)
	for i := range config.Agents {
		config.Agents[i].Model = model // the files leave it open
	}
	return config, err
}

// work plays the work to its end. by decides about uses of tools; nil: the config's policy does.
func work(ctx context.Context, p stage.Printer, engine *debate.Engine, config arbiter.Config, by *person) error {
	engine.Flows = map[string]*debate.Flow{arbiter.FlowName: arbiter.Flow()}
	session, err := engine.Start(ctx, config)
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	p.Speak("", config.Task)
	for event, err := range session.Events(ctx, 0) {
		if err != nil {
			return err
		}
		if err := event.Err(); err != nil && !errors.Is(err, debate.ErrAwaitingInput) {
			return err
		}
		q, asked := event.Body.(*flow.Inquiry)
		switch {
		case !asked:
			show(p, &event)
		case by == nil: // the policy has answered already
		case q.Use == nil || q.Use.Attempt > 0:
			return errors.New(q.Question) // a call has failed for good
		default:
			option, reason, err := by.decide(q)
			if err == nil {
				err = session.Answer(ctx, flow.Answer{Inquiry: q.ID, Option: option, Text: reason})
			}
			if err != nil {
				return err
			}
		}
	}
	record, err := session.Wait(ctx)
	if err != nil {
		return err
	}
	return conclude(p, record)
}
