package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/cmd/debate/internal/settings"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// onFlags are the flags of the command on.
type onFlags struct {
	at    int64
	round int
	file  string
	sets  []string
}

// on starts a conversation from a point of another one, or with a problem that follows that of another one.
func (p *program) on() *cobra.Command {
	var f onFlags
	c := p.aboutOne("on id [problem]", cobra.RangeArgs(1, 2), func(c *cobra.Command, args []string) error {
		p.reads(f.file)
		if err := errors.Join(exclusive(c, "at", "round"), p.checkOutputs()); err != nil {
			return err
		}
		from := choice{last: anyNewest().last}
		return p.onOne(c.Context(), args, from, func(_ context.Context, engine *debate.Engine, id string) error {
			return p.runOn(c, engine, id, args[1:], &f)
		})
	})
	flags := c.Flags()
	flags.Int64Var(&f.at, "at", 0, "the number of the last event that is copied; 0: none")
	flags.IntVar(&f.round, "round", 0, "copy up to the beginning of this round")
	flags.StringVar(&f.file, "config", "", "a `file`, JSON or YAML, with the fields of the config that change")
	flags.StringArrayVar(&f.sets, "set", nil, "`name=value`: one field of the config, such as judge.model=openai/gpt-4.1; can be repeated")
	p.runFlags(c)
	p.outputFlags(c)
	return c
}

func (p *program) runOn(c *cobra.Command, engine *debate.Engine, id string, problem []string, f *onFlags) error {
	edits, err := settings.OpenEdits(f.file, f.sets)
	if err != nil {
		return settings.Sorted(err)
	}
	if err := p.untouched(); err != nil {
		return err
	}
	if len(problem) > 0 {
		return p.followUp(c, engine, id, problem[0], edits)
	}
	seq, err := f.cut(c, engine, id)
	if err != nil {
		return err
	}
	session, err := forked(c.Context(), engine, id, seq, nil, edits)
	if err != nil {
		return err
	}
	p.warnf("%s is a fork of %s at event %d.", shortID(session.ID()), shortID(id), seq)
	return p.deliver(c.Context(), engine, session.ID(), p.lead(c.Context(), session))
}

// cut returns the number of the last event that is copied.
func (f *onFlags) cut(c *cobra.Command, engine *debate.Engine, id string) (int64, error) {
	record, err := engine.Record(c.Context(), id)
	if err != nil {
		return 0, err
	}
	switch {
	case c.Flags().Changed("at"):
		if f.at < 0 || f.at > record.Seq {
			return 0, exit(exitArguments, fmt.Errorf("--at %d: the events of %s are 1 to %d", f.at, shortID(id), record.Seq))
		}
		return f.at, nil
	case c.Flags().Changed("round"):
		return roundStart(c.Context(), engine, record, f.round)
	case record.Final():
		return 0, exit(exitArguments,
			fmt.Errorf("%s is over: give it another problem, or say with --round or --at where it begins anew", shortID(id)))
	}
	return record.Seq, nil
}

// roundStart returns the number of the event with which a round began.
func roundStart(ctx context.Context, engine *debate.Engine, record *flow.Record, round int) (int64, error) {
	for event, err := range engine.Events(ctx, record.ID, 0) {
		if err != nil {
			return 0, err
		}
		if began, ok := event.Body.(*flow.Round); ok && began.N == round {
			return event.Seq, nil
		}
		if event.Seq >= record.Seq {
			break
		}
	}
	return 0, exit(exitArguments, fmt.Errorf("--round %d: the rounds of %s are 1 to %d", round, shortID(record.ID), record.Round))
}

// followUp starts a conversation of the same cast about another problem. It reads what was said in the old one.
func (p *program) followUp(c *cobra.Command, engine *debate.Engine, id, argument string, edits *settings.Edits) error {
	if c.Flags().Changed("at") || c.Flags().Changed("round") {
		return exit(exitArguments, errors.New("--at and --round copy a part of the conversation; with another problem nothing is copied"))
	}
	problem, err := p.problem(&argument, "")
	if err != nil {
		return err
	}
	record, err := engine.Record(c.Context(), id)
	if err != nil {
		return err
	}
	before, whole := saidBefore(record)
	edit := following(record.Flow(), strings.TrimSpace(problem), before)
	if edit == nil {
		return exit(exitArguments, fmt.Errorf("%s is a conversation of the flow %s, on which no problem follows", shortID(id), record.Flow()))
	}
	session, err := forked(c.Context(), engine, id, 0, edit, edits)
	if err != nil {
		return err
	}
	if !whole {
		p.warnf("What was said in %s is longer than %d KB: only its problem and its result are read.", shortID(id), mostSaid/1000)
	}
	p.warnf("%s follows %s, and has read what was said there.", shortID(session.ID()), shortID(id))
	return p.deliver(c.Context(), engine, session.ID(), p.lead(c.Context(), session))
}

