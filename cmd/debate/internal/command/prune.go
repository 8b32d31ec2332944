package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/store"
)

// pruneFlags are the flags by which the command delete selects old conversations.
type pruneFlags struct {
	before     string
	labels     []string
	unfinished bool
	batch      int
	pause      time.Duration
	dryRun     bool
}

// define adds the flags.
func (f *pruneFlags) define(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.before, "before", "", "those whose last event is older: an `age` such as 12h or 30d, or a date such as 2026-01-31")
	flags.StringArrayVar(&f.labels, "label", nil, "only those with this label, as `name=value`; can be repeated")
	flags.BoolVar(&f.unfinished, "unfinished", false, "also those that are not over")
	flags.IntVar(&f.batch, "batch", 100, "how many are deleted before a pause")
	flags.DurationVar(&f.pause, "pause", 100*time.Millisecond, "how long that is, for others that use the store")
	flags.BoolVar(&f.dryRun, "dry-run", false, "delete nothing, and say what would be deleted")
}

// given returns the name of a flag that was given and has no sense without --before.
func (*pruneFlags) given(c *cobra.Command) string {
	for _, name := range []string{"label", "unfinished", "batch", "pause", "dry-run"} {
		if c.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

// retention returns what the flags select.
func (f *pruneFlags) retention(now time.Time) (r store.Retention, err error) {
	r = store.Retention{Unfinished: f.unfinished, Batch: f.batch, Pause: f.pause, DryRun: f.dryRun}
	if f.batch < 1 || f.pause < 0 {
		return r, errors.New("--batch is at least 1, and --pause at least 0")
	}
	if r.Labels, err = labelled(f.labels); err == nil {
		r.Before, err = since("before", f.before, now)
	}
	return r, err
}

// deleted is what the command delete says of a conversation.
type deleted struct {
	store.Info

	Kept string `json:"kept,omitempty"` // why it was not deleted
}

func (p *program) runPrune(ctx context.Context, f *pruneFlags, yes bool) error {
	of, err := f.retention(time.Now())
	if err != nil {
		return exit(exitArguments, err)
	}
	kept, closing, err := p.openStore(ctx)
	if err != nil {
		return err
	}
	defer closing()
	if !yes && !f.dryRun {
		if !p.interactive() {
			return exit(exitArguments, errors.New("nobody can be asked: debate delete wants --yes here"))
		}
		trial := of
		trial.DryRun = true
		n := 0
		for gone, err := range store.Prune(ctx, kept, trial) {
			if err != nil {
				return err
			}
			if gone.Err == nil {
				n++
			}
		}
		question := fmt.Sprintf("Delete %s for good?", progress.Plural(n, "conversation"))
		if err := p.confirm(ctx, question, "nothing is deleted"); err != nil {
			return err
		}
	}
	return p.prune(ctx, kept, of)
}

// prune deletes old conversations, and says of each what became of it.
func (p *program) prune(ctx context.Context, kept store.Store, of store.Retention) error {
	done, all := 0, []deleted{}
	for gone, err := range store.Prune(ctx, kept, of) {
		if err != nil {
			p.warnf("%s until then.", progress.Plural(done, "conversation"))
			return err
		}
		said := deleted{Info: gone.Info}
		switch {
		case gone.Err != nil:
			said.Kept = gone.Err.Error()
			p.warnf("%s stays: %v.", shortID(gone.ID), gone.Err)
		case of.DryRun:
			p.warnf("%s  %s  %s", shortID(gone.ID), gone.State, short(gone.Topic, 60))
			done++
		default:
			p.warnf("Deleted %s.", shortID(gone.ID))
			done++
		}
		if p.json {
			all = append(all, said)
		}
	}
	if p.json {
		return p.printValue(all)
	}
	verb := "were"
	if of.DryRun {
		verb = "would be"
	}
	p.warnf("%s %s deleted.", progress.Plural(done, "conversation"), verb)
	return nil
}
