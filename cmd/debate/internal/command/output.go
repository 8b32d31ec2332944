package command

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/export"
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
	if err := errors.Join(p.spare("output", o.result), p.spareReport("report", o.report)); err != nil {
		return err
	}
	if o.result != "" && o.report != "" && same(o.result, reportPath(o.report)) {
		return exit(exitArguments, fmt.Errorf("--output and --report are the same file %s", o.result))
	}
	return nil
}

// spare refuses a file that a flag names to be written if that is sure to fail, or if it would replace what is to stay: conversations,
// or a file that the command reads.
func (p *program) spare(flag, path string) error {
	if path == "" {
		return nil
	}
	if err := p.harm(path); err != nil {
		return exit(exitArguments, fmt.Errorf("--%s: %w", flag, err))
	}
	return nil
}

// harm returns why a file is not written.
func (p *program) harm(path string) error {
	named, err := os.Stat(path)
	switch {
	case os.IsPathSeparator(path[len(path)-1]) || err == nil && named.IsDir():
		return fmt.Errorf("%s is a folder", path)
	case err == nil && !named.Mode().IsRegular():
		return nil // such as a pipe
	case slices.ContainsFunc(p.stores(), func(place string) bool { return holds(place, path) }):
		return fmt.Errorf("conversations are kept in %s", path)
	case slices.ContainsFunc(p.inputs, func(input string) bool { return same(input, path) }):
		return fmt.Errorf("%s is read by this command, and is not replaced", path)
	case err == nil && named.Mode().Perm()&0o222 == 0:
		return fmt.Errorf("%s is write-protected", path)
	default:
		return creatable(filepath.Dir(target(path)))
	}
}

// stores returns the paths at which conversations may be kept: that of this command, and that of those without the flag --store.
func (p *program) stores() []string {
	return slices.DeleteFunc([]string{p.place(), p.usual.Store, p.usualPlace()}, func(place string) bool {
		return place == "" || place == notKept || strings.Contains(place, "://")
	})
}

// holds reports whether a path is that of a store, or of a file that belongs to one.
func holds(place, path string) bool {
	if folder(place) {
		within, err := filepath.Rel(target(place), target(path))
		return err == nil && filepath.IsLocal(within)
	}
	return slices.ContainsFunc([]string{"", "-wal", "-shm", "-journal"}, func(suffix string) bool { return same(place+suffix, path) })
}

// same reports whether two paths lead to one file.
func same(one, other string) bool {
	if target(one) == target(other) {
		return true
	}
	a, err := os.Stat(one)
	if err != nil {
		return false
	}
	b, err := os.Stat(other)
	return err == nil && os.SameFile(a, b)
}

// mostLinks bounds how many symbolic links follow each other.
const mostLinks = 40

// target returns where a path leads to: symbolic links are followed, also one to a file that is not there yet.
func target(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	for range mostLinks {
		if found, err := filepath.EvalSymlinks(path); err == nil {
			return found
		}
		above := filepath.Dir(path)
		if _, err := os.Stat(path); err == nil || above == path { // a pipe among the files of a process has no other name
			break
		}
		above = target(above)
		path = filepath.Join(above, filepath.Base(path))
		next, err := os.Readlink(path)
		if err != nil {
			break
		}
		if path = next; !filepath.IsAbs(next) {
			path = filepath.Join(above, next)
		}
	}
	return path
}

// creatable returns why no file can be made in a folder, or in the one above it in which it would be made.
func creatable(folder string) error {
	for _, err := os.Stat(folder); err != nil && folder != filepath.Dir(folder); _, err = os.Stat(folder) {
		folder = filepath.Dir(folder)
	}
	file, err := os.CreateTemp(folder, ".debate-")
	if failure, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("no file can be made in %s: %w", folder, failure.Err)
	}
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
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
		document, err := export.Of(ctx, engine, id)
		if err == nil {
			err = writeReport(document, path)
		}
		if err != nil {
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
		if data, err = encoded(detailed(record), "  "); err != nil {
			return cmp.Or(led, err)
		}
	case got.text == "" || !record.Final():
		return led // there is nothing to write; led says why
	}
	if !bytes.HasSuffix(data, []byte("\n")) {
		data = append(data, '\n')
	}
	err := writeFile(p.outputs.result, data)
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
func writeFile(path string, data []byte) (err error) {
	path = target(path)
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
		return writeInto(path, data)
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
	_, err = file.Write(data)
	if err == nil && info != nil {
		err = file.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = file.Sync()
	}
	if err = cmp.Or(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}

// writeInto writes to what cannot be replaced.
func writeInto(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}
