package debate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
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
	return l.validate(ctx, config.withDefaults())
}

// findings gathers what is wrong with a config.
type findings []error

func (f *findings) addf(field, format string, args ...any) {
	*f = append(*f, &Error{Kind: KindValidation, Op: "config", Field: field, Err: fmt.Errorf(format, args...)})
}

// validate checks a config whose defaults are written out.
func (l *live) validate(ctx context.Context, c *Config) error {
	var f findings
	if err := checkID(c.ID); err != nil && c.ID != "" {
		f = append(f, err)
	}
	f.text("topic", c.Topic, 20_000)
	if strings.TrimSpace(c.Topic) == "" {
		f.addf("topic", "is empty")
	}
	f.numbers(c)
	f.budget(c)
	format := l.checkFormat(&f, c)
	l.checkParticipants(&f, c, format)
	l.checkJudging(&f, c)
	l.checkFlow(&f, c)
	if l.contexts[c.Context] == nil {
		f.addf("context", "no context manager %q is known", oneLine(c.Context, 40))
	}
	for key := range c.Labels {
		if key == "" || len(key) > 128 || !utf8.ValidString(key) || !utf8.ValidString(c.Labels[key]) {
			f.addf("labels", "a label's name is 1 to 128 bytes, and both name and value are UTF-8")
			break
		}
	}
	if len(f) == 0 {
		f = l.checkModels(ctx, c)
	}
	return errors.Join(f...)
}

// checkID keeps ids safe as the names of files, keys and rows.
func checkID(id string) error {
	bad := len(id) == 0 || len(id) > 128 || id[0] == '.' || strings.ContainsFunc(id, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", r)
	})
	if !bad {
		return nil
	}
	err := errors.New("is not 1 to 128 letters, digits, '-', '_' and '.', the first no '.'")
	return &Error{Kind: KindValidation, Op: "config", Field: "id", Err: err}
}

func (f *findings) numbers(c *Config) {
	for field, n := range ordered(map[string]int64{
		"rounds": int64(c.Rounds), "reserve": int64(c.Reserve), "maxTokens": int64(c.MaxTokens), "roundDelay": int64(c.RoundDelay),
		"turnTimeout": int64(c.TurnTimeout), "judgeTimeout": int64(c.JudgeTimeout),
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
	for kind, n := range ordered(p.Max) {
		if !slices.Contains(kinds(), kind) {
			f.addf("retry.max."+oneLine(string(kind), 40), "is no kind of failure")
		}
		if n < 0 {
			f.addf("retry.max."+oneLine(string(kind), 40), "is negative")
		}
	}
}

func (f *findings) budget(c *Config) {
	b := c.Budget
	if b == nil {
		return
	}
	for field, m := range ordered(map[string]Money{"budget.warn": b.Warn, "budget.soft": b.Soft, "budget.hard": b.Hard}) {
		if m < 0 {
			f.addf(field, "is negative")
		}
	}
	if b.Soft > 0 && b.Hard > 0 && b.Soft > b.Hard {
		f.addf("budget.soft", "is above budget.hard: the debate would stop before it could conclude")
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
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == '<' || r == '>' }):
		f.addf(field, "holds a character that does not print, '<' or '>'")
	}
}

func (l *live) checkFormat(f *findings, c *Config) *Format {
	format := c.CustomFormat
	if format == nil {
		known, ok := l.formats[c.Format]
		if !ok {
			f.addf("format", "no format %q is known", oneLine(c.Format, 40))
			return nil
		}
		return &known
	}
	if c.Format != format.Name {
		f.addf("format", "is %q, but customFormat is named %q", oneLine(c.Format, 40), oneLine(format.Name, 40))
	}
	return f.format("customFormat", format)
}

// format checks a format of the host's own.
func (f *findings) format(field string, format *Format) *Format {
	f.name(field+".name", format.Name)
	f.text(field+".guidance", format.Guidance, 20_000)
	if len(format.Phases) == 0 {
		f.addf(field+".phases", "is empty")
	}
	for i, phase := range format.Phases {
		at := fmt.Sprintf("%s.phases[%d]", field, i)
		f.name(at+".name", phase.Name)
		f.text(at+".instruction", phase.Instruction, 20_000)
		if phase.First == 0 || phase.Last == 0 {
			f.addf(at, "first and last are rounds from 1, or from the end with -1")
		}
		for _, earlier := range format.Phases[:i] {
			if earlier.Name == phase.Name {
				f.addf(at+".name", "is the name of an earlier phase")
			}
		}
	}
	if !slices.Contains([]End{EndByJudge, EndByRounds, EndByConvergence}, format.End) {
		f.addf(field+".end", "no rule %q is known", oneLine(string(format.End), 40))
	}
	if least, most := format.participants(); format.MinParticipants < 0 || format.MaxParticipants < 0 || least > most {
		f.addf(field+".minParticipants", "or maxParticipants is negative, or the least is above the most")
	}
	return format
}

