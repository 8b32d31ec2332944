package flow

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agonist-dev/debate/internal/fieldname"
	"github.com/agonist-dev/debate/internal/order"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Bounds of any config, far above what a conversation can use. They keep a config that was made by mistake or in bad
// faith from costing time and memory. A flow's Check applies MaxText to the texts of its config, with
// [Findings.Text]. [Findings.Settings] applies the others.
const (
	MaxText  = 20_000 // bytes of a text
	MaxName  = 256    // bytes of the name of anything that is registered on an engine, models included
	MaxTools = 128    // items of [Settings].Tools; many vendors accept no more

	// MaxPrompts and MaxPrompt bound the templates in [Settings].Prompts, and the bytes of each.
	MaxPrompts = 32
	MaxPrompt  = 100_000

	maxLabels    = 64
	maxLabelName = 128  // bytes
	maxLabel     = 1024 // bytes
	maxFindings  = 200  // a format alone can have tens of thousands
)

// Findings collects the problems of a config: errors of kind validation that name its fields. It keeps a bounded
// number of them. The zero value is ready to use.
type Findings []error

// Add adds errors.
func (f *Findings) Add(all ...error) {
	*f = append(*f, all[:min(len(all), max(0, maxFindings-len(*f)))]...)
}

// Addf adds an error about a field.
func (f *Findings) Addf(field, format string, args ...any) {
	if len(*f) >= maxFindings {
		return
	}
	*f = append(*f, configError(field, fmt.Errorf(format, args...)))
}

// about reports whether there is an error about a field.
func (f *Findings) about(field string) bool {
	return slices.ContainsFunc(*f, func(err error) bool {
		own, ok := errors.AsType[*Error](err)
		return ok && own.Field == field
	})
}

// configError returns the error about a field of a config. "": the config as a whole.
func configError(field string, err error) *Error {
	return &Error{Kind: provider.KindValidation, Op: "config", Field: field, Err: err}
}

// AtMost refuses a list that has n items, if n is above the limit.
func (f *Findings) AtMost(field string, n, limit int) {
	if n > limit {
		f.Addf(field, "there are %d: at most %d are allowed", n, limit)
	}
}

// Labels checks the host program's own marks: those of a conversation, or the metadata of a participant. It refuses more than
// 64 marks, a name of more than 128 bytes, and a value of more than 1024.
func (f *Findings) Labels(at string, labels map[string]string) {
	if len(labels) > maxLabels {
		f.AtMost(at, len(labels), maxLabels)
		return
	}
	for name, value := range order.ByKey(labels) {
		field := strings.TrimSuffix(at+"."+text.OneLine(name, maxLabelName), ".")
		if name == "" || len(name) > maxLabelName || !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
			f.Addf(field, "a label's name is 1 to %d bytes of UTF-8 without NUL", maxLabelName)
			continue
		}
		f.Text(field, value, maxLabel)
	}
}

// Registrable reports whether a log accepts a name as that of something registered: it is not empty, one printable
// line, and not longer than [MaxName].
func Registrable(name string) bool {
	return name != "" && len(name) <= MaxName && utf8.ValidString(name) && strings.IndexFunc(name, text.NotPrinted) < 0
}

func (f *Findings) retry(p *RetryPolicy) {
	if p == nil {
		return
	}
	for field, d := range order.ByKey(map[string]time.Duration{
		"retry.base": p.Base, "retry.cap": p.Cap, "retry.jitter": p.Jitter, "retry.rateLimit": p.RateLimit,
	}) {
		if d < 0 {
			f.Addf(field, "is negative")
		}
	}
	if known := len(provider.Kinds()); len(p.Max) > known {
		f.AtMost("retry.max", len(p.Max), known)
		return
	}
	for kind, n := range order.ByKey(p.Max) {
		field := "retry.max." + text.OneLine(string(kind), 40)
		switch {
		case !slices.Contains(provider.Kinds(), kind):
			f.Addf(field, "%w", Unknown("kind of failure", kind, provider.Kinds()...))
		case n < 0:
			f.Addf(field, "is negative")
		case n > 0 && hopeless(kind):
			f.Addf(field, "is a kind that is never retried")
		}
	}
}

