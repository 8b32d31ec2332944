package command

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
)

// outputs are the files that a conversation is written to once nothing works on it any more.
type outputs struct {
	result string // the flag --output; "": the result goes to the standard output
	report string // the flag --report; "": no report is written
}

// outputFlags adds the flags of commands that lead a conversation to its end.
func (p *program) outputFlags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVarP(&p.outputs.result, "output", "o", "",
		"write the result to this file, the whole record if its name ends in .json")
	flags.StringVar(&p.outputs.report, "report", "",
		"write a report to this file: a page if it ends in .html, else Markdown, whose name ends in .md")
}

// checkOutputs refuses an output that is sure to fail, or to do harm, before anything is paid for.
func (p *program) checkOutputs() error {
	o := &p.outputs
	if err := errors.Join(p.spare("output", o.result), p.spare("report", o.report), reportable("report", o.report)); err != nil {
		return err
	}
	if o.result != "" && o.report != "" && filepath.Clean(o.result) == filepath.Clean(reportPath(o.report)) {
		return exit(exitArguments, fmt.Errorf("--output and --report are the same file %s", o.result))
	}
	return nil
}

// spare refuses a file that a flag names to be written if it is a folder, or if conversations are kept in it.
func (p *program) spare(flag, path string) error {
	if path == "" {
		return nil
	}
	named, err := os.Stat(path)
	if os.IsPathSeparator(path[len(path)-1]) || err == nil && named.IsDir() {
		return exit(exitArguments, fmt.Errorf("--%s: %s is a folder", flag, path))
	}
	if err != nil {
		return nil //nolint:nilerr // what does not exist can be written
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if kept, err := os.Stat(p.place() + suffix); err == nil && !kept.IsDir() && os.SameFile(named, kept) {
			return exit(exitArguments, fmt.Errorf("--%s: conversations are kept in %s", flag, path))
		}
	}
	return nil
}

// whole reports whether the output is the whole record.
func (o *outputs) whole() bool { return strings.EqualFold(filepath.Ext(o.result), ".json") }

// deliver writes the files that the command line asks for. led is how the conversation was led to where it is now. The result
// is returned: led, or why the output could not be written. A report that fails is a warning.
func (p *program) deliver(ctx context.Context, engine *debate.Engine, id string, led error) error {
	if p.outputs == (outputs{}) {
		return led
	}
	ctx = context.WithoutCancel(ctx) // what was paid for is written even if the command is over
	record, err := engine.Record(ctx, id)
	if err != nil {
		return cmp.Or(led, fmt.Errorf("read the conversation for its output: %w", err))
	}
	if p.outputs.report != "" {
		path := reportPath(p.outputs.report)
		if err := reportTo(ctx, engine, id, path); err != nil {
			p.warnf("warning: the report could not be written: %v", err)
		} else {
			p.warnf("Report: %s", path)
		}
	}
	if p.outputs.result == "" {
		return led
	}
	return p.writeResult(record, led)
}

// writeResult writes the record, or the text of the result. If the text cannot be written, it goes to the standard output.
func (p *program) writeResult(record *flow.Record, led error) error {
	got := resultOf(record)
	data := []byte(progress.Text(got.text))
	switch {
	case p.outputs.whole():
		var err error
		if data, err = indented(detailed(record)); err != nil {
			return cmp.Or(led, err)
		}
	case got.text == "" || !record.Final():
		return led // there is nothing to write; led says why
	}
	if !bytes.HasSuffix(data, []byte("\n")) {
		data = append(data, '\n')
	}
	err := writeFile(p.outputs.result, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err == nil {
		return led
	}
	if got.text != "" && !p.json && record.Final() {
		_ = p.print(got.text)
	}
	return cmp.Or(led, fmt.Errorf("write the output: %w", err))
}

// writeFile replaces a file in one step: whoever reads it finds the old content or the new one. The folders to it are created.
// The file keeps its mode; a new one has that of other new files. A symbolic link stays one, and what it names is replaced. What
// is no regular file, such as a pipe, is written to as it is.
func writeFile(path string, write func(io.Writer) error) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil { //nolint:gosec // the mask of the process decides
			return err
		}
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a folder", path)
	case !info.Mode().IsRegular():
		return writeInto(path, write)
	}
	// Not os.CreateTemp, whose files only their owner may read.
	fresh := filepath.Join(filepath.Dir(path), ".debate-"+rand.Text())
	file, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) //nolint:gosec // the mask of the process decides
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(fresh)
		}
	}()
	err = write(file)
	if err == nil && info != nil {
		err = file.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(fresh, path)
}

// writeInto writes to what cannot be replaced.
func writeInto(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}
