package deliberation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate"
)

// Validate checks a deliberation with the engine that is to play it, without starting anything: what [Config.Debate]
// checks, then what only the engine knows, such as whether providers, tools and judges are registered, and prices
// that a budget needs. Providers that can tell are asked about the models, which is why it takes a context. The
// error joins one [debate.Error] for each field that is wrong, of kind validation unless a provider has said
// otherwise, and names the fields of this config: "agents[2].model". Engine.Validate and Engine.Start find the same
// in what Debate yields, and name the fields of that.
func (c Config) Validate(ctx context.Context, engine *debate.Engine) error {
	if engine == nil {
		return invalidf("deliberation", "engine", "is nil")
	}
	made, err := c.Debate()
	if err != nil {
		return err
	}
	return errors.Join(c.failures(&made, engine.Validate(ctx, made))...)
}

// debated checks what an engine without providers, tools and judges can: fields that are the debate's own.
func (c *Config) debated(made *debate.Config) error {
	engine := &debate.Engine{Flows: map[string]*debate.Flow{FlowName: Flow()}}
	all := c.failures(made, engine.Validate(context.Background(), *made)) // it asks nobody
	return errors.Join(slices.DeleteFunc(all, func(err error) bool {
		failure, ok := errors.AsType[*debate.Error](err)
		return !ok || !slices.ContainsFunc([]string{"budget", "retry", "unattended", "labels"}, func(own string) bool {
			return failure.Field == own || strings.HasPrefix(failure.Field, own+".")
		})
	})...)
}

// failures takes an engine's error apart, and names the fields that the user has written.
func (c *Config) failures(made *debate.Config, err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, one := range joined.Unwrap() {
			out = append(out, c.failures(made, one)...)
		}
		return out
	}
	failure, ok := errors.AsType[*debate.Error](err)
	if !ok {
		if err == nil {
			return nil
		}
		return []error{err}
	}
	renamed := *failure
	renamed.Field = c.field(made, failure.Field)
	return []error{&renamed}
}

// field yields where in this config stands what a field of the debate's config was made of.
func (c *Config) field(made *debate.Config, field string) string {
	if i, rest, ok := element(field, "participants", len(made.Participants)); ok {
		at := slices.IndexFunc(c.Agents, func(a Agent) bool { return a.ID == made.Participants[i].Name })
		return fmt.Sprintf("agents[%d]%s", at, rest)
	}
	if made.Judging != nil {
		if i, rest, ok := element(field, "judging.judges", len(made.Judging.Judges)); ok {
			if made.Judging.Judges[i].Name == nameSynthesizer {
				return nameSynthesizer
			}
			return "judge" + rest
		}
	}
	if i, rest, ok := element(field, "tools", len(made.Tools)); ok {
		return c.tool(made.Tools[i]) + rest
	}
	return field // it is the same in both
}

// tool yields where a tool is named that some agent may use.
func (c *Config) tool(name string) string {
	for i := range c.Agents {
		a := &c.Agents[i]
		own, at := c.Tools, "tools"
		if a.Tools != nil {
			own, at = *a.Tools, fmt.Sprintf("agents[%d].tools", i)
		}
		if k := slices.Index(own, name); k >= 0 && !a.Disabled {
			return fmt.Sprintf("%s[%d]", at, k)
		}
	}
	return "tools"
}

// element takes "list[2].rest" apart, if the list is that long.
func element(field, list string, length int) (index int, rest string, ok bool) {
	inner, ok := strings.CutPrefix(field, list+"[")
	if !ok {
		return 0, "", false
	}
	digits, rest, ok := strings.Cut(inner, "]")
	index, err := strconv.Atoi(digits)
	return index, rest, ok && err == nil && index >= 0 && index < length
}
