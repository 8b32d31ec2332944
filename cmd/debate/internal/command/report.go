package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/export"
)

// report writes a conversation for people.
func (p *program) report() *cobra.Command {
	var output string
	var open bool
	c := p.aboutOne("report [id|file]", cobra.MaximumNArgs(1), func(c *cobra.Command, args []string) error {
		if err := p.spareReport("output", output); err != nil {
			return err
		}
		if len(args) > 0 && saved(args[0]) {
			document, err := savedDocument(args[0])
			if err != nil {
				return err
			}
			name := strings.TrimSuffix(filepath.Base(args[0]), filepath.Ext(args[0]))
			return p.publish(document, name, output, open)
		}
		return p.onOne(c.Context(), args, anyNewest(), func(ctx context.Context, engine *debate.Engine, id string) error {
			document, err := export.Of(ctx, engine, id)
			if err != nil {
				return err
			}
			return p.publish(document, id, output, open)
		})
	})
	c.Flags().StringVarP(&output, "output", "o", "", "the file: a page if it ends in .html, else Markdown, whose name ends in .md")
	c.Flags().BoolVar(&open, "open", false, "open the report; without --output it is a page in the user's folder of caches")
	return c
}

// savedDocument returns the document of a file that dialectic has written.
func savedDocument(path string) (*export.Document, error) {
	data, err := readNamed(path, debate.MaxSnapshot)
	if err != nil {
		return nil, err
	}
	document, err := export.Saved(data)
	if err != nil {
		return nil, exit(exitArguments, fmt.Errorf("%s: %w", path, said(err)))
	}
	return document, nil
}

// publish writes a document to the file of the flag --output, to a page of this name in the user's folder of caches if it is to be
// opened, or else to the standard output.
func (p *program) publish(document *export.Document, name, output string, open bool) error {
	path := reportPath(output)
	var err error
	switch {
	case output == "" && !open:
		data, err := rendered(document, (*export.Document).Markdown)
		if err == nil {
			_, err = p.Out.Write(data)
		}
		return err
	case output == "":
		if path, err = p.cachePage(name); err == nil {
			err = writePrivate(document, path)
		}
	default:
		err = writeReport(document, path)
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	p.warnf("Report: %s", path)
	if open {
		p.display(path)
	}
	return nil
}

// saved reports whether an argument in place of an id is a file that another program has saved.
func saved(argument string) bool {
	info, err := os.Stat(argument)
	return err == nil && info.Mode().IsRegular() && strings.EqualFold(filepath.Ext(argument), ".json")
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

// spareReport refuses the file of a report as spare does, one of a format in which no report is written, and one that is there under a
// name that was not given whole.
func (p *program) spareReport(flag, path string) error {
	whole := reportPath(path)
	if path == "" || whole == path || folder(path) {
		return cmp.Or(reportable(flag, path), p.spare(flag, path))
	}
	if err := cmp.Or(reportable(flag, path), p.spare(flag, whole)); err != nil {
		return err
	}
	if _, err := os.Lstat(whole); err == nil {
		return exit(exitArguments, fmt.Errorf("--%s: %s exists: name it whole to replace it", flag, whole))
	}
	return nil
}

// reportable refuses a file of a format in which no report is written.
func reportable(flag, path string) error {
	switch extension := strings.ToLower(filepath.Ext(path)); extension {
	case ".pdf", ".doc", ".docx", ".odt", ".rtf", ".tex", ".txt", ".json":
		return exit(exitArguments, fmt.Errorf("--%s: no report is written as %s: name a file that ends in .html or .md", flag, extension))
	default:
		return nil
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

// writeReport writes a document to a file.
func writeReport(document *export.Document, path string) error {
	format := (*export.Document).Markdown
	if page(path) {
		format = (*export.Document).HTML
	}
	data, err := rendered(document, format)
	if err != nil {
		return err
	}
	return writeFile(path, data)
}

// rendered returns a document in a format: nothing is written unless all of it can be.
func rendered(document *export.Document, format func(*export.Document, io.Writer) error) ([]byte, error) {
	var whole bytes.Buffer
	err := format(document, &whole)
	return whole.Bytes(), err
}

// writePrivate writes a document as a page that only the user can read.
func writePrivate(document *export.Document, path string) error {
	data, err := rendered(document, (*export.Document).HTML)
	if err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700)); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// cachePage returns the path of a page in the user's folder of caches.
func (p *program) cachePage(name string) (string, error) {
	folder := p.own("LOCALAPPDATA", "Local", "Caches", "XDG_CACHE_HOME", ".cache")
	if folder == "" {
		return "", exit(exitArguments,
			fmt.Errorf("there is no folder of caches, as %s is not set: name the file with --output", homeVariable()))
	}
	return filepath.Join(folder, name+".html"), nil
}

// display opens a file with the program that the desktop has for it. Without a desktop, the path that was printed has to do.
func (p *program) display(path string) {
	if full, err := filepath.Abs(path); err == nil { // a name that begins with a dash is no flag
		path = full
	}
	p.browse(path)
}

// browse opens a file or a URL with the program that the desktop has for it, if there is a desktop.
func (p *program) browse(what string) {
	words := []string{"xdg-open", what}
	switch {
	case runtime.GOOS == windows:
		words = []string{"rundll32", "url.dll,FileProtocolHandler", what}
	case runtime.GOOS == "darwin":
		words[0] = "open"
	case p.get("DISPLAY") == "" && p.get("WAYLAND_DISPLAY") == "":
		return
	}
	// The browser may run for longer than this program.
	if err := exec.Command(words[0], words[1:]...).Start(); err != nil { //nolint:gosec,noctx // what this program has written or serves
		p.warnf("warning: %s could not be opened: %v", what, err)
	}
}
