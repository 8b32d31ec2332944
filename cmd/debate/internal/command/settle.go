package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/demo"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/cmd/debate/internal/settings"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/deliberation/evaluation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/env"
	"github.com/agonist-dev/debate/tool"
)

// configFlags are the flags that say what a conversation is: those of the commands that start, check or estimate one.
type configFlags struct {
	problemFile string
	config      string
	demo        bool
	rounds      int
	patience    time.Duration
	prompts     []string
	files       []string // that belong to the problem
	rows        rowFlags
	input       []byte // what the standard input has beside the problem
	wish        settings.Wish
}

// demoUsage describes the flag --demo.
const demoUsage = "play a script, which needs no key"

func (f *configFlags) define(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVarP(&f.problemFile, "problemDescription", "p", "", "read the problem from this file; -: stdin")
	flags.StringVarP(&f.config, "config", "c", "", "read the config from this file, JSON or YAML (default ./debate-config.json or .yaml)")
	flags.BoolVar(&f.demo, "demo", false, demoUsage)
	flags.StringVar(&f.wish.Flow, "flow", "", strings.Join(settings.Flows(), ", ")+" (default deliberation)")
	flags.StringSliceVarP(&f.wish.Agents, "agents", "a", nil, "roles, ids or names of all who take part")
	flags.IntVarP(&f.rounds, "rounds", "r", 0, "the most rounds; of an arbiter: executions")
	flags.StringVar(&f.wish.AgentDir, "agent-dir", "", "an arbiter's agents: a folder with a Markdown file for each")
	flags.StringVar(&f.wish.Format, "format", "", "the format of a debate, such as oxford")
	flags.StringVar(&f.wish.Judge, "judge", "", "the model that judges, or is the arbiter, as provider/model")
	flags.StringVar(&f.wish.Model, "model", "", "everybody's model, as provider/model")
	flags.StringVar(&f.wish.Budget, "budget", "", "the most USD it may cost, such as 0.50")
	flags.DurationVar(&f.patience, "patience", 0, "how long an outage of a vendor is waited for, such as 2m (default 10m)")
	flags.BoolVar(&f.wish.Clarify, "clarify", false, "let the agents ask questions before the first round")
	flags.StringArrayVar(&f.prompts, "prompt", nil,
		"`name=file`: the text of this file takes the place of a template that debate check --prompts lists; can be repeated")
	flags.StringArrayVar(&f.files, "file", nil,
		"a `path` of what belongs to the problem: text, image, PDF or folder; can be repeated")
	f.rows.define(c)
	flags.StringToStringVar(&f.wish.Labels, "label", nil, "marks the conversation, as key=value; may be repeated")
	completeFlag(c, "flow", settings.Flows)
	completeFlag(c, "format", formatNames)
	completeFlag(c, "judge", modelNames)
	completeFlag(c, "model", modelNames)
}

// source reads the config file, and finds the problem. If nobody says it, usual is the problem, and with "" the standard input has it.
func (p *program) source(args []string, f *configFlags, usual string) (*settings.Source, string, error) {
	var argument *string
	if len(args) > 0 {
		argument = &args[0]
	}
	var problem string
	var err error
	given := argument != nil || f.problemFile != ""
	if given { // a mistake in the arguments is said before one in the file
		if problem, err = p.problem(argument, f.problemFile); err != nil {
			return nil, "", err
		}
	}
	source, err := settings.Open(f.config)
	switch {
	case err != nil:
		return nil, "", exit(exitConfig, err)
	case given && source.Subject() != "":
		return nil, "", exit(exitArguments, fmt.Errorf("a problem was given, and %s has one too: give one of them", source.File))
	case !given && source.Subject() == "" && usual != "":
		problem = usual
	case !given && source.Subject() == "": // else it stays where it is, so that a mistake in it has its place
		if problem, err = p.problem(nil, ""); err != nil && source.Blank() { // then that is told with the other mistakes of the file
			err = nil
		}
	}
	return source, problem, err
}

