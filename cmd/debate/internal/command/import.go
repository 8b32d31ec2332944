package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// importFile reads a conversation that debate export has written.
func (p *program) importFile() *cobra.Command {
	return &cobra.Command{
		Use: "import file", Args: arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			source := p.In
			if args[0] != "-" {
				data, err := readNamed(args[0], debate.MaxSnapshot)
				if err != nil {
					return err
				}
				source = bytes.NewReader(data)
			}
			engine := p.engine()
			done, err := p.equip(c.Context(), engine, p.makeStore)
			if err != nil {
				return err
			}
			defer done()
			var whole bytes.Buffer
			id, err := beside(engine).Import(c.Context(), io.TeeReader(source, &whole))
			if err != nil {
				return importFailure(args[0], err)
			}
			if err := importable(c.Context(), engine.Store, id); err != nil {
				return fmt.Errorf("import %s: %w", args[0], err)
			}
			if _, err := engine.Import(c.Context(), &whole); err != nil {
				return importFailure(args[0], err)
			}
			_, err = fmt.Fprintln(p.Out, id)
			return err
		},
	}
}

// beside returns an engine with a store of its own in memory, in which an import can be looked at.
func beside(engine *debate.Engine) *debate.Engine {
	return &debate.Engine{Flows: engine.Flows, Models: engine.Models, Store: &store.Memory{}, Logger: slog.New(slog.DiscardHandler)}
}

// importable refuses an id with which the command line means something else: the newest conversation, a flag, or a stored conversation
// that lists show under this name.
func importable(ctx context.Context, kept store.Store, id string) error {
	refused := exit(exitGeneral, fmt.Errorf("its id %s has another meaning here: give it another one in the file", progress.Quote(id)))
	if id == newest || strings.HasPrefix(id, "-") {
		return refused
	}
	if len(id) != shortLength {
		return nil
	}
	for info, err := range kept.List(ctx, store.Filter{}) {
		switch {
		case err != nil:
			return err
		case info.ID != id && shortID(info.ID) == id:
			return refused
		}
	}
	return nil
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
