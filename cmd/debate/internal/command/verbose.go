package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
)

// preface shows what a conversation is held with: models, prompts and their files, and how histories are summarized.
func (p *program) preface(r *flow.Record) {
	switch d, ok := deliberation.Of(r); {
	case ok:
		for _, prompt := range d.Prompts() {
			who := "agent"
			if prompt.Who == "judge" {
				who = "judge"
			}
			p.detailf("System prompt of %s: %s", progress.Clean(called(r, prompt.Who)),
				changed(r, source(prompt.Source), "deliberation.system", "deliberation."+who))
		}
		p.summarizing("Summaries", &d.Config().Summaries)
		for i := range d.Config().Agents {
			if a := &d.Config().Agents[i]; a.Summaries != nil {
				p.summarizing("Summaries of "+progress.Clean(called(r, a.ID)), a.Summaries)
			}
		}
	default:
		p.models(r)
	}
}

// source says where a prompt comes from.
func source(s string) string {
	switch s {
	case deliberation.SourceBuiltIn:
		return builtIn
	case deliberation.SourceConfig:
		return "from the config"
	default:
		return s // the absolute path of a file
	}
}

// called returns how people know an actor of a conversation.
func called(r *flow.Record, id string) string {
	if d, ok := deliberation.Of(r); ok {
		return d.Config().NameOf(id)
	}
	return id
}

// summarizing shows the settings of summaries.
func (p *program) summarizing(of string, s *deliberation.Summaries) {
	if s.Off {
		p.detailf("%s: off", of)
		return
	}
	p.detailf("%s: from %s characters down to %s", of,
		progress.Number(cmp.Or(s.Threshold, deliberation.DefaultSummaryThreshold)),
		progress.Number(cmp.Or(s.MaxLength, deliberation.DefaultSummaryLength)))
}

// models shows who is asked, and where the prompts come from.
func (p *program) models(r *flow.Record) {
	if w, ok := arbiter.Of(r); ok {
		c := w.Config()
		p.detailf("System prompt of the arbiter (%s): %s", c.Arbiter.Model, changed(r, own(c.Arbiter.Prompt), "arbiter.system"))
		for i := range c.Agents {
			a := &c.Agents[i]
			p.detailf("System prompt of %s (%s): %s", a.Name, a.Model,
				changed(r, cmp.Or(p.viewing.sources[a.Name], own(a.Prompt)), "arbiter.agent"))
		}
	}
	d, ok := debate.Of(r)
	if !ok || d.Config() == nil {
		return
	}
	for i := range d.Config().Participants {
		each := &d.Config().Participants[i]
		p.detailf("System prompt of %s (%s): %s", each.Name, each.Model, changed(r, builtIn, "debater", "stance"))
	}
	for _, judge := range d.Judges() {
		p.detailf("System prompt of %s (%s): %s", judge.Name, judge.Model, changed(r, builtIn, "judge", "aim"))
	}
}

// changed adds to where a prompt comes from which of its templates and parts the config replaces.
func changed(r *flow.Record, from string, templates ...string) string {
	var replaced []string
	for _, name := range append(templates, "fence", "language") {
		if _, ok := r.Settings().Prompts[name]; ok {
			replaced = append(replaced, name)
		}
	}
	switch names := strings.Join(replaced, ", "); {
	case len(replaced) == 0:
		return from
	case from == builtIn:
		return "from the config, which replaces " + names
	default: // the words come from there, and what stands around them from the config
		return from + "; the config replaces " + names
	}
}

const builtIn = "built-in default"

// own says whether the config adds words to a built-in prompt.
func own(prompt string) string {
	if prompt == "" {
		return builtIn
	}
	return fmt.Sprintf("from the config (%s characters)", progress.Number(len([]rune(prompt))))
}

// breakdown shows every contribution, round by round, with its first line, and the totals.
func (p *program) breakdown(r *flow.Record) {
	turns := slices.Clone(r.Turns)
	slices.SortStableFunc(turns, func(a, b *flow.Turn) int { return cmp.Or(a.Round-b.Round, a.Slot-b.Slot) })
	round := -1
	for _, t := range turns {
		if t.Round != round {
			round = t.Round
			p.detailf("%s", roundTitle(round))
		}
		whom := ""
		if t.Target != "" {
			whom = " of " + progress.Clean(called(r, t.Target))
		}
		first, _, _ := strings.Cut(strings.TrimSpace(progress.Text(contribution(t))), "\n")
		_, _ = fmt.Fprintf(p.Err, "  %s%s by %s (%s, %s tokens): %s\n", progress.Clean(string(t.Kind)), whom,
			progress.Clean(called(r, t.Speaker)), progress.Span(t.Took), progress.Number(t.Usage.Input+t.Usage.Output),
			progress.Shorten(progress.Clean(first), 100))
	}
	if d, ok := deliberation.Of(r); ok {
		for _, s := range d.Summaries() {
			p.detailf("Round %d: the history of %s was summarized from %s to %s characters (%s, %s tokens)", s.Round,
				progress.Clean(called(r, s.Agent)),
				progress.Number(s.Before), progress.Number(s.After), progress.Span(s.Took), progress.Number(s.Usage.Input+s.Usage.Output))
		}
	}
	spent := r.Spent()
	p.detailf("Total: %d rounds, %s, %d calls, %s tokens (%s in, %s out), %s", r.Round, progress.Span(r.Duration()), spent.Requests,
		progress.Number(spent.Usage.Input+spent.Usage.Output), progress.Number(spent.Usage.Input), progress.Number(spent.Usage.Output),
		spent)
}

// contribution returns what a person reads of a turn: of a solution its text, without the JSON around it.
func contribution(t *flow.Turn) string {
	var solution deliberation.Solution
	if t.Kind == deliberation.KindSynthesis && json.Unmarshal(t.Data, &solution) == nil {
		return solution.Description
	}
	return t.Text
}

func roundTitle(n int) string {
	if n == 0 {
		return "Outside the rounds"
	}
	return fmt.Sprintf("Round %d", n)
}

// detailf writes a line for --verbose to the standard error.
func (p *program) detailf(format string, args ...any) { p.warnf(format, args...) }
