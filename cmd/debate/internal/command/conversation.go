package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/demo"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// newest is the word that stands for the newest conversation in place of an id.
const newest = "last"

// choice says which conversations a command takes where it is not given a whole id.
type choice struct {
	// last selects those of which the newest is meant by "last". nil: the command wants an id.
	last *store.Filter
	// flow is the name of the flow of those. "": any.
	flow string
	// implied means that no id stands for "last".
	implied bool
}

// anyNewest lets a command that changes nothing take the newest conversation.
func anyNewest() choice { return choice{last: &store.Filter{}, implied: true} }

// unfinished lets a command that continues or delays take the newest conversation that is not over.
func unfinished() choice { return choice{last: &store.Filter{Unfinished: true}, implied: true} }

// what describes the conversations of which the newest is taken.
func (c *choice) what() string {
	what := "conversation"
	if c.flow != "" {
		what = c.flow
	}
	if c.last.Asking {
		return what + " that waits for an answer"
	}
	if c.last.Unfinished {
		what += " that is not over"
	}
	if len(c.last.States) > 0 {
		what += " that is done"
	}
	if c.last.Idle {
		what += ", and that no process runs"
	}
	return what
}

// aboutOne returns a command about a conversation, which the first of its arguments names.
func (p *program) aboutOne(use string, many cobra.PositionalArgs, run func(c *cobra.Command, args []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Args: arguments(many), ValidArgsFunction: p.completeIDs(1), RunE: run}
}

// onOne opens an engine for a conversation, which the first of the arguments names, and carries out what is done with it.
func (p *program) onOne(
	ctx context.Context, args []string, from choice, do func(ctx context.Context, engine *debate.Engine, id string) error,
) error {
	engine, closing, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer closing()
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	id, err := find(ctx, engine.Store, name, from)
	if err != nil {
		return err
	}
	if err := p.playDemo(ctx, engine, id); err != nil {
		return err
	}
	return do(ctx, engine, id)
}

// besideOne is [program.onOne] for commands that do not run the conversation: the first Ctrl-C ends them.
func (p *program) besideOne(
	ctx context.Context, args []string, from choice, do func(ctx context.Context, engine *debate.Engine, id string) error,
) error {
	return p.interruptible(ctx, func(ctx context.Context) error { return p.onOne(ctx, args, from, do) })
}

// playDemo makes the demonstration the provider of an engine if the conversation was begun with it, so that no model is ever
// asked to continue what a script began. It reads the log beside the engine, which is frozen by its first use.
func (p *program) playDemo(ctx context.Context, engine *debate.Engine, id string) error {
	for event, err := range engine.Store.Read(ctx, id, 0) {
		if err != nil {
			return err
		}
		start, ok := event.Body.(*flow.Start)
		if !ok {
			break
		}
		if _, own := start.Models[demo.Model]; own || start.Settings.Labels[demo.Label] != "" {
			demo.Play(engine, slices.Collect(maps.Keys(start.Models))...)
		}
		break
	}
	return nil
}

// unplayed refuses models of which one is not played in a demonstration: none is ever asked to continue what a script began.
func unplayed(engine *debate.Engine, models []string) error {
	if engine.Providers[demo.Name] == nil {
		return nil
	}
	for _, model := range models {
		if vendor, _, ok := flow.SplitModel(model); ok && engine.Providers[vendor] == nil {
			return exit(exitArguments, fmt.Errorf("%s: this is a demonstration, which no model continues; begin another one without --demo",
				progress.Clean(model)))
		}
	}
	return nil
}

// modelsIn returns the models that a control or a config names.
func modelsIn(what any) (models []string) {
	switch what := what.(type) {
	case flow.Config:
		for _, model := range flow.Models(what) {
			models = append(models, model)
		}
	case flow.Amendment:
		models = flow.AmendedModels(&what)
	case flow.Answer:
		models = []string{what.Model}
	}
	return models
}

// runFlags adds the flags of the commands that run a stored conversation.
func (p *program) runFlags(c *cobra.Command) {
	p.tools.define(c)
	p.viewFlags(c)
}

