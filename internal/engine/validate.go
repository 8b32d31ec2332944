package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/order"
	"github.com/agonist-dev/debate/internal/strictjson"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/store"
)

// Validate checks a config without starting anything; see debate.Engine.
func (l *Engine) Validate(ctx context.Context, config flow.Config) error {
	plan, err := l.plan(ctx, config, false)
	if err != nil {
		return err
	}
	_, _, err = l.validate(ctx, plan, nil)
	return err
}

// validate checks a plan. frozen is what a log has frozen, or nil for a new debate. If validate had to make the
// start for that, it returns the start too. unchecked are warnings for a log.
func (l *Engine) validate(ctx context.Context, p *plan, frozen any) (start *flow.Start, unchecked []flow.Warning, err error) {
	var f flow.Findings
	known, sound := l.setupOf(p)
	sound = sound && frozen == nil && (p.settings.ID == "" || store.CheckID(p.settings.ID) == nil)
	if !sound {
		f = l.check(p, frozen)
	}
	found, unchecked := l.checkModels(ctx, p)
	unchecked = append(unchecked, l.leftOut(p.settings)...)
	if !sound {
		if len(found) == 0 {
			found = l.unable(p)
		}
		if len(f) == 0 && !p.machine.Flow().Readable { // only a config that is otherwise valid can be encoded and run
			checkReadable(&f, p)
		}
		if frozen == nil && len(f) == 0 && len(found) == 0 {
			l.keepSetup(known)
		}
	}
	if len(f) == 0 {
		start = l.checkLimits(ctx, &f, p)
	}
	return start, unchecked, errors.Join(append(f, found...)...)
}

// check checks a plan by itself, and the names in it.
func (l *Engine) check(p *plan, frozen any) (f flow.Findings) {
	t := p.settings
	if err := store.CheckID(t.ID); err != nil && t.ID != "" {
		f = append(f, err)
	}
	f.Settings(t)
	kind := p.machine.Flow()
	f.CallKinds(kind, p.config, p.config.Settings().OnFailure)
	f = inConfig(kind, p.config, f)
	if kind.Check != nil {
		f = append(f, kind.Check(p.config, frozen, registry{l, t})...)
	}
	var names flow.Findings
	l.checkPrompts(&names, p)
	l.checkTools(&names, t)
	checkSummarizer(&names, t)
	if l.contexts[t.Context] == nil || !flow.Registrable(t.Context) {
		names.Addf("context", "%w", unregistered("context manager", "Contexts", t.Context, l.contexts))
	}
	f = append(f, inConfig(kind, p.config, names)...)
	l.checkNamed(&f, p)
	return f
}

// checkPrompts tries the templates that the settings replace, and refuses those that the flow does not read. The texts of a log that was
// written elsewhere are frozen: they are not looked at again, so that a later version of a template does not refuse the log.
func (l *Engine) checkPrompts(f *flow.Findings, p *plan) {
	given := p.settings.Prompts
	if l.absent || len(given) > flow.MaxPrompts {
		return
	}
	l.checkRead(f, p)
	tried := maps.Clone(given)
	maps.DeleteFunc(tried, func(_, content string) bool { // the checks of the settings report these
		return len(content) > flow.MaxPrompt || !utf8.ValidString(content)
	})
	_, err := l.prompts.With(tried)
	if err == nil {
		return
	}
	all := []error{err}
	if several, ok := err.(interface{ Unwrap() []error }); ok { // what errors.Join has made, and nothing inside it
		all = several.Unwrap()
	}
	for _, one := range all {
		field := "prompts"
		if of, ok := one.(interface{ Template() string }); ok {
			field = promptField(of.Template())
		}
		f.Addf(field, "%w", one)
	}
}

// promptField is the field of the settings that replaces a template.
func promptField(name string) string { return "prompts." + text.OneLine(name, 80) }

