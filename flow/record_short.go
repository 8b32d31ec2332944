package flow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// CutShort says in one line that the conversation was ended before it had all that its config asks for, after how many rounds, and by
// what: a limit of the budget, the host program, a person, a rule, or a detector. It is "" if nothing was cut, and for what a flow ends
// as its config says, such as convergence. A limit that has been raised since is not told of.
func (r *Record) CutShort() string {
	if r.State == StateError && r.Reason == EndHardLimit {
		if r.raised() {
			return ""
		}
		return r.after("stopped") + r.byLimit(WarnHard)
	}
	ended, evidence := r.after("ended"), r.Evidence
	reason := r.Reason
	if r.State == StateError {
		reason, evidence = r.before.reason, r.before.evidence
	}
	switch r.EndedEarlyBy {
	case EndedByBudget:
		return ended + r.byLimit(WarnSoft)
	case EndedByHost:
		return ended + ": " + cmp.Or(evidence, "stopped by the host")
	case EndedByPerson, EndedByRule:
		who := " by a " + r.EndedEarlyBy
		if when, ok := strings.CutPrefix(evidence, endedWord); ok {
			return ended + who + " " + when
		}
		return ended + who + ": " + evidence
	case EndedByDetector:
		return fmt.Sprintf("%s by the detector %s: %s", ended, reason, evidence)
	default:
		return ""
	}
}

// after says after how many whole rounds a conversation was ended.
func (r *Record) after(done string) string {
	if r.settings == nil || r.settings.Rounds == 0 {
		return done + " before its time"
	}
	left, whole := r.planned-r.done, r.Round
	if r.planned == 0 || left > 0 {
		whole = max(0, whole-1)
	}
	said := fmt.Sprintf("%s after %d of %d round", done, whole, r.settings.Rounds)
	if r.settings.Rounds > 1 {
		said += "s"
	}
	return said
}

// byLimit names the limit that was reached, by the latest warning of its kind, and what helps.
func (r *Record) byLimit(kind WarningKind) string {
	words := strings.Replace(string(kind), "-", " ", 1)
	for _, w := range slices.Backward(r.Warnings) {
		switch {
		case w.Kind != kind:
			continue
		case w.Limit == "": // of an older log
			return fmt.Sprintf(" by the %s (%s): raise it", words, w.Evidence)
		case strings.HasSuffix(w.Limit, measureTime):
			return fmt.Sprintf(" because the time was over: raise %s (%s)", w.Limit, w.Evidence)
		case kind == WarnSoft && strings.HasPrefix(w.Limit, limitHard):
			return fmt.Sprintf(" because the hard limit of %s keeps the conclusion: raise it", r.limitOf(&w))
		default:
			return fmt.Sprintf(" by the %s of %s: raise it", words, r.limitOf(&w))
		}
	}
	return " by the " + words + ": raise it"
}

// limitOf writes the limit that a warning tells of.
func (r *Record) limitOf(w *Warning) string {
	b := r.settings.Budget
	if b == nil {
		return "the budget"
	}
	limit := b.soft()
	if strings.HasPrefix(w.Limit, limitHard) {
		limit = b.hard()
	}
	switch {
	case strings.HasSuffix(w.Limit, measureTokens):
		return fmt.Sprintf("%d tokens", limit.tokens)
	case strings.HasSuffix(w.Limit, measureCalls):
		return fmt.Sprintf("%d calls", limit.calls)
	default:
		return cmp.Or(w.Threshold, limit.cost).Rounded()
	}
}
