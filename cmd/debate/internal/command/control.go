package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// controlFlags are the flags of the commands that control a conversation.
type controlFlags struct {
	reason string
	run    bool
}

// withReason adds the flag --reason.
func (f *controlFlags) withReason(c *cobra.Command) *cobra.Command {
	c.Flags().StringVar(&f.reason, "reason", "", "why, in one line; the log keeps it")
	return c
}

// withRun adds the flag --run, and those of what a conversation that is continued here may use.
func (p *program) withRun(c *cobra.Command, f *controlFlags) {
	c.Flags().BoolVar(&f.run, "run", true, "continue the conversation here, unless another process runs it")
	p.runFlags(c)
}

// controlling completes c, a command that controls a conversation, and returns it. The conversation is the one that the first argument
// names, or one that from finds; an id is required unless from implies one. signal makes the control. f is nil if the command has none of
// these flags: it then continues nothing here.
func (p *program) controlling(
	c *cobra.Command, f *controlFlags, from choice,
	signal func(c *cobra.Command, engine *debate.Engine, id string, args []string) (flow.Signal, error),
) *cobra.Command {
	if c.Args == nil {
		c.Args = arguments(cobra.ExactArgs(1))
		if from.implied {
			c.Args = arguments(cobra.MaximumNArgs(1))
		}
	}
	if c.ValidArgsFunction == nil {
		c.ValidArgsFunction = p.completeIDs(1)
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		engine, id, closing, err := p.openOne(c.Context(), args, from)
		if err != nil {
			return err
		}
		defer closing()
		control, err := signal(c, engine, id, args)
		if err != nil {
			return err
		}
		return p.control(c.Context(), engine, id, control, f != nil && f.run)
	}
	return c
}

// reasoned makes a command whose control is a reason and no more.
func (p *program) reasoned(c *cobra.Command, f *controlFlags, from choice, signal func() flow.Signal) *cobra.Command {
	return f.withReason(p.controlling(c, f, from, func(*cobra.Command, *debate.Engine, string, []string) (flow.Signal, error) {
		return signal(), nil
	}))
}

// pause stops new calls of a conversation.
func (p *program) pause() *cobra.Command {
	var f controlFlags
	var drain bool
	c := p.reasoned(&cobra.Command{
		Use: "pause [id]", Short: "Pause a conversation, wherever it runs: by default the newest one that is not over",
		Example: `  debate pause 0198c2f1 --reason "waiting for the figures"`,
	}, &f, unfinished(), func() flow.Signal { return flow.Pause{Drain: drain, Reason: f.reason} })
	c.Flags().BoolVar(&drain, "drain", false, "let the calls in flight finish; else they are aborted and paid for")
	return c
}

// stop ends the rounds of a conversation. It wants an id: nothing undoes it.
func (p *program) stop() *cobra.Command {
	var f controlFlags
	return p.reasoned(&cobra.Command{
		Use: "stop id", Short: "End the rounds of a conversation now, and have it concluded with what there is",
		Example: `  debate stop 0198c2f1 --reason "good enough"`,
	}, &f, choice{}, func() flow.Signal { return flow.Stop{Reason: f.reason} })
}

// cancel ends a conversation without a conclusion. It wants an id: nothing undoes it.
func (p *program) cancel() *cobra.Command {
	var f controlFlags
	return p.reasoned(&cobra.Command{
		Use: "cancel id", Short: "End a conversation for good, without a result",
		Example: `  debate cancel 0198c2f1 --reason "wrong question"`,
	}, &f, choice{}, func() flow.Signal { return flow.Cancel{Reason: f.reason} })
}

// retry makes the calls again that a failure has stopped.
func (p *program) retry() *cobra.Command {
	var f controlFlags
	failed := choice{last: &store.Filter{States: []flow.State{flow.StateError}, Unfinished: true}, implied: true}
	c := p.reasoned(&cobra.Command{
		Use: "retry [id]", Short: "Try again what a failure has stopped: by default in the newest conversation that stopped so",
		Long: `Try again what a failure has stopped, and continue here unless another process
runs the conversation. Nothing that has a result is repeated. Without an id it
is the newest conversation in the state error. Calls that wait for an outage
to pass are made at once.`,
		Example: `  debate retry 0198c2f1`,
	}, &f, failed, func() flow.Signal { return flow.Retry{Reason: f.reason} })
	p.withRun(c, &f)
	return c
}

