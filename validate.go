package debate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/agonist-dev/debate/provider"
)

// Validate checks a config without starting anything: its fields, the names that it uses, and its
// models with the providers that can tell ([provider.Checker]). The error joins one *[Error] per
// field, each of kind validation unless a provider has said otherwise; errors.As finds the first,
// and its Unwrap() []error yields all.
func (e *Engine) Validate(ctx context.Context, config Config) error {
	l, err := e.freeze()
	if err != nil {
		return err
	}
	_, err = l.validate(ctx, l.withFormatRounds(config).withDefaults())
	return err
}

// Bounds of a config, far above what a debate can use, so that one that was made by mistake, or in bad faith,
// costs neither time nor memory. Config, Format and their parts tell them; those of a format are beside its checks.
const (
	mostParticipants = 1000
	mostJudges       = 100
	mostMembers      = 1000 // of the audience
	mostFallbacks    = 16   // of each who is asked
	mostCriteria     = 50   // of judging, or of its rubric
	mostDetectors    = 16   // of each list
	mostTools        = 128  // that is how many vendors take
	mostLabels       = 64

	// In bytes.
	mostName         = 256 // of what is registered on the engine, models included
	mostLabelName    = 128
	mostLabel        = 1024
	mostScale        = 1000 // of what the ends of a rubric's scale mean
	mostText         = 20_000
	mostInstructions = 100_000

	mostFindings = 200 // that are told; a format alone can have tens of thousands
)

// findings gathers what is wrong with a config.
type findings []error

func (f *findings) addf(field, format string, args ...any) {
	if len(*f) >= mostFindings {
		return
	}
	*f = append(*f, &Error{Kind: KindValidation, Op: "config", Field: field, Err: fmt.Errorf(format, args...)})
}

// validate checks a config whose defaults are written out. If it had to make the debate's start for
// that, it yields it too.
func (l *live) validate(ctx context.Context, c *Config) (start *Start, err error) {
	f, bounded := l.check(c)
	if len(f) == 0 { // limits are those of a debate that is otherwise right
		start = l.checkLimits(ctx, &f, c)
	}
	if bounded {
		f = append(f, l.checkModels(ctx, c)...)
	}
	return start, errors.Join(f...)
}

// check checks a config by itself, and the names in it. bounded: its lists are short enough to work through.
func (l *live) check(c *Config) (f findings, bounded bool) {
	if err := CheckID(c.ID); err != nil && c.ID != "" {
		f = append(f, err)
	}
	f.text("topic", c.Topic, mostText)
	if strings.TrimSpace(c.Topic) == "" {
		f.addf("topic", "is empty")
	}
	f.numbers(c)
	f.budget(c)
	f.unattended(c.Unattended)
	f.labels(c.Labels)
	if !f.lists(c) {
		return f, false // nothing works through a list that is too long
	}
	format := l.checkFormat(&f, c)
	l.checkParticipants(&f, c, format)
	l.checkJudging(&f, c)
	l.checkAudience(&f, c, format)
	l.checkAssign(&f, c)
	f.people(c)
	l.checkTools(&f, c)
	f.detectors("watch", c.Watch)
	f.detectors("stopOn", c.StopOn)
	l.checkSummarizer(&f, c)
	l.checkFlow(&f, c)
	if l.contexts[c.Context] == nil || !registrable(c.Context) {
		f.addf("context", "no context manager %q is known", oneLine(c.Context, 40))
	}
	return f, true
}

// lists checks the lengths of a config's lists.
func (f *findings) lists(c *Config) bool {
	before := len(*f)
	f.atMost("participants", len(c.Participants), mostParticipants)
	f.atMost("watch", len(c.Watch), mostDetectors)
	f.atMost("stopOn", len(c.StopOn), mostDetectors)
	f.atMost("tools", len(c.Tools), mostTools)
	if j := c.Judging; j != nil {
		f.atMost("judging.judges", len(j.Judges), mostJudges)
		f.atMost("judging.criteria", len(j.Criteria), mostCriteria)
		if j.Rubric != nil {
			f.atMost("judging.rubric.criteria", len(j.Rubric.Criteria), mostCriteria)
		}
	}
	if c.Audience != nil {
		f.atMost("audience.members", len(c.Audience.Members), mostMembers)
	}
	if len(*f) == before {
		for _, a := range c.askers() {
			f.atMost(a.field+".fallbacks", len(a.fallbacks), mostFallbacks)
		}
	}
	return len(*f) == before
}

func (f *findings) atMost(field string, n, most int) {
	if n > most {
		f.addf(field, "there are %d: at most %d are allowed", n, most)
	}
}