func (f *Findings) budget(b *Budget) {
	if b == nil {
		return
	}
	for field, n := range order.ByKey(map[string]int64{
		"budget.warn": int64(b.Warn), "budget.soft": int64(b.Soft), "budget.hard": int64(b.Hard), "budget.softTokens": int64(b.SoftTokens),
		"budget.hardTokens": int64(b.HardTokens), "budget.softCalls": int64(b.SoftCalls), "budget.hardCalls": int64(b.HardCalls),
		"budget.softTime": int64(b.SoftTime), "budget.hardTime": int64(b.HardTime),
	}) {
		if n < 0 {
			f.Addf(field, "is negative")
		}
	}
	for field, pair := range order.ByKey(map[string][2]int64{
		"budget.soft": {int64(b.Soft), int64(b.Hard)}, "budget.softTokens": {int64(b.SoftTokens), int64(b.HardTokens)},
		"budget.softCalls": {int64(b.SoftCalls), int64(b.HardCalls)}, "budget.softTime": {int64(b.SoftTime), int64(b.HardTime)},
	}) {
		if pair[0] > 0 && pair[1] > 0 && pair[0] > pair[1] {
			hard := strings.Replace(field, "soft", "hard", 1)
			err := errors.New("is above the hard limit: the conversation would stop before it could conclude")
			f.Addf(field, "%w", WithMend(err, "lower it to "+hard+" or less, or raise "+hard))
		}
	}
	if b.Confirm && b.Warn == 0 {
		f.Addf("budget.confirm", "needs budget.warn")
	}
}

// Text refuses a text that no vendor or no store accepts, or that is longer than limit bytes.
func (f *Findings) Text(field, text string, limit int) {
	switch {
	case !utf8.ValidString(text):
		f.Addf(field, "is not valid UTF-8")
	case strings.ContainsRune(text, 0):
		f.Addf(field, "holds a NUL character")
	case len(text) > limit:
		f.Addf(field, "has %d bytes: at most %d are allowed", len(text), limit)
	}
}

// Tools refuses more than 128 names of tools, and names that are blank or come twice. Whether there are such tools, the engine checks.
func (f *Findings) Tools(field string, names []string) {
	f.AtMost(field, len(names), MaxTools)
	for i, name := range names[:min(len(names), MaxTools)] {
		switch at := fmt.Sprintf("%s[%d]", field, i); {
		case strings.TrimSpace(name) == "":
			f.Addf(at, "is empty")
		case slices.Contains(names[:i], name):
			f.Addf(at, "%.80q is a duplicate", name)
		}
	}
}

// Name refuses a name unless it is 1 to 64 printable characters without '<', '>' or outer white space, and visible.
func (f *Findings) Name(field, name string) {
	switch {
	case strings.TrimSpace(name) == "":
		f.Addf(field, "is empty")
	case !utf8.ValidString(name) || utf8.RuneCountInString(name) > 64:
		f.Addf(field, "is longer than 64 characters, or not valid UTF-8")
	case name != strings.TrimSpace(name):
		f.Addf(field, "begins or ends with white space")
	case strings.ContainsFunc(name, func(r rune) bool { return text.NotPrinted(r) || r == '<' || r == '>' }):
		f.Addf(field, "holds a character that does not print, '<' or '>'")
	case !text.IsVisible(name):
		f.Addf(field, "holds only invisible characters")
	}
}

// Settings checks the settings of a config, except for names that are registered on an engine.
func (f *Findings) Settings(t *Settings) {
	f.AtMost("onFailure", len(t.OnFailure), mostRules)
	f.completed(t)
}