// load makes the config of a conversation, and lets the demonstration play it if that is wanted. If settings are returned
// beside the error, its mistakes are not all that there are: see mistakes.
func (p *program) load(
	c *cobra.Command, source *settings.Source, problem string, engine *debate.Engine, f *configFlags,
) (*settings.Settings, error) {
	attended, err := p.attend(f.wish.Clarify)
	if err != nil {
		return nil, err
	}
	w := f.wish
	if w.Prompts, err = p.promptTexts(f.prompts); err != nil {
		return nil, err
	}
	if engine.Models, err = p.rows(&f.rows); err != nil {
		return nil, err
	}
	m, err := p.material(f)
	if err != nil {
		return nil, err
	}
	p.reads(m.paths...)
	p.reads(source.File, f.problemFile)
	w.Texts, w.Files = m.texts, m.files
	if !f.demo { // which costs nothing, and asks no model
		w.Usual = p.usual.Defaults
	}
	w.Problem, w.Unattended = problem, !attended
	if f.demo {
		w.Labels = map[string]string{demo.Label: "true"}
		maps.Copy(w.Labels, f.wish.Labels)
		w.Script = demo.Model
	}
	if c.Flags().Changed("rounds") {
		w.Rounds = &f.rounds
	}
	if c.Flags().Changed("patience") {
		w.Patience = &f.patience
	}
	w.Has = func(vendor string) bool {
		if f.demo {
			return vendor == demo.Name
		}
		return engine.Providers[vendor] != nil
	}
	loaded, err := source.Load(w)
	if loaded == nil {
		return nil, settings.Sorted(err)
	}
	for _, model := range flow.Models(loaded.Config) {
		vendor, _, _ := flow.SplitModel(model)
		if _, _, err := p.address(vendor); err != nil {
			return nil, err
		}
	}
	if c, ok := loaded.Config.(*deliberation.Config); ok && c.Clarification.On && c.Unattended {
		loaded.Notes = append(loaded.Notes,
			"Nobody can be asked here: what the agents ask is recorded. With --clarify the standard input answers.")
	}
	if w.Usual.File != "" {
		loaded.Notes = slices.Insert(loaded.Notes, 0, "The defaults are those of "+w.Usual.File+".")
	}
	if f.demo {
		demo.Play(engine)
		loaded.Notes = append(loaded.Notes, demo.Notice)
	}
	return loaded, err
}

// tell says what is to be known of settings, once they are checked: a mistake stands alone.
func (p *program) tell(loaded *settings.Settings) {
	for _, note := range loaded.Notes {
		p.notef("%s", note)
	}
}

// reach lets the agents reach the working folder if the config gives them a tool that reads one, and --context names no other.
// It reports whether agents without tools of their own are offered all that there are.
func (p *program) reach(loaded *settings.Settings) (offered bool) {
	reading := []string{tool.ListFilesName, tool.ReadFileName, tool.SearchName}
	for _, name := range loaded.Config.Settings().Tools {
		if p.tools.folder == "" && slices.Contains(reading, name) {
			p.tools.folder = "."
			loaded.Notes = append(loaded.Notes,
				fmt.Sprintf("The config gives agents the tool %s: they may read the working folder. --context names another one.", name))
			return false
		}
	}
	return true
}

// mistakes reports all mistakes of a config: those that were found already, and those that the engine finds.
func (p *program) mistakes(ctx context.Context, loaded *settings.Settings, engine *debate.Engine, found error) error {
	return settings.Sorted(errors.Join(found, p.refusals(loaded.Config, loaded.Check(ctx, engine, env.Vendors(), func(vendor string) string {
		need := lacks(vendor)
		if need != "" && loaded.Config.Flow() != evaluation.FlowName { // no flag makes a demonstration of that
			need += ", or add --demo"
		}
		return need
	}))))
}

// refusals puts into words what vendors have answered that were asked for the models of a config: each answer once. Mistakes stay as they
// are.
func (p *program) refusals(config flow.Config, found error) error {
	joined, ok := found.(interface{ Unwrap() []error })
	if !ok {
		return found
	}
	models := maps.Collect(flow.Models(config))
	told := make(map[string]bool)
	var all []error
	for _, one := range joined.Unwrap() {
		_, mistake := errors.AsType[*settings.Error](one)
		failure, ok := errors.AsType[*flow.Error](one)
		if mistake || !ok || models[failure.Field] == "" {
			all = append(all, one)
			continue
		}
		model := models[failure.Field]
		said := strings.TrimSuffix(progress.Failed(failure, model, p.at), ".") + "."
		vendor, _, _ := flow.SplitModel(model)
		if names := variables(vendor); failure.Kind == provider.KindAuthentication && names != "" {
			said += " Set " + names + " anew."
		}
		if !told[said] {
			told[said] = true
			all = append(all, &toldError{failure, said, ""})
		}
	}
	return errors.Join(all...)
}

// codeOfMistakes returns the exit code for mistakes in a config: that of the arguments if they stand there alone.
func codeOfMistakes(err error) int {
	var mistake *settings.Error
	switch {
	case settings.OfFlags(err):
		return exitArguments
	case errors.As(err, &mistake):
		return exitConfig
	default:
		return exitGeneral
	}
}

// variables returns how a vendor's key is set; "": the vendor is unknown.
func variables(vendor string) string { return strings.Join(env.Variables(vendor), " and ") }
