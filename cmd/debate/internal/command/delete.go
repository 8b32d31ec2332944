package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/store"
)

// deleteFlags are the flags of the command delete. All but yes select old conversations.
type deleteFlags struct {
	yes        bool
	before     string
	labels     []string
	unfinished bool
	dryRun     bool
}

// delete removes conversations from the store. It wants ids, or an age: nothing brings a conversation back.
func (p *program) delete() *cobra.Command {
	var f deleteFlags
	c := &cobra.Command{
		Use: "delete [id…]", Args: cobra.ArbitraryArgs, ValidArgsFunction: p.completeIDs(0),
		RunE: func(c *cobra.Command, args []string) error {
			switch by := given(c, "label", "unfinished", "dry-run"); {
			case by != "" && f.before == "":
				return exit(exitArguments, fmt.Errorf("--%s wants --before; see debate delete --help", by))
			case f.before != "" && len(args) > 0:
				return exit(exitArguments, errors.New("--before and ids exclude each other; see debate delete --help"))
			case f.before == "" && len(args) == 0:
				return exit(exitArguments, errors.New("ids or --before are missing; see debate delete --help"))
			case !f.yes && !f.dryRun && !p.interactive():
				return exit(exitArguments, errors.New("nobody can be asked: debate delete wants --yes here"))
			}
			return p.interruptible(c.Context(), func(ctx context.Context) error {
				if f.before != "" {
					return p.runPrune(ctx, &f)
				}
				return p.runDelete(ctx, args, f.yes)
			})
		},
	}
	flags := c.Flags()
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	flags.StringVar(&f.before, "before", "", "those whose last event is older: an `age` such as 12h or 30d, or a date such as 2026-01-31")
	flags.StringArrayVar(&f.labels, "label", nil, "only those with this label, as `name=value`; can be repeated")
	flags.BoolVar(&f.unfinished, "unfinished", false, "also those that are not over")
	flags.BoolVar(&f.dryRun, "dry-run", false, "delete nothing, and say what would be deleted")
	return c
}

// given returns the first of the flags that was given; "": none was.
func given(c *cobra.Command, names ...string) string {
	if at := slices.IndexFunc(names, c.Flags().Changed); at >= 0 {
		return names[at]
	}
	return ""
}

func (p *program) runDelete(ctx context.Context, args []string, yes bool) error {
	kept, closing, err := p.openStore(ctx)
	if err != nil {
		return err
	}
	defer closing()
	infos := make([]store.Info, 0, len(args))
	for _, name := range args {
		id, err := find(ctx, kept, name, choice{})
		if err != nil {
			return err
		}
		info, err := store.InfoOf(ctx, kept, id)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(infos, func(i store.Info) bool { return i.ID == id }) {
			infos = append(infos, info)
		}
	}
	if !yes {
		for i := range infos {
			p.doomed(&infos[i])
		}
		if err := p.confirmDelete(ctx, len(infos)); err != nil {
			return err
		}
	}
	return p.deleteAll(ctx, kept, infos)
}

// doomed shows a conversation that is to be deleted.
func (p *program) doomed(info *store.Info) {
	p.warnf("%s  %s  %s", shortID(info.ID), info.State, progress.Shorten(info.Topic, 60))
}

// confirmDelete asks a person whether so many conversations are to be deleted.
func (p *program) confirmDelete(ctx context.Context, n int) error {
	return p.confirm(ctx, fmt.Sprintf("Delete %s for good?", progress.Plural(n, "conversation")), "nothing is deleted")
}

// confirm asks a person a question. If the answer is no, the error is no.
func (p *program) confirm(ctx context.Context, question, no string) error {
	yes, err := p.yes(ctx, question, false)
	if err == nil && !yes {
		err = exit(exitGeneral, errors.New(no))
	}
	return err
}

// yes asks a person a question. usual is the answer if the person only presses enter.
func (p *program) yes(ctx context.Context, question string, usual bool) (bool, error) {
	choices := "[y/N]"
	if usual {
		choices = "[Y/n]"
	}
	_, _ = fmt.Fprintf(p.Err, "%s %s ", progress.Clean(question), choices)
	said := make(chan string, 1)
	go func() { // it ends with the process if nobody says anything: reading from a terminal cannot be broken off
		line, _ := bufio.NewReader(p.In).ReadString('\n')
		said <- line
	}()
	select {
	case <-p.Interrupts:
		return false, exit(exitInterrupted, nil)
	case <-ctx.Done():
		return false, ctx.Err()
	case line := <-said:
		switch answer := strings.ToLower(strings.TrimSpace(line)); answer {
		case "":
			return usual && line != "", nil // at the end of the input nobody has pressed enter
		default:
			return answer == "y" || answer == "yes", nil
		}
	}
}

// deleteAll deletes conversations. If another process runs one of them, it deletes none.
func (p *program) deleteAll(ctx context.Context, kept store.Store, infos []store.Info) error {
	for i := range infos {
		if infos[i].Owner != "" {
			id := shortID(infos[i].ID)
			return fmt.Errorf("another process runs %s: %s ends it. Nothing is deleted", id, progress.Command("stop --no-result", id))
		}
	}
	engine := &debate.Engine{Store: kept}
	for i := range infos {
		if err := engine.Delete(ctx, infos[i].ID); err != nil {
			return err
		}
		p.warnf("Deleted %s.", shortID(infos[i].ID))
	}
	return nil
}

// deleted is what the command delete says of an old conversation.
type deleted struct {
	store.Info

	Kept string `json:"kept,omitempty"` // why it was not deleted
}

// runPrune deletes old conversations. A person is asked before, and sees which they are.
func (p *program) runPrune(ctx context.Context, f *deleteFlags) error {
	of := store.Retention{Unfinished: f.unfinished, DryRun: f.dryRun, Pause: 100 * time.Millisecond}
	var err error
	if of.Labels, err = labelled(f.labels); err == nil {
		of.Before, err = since("before", f.before, time.Now())
	}
	if err != nil {
		return exit(exitArguments, err)
	}
	kept, closing, err := p.openStore(ctx)
	if err != nil {
		return err
	}
	defer closing()
	if !f.yes && !f.dryRun {
		trial := of
		trial.DryRun = true
		n, _, err := p.prune(ctx, kept, trial)
		if err == nil {
			err = p.confirmDelete(ctx, n)
		}
		if err != nil {
			return err
		}
	}
	n, all, err := p.prune(ctx, kept, of)
	done := progress.Plural(n, "conversation")
	switch {
	case err != nil:
		p.warnf("%s until then.", done)
		return err
	case p.json:
		return p.printValue(all)
	case f.dryRun:
		p.warnf("%s would be deleted.", done)
	default:
		p.warnf("%s were deleted.", done)
	}
	return nil
}

// prune deletes old conversations, and says of each what became of it. It returns all of them, and how many do not stay.
func (p *program) prune(ctx context.Context, kept store.Store, of store.Retention) (int, []deleted, error) {
	n, all := 0, []deleted{}
	for gone, err := range store.Prune(ctx, kept, of) {
		if err != nil {
			return n, nil, err
		}
		if gone.Err != nil {
			p.warnf("%s stays: %v.", shortID(gone.ID), gone.Err)
			all = append(all, deleted{gone.Info, gone.Err.Error()})
			continue
		}
		if of.DryRun {
			p.doomed(&gone.Info)
		} else {
			p.warnf("Deleted %s.", shortID(gone.ID))
		}
		n++
		all = append(all, deleted{Info: gone.Info})
	}
	return n, all, nil
}
