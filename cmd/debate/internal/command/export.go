package command

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// export writes a conversation for another store.
func (p *program) export() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use: "export id", Short: "Write a conversation to a file that debate import reads",
		Args: arguments(cobra.ExactArgs(1)), ValidArgsFunction: p.completeIDs(1),
		Long: `Write a whole conversation as JSON, one event a line, with its files. debate
import reads it into another store, where it can be shown, evaluated and
continued. It holds what everybody has said, but neither prompts nor keys.

Without --output, it goes to the standard output.`,
		Example: `  debate export 0198c2f1 --output talk.json
  debate import talk.json --store elsewhere.db`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.spare("output", output); err != nil {
				return err
			}
			engine, id, closing, err := p.openOne(c.Context(), args, choice{last: anyNewest().last})
			if err != nil {
				return err
			}
			defer closing()
			var whole bytes.Buffer
			if err := engine.Export(c.Context(), id, &whole); err != nil {
				return err
			}
			write := func(w io.Writer) error {
				_, err := w.Write(escaped(whole.Bytes())) // it may be shown on a terminal
				return err
			}
			if output == "" {
				return write(p.Out)
			}
			if err := writeFile(output, write); err != nil {
				return fmt.Errorf("write the export: %w", err)
			}
			p.warnf("Exported to %s.", output)
			return nil
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "the file")
	return c
}
