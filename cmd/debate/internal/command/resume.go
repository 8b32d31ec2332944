package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/inquiry"
	"github.com/agonist-dev/debate/flow"
)

// resumeFlags are the flags of the command resume.
type resumeFlags struct {
	models []string
	reason string
	idle   bool // the flag --no-run
}

// resume continues a conversation, and tries again what a failure has stopped.
func (p *program) resume() *cobra.Command {
	var f resumeFlags
	c := p.aboutOne("resume [id]", cobra.MaximumNArgs(1), func(c *cobra.Command, args []string) error {
		if err := p.checkOutputs(); err != nil {
			return err
		}
		from := unfinished()
		from.last.Idle = !f.idle // another process continues the others
		return p.onOne(c.Context(), args, from, func(ctx context.Context, engine *debate.Engine, id string) error {
			return p.runResume(ctx, engine, id, &f)
		})
	})
	c.Flags().StringArrayVar(&f.models, "model", nil, modelUsage)
	completeFlag(c, "model", modelNames)
	withReason(c, &f.reason)
	p.withRun(c, &f.idle)
	p.outputFlags(c)
	return c
}

func (p *program) runResume(ctx context.Context, engine *debate.Engine, id string, f *resumeFlags) error {
	record, after, err := p.stateOf(ctx, engine, id)
	if err != nil {
		return err
	}
	if len(f.models) > 0 {
		models, err := modelsOf(record, f.models)
		if err != nil {
			return exit(exitArguments, err)
		}
		if err := p.control(ctx, engine, id, flow.Amendment{Models: models, Person: p.user()}); err != nil {
			return err
		}
	}
	again := inquiry.Retries(record.Inquiries)
	for _, answer := range again {
		answer.Person = p.user()
		if err := p.control(ctx, engine, id, answer); err != nil {
			return err
		}
	}
	var signal flow.Signal
	switch {
	case record.State == flow.StateError:
		signal = flow.Retry{Reason: f.reason, Person: p.user()}
	case f.idle && record.State == flow.StatePaused:
		signal = flow.Resume{Reason: f.reason, Person: p.user()}
	case f.idle && after.Held && len(again) == 0: // calls that wait for an outage are made at once
		signal = flow.Retry{Reason: f.reason, Person: p.user()}
	}
	if signal != nil {
		if err := p.control(ctx, engine, id, signal); err != nil {
			return err
		}
	}
	if signal != nil || f.idle || len(again) > 0 && after.Held {
		if run, err := p.tellState(ctx, engine, id, !f.idle); err != nil || !run {
			return err
		}
	}
	return p.deliver(ctx, engine, id, p.goOn(ctx, engine, id, f.reason))
}