// checkRead refuses templates that nobody in the conversation reads, because they are those of another flow. A flow reads its own templates
// and those of package prompt that all share. A debate, or a flow that takes the configs of debates, reads all of package prompt, and so
// may a flow that has no templates of its own. Names that are unknown to the engine are reported as unknown.
func (l *Engine) checkRead(f *flow.Findings, p *plan) {
	own := p.machine.Flow().Prompts
	for name := range order.ByKey(p.settings.Prompts) {
		_, reads := own[name]
		_, debates := prompt.Default(name)
		switch {
		case reads, l.prompts.Text(name) == "":
		case !debates:
			f.Addf(promptField(name), "is a template of another flow, which nobody reads here: leave it out")
		case len(own) > 0 && !prompt.Shared(name) && p.config.Flow() != l.first:
			f.Addf(promptField(name), "is a template of debates, which nobody reads here: leave it out")
		}
	}
}

// inConfig gives errors about the settings the field names of the config. It changes found.
func inConfig(f *flow.Flow, config flow.Config, found flow.Findings) flow.Findings {
	if f.Field == nil {
		return found
	}
	for i, err := range found {
		if failure, ok := errors.AsType[*flow.Error](err); ok {
			renamed := *failure
			renamed.Field = f.Field(config, failure.Field)
			found[i] = &renamed
		}
	}
	return found
}

// checkReadable checks that a log which holds this config can be read again. A host's own config type may write JSON
// that its Decode refuses.
func checkReadable(f *flow.Findings, p *plan) {
	data, err := json.Marshal(p.config)
	if err == nil {
		err = flow.ReadableJSON(data)
	}
	var read flow.Config
	if err == nil {
		read, err = p.machine.DecodeConfig(data)
	}
	if err == nil {
		var again []byte
		if again, err = json.Marshal(read); err == nil && !bytes.Equal(again, data) {
			err = errors.New("what is read of its JSON writes another JSON")
		}
	}
	if err == nil && !slices.Equal(read.Settings().Participants, p.config.Settings().Participants) {
		err = errors.New("what is read of its JSON has other participants")
	}
	if err != nil {
		*f = append(*f, flow.Within("config", "", err)...)
	}
}

// registry is an engine as the checks of a config of these settings see it.
type registry struct {
	*Engine

	settings *flow.Settings
}

// Elsewhere reports whether the config was run by another engine: what it names need not be registered here.
func (l registry) Elsewhere() bool { return l.absent }

// Function implements [flow.Registry].
func (l registry) Function(name string) error {
	if (l.absent || l.functions[name] != nil) && flow.Registrable(name) {
		return nil
	}
	return unregistered("judge or function", "Functions", name, l.functions)
}

// Model implements [flow.Registry].
func (l registry) Model(name string) error {
	host, _, ok := flow.SplitModel(name)
	switch {
	case name == "":
		return errors.New("is empty: it must be \"provider/model\"")
	case !flow.Registrable(name):
		return fmt.Errorf("is not one line of at most %d bytes that print", flow.MaxName)
	case !ok:
		err := fmt.Errorf("%q is not \"provider/model\"", text.OneLine(name, 80))
		if known := slices.Sorted(maps.Keys(l.providers)); len(known) > 0 {
			err = flow.WithMend(err, fmt.Sprintf("write the name of a provider, a slash and a model, such as \"%s/a-model\"", known[0]))
		}
		return err
	case l.providers[host] == nil:
		return unregistered("provider", "Providers", host, l.providers)
	default:
		if err := l.settings.Prices(name, l.model(name)); err != nil {
			return err
		}
		return l.roomy(l.settings, name)
	}
}

// roomy refuses a model whose whole window is kept free: it could be sent nothing.
func (l *Engine) roomy(t *flow.Settings, name string) error {
	p := window.Problem{Window: l.model(name).Window, Reserve: t.Reserve}
	if limit, limited := p.Limit(); limited && limit <= 0 {
		return fmt.Errorf("has a window of %d tokens, and reserve keeps %d of them free: lower reserve, and maxTokens with it",
			p.Window, p.Window-limit)
	}
	return nil
}

