package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// withReason adds the flag --reason.
func withReason(c *cobra.Command, reason *string) {
	c.Flags().StringVar(reason, "reason", "", "why, in one line; the log keeps it")
}

// withRun adds the flag --no-run, and those of what a conversation that is continued here may use.
func (p *program) withRun(c *cobra.Command, idle *bool) {
	c.Flags().BoolVar(idle, "no-run", false, "do not continue the conversation here")
	p.runFlags(c)
}

// pause stops new calls of a conversation.
func (p *program) pause() *cobra.Command {
	var signal flow.Pause
	c := p.aboutOne("pause [id]", cobra.MaximumNArgs(1), func(c *cobra.Command, args []string) error {
		signal.Person = p.user()
		return p.controlOne(c, args, unfinished(), signal)
	})
	withReason(c, &signal.Reason)
	c.Flags().BoolVar(&signal.Drain, "drain", false, "let the calls in flight finish; else they are aborted and paid for")
	return c
}

// stop ends the rounds of a conversation, or the conversation. It wants an id: nothing undoes it.
func (p *program) stop() *cobra.Command {
	var reason string
	var noResult bool
	c := p.aboutOne("stop id", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		if noResult {
			return p.controlOne(c, args, choice{}, flow.Cancel{Reason: reason, Person: p.user()})
		}
		return p.controlOne(c, args, choice{}, flow.Stop{Reason: reason, Person: p.user()})
	})
	withReason(c, &reason)
	c.Flags().BoolVar(&noResult, "no-result", false, "end the conversation for good, without a conclusion")
	return c
}

// controlOne gives a control to the conversation that the arguments name, and says what came of it.
func (p *program) controlOne(c *cobra.Command, args []string, from choice, signal flow.Signal) error {
	return p.onOne(c.Context(), args, from, func(ctx context.Context, engine *debate.Engine, id string) error {
		if err := p.control(ctx, engine, id, signal); err != nil {
			return err
		}
		_, err := p.tellState(ctx, engine, id, false)
		return err
	})
}

// control gives a control to a conversation. If its state does not allow that, the error says so, and what continues the conversation.
func (p *program) control(ctx context.Context, engine *debate.Engine, id string, signal flow.Signal) error {
	if err := unplayed(engine, modelsIn(signal)); err != nil {
		return err
	}
	refusal := engine.Control(ctx, id, signal)
	if refusal == nil || !errors.Is(refusal, &flow.Error{Kind: provider.KindState}) {
		return refused(refusal)
	}
	record, after, err := p.stateOf(ctx, engine, id)
	if err != nil {
		return cmp.Or(refusal, err)
	}
	next := shortID(id) + ": " + after.next(record)
	switch {
	case record.Final():
		next = begunAnew(id)
		if _, said := signal.(flow.Note); said && record.State == flow.StateCompleted {
			next = reopening(record)
		}
	case record.State == flow.StateError && record.Reason == flow.EndHardLimit:
		next = progress.Command(amending(amends(record.Failure), record.CutShort()), shortID(id)) + " raises it."
	}
	return &toldError{refusal, opposition(signal, record, refusal), next}
}

// begunAnew says what helps where nothing can be done with a conversation that is over.
func begunAnew(id string) string {
	return progress.Command("on --round N", shortID(id)) + " begins another one where a round began."
}

// reopening says how something is still said in a conversation that is done.
func reopening(record *flow.Record) string {
	if _, ok := debate.Of(record); ok {
		return progress.Command("reopen --ask TEXT --to NAME", shortID(record.ID)) + " asks one participant; --rounds N goes on for all."
	}
	return progress.Command("reopen --rounds N --ask TEXT", shortID(record.ID)) + " goes on with it."
}

// tellState says what state a conversation is in now, unless it is to be continued here and can be: then it reports true.
func (p *program) tellState(ctx context.Context, engine *debate.Engine, id string, run bool) (bool, error) {
	record, after, err := p.stateOf(ctx, engine, id)
	switch {
	case err != nil:
		return false, err
	case run && !after.State.Idle() && !after.Held:
		return true, nil
	case p.json:
		return false, p.printValue(after)
	}
	p.warnf("%s: %s", shortID(id), after.next(record))
	return false, nil
}

// controlled is what a command says of a conversation that it has controlled.
type controlled struct {
	ID    string     `json:"id"`
	State flow.State `json:"state"`
	Held  bool       `json:"held"` // another process runs it
}

