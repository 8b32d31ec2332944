// Command deliberation has three agents design a ticket sale: an architect, a performance expert, and one
// who looks for the simplest design. Each proposes, critiques the two others and refines its own
// proposal. A judge makes the solution from them.
//
//	go run ./examples/deliberation
//	go run ./examples/deliberation > solution.md   # the progress goes to the standard error
//	OPENAI_API_KEY=… go run ./examples/deliberation -problem "Design a URL shortener." -rounds 3 -termination convergence
//
// It uses a model if it finds OPENAI_API_KEY, OPENROUTER_API_KEY, MISTRAL_API_KEY or, for a server such
// as Ollama or vLLM, OPENAI_BASE_URL with OPENAI_MODEL. Without any of them, a script plays everybody.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

const demoProblem = `Design the sale of concert tickets.

When a sale opens, 40,000 people want 2,000 numbered seats within a minute. No seat is sold twice. A seat that
somebody has chosen is held for eight minutes while they pay, and is free again afterwards. A page answers within a
second. Three developers run it, with PostgreSQL and four small servers.`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}

// options are the flags of the command line.
type options struct {
	problem, model, judge, synthesis, termination string

	rounds  int
	ignored []string // flags that a script cannot follow
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string) int {
	p := stage.Printer{Out: stderr}
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	engine, model := stage.Choose(getenv, script())
	engine.Flows = map[string]*debate.Flow{deliberation.FlowName: deliberation.Flow()}
	_, demo := engine.Providers["script"]
	if demo {
		rehearse(p, engine, o)
	}
	record, err := deliberate(ctx, p, engine, describe(o, engine, model, demo))
	if err == nil {
		err = publish(stdout, record, demo)
	}
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			p.Linef("%s", stage.Clean(line))
		}
		return 1
	}
	return 0
}

// rehearse gives the script the prices of gpt-4.1-mini, and says which of the flags it ignores.
func rehearse(p stage.Printer, engine *debate.Engine, o options) {
	const usd = debate.USD
	engine.Models = map[string]debate.Model{
		"script/without-a-key": {Window: 1_000_000, Input: usd * 4 / 10_000_000, Output: usd * 16 / 10_000_000, Priced: true},
	}
	without := ""
	if len(o.ignored) > 0 {
		without = ", without " + strings.Join(o.ignored, ", ")
	}
	p.Linef("No API key (see -help): a script plays everybody%s.", without)
}

func parse(args []string, stderr io.Writer) (options, error) {
	p := stage.Printer{Out: stderr}
	var o options
	flags := flag.NewFlagSet("deliberation", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.problem, "problem", demoProblem, "what a solution is wanted for")
	flags.IntVar(&o.rounds, "rounds", 2, "how many rounds there are at most")
	flags.StringVar(&o.model, "model", "", "the agents' model, with or without its provider: gpt-4.1-mini, openai/gpt-4.1-mini")
	flags.StringVar(&o.judge, "judge", "", "the judge's model; the agents' if empty")
	flags.StringVar(&o.synthesis, "synthesis", "", "how the solution is made: judge, voting or merge")
	flags.StringVar(&o.termination, "termination", "", "what ends the rounds: fixed, convergence or quality")
	flags.Usage = func() {
		p.Linef("Usage: deliberation [flags]\n\n" +
			"The model is found by OPENAI_API_KEY, OPENROUTER_API_KEY or MISTRAL_API_KEY; OPENAI_BASE_URL names\n" +
			"another server, such as http://localhost:11434/v1, and OPENAI_MODEL its model. Without any of them\n" +
			"a script is played.\n")
		flags.VisitAll(func(f *flag.Flag) { p.Linef("  -%-12s %s", f.Name, f.Usage) })
	}
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	flags.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "problem", "model", "judge":
			o.ignored = append(o.ignored, "-"+f.Name)
		}
	})
	if flags.NArg() > 0 {
		p.Linef("%q is no flag; put a problem of several words in quotes after -problem", flags.Arg(0))
		return o, errors.New("an argument too many")
	}
	return o, nil
}

// describe returns the config of the deliberation.
func describe(o options, engine *debate.Engine, model string, demo bool) deliberation.Config {
	agents, judge := model, model
	if !demo {
		agents = qualify(engine, cmp.Or(o.model, model), model)
		judge = qualify(engine, cmp.Or(o.judge, agents), model)
	} else {
		o.problem = demoProblem
	}
	config := deliberation.Config{
		ID: "deliberation", Problem: o.problem, Rounds: o.rounds, TurnTimeout: 10 * time.Minute,
		Context: "The payment provider answers within 2 to 20 seconds, and may call back twice.",
		Agents: []deliberation.Agent{
			{ID: "architect", Role: deliberation.RoleArchitect, Model: agents},
			{ID: "performance", Role: deliberation.RolePerformance, Model: agents},
			{ID: "simplicity", Role: deliberation.RoleSimplicity, Model: agents},
		},
		Judge:       deliberation.Judge{Model: judge},
		Synthesis:   o.synthesis,
		Termination: deliberation.Termination{Kind: o.termination},
	}
	if o.problem != demoProblem {
		config.Context = "" // it belongs to the other problem
	}
	if demo { // its texts are short, and nobody wants to wait for it
		config.Summaries = deliberation.Summaries{Threshold: 1000, MaxLength: 250}
		config.Retry = &debate.RetryPolicy{Jitter: 1}
		config.OnFailure = []debate.FailureRule{ // one critique is refused; without this rule the program would stop
			{Calls: []flow.CallKind{deliberation.KindCritique}, Kinds: []debate.Kind{provider.KindRefusal}, Do: flow.OptionSkip},
		}
	}
	return config
}

// qualify puts the provider before a model's name, unless it has one. Names of models can contain slashes
// too.
func qualify(engine *debate.Engine, model, known string) string {
	prefix, _, _ := strings.Cut(model, "/")
	if _, ok := engine.Providers[prefix]; ok && strings.Contains(model, "/") {
		return model
	}
	own, _, _ := strings.Cut(known, "/")
	return own + "/" + model
}

// deliberate runs the deliberation to its end, and shows its progress.
func deliberate(ctx context.Context, p stage.Printer, engine *debate.Engine, config deliberation.Config) (*debate.Record, error) {
	if err := engine.Validate(ctx, config); err != nil {
		return nil, err
	}
	p.Linef("%s — %s\n", stage.Clean(config.Settings().Topic), config.Agents[0].Model)
	show := display{p: p}
	for event, err := range show.hooks().Events(engine.Run(ctx, config)) {
		if err != nil {
			return nil, err
		}
		show.measure(&event)
	}
	return engine.Record(context.WithoutCancel(ctx), config.ID)
}