// mostSaid bounds what a conversation reads of the one that it follows, in bytes.
const mostSaid = 200_000

// saidBefore returns what was said in a conversation, and its result, as Markdown. If that is too long, it is the problem and the result
// alone.
func saidBefore(record *flow.Record) (said string, whole bool) {
	ends := "# What a conversation before this one was about\n\n" + strings.TrimSpace(subjectOf(record)) + "\n"
	var result strings.Builder
	turns := saidIn(record, func(t *flow.Turn) bool { return len(t.Data) == 0 }) // the result is written out below
	if got := outcomeOf(record); got.text != "" {
		fmt.Fprintf(&result, "\n# What came of it\n\n%s\n", strings.TrimSpace(got.text))
	}
	if len(ends)+len(turns)+result.Len() > mostSaid {
		return ends + result.String(), false
	}
	return ends + "\n" + turns + result.String(), true
}

// subjectOf returns what a conversation is about.
func subjectOf(record *flow.Record) string {
	if d, ok := deliberation.Of(record); ok {
		return d.Config().Problem
	}
	if w, ok := arbiter.Of(record); ok {
		return w.Config().Task
	}
	if d, ok := debate.Of(record); ok && d.Config() != nil {
		return d.Config().Topic
	}
	return ""
}

// following returns the edit that gives a config of this flow another problem, and what was said before as material; nil: the flow has
// neither.
func following(name, problem, before string) func(flow.Config) flow.Config {
	switch name {
	case deliberation.FlowName:
		return debate.Editing(func(c *deliberation.Config) {
			c.Problem, c.Context = problem, strings.TrimLeft(c.Context+"\n\n"+before, "\n")
		})
	case debate.FlowName:
		return debate.Editing(func(c *debate.Config) {
			c.Topic = problem
			c.Documents = append(c.Documents, flow.Document{
				Name: "before", Files: []flow.File{{Name: "before.md", Type: "text/plain", Data: []byte(before)}},
			})
		})
	case arbiter.FlowName:
		return debate.Editing(func(c *arbiter.Config) { c.Task = problem + "\n\n" + before })
	default:
		return nil
	}
}

// forked forks a conversation, with a change of its config unless it is nil, and edits behind that.
func forked(
	ctx context.Context, engine *debate.Engine, id string, seq int64, change func(flow.Config) flow.Config, edits *settings.Edits,
) (*debate.Session, error) {
	var mistake error
	edit := change
	if !edits.Empty() {
		edit = func(config flow.Config) flow.Config {
			if change != nil {
				config = change(config)
			}
			var changed flow.Config
			if changed, mistake = edits.Apply(config, engine.DecodeConfig); mistake == nil {
				mistake = unplayed(engine, modelsIn(changed))
			}
			if mistake != nil {
				return nil
			}
			return changed
		}
	}
	session, err := engine.Fork(ctx, id, seq, edit)
	if mistake == nil && errors.Is(err, &flow.Error{Kind: provider.KindValidation}) {
		if needs := neededBy(ctx, engine, id, edit); needs != "" {
			return nil, exit(exitConfig, errors.New(needs))
		}
	}
	if mistake == nil {
		mistake = edits.Placed(err)
	}
	switch {
	case errors.Is(err, flow.ErrMissing):
		return nil, exit(exitConfig, err)
	case mistake != nil:
		return nil, settings.Sorted(mistake)
	}
	return session, nil
}

// neededBy says what the vendors need that a fork asks and that this program cannot use; "": it can use them all.
func neededBy(ctx context.Context, engine *debate.Engine, id string, edit func(flow.Config) flow.Config) string {
	record, err := engine.Record(ctx, id)
	if err != nil {
		return ""
	}
	config := record.Config()
	if edit != nil {
		config = edit(config)
	}
	return unable(engine, config, func(string) string { return "" })
}
