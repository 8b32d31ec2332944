// Command quickstart runs one debate in the terminal: two debaters, a judge, three rounds.
//
//	go run ./examples/quickstart
//	OPENAI_API_KEY=… go run ./examples/quickstart -topic "Is chess a sport?" -rounds 2
//
// It uses a model if it finds OPENAI_API_KEY, OPENROUTER_API_KEY, MISTRAL_API_KEY or, for a server such
// as Ollama or vLLM, OPENAI_BASE_URL. Without any of them, it plays a scripted demonstration.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}

// options are the flags of the command line.
type options struct {
	topic, model, judge string
	rounds              int
	set                 []string // the flags that were given
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	terminal := isTerminal(stdout)
	p := newPrinter(stdout, terminal && getenv("NO_COLOR") == "" && getenv("TERM") != "" && getenv("TERM") != "dumb")
	c, err := choose(ctx, o, getenv)
	if err != nil {
		return finish(ctx, stderr, err, nil)
	}
	if c.engine == nil {
		c = demonstration(o, terminal)
	}
	p.begin(c.note, &c.config)
	record, err := play(ctx, c.engine, c.config, p)
	p.end(record, c.would)
	return finish(ctx, stderr, err, record)
}

// finish reports why the program ends, unless everything is done, and returns its exit code.
func finish(ctx context.Context, stderr io.Writer, err error, record *debate.Record) int {
	switch {
	case err == nil || ctx.Err() == nil:
		return complain(stderr, err)
	case record == nil:
		sayf(stderr, "Interrupted: no debate was begun.\n")
	default:
		sayf(stderr, "Interrupted: the debate is canceled.\n")
	}
	return 130
}

// play runs the debate to its end, and shows it. The record is nil if the debate did not start. A debate
// without a verdict at its end is an error, and so is one that waits for a person, because this program
// asks nobody.
func play(ctx context.Context, engine *debate.Engine, config debate.Config, p *printer) (*debate.Record, error) {
	session, err := engine.Start(ctx, config)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	var seen int64
	for event, err := range session.Events(ctx, 0) {
		if err != nil { // ctx is done: cancel, and account for the call in flight
			after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
			defer cancel()
			_ = session.Cancel(after) // it fails only if the debate is over already
			for event, err := range session.Events(after, seen) {
				if err == nil && event.Kind() != flow.EventChunk {
					p.show(&event)
				}
			}
			record, _ := session.Wait(after)
			return record, err
		}
		seen = event.Seq
		p.show(&event)
		if event.Err() != nil {
			break // somebody has to remove the cause, or to answer, before it can continue
		}
	}
	record, err := session.Wait(ctx)
	switch {
	case errors.Is(err, debate.ErrAwaitingInput):
		return record, fmt.Errorf("nobody can be asked here: %w", err)
	case err == nil && !hasVerdict(record):
		return record, fmt.Errorf("there is no verdict: %w", p.cause(record))
	}
	return record, err
}

// hasVerdict reports whether a debate has a verdict.
func hasVerdict(record *debate.Record) bool {
	d, ok := debate.Of(record)
	return ok && d.Verdict != nil
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.topic, "topic", demoTopic, "the question under debate")
	flags.IntVar(&o.rounds, "rounds", 3, "how many rounds are spoken")
	flags.StringVar(&o.model, "model", "", "the debaters' model, with or without its provider: gpt-4.1-mini, openai/gpt-4.1-mini")
	flags.StringVar(&o.judge, "judge", "", "the judge's model")
	flags.Usage = func() {
		sayf(stderr, "Usage: quickstart [flags]\n\nThe model is found by OPENAI_API_KEY, OPENROUTER_API_KEY or MISTRAL_API_KEY;\n"+
			"OPENAI_BASE_URL names another server, such as http://localhost:11434/v1. Without any of them\n"+
			"a script is played.\n\n")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	flags.Visit(func(f *flag.Flag) { o.set = append(o.set, "-"+f.Name) })
	var problem error
	switch {
	case flags.NArg() > 0:
		problem = fmt.Errorf("quickstart: %q is no flag; put a topic of several words in quotes", flags.Arg(0))
	case o.rounds < 1:
		problem = errors.New("quickstart: -rounds must be at least 1")
	case o.topic == "":
		problem = errors.New("quickstart: -topic is empty")
	}
	if problem != nil {
		sayf(stderr, "%v\n", problem)
	}
	return o, problem
}
