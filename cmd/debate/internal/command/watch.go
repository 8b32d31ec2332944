package command

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
)

// watch follows a conversation that another process runs.
func (p *program) watch() *cobra.Command {
	return &cobra.Command{
		Use: "watch [id]", Short: "Follow a conversation that another process runs: by default the newest that is not over",
		Long: `Follow a conversation that another process runs, by default the newest that is
not over, until it is over or Ctrl-C. What is shown are the facts of its log.
The text of speeches, while it is written, is shown only by the process that
runs the conversation. Watching changes nothing.`,
		Example: `  debate watch
  debate watch 0198c2f1 --json`,
		Args:              arguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: p.completeIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := p.interruptible(c.Context())
			defer stop()
			engine, id, closing, err := p.openOne(ctx, args, unfinished())
			if err != nil {
				return interruption(ctx, err)
			}
			defer closing()
			p.warnf("Following %s. Its log has no text of speeches while they are written: that is where it runs.", id)
			return interruption(ctx, p.follow(ctx, engine, id))
		},
	}
}

// follow shows the events of a conversation until it is over, and then its result.
func (p *program) follow(ctx context.Context, engine *debate.Engine, id string) error {
	before, err := engine.Record(ctx, id)
	if err != nil {
		return err
	}
	show := p.course(p.viewing.began)
	if before.State == flow.StatePaused {
		p.warnf("It is paused: debate resume %s continues it.", id)
	}
	for event, err := range engine.Events(ctx, id, 0) {
		if err != nil {
			return err
		}
		show(&event)
		if event.Seq >= before.Seq && event.Err() != nil { // of those before, something has come of it
			p.warnf("It waits: debate show %s says for what.", id)
		}
	}
	record, err := engine.Record(ctx, id)
	if err != nil || p.json {
		return err
	}
	got := resultOf(record)
	if !got.exists {
		why := cmp.Or(record.Evidence, string(record.State))
		return exit(exitEarly, fmt.Errorf("the conversation has ended without what was asked for: %s", why))
	}
	return p.print(got.text)
}

// course returns a function that shows events on the standard error as lines, or with --json on the standard output.
func (p *program) course(since time.Time) func(*flow.Event) {
	if p.json {
		return func(e *flow.Event) { p.printJSON(e.Public()) }
	}
	return progress.New(p.Err, since).Show
}