// labels checks the host's own marks.
func (f *findings) labels(labels map[string]string) {
	if len(labels) > mostLabels {
		f.atMost("labels", len(labels), mostLabels)
		return
	}
	for name, value := range ordered(labels) {
		field := strings.TrimSuffix("labels."+oneLine(name, mostLabelName), ".")
		if name == "" || len(name) > mostLabelName || !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
			f.addf(field, "a label's name is 1 to %d bytes of UTF-8 without NUL", mostLabelName)
			continue
		}
		f.text(field, value, mostLabel)
	}
}

// registrable reports whether a name is one that something can be registered by, as far as a log is concerned:
// not empty, one line that prints, and not long.
func registrable(name string) bool {
	return name != "" && len(name) <= mostName && utf8.ValidString(name) && strings.IndexFunc(name, notPrinted) < 0
}

func notPrinted(r rune) bool { return !unicode.IsPrint(r) }

func (f *findings) numbers(c *Config) {
	for field, n := range ordered(map[string]int64{
		"rounds": int64(c.Rounds), "reserve": int64(c.Reserve), "maxTokens": int64(c.MaxTokens), "roundDelay": int64(c.RoundDelay),
		"roundTimeout": int64(c.RoundTimeout),
		"turnTimeout":  int64(c.TurnTimeout), "judgeTimeout": int64(c.JudgeTimeout),
	}) {
		if n < 0 {
			f.addf(field, "is negative")
		}
	}
	f.temperature("temperature", c.Temperature)
	if c.Mode != Sequential && c.Mode != Simultaneous {
		f.addf("mode", "no mode %q is known: it is %q or %q", oneLine(string(c.Mode), 40), Sequential, Simultaneous)
	}
	f.retry(c.Retry)
}

func (f *findings) retry(p *RetryPolicy) {
	if p == nil {
		return
	}
	for field, d := range ordered(map[string]time.Duration{
		"retry.base": p.Base, "retry.cap": p.Cap, "retry.jitter": p.Jitter, "retry.rateLimit": p.RateLimit,
	}) {
		if d < 0 {
			f.addf(field, "is negative")
		}
	}
	if known := len(kinds()); len(p.Max) > known {
		f.atMost("retry.max", len(p.Max), known)
		return
	}
	for kind, n := range ordered(p.Max) {
		field := "retry.max." + oneLine(string(kind), 40)
		switch {
		case !slices.Contains(kinds(), kind):
			f.addf(field, "is no kind of failure")
		case n < 0:
			f.addf(field, "is negative")
		case n > 0 && hopeless(kind):
			f.addf(field, "is a kind that is never retried")
		}
	}
}

func (f *findings) budget(c *Config) {
	b := c.Budget
	if b == nil {
		return
	}
	for field, n := range ordered(map[string]int64{
		"budget.warn": int64(b.Warn), "budget.soft": int64(b.Soft), "budget.hard": int64(b.Hard), "budget.softTokens": int64(b.SoftTokens),
		"budget.hardTokens": int64(b.HardTokens), "budget.softCalls": int64(b.SoftCalls), "budget.hardCalls": int64(b.HardCalls),
		"budget.softTime": int64(b.SoftTime), "budget.hardTime": int64(b.HardTime),
	}) {
		if n < 0 {
			f.addf(field, "is negative")
		}
	}
	for field, pair := range ordered(map[string][2]int64{
		"budget.soft": {int64(b.Soft), int64(b.Hard)}, "budget.softTokens": {int64(b.SoftTokens), int64(b.HardTokens)},
		"budget.softCalls": {int64(b.SoftCalls), int64(b.HardCalls)}, "budget.softTime": {int64(b.SoftTime), int64(b.HardTime)},
	}) {
		if pair[0] > 0 && pair[1] > 0 && pair[0] > pair[1] {
			f.addf(field, "is above the hard limit: the debate would stop before it could conclude")
		}
	}
	if b.Confirm && b.Warn == 0 {
		f.addf("budget.confirm", "needs budget.warn")
	}
}

func (f *findings) temperature(field string, t *float64) {
	if t != nil && (math.IsNaN(*t) || *t < 0 || *t > 2) {
		f.addf(field, "is not between 0 and 2")
	}
}

// text refuses what no vendor and no store takes.
func (f *findings) text(field, text string, most int) {
	switch {
	case !utf8.ValidString(text):
		f.addf(field, "is not valid UTF-8")
	case strings.ContainsRune(text, 0):
		f.addf(field, "holds a NUL character")
	case len(text) > most:
		f.addf(field, "has %d bytes: at most %d are allowed", len(text), most)
	}
}

// name refuses what could not stand in a fence, or be told from another name.
func (f *findings) name(field, name string) {
	switch {
	case strings.TrimSpace(name) == "":
		f.addf(field, "is empty")
	case !utf8.ValidString(name) || utf8.RuneCountInString(name) > 64:
		f.addf(field, "is longer than 64 characters, or not valid UTF-8")
	case name != strings.TrimSpace(name):
		f.addf(field, "begins or ends with white space")
	case strings.ContainsFunc(name, func(r rune) bool { return notPrinted(r) || r == '<' || r == '>' }):
		f.addf(field, "holds a character that does not print, '<' or '>'")
	}
}

