package debate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/agonist-dev/debate/provider"
)

// Validate checks a config without starting anything: its fields, the names that it uses, and its
// models with the providers that can tell ([provider.Checker]). The error joins one *[Error] per
// field, each of kind validation unless a provider has said otherwise; errors.As finds the first,
// and its Unwrap() []error yields all.
func (e *Engine) Validate(ctx context.Context, config FlowConfig) error {
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

// validate checks a plan, with what is frozen already; nil: nothing is. If it had to make the start for that, it yields it too.
func (l *live) validate(ctx context.Context, p *plan, frozen any) (start *Start, err error) {
	f := l.check(p, frozen)
	if len(f) == 0 { // limits are those of a conversation that is otherwise right
		start = l.checkLimits(ctx, &f, p)
	}
	f = append(f, l.checkModels(ctx, p.config)...)
	return start, errors.Join(f...)
}

// check checks a plan by itself, and the names in it.
func (l *live) check(p *plan, frozen any) (f findings) {
	t := p.terms
	if err := CheckID(t.ID); err != nil && t.ID != "" {
		f = append(f, err)
	}
	f.terms(t)
	if p.machine.flow.Check != nil {
		f = append(f, p.machine.flow.Check(p.config, frozen, registry{l})...)
	}
	l.checkTools(&f, t)
	l.checkSummarizer(&f, t)
	f.readAgain(p)
	if l.contexts[t.Context] == nil || !registrable(t.Context) {
		f.addf("context", "no context manager %q is known", oneLine(t.Context, 40))
	}
	return f
}

// readAgain checks that a log which holds a config of a stranger's can be read. What stands in a debate's is checked
// field by field.
func (f *findings) readAgain(p *plan) {
	switch p.config.(type) {
	case *Config, Config:
		return
	}
	data, err := json.Marshal(p.config)
	if err == nil {
		err = readableJSON(data)
	}
	if err == nil && p.machine.flow.Decode != nil {
		_, err = p.machine.flow.Decode(data)
	}
	if err != nil {
		*f = append(*f, within("config", "", err)...)
	}
}

// registry is a live engine as flows' checks see it.
type registry struct{ *live }

// Judge implements [Registry].
func (l registry) Judge(name string) bool {
	return (l.absent || l.judges[name] != nil) && registrable(name)
}

// Model implements [Registry].
func (l registry) Model(t *Terms, name string) error {
	host, _, ok := divide(name)
	switch {
	case name == "":
		return errors.New("is empty: it is \"provider/model\"")
	case !registrable(name):
		return fmt.Errorf("is not one line of at most %d bytes that print", mostName)
	case !ok:
		return fmt.Errorf("%q is not \"provider/model\"", oneLine(name, 80))
	case l.providers[host] == nil:
		return fmt.Errorf("no provider %q is registered", oneLine(host, 40))
	case t.limited() && !l.model(name).Priced:
		return fmt.Errorf("has no known price, which a budget needs: set it in Engine.Models[%q]", oneLine(name, 80))
	default:
		return nil
	}
}

// terms checks what every flow's config says.
func (f *findings) terms(t *Terms) {
	f.text("topic", t.Topic, mostText)
	if strings.TrimSpace(t.Topic) == "" {
		f.addf("topic", "is empty")
	}
	for field, n := range ordered(map[string]int64{
		"rounds": int64(t.Rounds), "reserve": int64(t.Reserve), "maxTokens": int64(t.MaxTokens), "roundDelay": int64(t.RoundDelay),
		"roundTimeout": int64(t.RoundTimeout), "turnTimeout": int64(t.TurnTimeout),
	}) {
		if n < 0 {
			f.addf(field, "is negative")
		}
	}
	f.retry(t.Retry)
	f.budget(t.Budget)
	f.unattended(t.Unattended)
	f.labels(t.Labels)
	f.atMost("tools", len(t.Tools), mostTools)
}

func (l *live) checkSummarizer(f *findings, t *Terms) {
	if t.Summarizer == "" {
		if t.AutoSummary {
			f.addf("autoSummary", "needs summarizer, the model that summarises")
		}
		return
	}
	if err := (registry{l}).Model(t, t.Summarizer); err != nil {
		f.addf("summarizer", "%w", err)
	}
}

// checkModels asks each provider that can tell about its models, each model once.
func (l *live) checkModels(ctx context.Context, config FlowConfig) findings {
	var f findings
	for field, name := range models(config) {
		host, model, named := divide(name)
		checker, tells := provider.As[provider.Checker](l.providers[host])
		if !named || !tells || !registrable(name) {
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

// mostModels bounds the models of one config that are looked at: one that has more is refused for other reasons.
const mostModels = 4096

// models yields the models of a config, each once, with the field that names it first.
func models(config FlowConfig) iter.Seq2[string, string] {
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
