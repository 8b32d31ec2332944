package command

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate/flow"
)

// million is what prices are shown for.
const million = 1_000_000

// knownModel is a model of the embedded table with its name.
type knownModel struct {
	Name string `json:"name"`
	flow.Model
}

// listModels lists the windows and prices of the embedded table.
func (p *program) listModels() *cobra.Command {
	var host string
	c := &cobra.Command{
		Use: "models [part of a name]…", Short: "List the models whose windows and prices are known",
		Long: `List the models whose windows and prices are built in: those whose names
contain every argument. Prices are USD for a million tokens; --json has them
for one token. Models that are not listed can be used too, without a budget in
USD.`,
		Example: `  debate models gpt-4.1
  debate models --provider anthropic --json`,
		Args: arguments(cobra.ArbitraryArgs),
		RunE: func(_ *cobra.Command, args []string) error {
			found := []knownModel{}
			var hosts, names []string
			for name, model := range flow.KnownModels() {
				vendor, _, _ := flow.SplitModel(name)
				hosts = append(hosts, vendor)
				if host != "" && vendor != host {
					continue
				}
				if names = append(names, name); containsAll(name, args) {
					found = append(found, knownModel{name, model})
				}
			}
			switch {
			case len(names) == 0:
				return exit(exitArguments, flow.Unknown("provider", host, hosts...))
			case len(found) == 0 && !p.json:
				return exit(exitGeneral, flow.Unknown("model", strings.Join(args, " "), names...))
			}
			return p.showModels(found)
		},
	}
	c.Flags().StringVar(&host, "provider", "", "only those of this `provider`, such as openai")
	return c
}

func containsAll(name string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(strings.ToLower(name), strings.ToLower(part)) {
			return false
		}
	}
	return true
}

func (p *program) showModels(found []knownModel) error {
	if p.json {
		return p.printValue(found)
	}
	t := newTable(p.Out)
	t.row("MODEL", "WINDOW", "MAX OUTPUT", "INPUT", "CACHED", "OUTPUT")
	for i := range found {
		m := &found[i]
		row := []any{m.Name, tokens(m.Window), tokens(m.MaxOutput), "-", "-", "-"}
		if m.Priced {
			row[3], row[4], row[5] = m.Input*million, m.CachedInput*million, m.Output*million
		}
		t.row(row...)
	}
	return t.end()
}

// tokens shows a number of tokens; 0 is unknown.
func tokens(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}
