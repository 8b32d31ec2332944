package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/demo"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/cmd/debate/internal/settings"
	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/deliberation/evaluation"
	"github.com/agonist-dev/debate/flow"
)

// check says what a problem or a config would start, and what that can cost.
func (p *program) check() *cobra.Command {
	const all = "all"
	var f configFlags
	var full bool
	var template string
	c := &cobra.Command{
		Use: "check [problem|file]", Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case c.Flags().Changed("prompts") && len(args) > 0:
				return exit(exitArguments, fmt.Errorf("--prompts=%s prints one template", progress.Clean(args[0])))
			case template == all:
				return p.showPrompts("")
			case template != "":
				return p.showPrompts(template)
			}
			args, err := configIn(args, &f)
			if err != nil {
				return err
			}
			return p.runCheck(c, args, &f, full)
		},
	}
	f.define(c)
	p.tools.define(c)
	flags := c.Flags()
	flags.BoolVar(&full, "full", false, "print the config too, with every default")
	flags.StringVar(&template, "prompts", "", "list the templates of what models are asked, or print the one of this `name`")
	flags.Lookup("prompts").NoOptDefVal = all
	completeFlag(c, "prompts", promptNames)
	return c
}

// configIn takes an argument that is a file for the config, and returns the arguments that are left. One that looks like a file and is
// none is a mistake.
func configIn(args []string, f *configFlags) ([]string, error) {
	if len(args) == 0 || f.config != "" {
		return args, nil
	}
	_, err := os.Stat(args[0])
	if err == nil {
		f.config = args[0]
		return nil, nil
	}
	switch strings.ToLower(filepath.Ext(args[0])) {
	case ".json", ".yaml", ".yml":
		if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(args[0], " \t\n") {
			return nil, exit(exitArguments, fmt.Errorf("there is no file %s", args[0]))
		}
	}
	return args, nil
}

// checkedStart is what check --json prints.
type checkedStart struct {
	Config   json.RawMessage `json:"config"`
	Estimate flow.Estimate   `json:"estimate"`
}

func (p *program) runCheck(c *cobra.Command, args []string, f *configFlags, full bool) error {
	engine, loaded, err := p.unpaid(c, args, f)
	if err != nil {
		return err
	}
	estimate, err := engine.Estimate(c.Context(), loaded.Config)
	if err != nil {
		return err
	}
	record, err := frozen(c.Context(), engine, loaded.Config)
	if err != nil {
		return err
	}
	config, err := wholeConfig(record.Start())
	if err != nil {
		return err
	}
	if p.json {
		return p.printValue(checkedStart{config, estimate})
	}
	p.printf("%s\n\n", progress.Clean(inALine(record)))
	if err := p.printEstimate(&estimate, record.Start().Models); err != nil {
		return err
	}
	p.printBudget(record.Settings().Budget, &estimate)
	if !full {
		return nil
	}
	p.printf("\n%s\n", config)
	return nil
}

// frozen returns the record of what a config would start, with all defaults. It is stored in the engine's memory, and nobody plays it.
func frozen(ctx context.Context, engine *debate.Engine, config flow.Config) (*flow.Record, error) {
	id, err := engine.Submit(ctx, config)
	if err != nil {
		return nil, err
	}
	return engine.Record(ctx, id)
}

// inALine says what would start: the flow, the rounds, and who is asked.
func inALine(record *flow.Record) string {
	out := record.Flow()
	if rounds := record.Settings().Rounds; rounds > 0 {
		out += ", at most " + progress.Plural(rounds, "round")
	}
	var models, people []string
	names := make(map[string][]string)
	for seat := range record.Config().Seats() {
		model := *seat.Model
		if name := called(record, seat.By); model == "" && seat.Person && !slices.Contains(people, name) {
			people = append(people, name)
		}
		if model == "" {
			continue
		}
		if names[model] == nil {
			models = append(models, model)
		}
		names[model] = append(names[model], called(record, seat.By))
	}
	asked := make([]string, 0, len(models))
	for _, model := range models {
		asked = append(asked, strings.Join(names[model], ", ")+" with "+model)
	}
	switch len(people) {
	case 0:
	case 1:
		asked = append(asked, people[0]+", a person")
	default:
		asked = append(asked, strings.Join(people, ", ")+", persons")
	}
	return strings.TrimSuffix(out+": "+strings.Join(asked, "; "), ": ")
}

// placeholder stands for the problem where only the config matters.
const placeholder = "(given when the conversation starts)"

