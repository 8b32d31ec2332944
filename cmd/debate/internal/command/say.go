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
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// say says something in between, as somebody who takes no part.
func (p *program) say() *cobra.Command {
	var note flow.Note
	c := &cobra.Command{
		Use: "say id text", Args: arguments(cobra.ExactArgs(2)), ValidArgsFunction: p.completeIDs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if note.Text, err = p.text(args[1:], "note"); err != nil {
				return err
			}
			note.Person = p.person(c)
			return p.onOne(c.Context(), args, unfinished(), func(ctx context.Context, engine *debate.Engine, id string) error {
				if err := p.control(ctx, engine, id, note); err != nil {
					return hinted(err)
				}
				if err := p.tellAsked(ctx, engine, id, note.Ask); err != nil {
					return err
				}
				_, err := p.tellState(ctx, engine, id, false)
				return err
			})
		},
	}
	flags := c.Flags()
	flags.StringVar(&note.As, "as", "", "the name under which it is read; else \"A listener\"")
	flags.StringSliceVar(&note.To, "to", nil, "the `participants` who read it; else all")
	flags.StringVar(&note.Ask, "ask", "", "the `participant` who answers it, after the speech in progress, where the format has that")
	personFlag(c)
	return c
}

// hinted adds what helps against the refusal of a note, where the library knows more than which field is wrong.
func hinted(err error) error {
	refusal, ok := errors.AsType[*flow.Error](err)
	if !ok || refusal.Kind != provider.KindValidation || !strings.Contains(refusal.Hint(), ": ") {
		return err
	}
	return &toldError{err, progress.Told(err), refusal.Hint()}
}

// tellAsked says when a participant answers a note out of turn: a speech that has begun is heard to its end, also if a person takes days
// for it. "": nobody is asked.
func (p *program) tellAsked(ctx context.Context, engine *debate.Engine, id, who string) error {
	if who == "" || p.json {
		return nil
	}
	record, err := engine.Record(ctx, id)
	if err != nil {
		return err
	}
	var speaking []string
	add := func(name string) {
		if name != who && record.Seat(name) >= 0 && !slices.Contains(speaking, name) {
			speaking = append(speaking, name)
		}
	}
	for i := range record.Inquiries {
		if q := &record.Inquiries[i]; len(q.Options) == 0 {
			add(q.To)
		}
	}
	for _, one := range record.Participants() {
		if one.Status == flow.StatusSpeaking {
			add(one.Name)
		}
	}
	when := "next"
	if len(speaking) > 0 {
		when = "when " + progress.Clean(strings.Join(speaking, " and ")) + " has spoken"
	}
	p.warnf("%s answers it %s.", progress.Clean(who), when)
	return nil
}

// personFlag adds the flag that names who does what the command does. It may be blank: nobody need be named.
func personFlag(c *cobra.Command) {
	c.Flags().String("person", "", "the name that the log keeps of whoever does this: by default that of the system's user")
	_ = c.Flags().SetAnnotation("person", mayBeBlank, []string{"true"})
}

// person returns the name that this flag gives, or else that of the system's user.
func (p *program) person(c *cobra.Command) string {
	if given := c.Flags().Lookup("person"); given.Changed {
		return given.Value.String()
	}
	return p.user()
}

// reopen continues a conversation after its result.
func (p *program) reopen() *cobra.Command {
	var o flow.Reopening
	var budget string
	c := &cobra.Command{
		Use: "reopen id", Args: arguments(cobra.ExactArgs(1)), ValidArgsFunction: p.completeIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if o.Rounds == 0 && o.Ask == "" {
				return exit(exitArguments, errors.New("nothing follows: give --rounds N or, in a debate, --ask TEXT --to NAME"))
			}
			if err := p.checkOutputs(); err != nil {
				return err
			}
			if budget != "" {
				o.Budget = &flow.Budget{}
				if err := o.Budget.Hard.UnmarshalJSON([]byte(budget)); err != nil {
					return exit(exitArguments, fmt.Errorf("--budget %q: want an amount of USD such as 2.50", budget))
				}
			}
			o.Person = p.person(c)
			return p.reopened(c.Context(), args, o)
		},
	}
	flags := c.Flags()
	flags.IntVar(&o.Rounds, "rounds", 0, "how many further rounds there are")
	flags.StringVar(&o.Ask, "ask", "", "what is asked now; in a debate, of one participant, in place of further rounds")
	flags.StringVar(&o.To, "to", "", "the `participant` of a debate who answers it")
	flags.StringVar(&budget, "budget", "", "the most that may be spent, in `USD`, with what was spent before the result")
	personFlag(c)
	p.runFlags(c)
	p.outputFlags(c)
	return c
}

// reopened goes on with the conversation that the arguments name.
func (p *program) reopened(ctx context.Context, args []string, o flow.Reopening) error {
	over := choice{last: &store.Filter{States: []flow.State{flow.StateCompleted}}}
	return p.onOne(ctx, args, over, func(ctx context.Context, engine *debate.Engine, id string) error {
		session, err := engine.Reopen(ctx, id, o)
		switch {
		case errors.Is(err, flow.ErrMissing):
			return exit(exitConfig, err)
		case errors.Is(err, &flow.Error{Kind: provider.KindState}):
			return p.unconcluded(ctx, engine, id, err)
		case err != nil:
			return flagged(refused(err))
		}
		p.warnf("%s continues after the result of %s.", shortID(session.ID()), shortID(id))
		return p.deliver(ctx, engine, session.ID(), p.lead(ctx, session))
	})
}

// unconcluded says why a conversation is not reopened that has no conclusion, and what helps.
func (p *program) unconcluded(ctx context.Context, engine *debate.Engine, id string, why error) error {
	record, now, err := p.stateOf(ctx, engine, id)
	switch {
	case err != nil:
		return err
	case record.State == flow.StateCompleted:
		return &toldError{why, progress.Told(why), begunAnew(id)}
	}
	said := fmt.Sprintf("%s is not done (%s): only what is done is reopened.", shortID(id), stateWord(record.State, now.Held))
	if record.Final() {
		return &toldError{why, said, begunAnew(id)}
	}
	return &toldError{why, said, shortID(id) + ": " + now.next(record)}
}

// flagged names the flags in what is wrong with a reopening: the library says it of fields.
func flagged(err error) error {
	if codeOf(err) != exitArguments {
		return err
	}
	lines := strings.Split(progress.Told(err), "\n")
	for i, line := range lines {
		if field, _, _ := strings.Cut(line, ":"); slices.Contains([]string{"rounds", "ask", "to", "budget"}, field) {
			lines[i] = "--" + line
		}
	}
	return &toldError{err, strings.Join(lines, "\n"), ""}
}