func (p *program) stateOf(ctx context.Context, engine *debate.Engine, id string) (*flow.Record, *controlled, error) {
	record, err := engine.Record(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	info, err := store.InfoOf(ctx, engine.Store, id)
	if err != nil {
		return nil, nil, err
	}
	return record, &controlled{id, record.State, info.Owner != ""}, nil
}

// toldError is an error that is said in words of the program. next says what helps; "": the words do.
type toldError struct {
	error
	said, next string
}

func (e *toldError) Error() string { return e.said }

func (e *toldError) Unwrap() error { return e.error }

// opposition says why the state of a conversation does not allow a control.
func opposition(signal flow.Signal, record *flow.Record, refusal error) string {
	_, pause := signal.(flow.Pause)
	_, retry := signal.(flow.Retry)
	_, steered := signal.(flow.Sent)
	switch {
	case record.Final():
		return "It is " + stateWord(record.State, false) + " already."
	case pause && record.State == flow.StatePaused:
		return "It is paused already."
	case pause && record.State == flow.StateError:
		return "A failure has stopped it already."
	case retry && record.State != flow.StateError:
		return "No failure has stopped it."
	case retry && record.Reason == flow.EndHardLimit:
		return "A limit has stopped it, and nobody has raised it since."
	case steered && !record.State.Idle():
		return "An agent is at work: pause the work before."
	}
	said := refusal.Error()
	if failure, ok := errors.AsType[*flow.Error](refusal); ok && failure.Err != nil {
		said = failure.Err.Error()
	}
	if strings.Contains(said, " in state ") { // of the engine, by names that nobody knows
		return "That is not possible while it is " + string(record.State) + "."
	}
	return progress.Clean(said)
}

// next says what state the conversation is in now, and what follows from it.
func (c *controlled) next(record *flow.Record) string {
	id := shortID(c.ID)
	switch {
	case record.Final():
		return stateWord(c.State, false) + "."
	case c.State == flow.StatePaused:
		return fmt.Sprintf("paused; %s continues it.", progress.Command("resume", id))
	case c.State == flow.StateError:
		return fmt.Sprintf("stopped by a failure; %s tries again.", progress.Command("resume", id))
	case c.State == flow.StateAwaitingInput:
		return fmt.Sprintf("it waits for %s; %s lists them.", progress.Plural(len(record.Inquiries), "answer"), progress.Command("show", id))
	case c.Held:
		return fmt.Sprintf("%s; another process has it, and continues it. %s follows it.", c.State, progress.Command("watch", id))
	default:
		return fmt.Sprintf("%s; no process runs it. %s continues it, unless a worker does.", c.State, progress.Command("resume", id))
	}
}

// goOn opens a conversation and leads it to its end. One that is paused is resumed, for this reason.
func (p *program) goOn(ctx context.Context, engine *debate.Engine, id, reason string) error {
	session, err := p.session(ctx, engine, id)
	if err != nil {
		return err
	}
	if session.State() == flow.StatePaused {
		if err := session.Control(ctx, flow.Resume{Reason: reason, Person: p.user()}); err != nil {
			return err
		}
	}
	return p.lead(ctx, session)
}

// missing returns the error of a conversation that this program lacks something for.
func (p *program) missing(ctx context.Context, engine *debate.Engine, id string, why error) error {
	record, err := engine.Record(ctx, id)
	if err != nil {
		return err
	}
	again := progress.Command("resume", shortID(id))
	if needs := unable(engine, record.Config(), record.Replacement); needs != "" {
		return exit(exitConfig, fmt.Errorf("%s; then %s continues it", needs, again))
	}
	return exit(exitConfig, fmt.Errorf("%w; %s continues it where that is there. --context, --allow-write, --allow-run and --mcp offer tools",
		why, again))
}

// session opens a conversation, and says what helps if it cannot be opened.
func (p *program) session(ctx context.Context, engine *debate.Engine, id string) (*debate.Session, error) {
	session, err := engine.Open(ctx, id)
	switch {
	case errors.Is(err, flow.ErrLeased):
		return nil, exit(exitGeneral, fmt.Errorf("another process runs %s: %s follows it", shortID(id), progress.Command("watch", shortID(id))))
	case errors.Is(err, flow.ErrMissing):
		return nil, p.missing(ctx, engine, id, err)
	}
	return session, err
}

// refused makes an error about a control one of the command line, if what was given is wrong.
func refused(err error) error {
	if failure, ok := errors.AsType[*flow.Error](err); ok && failure.Kind == provider.KindValidation {
		return exit(exitArguments, err)
	}
	return err
}