func (l *live) checkParticipants(f *findings, c *Config, format *Format) {
	if format != nil {
		if least, most := format.participants(); len(c.Participants) < least || len(c.Participants) > most {
			f.addf("participants", "there are %d: format %s has %d to %d", len(c.Participants), format.Name, least, most)
		}
	}
	first := make(map[string]int)
	for i, p := range c.Participants {
		at := fmt.Sprintf("participants[%d]", i)
		f.name(at+".name", p.Name)
		folded := strings.ToLower(p.Name)
		if j, ok := first[folded]; ok && p.Name != "" {
			f.addf(at+".name", "is the name of participants[%d] too", j)
		} else {
			first[folded] = i
		}
		if !slices.Contains([]Side{"", For, Against, Neutral}, p.Side) {
			f.addf(at+".side", "no side %q is known: it is %q, %q, %q or empty", oneLine(string(p.Side), 40), For, Against, Neutral)
		}
		f.text(at+".position", p.Position, 20_000)
		f.text(at+".persona", p.Persona, 20_000)
		f.text(at+".instructions", p.Instructions, 100_000)
		f.temperature(at+".temperature", p.Temperature)
		if p.MaxTokens < 0 {
			f.addf(at+".maxTokens", "is negative")
		}
		l.checkModelNames(f, c, at, p.Model, p.Fallbacks)
	}
}

func (l *live) checkJudging(f *findings, c *Config) {
	j := c.Judging
	if j == nil {
		return
	}
	if j.When != EveryRound && j.When != AtEnd {
		f.addf("judging.when", "no time %q is known: it is %q or %q", oneLine(string(j.When), 40), EveryRound, AtEnd)
	}
	if len(j.Judges) != 1 {
		f.addf("judging.judges", "there are %d: there is exactly one judge", len(j.Judges))
	}
	for i, text := range j.Criteria {
		f.name(fmt.Sprintf("judging.criteria[%d]", i), text)
		if slices.Contains(j.Criteria[:i], text) {
			f.addf(fmt.Sprintf("judging.criteria[%d]", i), "stands there twice")
		}
	}
	for i, judge := range j.Judges {
		at := fmt.Sprintf("judging.judges[%d]", i)
		f.name(at+".name", judge.Name)
		if slices.ContainsFunc(c.Participants, func(p Participant) bool { return strings.EqualFold(p.Name, judge.Name) }) {
			f.addf(at+".name", "is a participant's name too")
		}
		f.temperature(at+".temperature", judge.Temperature)
		if judge.MaxTokens < 0 {
			f.addf(at+".maxTokens", "is negative")
		}
		switch {
		case judge.Judge != "" && judge.Model != "":
			f.addf(at, "names both a model and a judge")
		case judge.Judge != "" && len(judge.Fallbacks) > 0:
			f.addf(at+".fallbacks", "stand beside a judge that is no model")
		case judge.Judge != "":
			if l.judges[judge.Judge] == nil {
				f.addf(at+".judge", "no judge %q is registered", oneLine(judge.Judge, 40))
			}
		default:
			l.checkModelNames(f, c, at, judge.Model, judge.Fallbacks)
		}
	}
}

// checkModelNames checks that providers are there, and prices if a limit needs them.
func (l *live) checkModelNames(f *findings, c *Config, at, model string, fallbacks []string) {
	check := func(field, name string) {
		host, _, ok := divide(name)
		switch {
		case name == "":
			f.addf(field, "is empty: it is \"provider/model\"")
		case !ok:
			f.addf(field, "%q is not \"provider/model\"", oneLine(name, 80))
		case l.providers[host] == nil:
			f.addf(field, "no provider %q is registered", oneLine(host, 40))
		case c.limited() && !l.model(name).Priced:
			f.addf(field, "has no known price, which a budget needs: set it in Engine.Models[%q]", oneLine(name, 80))
		}
	}
	check(at+".model", model)
	for i, name := range fallbacks {
		check(fmt.Sprintf("%s.fallbacks[%d]", at, i), name)
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
	switch {
	case m.flow.Decode != nil:
		if _, err := m.flow.Decode(c.FlowConfig); err != nil {
			f.addf("flowConfig", "%w", err)
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
		host, model, _ := divide(name)
		checker, ok := l.providers[host].(provider.Checker)
		if !ok {
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
		var seen []string
		for field, name := range c.modelFields() {
			if name == "" || slices.Contains(seen, name) {
				continue
			}
			seen = append(seen, name)
			if !yield(field, name) {
				return
			}
		}
	}
}

// modelFields yields every field that names a model.
func (c *Config) modelFields() iter.Seq2[string, string] {
	return func(yield func(field, name string) bool) {
		each := func(at, model string, fallbacks []string) bool {
			if !yield(at+".model", model) {
				return false
			}
			for i, name := range fallbacks {
				if !yield(fmt.Sprintf("%s.fallbacks[%d]", at, i), name) {
					return false
				}
			}
			return true
		}
		for i, p := range c.Participants {
			if !each(fmt.Sprintf("participants[%d]", i), p.Model, p.Fallbacks) {
				return
			}
		}
		if c.Judging == nil {
			return
		}
		for i, j := range c.Judging.Judges {
			if !each(fmt.Sprintf("judging.judges[%d]", i), j.Model, j.Fallbacks) {
				return
			}
		}
	}
}

// sameConfig says how two configs differ.
func sameConfig(stored, given *Config) error {
	a, b := *stored, *given
	a.ID, b.ID = "", "" // the log does not hold it twice
	left, right := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range left.NumField() {
		l, errL := json.Marshal(left.Field(i).Interface())
		r, errR := json.Marshal(right.Field(i).Interface())
		if errL == nil && errR == nil && bytes.Equal(l, r) {
			continue
		}
		name := left.Type().Field(i).Name
		other := errors.New("a debate of this id exists with another value")
		return &Error{Kind: KindConflict, Op: "start", Field: strings.ToLower(name[:1]) + name[1:], Err: other}
	}
	return nil
}
