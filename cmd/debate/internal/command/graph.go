package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
)

// graph draws the machine of a flow.
func (p *program) graph() *cobra.Command {
	var dot bool
	c := &cobra.Command{
		Use: "graph [flow|id]", Short: "Draw the states of a flow as a diagram, with the path that a conversation has taken",
		Long: `Draw the states and rules of a flow as a Mermaid diagram. Of a conversation,
by default the newest, it also shows the path: the states that it came through
are marked, with how often it took each way.`,
		Example: `  debate graph deliberation > deliberation.mmd
  debate graph 0198c2f1`,
		Args:              arguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: p.completeGraphs,
		RunE: func(c *cobra.Command, args []string) error {
			engine, closing, err := p.open(c.Context())
			if err != nil {
				return err
			}
			defer closing()
			name := strings.Join(args, "")
			if f := flowOf(engine, name); f != nil {
				p.draw(f, dot, "")
				return nil
			}
			id, err := find(c.Context(), engine.Store, name, anyNewest())
			if err != nil {
				return errors.Join(err, exit(exitArguments, flow.Unknown("flow", name, flowNames(engine)...)))
			}
			f, path, err := pathOf(c.Context(), engine, id)
			if err != nil {
				return err
			}
			if dot {
				path = ""
			}
			p.draw(f, dot, path)
			return nil
		},
	}
	c.Flags().BoolVar(&dot, "dot", false, "for Graphviz, without the path")
	return c
}

func (p *program) draw(f *flow.Flow, dot bool, path string) {
	if dot {
		p.printf("%s", f.DOT())
		return
	}
	p.printf("%s%s", f.Mermaid(), progress.Text(path))
}

// pathOf returns a conversation's flow, and the lines that show its path in the diagram of the flow.
func pathOf(ctx context.Context, engine *debate.Engine, id string) (*flow.Flow, string, error) {
	record, err := engine.Record(ctx, id)
	if err != nil {
		return nil, "", err
	}
	var ways, states []string
	taken := make(map[string]int)
	for event, err := range engine.Events(ctx, id, 0) {
		if err != nil {
			return nil, "", err
		}
		if t, ok := event.Body.(*flow.Transition); ok {
			way := fmt.Sprintf("%s --> %s: %s", t.From, t.To, t.On)
			if taken[way]++; taken[way] == 1 {
				ways = append(ways, way)
			}
			if to := string(t.To); taken[to] == 0 {
				taken[to]++
				states = append(states, to)
			}
		}
		if event.Seq >= record.Seq {
			break
		}
	}
	var b strings.Builder
	b.WriteString("  %% The path of " + id + ":\n")
	for _, way := range ways {
		fmt.Fprintf(&b, "  %%%% %d x %s\n", taken[way], way)
	}
	b.WriteString("  classDef taken stroke-width:3px\n  classDef now stroke-width:3px,stroke-dasharray:4\n")
	for _, state := range states {
		if state != string(record.State) {
			fmt.Fprintf(&b, "  class %s taken\n", state)
		}
	}
	fmt.Fprintf(&b, "  class %s now\n", record.State)
	return flowOf(engine, record.Flow()), b.String(), nil
}

// flowNames returns the names of the flows.
func flowNames(engine *debate.Engine) []string {
	all := flows(engine)
	out := make([]string, len(all))
	for i, f := range all {
		out[i] = f.Name
	}
	return out
}
