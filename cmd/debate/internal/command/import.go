package command

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// importFile reads a conversation that debate export has written.
func (p *program) importFile() *cobra.Command {
	return &cobra.Command{
		Use: "import file", Args: arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			source, closing, err := p.importSource(args[0])
			if err != nil {
				return err
			}
			defer closing()
			engine := p.engine()
			done, err := p.equip(c.Context(), engine, p.makeStore)
			if err != nil {
				return err
			}
			defer done()
			id, err := engine.Import(c.Context(), source)
			if err != nil {
				return importFailure(args[0], err)
			}
			_, err = fmt.Fprintln(p.Out, id)
			return err
		},
	}
}

// importSource opens the file to read, or returns the standard input.
func (p *program) importSource(path string) (io.Reader, func(), error) {
	if path == "-" {
		return p.In, func() {}, nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil, exit(exitArguments, fmt.Errorf("there is no file %s", path))
	case err == nil && info.IsDir():
		return nil, nil, exit(exitArguments, fmt.Errorf("%s is a folder", path))
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, exit(exitGeneral, err)
	}
	return file, func() { _ = file.Close() }, nil
}

// importFailure names the file. What is wrong in it is no mistake of a config.
func importFailure(path string, err error) error {
	failure, ok := errors.AsType[*flow.Error](err)
	if !ok || failure.Kind != provider.KindValidation {
		return fmt.Errorf("import %s: %w", path, err)
	}
	said := fmt.Sprintf("import %s: it is not as debate export writes it", path)
	if failure.Field != "" {
		said += ": " + failure.Field
	}
	return exit(exitGeneral, fmt.Errorf("%s: %w", said, failure.Err))
}
