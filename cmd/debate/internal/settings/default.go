package settings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
)

// keyJudge is the section of the judge.
const keyJudge = "judge"

// defaultModel returns the model of those for whom nobody names one; "": there is no key for any.
func (d *draft) defaultModel(w *Wish) string {
	if model := cmp.Or(w.Model, w.Usual.said.Model); model != "" {
		return model
	}
	return DefaultModel(w.Has)
}

// DefaultModel returns the model that is asked if nobody names one: of the first vendor that can be asked, as has reports.
// It is empty if none can.
func DefaultModel(has func(vendor string) bool) string {
	for _, model := range []string{
		"openai/gpt-4.1-mini", "anthropic/claude-haiku-4-5", "google/gemini-2.5-flash", "openrouter/openai/gpt-4.1-mini",
		"mistral/mistral-small-latest", "demo/script",
	} {
		if vendor, _, _ := flow.SplitModel(model); has(vendor) {
			return model
		}
	}
	return ""
}

// sections adds the sections that a config lacks, and notes each of them. It reports whether there is a model for them.
func (d *draft) sections(w *Wish) bool {
	model := d.defaultModel(w)
	complete := d.addCast(w, model)
	model = cmp.Or(w.Usual.said.Judge, d.firstModel(), model)
	switch d.flow {
	case deliberation.FlowName:
		if d.root.get(keyJudge) == nil && w.Judge == "" && d.asksJudge() {
			d.root.set(keyJudge, nodeOf(Place{Path: keyJudge}, deliberation.Judge{Model: model}))
			complete = d.lacks(keyJudge, "the default judge", model) && complete
		}
	case arbiter.FlowName:
		if d.root.get("arbiter") == nil && w.Judge == "" {
			d.root.set("arbiter", nodeOf(Place{Path: "arbiter"}, arbiter.Arbiter{Model: model}))
			complete = d.lacks("arbiter", "a model is the arbiter", model) && complete
		}
	}
	if !complete {
		d.wrong.addf(Place{}, "there is no key: set OPENAI_API_KEY, or another vendor's, or add --demo")
	}
	return complete
}

// addCast adds those who take part. It reports whether there is a model for them.
func (d *draft) addCast(w *Wish, model string) bool {
	key := cast(d.flow)
	if d.root.get(key) != nil {
		return true
	}
	agents, names := defaultCast(d.flow, cmp.Or(w.Format, d.root.textAt("format")), model, len(w.Agents) > 0)
	if len(w.Agents) > 0 {
		names = strings.Join(w.Agents, ", ")
	}
	d.root.set(key, nodeOf(Place{Path: key}, agents))
	if d.flow == debate.FlowName && d.root.get("judging") == nil {
		judge := debate.JudgeConfig{Model: cmp.Or(w.Usual.said.Judge, model)}
		d.root.set("judging", nodeOf(Place{Path: "judging"}, debate.Judging{Judges: []debate.JudgeConfig{judge}}))
	}
	if d.file == "" {
		if model != "" {
			names += ", with " + model
		}
		d.notes = append(d.notes, "no config file was found: by default, there are "+names)
		return model != ""
	}
	return d.lacks(key, "by default, there are "+names, model)
}

// lacks notes that the file has no section, and what stands in its place. It reports whether there is a model for that.
func (d *draft) lacks(section, instead, model string) bool {
	if d.file != "" {
		d.notes = append(d.notes, d.file+" has no section "+section+": "+instead+", with "+model)
	}
	return model != ""
}

// asksJudge reports whether a deliberation needs a judge.
func (d *draft) asksJudge() bool {
	ends, synthesis := d.root.get("termination").textAt("kind"), d.root.textAt("synthesis")
	return ends != "" && ends != deliberation.TerminationFixed || synthesis != deliberation.SynthesisVoting &&
		synthesis != deliberation.SynthesisRegistered
}

// firstModel returns the first model that the file names for somebody who takes part.
func (d *draft) firstModel() string {
	for _, agent := range d.root.get(cast(d.flow)).list() {
		if model := agent.textAt(keyModel); model != "" && !agent.get("disabled").is(true) {
			return model
		}
	}
	return ""
}

// defaultCast returns those who take part if nobody else is named, and how a person is told of them. all asks for
// everybody that there could be, from whom some are chosen. form is the format of a debate.
func defaultCast(flow, form, model string, all bool) (agents any, names string) {
	switch flow {
	case debate.FlowName:
		return debaters(form, model)
	case arbiter.FlowName:
		return []arbiter.Agent{
			{
				Name: "planner", Model: model, Description: "breaks the task down, and says what a good result has",
				Prompt: "You plan. Say which parts the task has, in which order they are done, and how one sees that each is done.",
			},
			{
				Name: "writer", Model: model, Description: "does the work, and writes the result out in full",
				Prompt: "You do the work. Write the result out in full, ready to be used. Follow the plan if there is one.",
			},
			{
				Name: "reviewer", Model: model, Description: "finds what is wrong with a result or missing in it",
				Prompt: "You review. Name each fault with its place and its cure. If there is none, say so in one sentence.",
			},
		}, "planner, writer and reviewer"
	}
	roles := []string{deliberation.RoleArchitect, deliberation.RolePerformance, deliberation.RoleSimplicity}
	if all {
		roles = roles[:0]
		for _, role := range deliberation.BuiltinRoles() {
			roles = append(roles, role.Name)
		}
	}
	cast := make([]deliberation.Agent, 0, len(roles))
	for _, role := range roles {
		cast = append(cast, deliberation.Agent{ID: role, Role: role, Model: model})
	}
	return cast, and(roles)
}

// debaters returns the participants of a debate if nobody else is named: as few as the format has on each side, and somebody in the
// chair of a talk without sides.
func debaters(name, model string) (cast []debate.Participant, names string) {
	seats := []format.Seats{{Side: format.For, Min: 1}, {Side: format.Against, Min: 1}}
	for _, f := range format.Builtin() {
		if f.Name == name && len(f.Seats) > 0 {
			seats = f.Seats
		}
	}
	without := slices.ContainsFunc(seats, func(s format.Seats) bool { return s.Side == "" })
	free := []string{"Ada", "Ben", "Cleo", "Dan", "Eva", "Finn"}
	var told []string
	for _, s := range seats {
		count := s.Min
		if s.Side == format.Neutral && without {
			count = max(count, 1)
		}
		own := free[:min(count, len(free))]
		if len(own) == 0 {
			continue
		}
		free = free[len(own):]
		for _, one := range own {
			cast = append(cast, debate.Participant{Name: one, Side: s.Side, Model: model})
		}
		told = append(told, fmt.Sprintf("%s (%s)", and(own), cmp.Or(string(s.Side), "no side")))
	}
	return cast, and(told)
}

// and joins words as a sentence lists them.
func and(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
