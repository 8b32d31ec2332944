package command

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate/cmd/debate/internal/settings"
)

// notKept is the place of conversations that are not kept, as --no-store asks.
const notKept = "memory:"

// defaults are what is said once for many conversations.
type defaults struct {
	settings.Defaults

	variables []string // the flag --env-file
	ignored   bool     // the flag --no-defaults
	forgetful bool     // the flag --no-store
	stored    bool     // the store is that of the file
}

// defaultFlags adds the flags about what is said once for many conversations.
func (p *program) defaultFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringArrayVar(&p.usual.variables, "env-file", nil,
		"read variables such as OPENAI_API_KEY from this `file`, a line KEY=VALUE for each; those that are set stay; can be repeated")
	flags.BoolVar(&p.usual.ignored, "no-defaults", false, "do not read defaults.yaml in the folder of your settings")
	root.Flags().BoolVar(&p.usual.forgetful, "no-store", false, "keep nothing of the conversation: it cannot be shown or continued later")
}

// prepare reads the user's defaults and the files of variables, and finds out where conversations are kept. It changes no variable of the
// process, so that no program that this one starts gets the keys.
func (p *program) prepare() error {
	if !p.usual.ignored {
		folder := p.own("APPDATA", "Roaming", "Application Support", "XDG_CONFIG_HOME", ".config")
		read, err := settings.OpenDefaults(folder, p.home())
		if err != nil {
			return exit(exitConfig, settings.Sorted(err))
		}
		p.usual.Defaults = *read
	}
	if err := p.readVariables(); err != nil {
		return err
	}
	p.reads(p.usual.File)
	p.reads(p.usual.variables...)
	p.reads(p.usual.EnvFiles...)
	switch {
	case p.usual.forgetful && p.store != "":
		return exit(exitArguments, errors.New("--no-store and --store exclude each other"))
	case p.usual.forgetful:
		p.store = notKept
	case p.store == ":memory:", p.store == notKept:
		return exit(exitArguments, fmt.Errorf("--store: %s would be a file of that name: --no-store keeps nothing", p.store))
	case p.store == "" && p.usual.Store != "":
		p.store, p.usual.stored = p.usual.Store, true
	}
	return nil
}

// reads records files that the command reads.
func (p *program) reads(paths ...string) {
	for _, path := range paths {
		if path != "" && path != "-" {
			p.inputs = append(p.inputs, path)
		}
	}
}

// readVariables adds the variables of files to those that are set. The files of --env-file go before those of the defaults, and each before
// the ones behind it.
func (p *program) readVariables() error {
	added := make(map[string]string)
	for i, path := range slices.Concat(p.usual.variables, p.usual.EnvFiles) {
		found, err := settings.ReadVariables(path)
		switch {
		case err != nil && i < len(p.usual.variables): // the flag names it
			return exit(exitArguments, settings.Sorted(err))
		case err != nil:
			return exit(exitConfig, settings.Sorted(err))
		}
		maps.Copy(found, added)
		added = found
	}
	set := p.Lookup
	p.Lookup = func(name string) (string, bool) {
		if value, ok := set(name); ok {
			return value, true
		}
		value, ok := added[name]
		return value, ok
	}
	return nil
}

// rowFlags say what a model costs and reads.
type rowFlags struct{ prices, windows []string }

func (f *rowFlags) define(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.prices, "price", nil,
		"`model=input/output`: the prices of a model in USD for a million tokens, such as ollama/llama3=0.10/0.40; can be repeated")
	c.Flags().StringArrayVar(&f.windows, "window", nil, "`model=tokens`: the window of a model; can be repeated")
}

// rows returns what the defaults and the flags say of models.
func (p *program) rows(f *rowFlags) (settings.Rows, error) {
	rows := maps.Clone(p.usual.Models)
	if rows == nil {
		rows = settings.Rows{}
	}
	for _, said := range f.prices {
		if err := rows.Price(said); err != nil {
			return nil, exit(exitArguments, fmt.Errorf("--price: %w", err))
		}
	}
	for _, said := range f.windows {
		if err := rows.Window(said); err != nil {
			return nil, exit(exitArguments, fmt.Errorf("--window: %w", err))
		}
	}
	return rows, nil
}

// notef says what is to be known beside the conversation, unless --quiet is set.
func (p *program) notef(format string, args ...any) {
	if !p.viewing.quiet {
		p.warnf(format, args...)
	}
}
