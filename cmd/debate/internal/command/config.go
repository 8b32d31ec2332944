package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/demo"
	"github.com/agonist-dev/debate/cmd/debate/internal/settings"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider/scripted"
)

// config groups the commands about config files.
func (p *program) config() *cobra.Command {
	c := &cobra.Command{
		Use: "config", Short: "Look at config files", Example: `  debate config check my.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return exit(exitArguments, flow.Unknown("command", "debate config "+args[0], "debate config check"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(p.configCheck())
	return c
}

// configCheck says what a config file would start.
func (p *program) configCheck() *cobra.Command {
	var f configFlags
	c := &cobra.Command{
		Use:   "check [file]",
		Short: "Print what a config would start, with all defaults, or all mistakes in it",
		Long: `Print what a config would start, as JSON in which every default is written
out, or all mistakes in it, each with its file, line and column. No vendor is
asked, and no key is needed. The flags are those of the command debate.`,
		Example: `  debate config check my.yaml`,
		Args:    arguments(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				f.config = args[0]
			}
			engine, loaded, err := p.unpaid(c, nil, &f)
			if err != nil {
				return err
			}
			start, err := frozen(c.Context(), engine, loaded.Config)
			if err != nil {
				return err
			}
			return p.printConfig(start)
		},
	}
	f.define(c)
	p.tools.define(c)
	return c
}

// frozen returns what a config would start, with all defaults. It is stored in the engine's memory, and nobody plays it.
func frozen(ctx context.Context, engine *debate.Engine, config flow.Config) (*flow.Start, error) {
	id, err := engine.Submit(ctx, config)
	if err != nil {
		return nil, err
	}
	record, err := engine.Record(ctx, id)
	if err != nil {
		return nil, err
	}
	return record.Start(), nil
}

// placeholder stands for the problem where only the config matters.
const placeholder = "(given when the conversation starts)"

// unpaid makes the config that a conversation would start with, without a call and without a key.
func (p *program) unpaid(c *cobra.Command, args []string, f *configFlags) (*debate.Engine, *settings.Settings, error) {
	source, problem, err := p.unpaidSource(args, f)
	if err != nil {
		return nil, nil, err
	}
	engine := p.engine()
	engine.SkipModelCheck = true
	keys := maps.Clone(engine.Providers)
	if len(keys) == 0 { // the default models are those of the first vendor
		standIn(engine, "openai")
	}
	loaded, problems := p.load(c, source, problem, engine, f)
	if loaded == nil {
		return nil, nil, problems
	}
	for _, model := range flow.Models(loaded.Config) {
		vendor, _, ok := flow.SplitModel(model)
		if ok && !f.demo && keys[vendor] == nil && variables(vendor) != "" {
			standIn(engine, vendor)
			keys[vendor] = engine.Providers[vendor]
			p.warnf("To run this, %s needs a key: set %s.", vendor, variables(vendor))
		}
	}
	p.reach(loaded)
	closing, err := p.tools.equip(c.Context(), engine, p.warnf)
	if err != nil {
		return nil, nil, err
	}
	defer closing() // none is used
	if err := check(c.Context(), loaded, engine, problems); err != nil {
		return nil, nil, err
	}
	p.tell(loaded)
	return engine, loaded, nil
}

// standIn makes the script the provider of a vendor without a key. It vouches for its models as the vendor's own server does.
func standIn(engine *debate.Engine, vendor string) {
	demo.StandIn(engine, vendor)
	if script, ok := engine.Providers[vendor].(*scripted.Provider); ok {
		script.Vouch = vendor == "openai"
	}
}

// unpaidSource reads the config file, and the problem if there is one. The standard input is not read.
func (p *program) unpaidSource(args []string, f *configFlags) (*settings.Source, string, error) {
	if len(args) > 0 || f.problemFile != "" {
		return p.source(args, f)
	}
	source, err := settings.Open(f.config)
	if err != nil {
		return nil, "", exit(exitConfig, err)
	}
	if source.Subject() != "" {
		return source, "", nil
	}
	return source, placeholder, nil
}

// printConfig prints a normalized config as JSON.
func (p *program) printConfig(start *flow.Start) error {
	data, err := json.Marshal(start.Config)
	if err != nil {
		return err
	}
	if rest, ok := bytes.CutPrefix(data, []byte("{")); ok {
		data = append([]byte(`{"flow":"`+start.Flow+`",`), rest...)
	}
	for _, key := range []string{"problem", "topic", "task"} {
		data = bytes.Replace(data, []byte(`"`+key+`":"`+placeholder+`",`), nil, 1)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, data, "", "  "); err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.Out, out.String())
	return err
}
