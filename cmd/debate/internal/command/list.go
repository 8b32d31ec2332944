package command

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/store"
)

// list lists the conversations of the store.
func (p *program) list() *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use: "list", Short: "List the conversations, the newest first", Args: arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			engine, closing, err := p.open(c.Context())
			if err != nil {
				return err
			}
			defer closing()
			table := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
			for info, err := range engine.List(c.Context(), store.Filter{Newest: true, Limit: limit}) {
				if err != nil {
					return err
				}
				_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", info.ID, info.Flow, info.State, progress.Clean(info.Topic))
			}
			return table.Flush()
		},
	}
	c.Flags().IntVar(&limit, "limit", 50, "how many there are at most; 0: all")
	return c
}
