package command

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// watch follows a conversation that another process runs, or prints one that is over.
func (p *program) watch() *cobra.Command {
	var unpaged bool
	c := p.aboutOne("watch [id]", cobra.MaximumNArgs(1), func(c *cobra.Command, args []string) error {
		return p.besideOne(c.Context(), args, unfinished(), func(ctx context.Context, engine *debate.Engine, id string) error {
			before, err := engine.Record(ctx, id)
			if err != nil {
				return err
			}
			if before.Final() {
				return p.paged(unpaged, func() error { return p.follow(ctx, engine, before, false) })
			}
			p.warnf("Following %s.", shortID(id))
			return p.follow(ctx, engine, before, len(args) == 0)
		})
	})
	c.Flags().BoolVar(&unpaged, "no-pager", false, "do not show a long text by a pager")
	return c
}

// follow prints what is said in a conversation until it is over, and then its result. unnamed means that no id was given: then it also
// ends if no process runs the conversation.
func (p *program) follow(ctx context.Context, engine *debate.Engine, before *flow.Record, unnamed bool) error {
	id := before.ID
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	defer func() { cancel(nil); watching.Wait() }()
	alone := p.aloneNow(ctx, engine, before)
	if alone != nil && unnamed {
		return alone
	}
	watching.Go(func() { cancel(p.leftAlone(ctx, engine, id, unnamed && alone == nil)) })
	told := alone == nil
	lines := p.plainLines()
	r := p.reader(p.Out, func(id string) string { return progress.Clean(called(before, id)) })
	for event, err := range engine.Events(ctx, id, 0) {
		if err != nil {
			return interruption(ctx, err)
		}
		if p.json {
			p.printJSON(event.Public())
		} else {
			lines.Show(&event)
			r.event(&event)
		}
		if out, ok := p.Out.(*output); ok && out.failed != nil {
			return out.failed
		}
		if !told && event.Seq >= before.Seq { // behind the text, where it can be read
			told = true
			p.warnf("%v", alone)
		}
		if event.Seq >= before.Seq && event.Err() != nil { // of those before, something has come of it
			p.warnf("It waits: %s says for what.", progress.Command("show", shortID(id)))
		}
	}
	lines.End()
	record, err := engine.Record(ctx, id)
	if err != nil {
		return interruption(ctx, err)
	}
	got := resultOf(record)
	if got.exists && !p.json && !strings.Contains(r.last, strings.TrimSpace(got.outcome)) { // it may have been the last speech
		if err := p.print(got.outcome); err != nil {
			return err
		}
	}
	return cmp.Or(r.err, lacking(record, &got))
}

// aloneNow returns an error that says that no process runs a conversation, and what continues it; nil: one does, or it is over.
func (p *program) aloneNow(ctx context.Context, engine *debate.Engine, record *flow.Record) error {
	info, err := store.InfoOf(ctx, engine.Store, record.ID)
	if err != nil || info.Owner != "" || record.Final() {
		return nil //nolint:nilerr // what fails here fails for the reader of the events too
	}
	now := controlled{ID: record.ID, State: record.State}
	alone := fmt.Errorf("nobody runs %s: %s With the id, debate watch waits for that", shortID(record.ID), now.next(record))
	return exit(codeOf(ended(record, nil, alone)), alone)
}

// A conversation at work whose process was killed has no lease after a while. One that another process takes over has none for a
// moment.
const (
	aloneCheck = time.Second
	aloneLong  = 5 // checks
)

// leftAlone waits until there is no reader any more or, if that ends the command, until a conversation is at work and no process has run it
// for a while. It returns nil if ctx is done before.
func (p *program) leftAlone(ctx context.Context, engine *debate.Engine, id string, ends bool) error {
	ticker := time.NewTicker(aloneCheck)
	defer ticker.Stop()
	for alone := 0; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		switch {
		case unread(p.Out):
			return exit(exitUnread, nil)
		case !ends:
			continue
		}
		info, err := store.InfoOf(ctx, engine.Store, id)
		if alone++; err != nil || info.Owner != "" || info.State.Idle() {
			alone = 0
		}
		if alone < aloneLong {
			continue
		}
		if record, err := engine.Record(ctx, id); err == nil {
			if left := p.aloneNow(ctx, engine, record); left != nil {
				return left
			}
		}
	}
}