// checkSummarizer reports what only a model that summarises can use. The model itself is checked with the others.
func checkSummarizer(f *flow.Findings, t *flow.Settings) {
	if t.Summarizer != "" && t.Summarizer != flow.NoSummarizer {
		return
	}
	if t.AutoSummary {
		f.Addf("autoSummary", "needs summarizer, the model that summarises")
	}
	if t.SummarizerOptions != nil {
		f.Addf("summarizerOptions", "need summarizer, the model that summarises: another model has the options of its seat")
	}
}

// checkNamed reports the models that cannot be asked, where the flow's own check has said nothing of their fields.
func (l *Engine) checkNamed(f *flow.Findings, p *plan) {
	known, named, wrong := registry{l, p.settings}, p.machine.Flow().Field, 0
	for _, one := range p.roster().mentions {
		if one.name == "" && !strings.Contains(one.field, "fallbacks[") {
			continue // whether there must be a model, the flow knows
		}
		err := known.Model(one.name)
		if err == nil {
			continue
		}
		if wrong++; wrong > mostModels {
			return
		}
		if named != nil {
			one.field = named(p.config, one.field)
		}
		if !reported(*f, one.field) {
			f.Addf(one.field, "%w", err)
		}
	}
}

// reported reports whether an error about the field, or about what holds it, was found.
func reported(found flow.Findings, field string) bool {
	return slices.ContainsFunc(found, func(err error) bool {
		failure, ok := errors.AsType[*flow.Error](err)
		return ok && failure.Field != "" && strings.HasPrefix(field, failure.Field)
	})
}

// Estimate computes the most that a conversation can use, and what it typically uses; see debate.Engine.
func (l *Engine) Estimate(ctx context.Context, config flow.Config) (flow.Estimate, error) {
	plan, err := l.plan(ctx, config, false)
	if err != nil {
		return flow.Estimate{}, err
	}
	start, err := l.start(plan)
	if err != nil {
		return flow.Estimate{}, err
	}
	return flow.EstimateStart(ctx, plan.machine, l.contexts, start, plan.settings.Rounds)
}

// checkLimits refuses limits with which the first round and the conclusion cannot be reserved. It returns the start that it
// made for that, or nil if it needed none.
func (l *Engine) checkLimits(ctx context.Context, f *flow.Findings, p *plan) *flow.Start {
	b := p.settings.Budget
	if b == nil || p.machine.Flow().Estimate == nil {
		return nil
	}
	start, err := l.start(p)
	if err != nil {
		*f = append(*f, err)
		return nil
	}
	low, err := flow.CheckBudget(ctx, p.machine, l.contexts, start)
	if err != nil {
		*f = append(*f, err)
		return nil
	}
	f.Add(low...)
	return start
}

// checkTool reports why a tool cannot be offered to models. The names it accepts are those that all vendors accept.
func checkTool(name string, tool flow.Tool) error {
	bad := len(name) == 0 || len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", r)
	})
	if bad {
		return errors.New("the name is not 1 to 64 letters, digits, '-' and '_'")
	}
	if tool == nil {
		return errors.New("is nil: set it to a tool")
	}
	tree, err := strictjson.Decode(string(tool.Describe().Parameters), strictjson.Limits{})
	if schema, ok := tree.(map[string]any); err != nil || !ok || schema["type"] != "object" {
		return errors.New("its parameters are no JSON schema of an object")
	}
	return nil
}

func (l *Engine) checkTools(f *flow.Findings, t *flow.Settings) {
	if len(t.Tools) > flow.MaxTools {
		return // a list that is too long is not worked through
	}
	for i, name := range t.Tools {
		field := "tools[" + strconv.Itoa(i) + "]"
		switch {
		case l.tools[name] == nil || !flow.Registrable(name):
			f.Addf(field, "%w", unregistered("tool", "Tools", name, l.tools))
		case slices.Contains(t.Tools[:i], name):
			f.Addf(field, "%q is a duplicate", text.OneLine(name, 80))
		}
	}
}
