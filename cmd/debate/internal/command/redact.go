package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
)

// redactFlags are the flags of the command redact.
type redactFlags struct {
	turns     []int
	events    []int64
	files     []string
	fromInput bool
	with      string
	by        string
	reason    string
	yes       bool
}

// redact removes texts from a conversation. It wants an id: nothing brings them back.
func (p *program) redact() *cobra.Command {
	var f redactFlags
	c := p.aboutOne("redact id", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		if !f.yes && (f.fromInput || !p.interactive()) {
			return exit(exitArguments, errors.New("nobody can be asked: debate redact wants --yes here"))
		}
		return p.besideOne(c.Context(), args, choice{}, func(ctx context.Context, engine *debate.Engine, id string) error {
			return p.runRedact(ctx, engine, id, &f)
		})
	})
	flags := c.Flags()
	flags.IntSliceVar(&f.turns, "turn", nil, "the `numbers` of turns, from 1, in the order in which they were recorded")
	flags.Int64SliceVar(&f.events, "event", nil, "the `numbers` of events, as debate watch --json has them")
	flags.StringSliceVar(&f.files, "file", nil, "the SHA-256 `hashes` of files of the conversation")
	flags.BoolVar(&f.fromInput, "text-from-stdin", false, "the text is the standard input, without the line break at its end")
	flags.StringVar(&f.with, "with", "", `what stands in the place of the text (default "[redacted]")`)
	flags.StringVar(&f.by, "by", "", "who removes it; the log keeps it")
	flags.StringVar(&f.reason, "reason", "", "why, in one line; the log keeps it")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	return c
}

func (p *program) runRedact(ctx context.Context, engine *debate.Engine, id string, f *redactFlags) error {
	events, err := f.numbers(ctx, engine, id)
	if err != nil {
		return err
	}
	removed := flow.Redaction{Events: events, Files: f.files, With: f.with, By: f.by, Reason: f.reason}
	if f.fromInput {
		text, err := p.readInput("text to remove")
		if err != nil {
			return err
		}
		removed.Texts = []string{strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")}
	}
	if !f.yes {
		if err := p.confirm(ctx, fmt.Sprintf("Remove this from %s for good?", shortID(id)), "nothing is removed"); err != nil {
			return err
		}
	}
	fact, err := engine.Redact(ctx, id, removed)
	if err != nil {
		return refused(err)
	}
	return p.showRedacted(id, fact)
}

// numbers returns the numbers of the events that the flags name.
func (f *redactFlags) numbers(ctx context.Context, engine *debate.Engine, id string) ([]int64, error) {
	events := slices.Clone(f.events)
	if len(f.turns) == 0 {
		return events, nil
	}
	var turns []int64
	for event, err := range engine.Store.Read(ctx, id, 0) {
		if err != nil {
			return nil, err
		}
		if event.Kind() == flow.EventTurn {
			turns = append(turns, event.Seq)
		}
	}
	for _, n := range f.turns {
		if n < 1 || n > len(turns) {
			return nil, exit(exitArguments, fmt.Errorf("there is no turn %d: %s has %s", n, shortID(id), progress.Plural(len(turns), "turn")))
		}
		events = append(events, turns[n-1])
	}
	return events, nil
}

// showRedacted says what was removed.
func (p *program) showRedacted(id string, fact *flow.Redacted) error {
	if p.json {
		return p.printValue(fact)
	}
	places := 0
	for _, one := range slices.Concat(fact.Texts, fact.Files) {
		places += one.Count
	}
	p.warnf("%s: removed at %s, in %s.", shortID(id), progress.Plural(places, "place"), progress.Plural(len(fact.Events), "event"))
	for _, at := range fact.Kept {
		p.warnf("A name stays: %s.", at)
	}
	return nil
}
