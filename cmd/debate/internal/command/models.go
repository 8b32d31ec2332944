package command

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/env"
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
	var host, asked string
	c := &cobra.Command{
		Use: "models [part of a name]…", Args: arguments(cobra.ArbitraryArgs),
		RunE: func(c *cobra.Command, args []string) error {
			if err := exclusive(c, "of", "provider"); err != nil {
				return err
			}
			known := maps.Collect(flow.KnownModels())
			maps.Copy(known, p.usual.Models)
			if asked != "" {
				var err error
				if known, err = p.vendorModels(c.Context(), asked); err != nil {
					return err
				}
			}
			found := []knownModel{}
			var hosts, names []string
			for _, name := range slices.Sorted(maps.Keys(known)) {
				vendor, _, _ := flow.SplitModel(name)
				hosts = append(hosts, vendor)
				if host != "" && vendor != host {
					continue
				}
				if names = append(names, name); containsAll(name, args) {
					found = append(found, knownModel{name, known[name]})
				}
			}
			switch {
			case len(names) == 0 && host != "":
				return exit(exitArguments, flow.Unknown("provider", host, hosts...))
			case len(found) == 0 && !p.json:
				return exit(exitGeneral, flow.Unknown("model", strings.Join(args, " "), names...))
			case p.json:
				return p.printValue(found)
			}
			return modelTable(newTable(p.Out), found)
		},
	}
	c.Flags().StringVar(&host, "provider", "", "only those of this `provider`, such as openai")
	c.Flags().StringVar(&asked, "of", "", "ask this `vendor`, such as openai or ollama, which models there are")
	completeFlag(c, "of", env.Vendors)
	return c
}

// vendorModels asks a vendor for its models, and adds what is known of them.
func (p *program) vendorModels(ctx context.Context, vendor string) (map[string]flow.Model, error) {
	const most = 30 * time.Second
	engine := p.engine()
	switch need := lacks(vendor); {
	case need == "":
		return nil, exit(exitArguments, fmt.Errorf("--of: %w", flow.Unknown("vendor", vendor, env.Vendors()...)))
	case engine.Providers[vendor] == nil:
		return nil, exit(exitConfig, fmt.Errorf("%s %s", vendor, need))
	}
	if _, _, err := p.address(vendor); err != nil {
		return nil, err
	}
	lister, ok := provider.As[provider.Lister](engine.Providers[vendor])
	if !ok {
		return nil, exit(exitGeneral, fmt.Errorf("%s has no list of its models that can be asked for", vendor))
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	var names []string
	err := p.interruptible(ctx, func(ctx context.Context) (err error) {
		if names, err = lister.Models(ctx); err != nil {
			err = exit(exitProvider, fmt.Errorf("ask %s for its models: %w", vendor, err))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make(map[string]flow.Model, len(names))
	for _, name := range names {
		out[vendor+"/"+name] = p.usual.Models.Row(vendor + "/" + name)
	}
	return out, nil
}

func containsAll(name string, parts []string) bool {
	missing := func(part string) bool { return !strings.Contains(strings.ToLower(name), strings.ToLower(part)) }
	return !slices.ContainsFunc(parts, missing)
}

// modelTable prints models. On a terminal of few columns it leaves out two of its own.
func modelTable(t *table, found []knownModel) error {
	narrow := func(row ...any) {
		if t.width > 0 && t.width < wide {
			row = append(row[:2], row[3], row[5])
		}
		t.row(row...)
	}
	narrow("MODEL", "WINDOW", "MAX OUTPUT", "INPUT", "CACHED", "OUTPUT")
	for i := range found {
		m := &found[i]
		row := []any{m.Name, tokens(m.Window), tokens(m.MaxOutput), "-", "-", "-"}
		if m.Priced {
			row[3], row[4], row[5] = m.Input*million, m.CachedInput*million, m.Output*million
		}
		narrow(row...)
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
