package command

import (
	"context"
	"encoding/json"

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
	show := p.course()
	for event, err := range engine.Events(ctx, id, 0) {
		if err != nil {
			return err
		}
		if err := show(&event); err != nil {
			return err
		}
		switch err := event.Err(); {
		case err == nil:
		case event.Body.EventKind() == flow.EventTransition:
			p.warnf("It waits: debate show %s says for what.", id)
		}
	}
	record, err := engine.Record(ctx, id)
	if err != nil || p.json {
		return err
	}
	return p.finish(record, nil)
}

// course returns a function that shows events on the standard error as lines, or with --json on the standard output.
func (p *program) course() func(*flow.Event) error {
	if p.json {
		return p.printEvent
	}
	lines := progress.New(p.Err)
	return func(e *flow.Event) error {
		lines.Show(e)
		return nil
	}
}

// printEvent writes an event as a line of JSON.
func (p *program) printEvent(e *flow.Event) error {
	data, err := json.Marshal(e.Public())
	if err != nil {
		return err
	}
	_, err = p.Out.Write(append(escaped(data), '\n'))
	return err
}
