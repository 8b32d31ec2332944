package debate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

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

// add adds errors, up to the bound.
func (f *findings) add(all ...error) {
	*f = append(*f, all[:min(len(all), max(0, mostFindings-len(*f)))]...)
}

func (f *findings) addf(field, format string, args ...any) {
	if len(*f) >= mostFindings {
		return
	}
	*f = append(*f, &Error{Kind: KindValidation, Op: "config", Field: field, Err: fmt.Errorf(format, args...)})
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

func (f *findings) budget(b *Budget) {
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
