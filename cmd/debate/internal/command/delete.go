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

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// delete removes conversations from the store. It wants ids: nothing brings a conversation back.
func (p *program) delete() *cobra.Command {
	var yes bool
	var f pruneFlags
	c := &cobra.Command{
		Use: "delete [id…]", Args: cobra.ArbitraryArgs, ValidArgsFunction: p.completeIDs(0),
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := p.interruptible(c.Context())
			defer stop()
			switch by := f.given(c); {
			case by != "" && f.before == "":
				return exit(exitArguments, fmt.Errorf("--%s wants --before; see debate delete --help", by))
			case f.before != "" && len(args) > 0:
				return exit(exitArguments, errors.New("--before and ids exclude each other; see debate delete --help"))
			case f.before != "":
				return interruption(ctx, p.runPrune(ctx, &f, yes))
			case len(args) == 0:
				return exit(exitArguments, errors.New("ids or --before are missing; see debate delete --help"))
			}
			return interruption(ctx, p.runDelete(ctx, args, yes))
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	f.define(c)
	return c
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
		if err := p.confirmDelete(ctx, infos); err != nil {
			return err
		}
	}
	return p.deleteAll(ctx, kept, infos)
}

// confirmDelete asks a person whether the conversations are to be deleted.
func (p *program) confirmDelete(ctx context.Context, infos []store.Info) error {
	if !p.interactive() {
		return exit(exitArguments, errors.New("nobody can be asked: debate delete wants --yes here"))
	}
	for i := range infos {
		p.warnf("%s  %s  %s", shortID(infos[i].ID), infos[i].State, short(infos[i].Topic, 60))
	}
	return p.confirm(ctx, fmt.Sprintf("Delete %s for good?", progress.Plural(len(infos), "conversation")), "nothing is deleted")
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

// deleteAll deletes conversations. It acquires the lease of each before, so that no process runs one of them meanwhile.
func (p *program) deleteAll(ctx context.Context, kept store.Store, infos []store.Info) error {
	const owner = "debate delete"
	for i := range infos {
		id := infos[i].ID
		err := kept.Lease(ctx, id, owner, time.Minute)
		if err == nil {
			continue
		}
		for _, leased := range infos[:i] {
			_ = kept.Release(ctx, leased.ID, owner)
		}
		if errors.Is(err, flow.ErrLeased) {
			ends := progress.Command("stop --no-result", shortID(id))
			return fmt.Errorf("another process runs %s: %s ends it. Nothing is deleted", shortID(id), ends)
		}
		return err
	}
	for i := range infos {
		if err := kept.Delete(ctx, infos[i].ID); err != nil {
			return err
		}
		p.warnf("Deleted %s.", shortID(infos[i].ID))
	}
	return nil
}