// unpaid makes the config that a conversation would start with, without a call and without a key.
func (p *program) unpaid(c *cobra.Command, args []string, f *configFlags) (*debate.Engine, *settings.Settings, error) {
	evaluates := f.wish.Flow == evaluation.FlowName
	if evaluates && f.config == "" {
		return nil, nil, exit(exitArguments, errors.New("--flow evaluation wants a file with evaluators"))
	}
	source, problem, err := p.source(args, f, placeholder)
	if err != nil {
		return nil, nil, err
	}
	engine := p.engine()
	engine.SkipModelCheck = true
	keys := maps.Clone(engine.Providers)
	if len(keys) == 0 { // the default models are those of the first vendor
		standIn(engine, "openai")
	}
	var loaded *settings.Settings
	var problems error
	if evaluates || f.wish.Flow == "" && source.Evaluates() {
		loaded, problems = loadEvaluation(source.File)
	} else {
		loaded, problems = p.load(c, source, problem, engine, f)
	}
	if loaded == nil {
		return nil, nil, settings.Sorted(problems)
	}
	for _, model := range flow.Models(loaded.Config) {
		vendor, _, ok := flow.SplitModel(model)
		if ok && !f.demo && keys[vendor] == nil && variables(vendor) != "" {
			standIn(engine, vendor)
			keys[vendor] = engine.Providers[vendor]
			p.warnf("To run this, %s %s.", vendor, lacks(vendor))
		}
	}
	p.reach(loaded)
	closing, err := p.tools.equip(c.Context(), engine, p.keyless(), p.warnf)
	if err != nil {
		return nil, nil, err
	}
	defer closing() // none is used
	if err := p.mistakes(c.Context(), loaded, engine, problems); err != nil {
		return nil, nil, err
	}
	p.tell(loaded)
	return engine, loaded, nil
}

// loadEvaluation makes the config of an evaluation whose evaluators are in a file, as the command eval does.
func loadEvaluation(path string) (*settings.Settings, error) {
	about := evaluation.Config{Problem: placeholder, Solution: placeholder, Unattended: true}
	return settings.OpenEvaluation(path, nil, &about)
}

// standIn makes the script the provider of a vendor without a key. It vouches for its models as the vendor's own server does.
func standIn(engine *debate.Engine, vendor string) {
	demo.StandIn(engine, vendor).Vouch = vendor == "openai"
}

// wholeConfig returns a normalized config as JSON.
func wholeConfig(start *flow.Start) ([]byte, error) {
	data, err := json.Marshal(start.Config)
	if err != nil {
		return nil, err
	}
	if rest, ok := bytes.CutPrefix(data, []byte("{")); ok {
		data = append([]byte(`{"flow":"`+start.Flow+`",`), rest...)
	}
	for _, key := range []string{"problem", "topic", "task", "solution"} {
		data = bytes.Replace(data, []byte(`"`+key+`":"`+placeholder+`",`), nil, 1)
	}
	var out bytes.Buffer
	err = json.Indent(&out, data, "", "  ")
	return escaped(out.Bytes()), err
}

// printEstimate prints what a conversation can use, and the smallest budget with which all rounds run.
func (p *program) printEstimate(e *flow.Estimate, models map[string]flow.Model) error {
	var unpriced, uncounted []string
	t := newTable(p.Out)
	t.row("", "CALLS", "TOKENS", "COST")
	for i := range e.Models {
		model := models[e.Models[i].Name]
		if !model.Priced {
			unpriced = append(unpriced, e.Models[i].Name)
		}
		if _, ok := token.Named(model.Vocabulary); !ok {
			uncounted = append(uncounted, e.Models[i].Name)
		}
	}
	t.row("typically", e.Calls, e.TypicalTokens, price(e.Typical, len(unpriced) > 0))
	t.row("at most", e.Calls, e.Tokens, price(e.Cost, len(unpriced) > 0))
	for i := range e.Models {
		m := &e.Models[i]
		t.row("at most "+m.Name, m.Requests, m.Usage.Input+m.Usage.Output, price(m.Cost, slices.Contains(unpriced, m.Name)))
	}
	if err := t.end(); err != nil {
		return err
	}
	if len(unpriced) > 0 {
		p.printf("\nA budget in USD wants the price of %s.\n", progress.Clean(strings.Join(unpriced, ", ")))
	} else if e.Whole > 0 {
		smallest := upwards(e.Whole)
		p.printf("\nsmallest budget for all rounds: %s (--budget %s)\n", smallest, strings.TrimPrefix(smallest.String(), "$"))
	}
	if why := farAbove(e, uncounted); why != "" {
		p.warnf("%s", why)
	}
	return nil
}

// printBudget prints the budget that applies, if there is one, and what it covers.
func (p *program) printBudget(b *flow.Budget, e *flow.Estimate) {
	if b == nil || b.Hard+b.Soft == 0 {
		return
	}
	limit, covers := cmp.Or(b.Hard, b.Soft), "the worst case is above it: the rounds may end early"
	if e.Cost <= limit {
		covers = "it covers the worst case"
	}
	p.printf("budget: %s; %s\n", limit.Rounded(), covers)
}

// upwards rounds an amount up to cents, and one below a cent to its first digit.
func upwards(amount flow.Money) flow.Money {
	unit := debate.USD / 100
	for unit > amount && unit > 1 {
		unit /= 10
	}
	return (amount + unit - 1) / unit * unit
}

// farAbove says why the worst case is more than ten times the typical one; "": it is not.
func farAbove(e *flow.Estimate, uncounted []string) string {
	const times, what = 10, "At most is more than 10 times typically: "
	switch {
	case e.Tokens <= times*e.TypicalTokens && e.Cost/times <= e.Typical:
		return ""
	case len(uncounted) == 0:
		return what + "each reply may be as long as its cap, and usual ones, such as decisions, are much shorter."
	default:
		return what + "the tokens of " + strings.Join(uncounted, ", ") + " cannot be counted before a call, so that each byte counts as one."
	}
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