// controlled is what a command says of a conversation that it has controlled.
type controlled struct {
	ID    string     `json:"id"`
	State flow.State `json:"state"`
	Held  bool       `json:"held"` // another process runs it
}

// control gives a control to a conversation, says what came of it, and continues it here if that is asked for.
func (p *program) control(ctx context.Context, engine *debate.Engine, id string, signal flow.Signal, run bool) error {
	refusal := engine.Control(ctx, id, signal)
	if refusal != nil && !errors.Is(refusal, &flow.Error{Kind: provider.KindState}) {
		return refused(refusal)
	}
	record, err := engine.Record(ctx, id)
	if err != nil {
		return cmp.Or(refusal, err)
	}
	info, err := store.InfoOf(ctx, engine.Store, id)
	if err != nil {
		return cmp.Or(refusal, err)
	}
	after := controlled{ID: id, State: record.State, Held: info.Owner != ""}
	if refusal != nil {
		next := after.next(record)
		if record.Final() {
			next = "it is over; " + progress.Command("fork --round N", id) + " begins another one where a round began."
		}
		return &opposedError{refusal, id + ": " + next}
	}
	if run && !after.State.Idle() && !after.Held {
		return p.goOn(ctx, engine, id)
	}
	if p.json {
		return p.printValue(after)
	}
	p.warnf("%s: %s", id, after.next(record))
	return nil
}

// opposedError is the error of a control that the state of a conversation does not allow. next says what continues it.
type opposedError struct {
	error
	next string
}

func (e *opposedError) Unwrap() error { return e.error }

// next says what state the conversation is in now, and what follows from it.
func (c *controlled) next(record *flow.Record) string {
	switch {
	case record.Final():
		return string(c.State) + "."
	case c.State == flow.StatePaused:
		return fmt.Sprintf("paused; %s continues it.", progress.Command("resume", c.ID))
	case c.State == flow.StateError:
		return fmt.Sprintf("stopped by a failure; %s tries again.", progress.Command("retry", c.ID))
	case c.State == flow.StateAwaitingInput:
		return fmt.Sprintf("it waits for %s; %s lists them.", progress.Plural(len(record.Inquiries), "answer"), progress.Command("show", c.ID))
	case c.Held:
		return fmt.Sprintf("%s; the process that runs it acts on this. %s follows it.", c.State, progress.Command("watch", c.ID))
	default:
		return fmt.Sprintf("%s; no process runs it. %s continues it.", c.State, progress.Command("resume", c.ID))
	}
}

// goOn opens a conversation and leads it to its end.
func (p *program) goOn(ctx context.Context, engine *debate.Engine, id string) error {
	session, err := p.session(ctx, engine, id)
	if err != nil {
		return err
	}
	return p.lead(ctx, session)
}

// session opens a conversation, and says what helps if it cannot be opened.
func (p *program) session(ctx context.Context, engine *debate.Engine, id string) (*debate.Session, error) {
	session, err := engine.Open(ctx, id)
	if errors.Is(err, flow.ErrLeased) {
		session, err = p.outwait(ctx, engine, id)
	}
	switch {
	case errors.Is(err, flow.ErrLeased):
		return nil, exit(exitGeneral, fmt.Errorf("another process runs %s: %s follows it", id, progress.Command("watch", id)))
	case errors.Is(err, flow.ErrMissing):
		return nil, exit(exitConfig, fmt.Errorf("%w; %s continues it where that is there. "+
			"--context, --allow-write, --allow-run and --mcp offer tools", err, progress.Command("resume", id)))
	}
	return session, err
}

// refused makes an error about a control one of the command line, if what was given is wrong.
func refused(err error) error {
	var failure *flow.Error
	if errors.As(err, &failure) && failure.Kind == provider.KindValidation {
		return exit(exitArguments, err)
	}
	return err
}
