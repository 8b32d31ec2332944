package debate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/strictjson"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// Validate checks a config without starting anything: its fields, the names in it, and its models with the
// providers that can tell ([provider.Checker]).
//
// The error joins one *[Error] per field. Each is of kind validation, unless a provider has reported another kind.
// errors.As finds the first, and Unwrap() []error returns all of them.
func (e *Engine) Validate(ctx context.Context, config flow.Config) error {
	l, err := e.freeze()
	if err != nil {
		return err
	}
	plan, err := l.plan(config, false)
	if err != nil {
		return err
	}
	_, err = l.validate(ctx, plan, nil)
	return err
}

// validate checks a plan. frozen is what a log has frozen, or nil for a new debate. If validate had to make the
// start for that, it returns the start too.
func (l *engine) validate(ctx context.Context, p *plan, frozen any) (start *flow.Start, err error) {
	f := l.check(p, frozen)
	if len(f) == 0 && !p.machine.Flow().Readable { // only a config that is otherwise valid can be encoded and run
		checkReadable(&f, p)
	}
	if len(f) == 0 {
		start = l.checkLimits(ctx, &f, p)
	}
	f = append(f, l.checkModels(ctx, p.config)...)
	return start, errors.Join(f...)
}

// check checks a plan by itself, and the names in it.
func (l *engine) check(p *plan, frozen any) (f flow.Findings) {
	t := p.terms
	if err := store.CheckID(t.ID); err != nil && t.ID != "" {
		f = append(f, err)
	}
	f.Terms(t)
	kind := p.machine.Flow()
	f = inConfig(kind, p.config, f)
	if kind.Check != nil {
		f = append(f, kind.Check(p.config, frozen, registry{l})...)
	}
	var names flow.Findings
	l.checkTools(&names, t)
	l.checkSummarizer(&names, t)
	if l.contexts[t.Context] == nil || !flow.Registrable(t.Context) {
		names.Addf("context", "no context manager %q is known", text.OneLine(t.Context, 40))
	}
	f = append(f, inConfig(kind, p.config, names)...)
	l.checkNamed(&f, p)
	return f
}

// inConfig gives errors about the terms the field names of the config. It changes found.
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
		read, err = p.machine.Flow().DecodeConfig(data)
	}
	if err == nil {
		var again []byte
		if again, err = json.Marshal(read); err == nil && !bytes.Equal(again, data) {
			err = errors.New("what is read of its JSON writes another JSON")
		}
	}
	if err == nil && !slices.Equal(read.Terms().Participants, p.config.Terms().Participants) {
		err = errors.New("what is read of its JSON has other participants")
	}
	if err != nil {
		*f = append(*f, flow.Within("config", "", err)...)
	}
}

// registry is an engine as the checks of flows see it.
type registry struct{ *engine }

// Function implements [flow.Registry].
func (l registry) Function(name string) bool {
	return (l.absent || l.judges[name] != nil) && flow.Registrable(name)
}

// Model implements [flow.Registry].
func (l registry) Model(t *flow.Terms, name string) error {
	host, _, ok := flow.SplitModel(name)
	switch {
	case name == "":
		return errors.New("is empty: it is \"provider/model\"")
	case !flow.Registrable(name):
		return fmt.Errorf("is not one line of at most %d bytes that print", flow.MaxName)
	case !ok:
		return fmt.Errorf("%q is not \"provider/model\"", text.OneLine(name, 80))
	case l.providers[host] == nil:
		return fmt.Errorf("no provider %q is registered", text.OneLine(host, 40))
	case t.Limited() && !l.model(name).Priced:
		return fmt.Errorf("has no known price, which a budget needs: set it in Engine.Models[%q]", text.OneLine(name, 80))
	default:
		return nil
	}
}

func (l *engine) checkSummarizer(f *flow.Findings, t *flow.Terms) {
	if t.Summarizer == "" {
		if t.AutoSummary {
			f.Addf("autoSummary", "needs summarizer, the model that summarises")
		}
		return
	}
	if err := (registry{l}).Model(t, t.Summarizer); err != nil {
		f.Addf("summarizer", "%w", err)
	}
}