func (l *live) checkParticipants(f *findings, c *Config, format *Format) {
	if format != nil {
		if least, most := format.participants(); len(c.Participants) < least || len(c.Participants) > most {
			f.addf("participants", "there are %d: format %s has %d to %d", len(c.Participants), format.Name, least, most)
		}
	}
	for i, p := range c.Participants {
		at := fmt.Sprintf("participants[%d]", i)
		f.name(at+".name", p.Name)
		f.side(at+".side", p.Side)
		f.text(at+".position", p.Position, mostText)
		f.text(at+".persona", p.Persona, mostText)
		f.text(at+".instructions", p.Instructions, mostInstructions)
		f.temperature(at+".temperature", p.Temperature)
		if p.MaxTokens < 0 {
			f.addf(at+".maxTokens", "is negative")
		}
		l.checkModelNames(f, c, at, p.Model, p.Fallbacks)
	}
}

// checkModelNames checks that providers are there, and prices if a limit needs them.
func (l *live) checkModelNames(f *findings, c *Config, at, model string, fallbacks []string) {
	l.checkModelName(f, c, at+".model", model)
	for i, name := range fallbacks {
		l.checkModelName(f, c, fmt.Sprintf("%s.fallbacks[%d]", at, i), name)
	}
}

func (l *live) checkModelName(f *findings, c *Config, field, name string) {
	host, _, ok := divide(name)
	switch {
	case name == "":
		f.addf(field, "is empty: it is \"provider/model\"")
	case !registrable(name):
		f.addf(field, "is not one line of at most %d bytes that print", mostName)
	case !ok:
		f.addf(field, "%q is not \"provider/model\"", oneLine(name, 80))
	case l.providers[host] == nil:
		f.addf(field, "no provider %q is registered", oneLine(host, 40))
	case c.limited() && !l.model(name).Priced:
		f.addf(field, "has no known price, which a budget needs: set it in Engine.Models[%q]", oneLine(name, 80))
	}
}

func (c *Config) limited() bool {
	return c.Budget != nil && (c.Budget.Warn > 0 || c.Budget.Soft > 0 || c.Budget.Hard > 0)
}

func (l *live) checkFlow(f *findings, c *Config) {
	m := l.machines[c.Flow]
	if m == nil {
		f.addf("flow", "no flow %q is registered", oneLine(c.Flow, 40))
		return
	}
	if err := readableJSON(c.FlowConfig); err != nil {
		f.addf("flowConfig", "%w", err)
		return
	}
	switch {
	case m.flow.Decode != nil:
		if _, err := m.flow.Decode(c.FlowConfig); err != nil {
			*f = append(*f, within("config", "flowConfig", err)...)
		}
	case len(c.FlowConfig) > 0:
		f.addf("flowConfig", "flow %s has no config of its own", c.Flow)
	}
	if m.flow.Check != nil {
		if err := m.flow.Check(c); err != nil {
			*f = append(*f, err)
		}
	}
}

// checkModels asks each provider that can tell about its models, each model once.
func (l *live) checkModels(ctx context.Context, c *Config) findings {
	var f findings
	for field, name := range c.models() {
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

// models yields the models of a debate, each once, with the field that names it first.
func (c *Config) models() iter.Seq2[string, string] {
	return func(yield func(field, name string) bool) {
		seen := map[string]bool{"": true}
		for field, name := range c.modelFields() {
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

// asker is somebody who asks models.
type asker struct {
	field     string
	model     string
	fallbacks []string
}

// askers yields all who do.
func (c *Config) askers() []asker {
	var all []asker
	for i, p := range c.Participants {
		all = append(all, asker{fmt.Sprintf("participants[%d]", i), p.Model, p.Fallbacks})
	}
	if c.Judging != nil {
		for i, j := range c.Judging.Judges {
			all = append(all, asker{fmt.Sprintf("judging.judges[%d]", i), j.Model, j.Fallbacks})
		}
	}
	if c.Audience != nil {
		for i, m := range c.Audience.Members {
			all = append(all, asker{fmt.Sprintf("audience.members[%d]", i), m.Model, m.Fallbacks})
		}
	}
	if c.Assign != nil {
		all = append(all, asker{"assign", c.Assign.Model, c.Assign.Fallbacks})
	}
	return all
}

// modelFields yields every field that names a model.
func (c *Config) modelFields() iter.Seq2[string, string] {
	return func(yield func(field, name string) bool) {
		for _, a := range c.askers() {
			if !yield(a.field+".model", a.model) {
				return
			}
			for i, name := range a.fallbacks {
				if !yield(fmt.Sprintf("%s.fallbacks[%d]", a.field, i), name) {
					return
				}
			}
		}
		yield("summarizer", c.Summarizer)
	}
}