// completed checks settings in which every default is written out.
func (f *Findings) completed(t *Settings) {
	f.Text("topic", t.Topic, MaxText)
	if strings.TrimSpace(t.Topic) == "" {
		f.Addf("topic", "is empty")
	}
	if t.Language != "" {
		f.Name("language", t.Language)
	}
	f.prompts(t.Prompts)
	f.documents(t.Documents)
	for field, n := range order.ByKey(map[string]int64{
		"rounds": int64(t.Rounds), "reserve": int64(t.Reserve), "maxTokens": int64(t.MaxTokens), "roundTimeout": int64(t.RoundTimeout),
		"turnTimeout": int64(t.TurnTimeout),
	}) {
		if n < 0 {
			f.Addf(field, "is negative")
		}
	}
	f.retry(t.Retry)
	f.budget(t.Budget)
	f.onFailure(t.OnFailure, t.Patience)
	f.options(fieldSummarizer, t.SummarizerOptions)
	f.Labels("labels", t.Labels)
	f.AtMost("tools", len(t.Tools), MaxTools)
	f.toolPolicy(t.ToolPolicy)
	if f.AtMost("timeouts", len(t.Timeouts), maxTracked); len(t.Timeouts) > maxTracked {
		return
	}
	for kind, d := range order.ByKey(t.Timeouts) {
		if d <= 0 {
			f.Addf("timeouts."+text.OneLine(string(kind), 40), "is not positive")
		}
	}
}

// prompts checks the sizes of templates. Whether they can be used, the engine says, which knows all of them.
func (f *Findings) prompts(all map[string]string) {
	f.AtMost("prompts", len(all), MaxPrompts)
	if len(all) > MaxPrompts {
		return
	}
	for name, content := range order.ByKey(all) {
		f.Text("prompts."+text.OneLine(name, 80), content, MaxPrompt)
	}
}

// NameField is the name of an actor, with the field of the config that holds it. An actor is a participant, or another
// name that calls are made for.
type NameField struct {
	Field string
	Name  string
}

// People refuses names that can be confused: with another name, with a part of the IDs of calls, or, if labels is
// set, with a neutral label. suffixes end the IDs of the flow's calls, and own are the flow's own names.
func (f *Findings) People(all []NameField, labels bool, suffixes, own []string) {
	var names text.Names
	const library = "a name of the library's own"
	names.Add(fieldname.Summarizer, library)
	names.Add(summaryTitle, library)
	for _, name := range own {
		names.Add(name, library)
	}
	for _, one := range all {
		for _, suffix := range suffixes {
			if strings.HasSuffix(one.Name, suffix) {
				f.Addf(one.Field, "ends with %q, which the ids of calls end with", suffix)
			}
		}
		if strings.Contains(one.Name, toolInfix) {
			f.Addf(one.Field, "holds %q, which the ids of calls hold", toolInfix)
		}
		if labels && text.IsLabel(one.Name) {
			f.Addf(one.Field, "looks like a neutral label")
		}
		if other, ok := names.Add(one.Name, one.Field); !ok {
			f.alike(all, one, other)
		}
	}
}

// alike refuses a name that can be confused with another one: with that of a field, or with one of the library's own.
func (f *Findings) alike(all []NameField, one NameField, other string) {
	const enough = "another case, accent or look-alike letter is not enough"
	shown := text.OneLine(one.Name, 80)
	err := fmt.Errorf("%q can be confused with %s: %s", shown, other, enough)
	if i := slices.IndexFunc(all, func(two NameField) bool { return two.Field == other }); i >= 0 {
		place := strings.TrimSuffix(other, ".name")
		err = fmt.Errorf("%q can be confused with %q of %s: %s", shown, text.OneLine(all[i].Name, 80), place, enough)
		if all[i].Name == one.Name {
			err = fmt.Errorf("%q is taken by %s", shown, place)
		}
	}
	f.Addf(one.Field, "%w", WithMend(err, fmt.Sprintf("give %q another name: %s", shown, enough)))
}