// checkNamed reports the models that cannot be asked, where the flow's own check has said nothing of their fields.
func (l *engine) checkNamed(f *flow.Findings, p *plan) {
	looked := 0
	for field, name := range p.config.Models() {
		if looked++; looked > mostModels {
			return
		}
		if err := (registry{l}).Model(p.terms, name); err != nil && name != "" && !reported(*f, field) {
			f.Addf(field, "%w", err)
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

// checkModels asks each provider that can tell about its models, each model once.
func (l *engine) checkModels(ctx context.Context, config flow.Config) flow.Findings {
	var f flow.Findings
	for field, name := range models(config) {
		host, model, named := flow.SplitModel(name)
		checker, tells := provider.As[provider.Checker](l.providers[host])
		if !named || !tells || !flow.Registrable(name) {
			continue
		}
		if err := checker.Check(ctx, model); err != nil {
			failure := explain(ctx, err)
			failure.Op, failure.Field = "config", field
			f = append(f, failure)
		}
	}
	return f
}

// mostModels bounds how many models of one config are checked. A config with more is refused for other reasons.
const mostModels = 4096

// models yields the models of a config, each once, with the field that names it first.
func models(config flow.Config) iter.Seq2[string, string] {
	return func(yield func(field, name string) bool) {
		seen, looked := map[string]bool{"": true}, 0
		for field, name := range config.Models() {
			if looked++; len(seen) > mostModels || looked > 100*mostModels {
				return
			}
			if seen[name] {
				continue
			}
			seen[name] = true
			if !yield(field, name) {
				return
			}
		}
	}
}

// Estimate computes the most that a conversation of this config can use. It asks no model and pays nothing. For a
// debate it goes through each round, some 200,000 rounds in a second. ctx bounds that.
//
// If the config's format, flow or texts are unknown, Estimate returns that error; Validate reports more. If the
// flow does not say how its conversations go, the error is of kind validation.
func (e *Engine) Estimate(ctx context.Context, config flow.Config) (flow.Estimate, error) {
	l, err := e.freeze()
	if err != nil {
		return flow.Estimate{}, err
	}
	plan, err := l.plan(config, false)
	if err != nil {
		return flow.Estimate{}, err
	}
	start, err := l.start(plan)
	if err != nil {
		return flow.Estimate{}, err
	}
	return flow.EstimateStart(ctx, plan.machine, l.contexts, start, plan.terms.Rounds)
}

// checkLimits refuses limits that are too low for a conversation to achieve anything. It returns the start that it
// made for that, or nil if it needed none.
func (l *engine) checkLimits(ctx context.Context, f *flow.Findings, p *plan) *flow.Start {
	b := p.terms.Budget
	if b == nil || p.machine.Flow().Estimate == nil {
		return nil
	}
	start, err := l.start(p)
	if err != nil {
		*f = append(*f, err)
		return nil
	}
	e, err := flow.EstimateStart(ctx, p.machine, l.contexts, start, 1)
	if err != nil {
		*f = append(*f, err)
		return nil
	}
	f.Add(e.TooLow(b)...)
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
		return errors.New("is nil")
	}
	tree, err := strictjson.Decode(string(tool.Describe().Parameters), strictjson.Limits{})
	if schema, ok := tree.(map[string]any); err != nil || !ok || schema["type"] != "object" {
		return errors.New("its parameters are no JSON schema of an object")
	}
	return nil
}

func (l *engine) checkTools(f *flow.Findings, t *flow.Terms) {
	if len(t.Tools) > flow.MaxTools {
		return // a list that is too long is not worked through
	}
	for i, name := range t.Tools {
		field := "tools[" + strconv.Itoa(i) + "]"
		switch {
		case l.tools[name] == nil || !flow.Registrable(name):
			f.Addf(field, "no tool %q is registered", text.OneLine(name, 80))
		case slices.Contains(t.Tools[:i], name):
			f.Addf(field, "%q is named twice", text.OneLine(name, 80))
		}
	}
}
