package command

import (
	"bytes"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
)

// export writes a conversation for another store, or checks its log.
func (p *program) export() *cobra.Command {
	var output string
	var check bool
	c := p.aboutOne("export id", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		if err := exclusive(c, "check", "output"); err != nil {
			return err
		}
		if err := p.spare("output", output); err != nil {
			return err
		}
		from := choice{last: anyNewest().last}
		return p.besideOne(c.Context(), args, from, func(ctx context.Context, engine *debate.Engine, id string) error {
			if check {
				return p.checkLog(ctx, engine, id)
			}
			return p.runExport(ctx, engine, id, output)
		})
	})
	c.Flags().StringVarP(&output, "output", "o", "", "the file")
	c.Flags().BoolVar(&check, "check", false, "check the log in place of writing it")
	return c
}

func (p *program) runExport(ctx context.Context, engine *debate.Engine, id, output string) error {
	var whole bytes.Buffer
	if err := engine.Export(ctx, id, &whole); err != nil {
		return err
	}
	data := escaped(whole.Bytes()) // it may be shown on a terminal
	if output == "" {
		_, err := p.Out.Write(data)
		return err
	}
	if err := writeFile(output, data); err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	p.warnf("Exported to %s.", output)
	return nil
}

// checked is what a check of a log has found.
type checked struct {
	ID     string `json:"id"`
	Events int64  `json:"events"`
	// Decisions is how many changes of the state the flow has decided again, as they were.
	Decisions int        `json:"decisions"`
	State     flow.State `json:"state"`
	Files     int        `json:"files"`
}

// checkLog says whether a log is whole, and what it holds.
func (p *program) checkLog(ctx context.Context, engine *debate.Engine, id string) error {
	log, err := engine.Verify(ctx, id)
	if err != nil {
		return exit(exitGeneral, said(err))
	}
	found := checked{ID: id, Events: log.Record.Seq, Decisions: log.Decisions, State: log.Record.State, Files: len(log.Record.Files())}
	if p.json {
		return p.printValue(found)
	}
	p.printf("%s is whole: %d events, %s, %s, %s.\n", idOn(p.Out, id), found.Events, progress.Plural(found.Decisions, "decision"),
		progress.Plural(found.Files, "file"), found.State)
	return nil
}
