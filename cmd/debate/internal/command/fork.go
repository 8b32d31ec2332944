package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/settings"
	"github.com/agonist-dev/debate/flow"
)

// forkFlags are the flags of the command fork.
type forkFlags struct {
	at    int64
	round int
	file  string
	sets  []string
}

// fork starts a conversation that continues from a point of another one.
func (p *program) fork() *cobra.Command {
	var f forkFlags
	c := &cobra.Command{
		Use: "fork id", Short: "Start a new conversation from a point of another one, and run it",
		Long: `Start a new conversation that begins with a copy of another one, and run it.
The other one does not change. --round takes it to where a round began, and
--at to an event of its log (debate replay --json shows the numbers; 0: only
the config is taken). Without either it goes on from where the other one is
now. What was copied counts against its budget.

--set and --config change the config: a file, JSON or YAML, with the fields
that are replaced, within objects field by field, and null to remove one. What
the copied part refers to, such as the names of the participants, cannot be
changed.`,
		Example: `  debate fork 0198c2f1 --round 2 --set rounds=5
  debate fork 0198c2f1 --at 0 --set judge.model=anthropic/claude-sonnet-4-5`,
		Args:              arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: p.completeIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := exclusive(c, "at", "round"); err != nil {
				return err
			}
			engine, id, closing, err := p.openOne(c.Context(), args, choice{last: anyNewest().last})
			if err != nil {
				return err
			}
			defer closing()
			seq, err := f.cut(c, engine, id)
			if err != nil {
				return err
			}
			edits, err := settings.OpenEdits(f.file, f.sets)
			if err != nil {
				return exit(codeOfMistakes(err), settings.Sorted(err))
			}
			session, err := forked(c.Context(), engine, id, seq, edits)
			if err != nil {
				return err
			}
			p.warnf("%s is a fork of %s at event %d.", session.ID(), id, seq)
			return p.lead(c.Context(), session)
		},
	}
	flags := c.Flags()
	flags.Int64Var(&f.at, "at", 0, "the number of the last event that is copied; 0: none")
	flags.IntVar(&f.round, "round", 0, "copy up to the beginning of this round")
	flags.StringVar(&f.file, "config", "", "a `file`, JSON or YAML, with the fields of the config that change")
	flags.StringArrayVar(&f.sets, "set", nil, "`name=value`: one field of the config, such as judge.model=openai/gpt-4.1; can be repeated")
	p.runFlags(c)
	return c
}

// cut returns the number of the last event that is copied.
func (f *forkFlags) cut(c *cobra.Command, engine *debate.Engine, id string) (int64, error) {
	record, err := engine.Record(c.Context(), id)
	if err != nil {
		return 0, err
	}
	switch {
	case c.Flags().Changed("at"):
		if f.at < 0 || f.at > record.Seq {
			return 0, exit(exitArguments, fmt.Errorf("--at %d: the events of %s are 1 to %d", f.at, id, record.Seq))
		}
		return f.at, nil
	case c.Flags().Changed("round"):
		return roundStart(c.Context(), engine, record, f.round)
	case record.Final():
		return 0, exit(exitArguments, fmt.Errorf("%s is over: say with --round or --at where the fork begins", id))
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
	return 0, exit(exitArguments, fmt.Errorf("--round %d: the rounds of %s are 1 to %d", round, record.ID, record.Round))
}

// forked forks a conversation with edits of its config.
func forked(ctx context.Context, engine *debate.Engine, id string, seq int64, edits *settings.Edits) (*debate.Session, error) {
	var mistake error
	var edit func(flow.Config) flow.Config
	if !edits.Empty() {
		edit = func(config flow.Config) flow.Config {
			var changed flow.Config
			changed, mistake = edits.Apply(config, engine.DecodeConfig)
			return changed
		}
	}
	session, err := engine.Fork(ctx, id, seq, edit)
	if mistake == nil {
		mistake = edits.Placed(err)
	}
	switch code := codeOfMistakes(mistake); {
	case errors.Is(err, flow.ErrMissing):
		return nil, exit(exitConfig, err)
	case code != exitGeneral:
		return nil, exit(code, settings.Sorted(mistake))
	case mistake != nil:
		return nil, mistake
	}
	return session, nil
}
