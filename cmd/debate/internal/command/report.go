package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/export"
	"github.com/agonist-dev/debate/flow"
)

// report writes a conversation for people.
func (p *program) report() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use: "report [id]", Short: "Write a conversation as a page or as Markdown: by default the newest",
		Args: arguments(cobra.MaximumNArgs(1)), ValidArgsFunction: p.completeIDs(1),
		Long: `Write a conversation as a document: what was asked for, what came of it, what
everybody said, how the judges scored it round by round, who was called when,
and what it cost. A page has charts of that, and needs nothing beside itself:
no script, no network.

Without --output, Markdown goes to the standard output. The conversation may
still run.`,
		Example: `  debate report --output report.html
  debate report 0198c2f1 > report.md`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.spare("output", output); err != nil {
				return err
			}
			engine, id, closing, err := p.openOne(c.Context(), args, anyNewest())
			if err != nil {
				return err
			}
			defer closing()
			record, err := engine.Record(c.Context(), id)
			if err != nil {
				return err
			}
			if output == "" {
				return p.writeDocument(c.Context(), engine, record, p.Out, (*export.Document).Markdown)
			}
			path := reportPath(output)
			if err := p.writeReport(c.Context(), engine, record, path); err != nil {
				return fmt.Errorf("write the report: %w", err)
			}
			p.warnf("Report: %s", path)
			return nil
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "the file: a page if it ends in .html, else Markdown, whose name ends in .md")
	return c
}

// page reports whether a path is that of a page.
func page(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".html", ".htm":
		return true
	default:
		return false
	}
}

// reportPath returns the path of a report: one that names no format gets that of Markdown.
func reportPath(path string) string {
	switch extension := strings.ToLower(filepath.Ext(path)); {
	case page(path), extension == ".md", extension == ".markdown":
		return path
	default:
		return path + ".md"
	}
}

// writeReport writes the report of a conversation to a file.
func (p *program) writeReport(ctx context.Context, engine *debate.Engine, record *flow.Record, path string) error {
	format := (*export.Document).Markdown
	if page(path) {
		format = (*export.Document).HTML
	}
	return writeFile(path, func(w io.Writer) error { return p.writeDocument(ctx, engine, record, w, format) })
}

// writeDocument writes a conversation with its log and its images. Nothing is written unless all of it can be.
func (p *program) writeDocument(
	ctx context.Context, engine *debate.Engine, record *flow.Record, w io.Writer, format func(*export.Document, io.Writer) error,
) error {
	document := &export.Document{
		Record: record,
		File:   func(hash string) ([]byte, error) { return engine.File(ctx, record.ID, hash) },
	}
	for event, err := range engine.Store.Read(ctx, record.ID, 0) {
		if err != nil {
			return err
		}
		if event.Seq > record.Seq { // it is of what runs on meanwhile
			break
		}
		document.Events = append(document.Events, event)
	}
	var whole bytes.Buffer
	if err := format(document, &whole); err != nil {
		return err
	}
	_, err := w.Write(whole.Bytes())
	return err
}