// find returns the id of the conversation that a name stands for: the id itself, its beginning or its end if no other id begins or ends so,
// or "last".
func find(ctx context.Context, kept store.Store, name string, from choice) (string, error) {
	if name == "" && !from.implied {
		return "", exit(exitArguments, errors.New("an id is missing; debate list shows them"))
	}
	if name == "" || name == newest {
		return findNewest(ctx, kept, name, from)
	}
	if err := store.CheckID(strings.TrimRight(name, ".")); err != nil {
		return "", exit(exitArguments, fmt.Errorf("%q is no id of a conversation; debate list shows them", progress.Clean(name)))
	}
	found, err := candidates(ctx, kept, name)
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", exit(exitArguments, fmt.Errorf("there is no conversation %s; debate list shows those that there are", name))
	case len(found) == 1:
		return found[0], nil
	case len(found) == mostFound:
		found[mostFound-1] = "…"
	}
	return "", exit(exitArguments, fmt.Errorf("several ids begin or end with %s: %s", name, strings.Join(found, ", ")))
}

// mostFound is how many ids are looked for that could be meant: one more than are named.
const mostFound = 4

// candidates returns the ids that a name may stand for: those that begin or end so. An id that is the name stands alone, unless lists show
// others under that name.
func candidates(ctx context.Context, kept store.Store, name string) (found []string, err error) {
	_, missing := store.InfoOf(ctx, kept, name)
	whole := missing == nil
	if whole && len(name) != shortLength {
		return []string{name}, nil
	}
	for info, err := range kept.List(ctx, store.Filter{}) {
		if err != nil || len(found) == mostFound {
			return found, err
		}
		meant := strings.HasPrefix(info.ID, name) || strings.HasSuffix(info.ID, name)
		if whole {
			meant = info.ID == name || shortID(info.ID) == name
		}
		if meant {
			found = append(found, info.ID)
		}
	}
	return found, nil
}

// shortLength is how many characters the short form of an id has.
const shortLength = 8

// shortID returns an id as people read and type it: the last eight digits of a UUID, because UUIDs that are made in the same minute begin
// alike. An id of another form stays whole, and so do all ids in JSON and in a list that goes into a pipe.
func shortID(id string) string {
	const length = 36
	if len(id) != length || id[8] != '-' || id[13] != '-' || id[18] != '-' || id[23] != '-' {
		return id
	}
	return id[length-shortLength:]
}

func findNewest(ctx context.Context, kept store.Store, name string, from choice) (string, error) {
	if from.last == nil {
		return "", exit(exitArguments, fmt.Errorf("this command wants the id of a conversation, not %q; debate list shows the ids", name))
	}
	filter := *from.last
	filter.Newest = true
	if from.flow == "" {
		filter.Limit = 1
	}
	for info, err := range kept.List(ctx, filter) {
		if err != nil || from.flow == "" || info.Flow == from.flow {
			return info.ID, err
		}
	}
	if name == newest && from.last.Unfinished { // all are over
		return findNewest(ctx, kept, name, choice{last: &store.Filter{}, flow: from.flow})
	}
	return "", exit(exitArguments, fmt.Errorf("there is no %s; debate list shows the conversations that there are", from.what()))
}

// interruptible carries out what runs no conversation, so that there is nothing to pause: the first Ctrl-C ends its context.
func (p *program) interruptible(ctx context.Context, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-p.Interrupts:
			cancel(exit(exitInterrupted, nil))
		case <-ctx.Done():
		}
	})
	defer func() { cancel(nil); watching.Wait() }()
	return interruption(ctx, do(ctx))
}

// untouched takes a Ctrl-C that came before anything was begun or paid for. It is for commands that begin a conversation.
func (p *program) untouched() error {
	select {
	case <-p.Interrupts:
		return exit(exitInterrupted, nil)
	default:
		return nil
	}
}

// interruption returns why a context ended if that was Ctrl-C, and err otherwise.
func interruption(ctx context.Context, err error) error {
	var decided *exitError
	if err != nil && errors.As(context.Cause(ctx), &decided) {
		return decided
	}
	return err
}
