package command

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/flow"
)

// estimate says what a conversation can cost.
func (p *program) estimate() *cobra.Command {
	var f configFlags
	c := &cobra.Command{
		Use:   "estimate [problem]",
		Short: "Print what a conversation can use: calls, tokens and USD",
		Long: `Print what a conversation can use if every call succeeds at the first attempt:
in the worst case, in which every reply is as long as it may be, and
typically; and the smallest budget with which all rounds run, if replies are
of typical length. Where the worst case is more than ten times the typical one,
it is said why. No model is asked, and no key is needed. Without a problem,
the length of one is left out. The flags are those of the command debate.`,
		Example: `  debate estimate "Design a rate limiter" --config my.yaml`,
		Args:    arguments(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			engine, loaded, err := p.unpaid(c, args, &f)
			if err != nil {
				return err
			}
			estimate, err := engine.Estimate(c.Context(), loaded.Config)
			if err != nil {
				return err
			}
			start, err := frozen(c.Context(), engine, loaded.Config)
			if err != nil {
				return err
			}
			return p.printEstimate(&estimate, start.Models)
		},
	}
	f.define(c)
	p.tools.define(c)
	return c
}

func (p *program) printEstimate(e *flow.Estimate, models map[string]flow.Model) error {
	if p.json {
		return json.NewEncoder(p.Out).Encode(e)
	}
	unpriced := false
	for i := range e.Models {
		unpriced = unpriced || !models[e.Models[i].Name].Priced
	}
	table := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "\tcalls\ttokens\tUSD")
	_, _ = fmt.Fprintf(table, "at most\t%d\t%d\t%s\n", e.Calls, e.Tokens, price(e.Cost, unpriced))
	_, _ = fmt.Fprintf(table, "typically\t%d\t%d\t%s\n", e.Calls, e.TypicalTokens, price(e.Typical, unpriced))
	_, _ = fmt.Fprintf(table, "budget for all rounds\t%d\t%d\t%s\n", e.Calls, e.WholeTokens, price(e.Whole, unpriced))
	for i := range e.Models {
		m := &e.Models[i]
		tokens := m.Usage.Input + m.Usage.Output
		_, _ = fmt.Fprintf(table, "at most %s\t%d\t%d\t%s\n", m.Name, m.Requests, tokens, price(m.Cost, !models[m.Name].Priced))
	}
	err := table.Flush()
	if why := farAbove(e, models); why != "" {
		p.warnf("%s", why)
	}
	return err
}

// farAbove says why the worst case is more than ten times the typical one; "": it is not.
func farAbove(e *flow.Estimate, models map[string]flow.Model) string {
	const times = 10
	if e.Tokens <= times*e.TypicalTokens && e.Cost/times <= e.Typical {
		return ""
	}
	var uncounted []string
	for i := range e.Models {
		if _, ok := token.Named(models[e.Models[i].Name].Vocabulary); !ok {
			uncounted = append(uncounted, e.Models[i].Name)
		}
	}
	const what = "At most is more than 10 times typically: "
	if len(uncounted) == 0 {
		return what + "each reply may be as long as its cap, and usual ones, such as decisions, are much shorter."
	}
	return what + "the tokens of " + strings.Join(uncounted, ", ") + " cannot be counted before a call, so that each byte counts as one."
}

// price writes an amount. A sum in which the price of a model is missing is too low.
func price(amount flow.Money, unpriced bool) string {
	if !unpriced {
		return amount.Rounded()
	}
	if amount == 0 {
		return "unknown"
	}
	return "more than " + amount.Rounded() + " (a price is unknown)"
}
