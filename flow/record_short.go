package flow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// CutShort says in one line that the conversation was ended before it had all that its config asks for, after how many whole rounds,
// and by what: a limit of the budget, the host program, a person, a rule, or a detector. It returns "" if nothing was cut, and for an
// end that the config asks for, such as convergence. It does not report a hard limit that was raised since. It is the first line of
// Degraded.
//
// A round is whole once the flow has led on from the last state of Flow.Timed. In a flow that has none, it is whole once the next round
// begins or the conclusion does. A flow whose progress is no number of rounds has a [Paced] projection.
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
		if when, ok := strings.CutPrefix(evidence, endedWord); ok { // "ended" is said already
			return ended + who + " " + when
		}
		return ended + who + ": " + evidence
	case EndedByDetector:
		return fmt.Sprintf("%s by the detector %s: %s", ended, reason, evidence)
	default:
		return ""
	}
}

// Paced is implemented by a [Projection] of a flow that is measured in something else than rounds.
type Paced interface {
	// Progress says in a few words how much was done, and of how much, such as "2 of 50 executions". [Record.CutShort] quotes it.
	Progress() string
}

// foldWhole folds how many rounds are over. A limit and a stop can lead on from anywhere, so of their transitions only Whole counts. A
// reopening leads back: what was over stays so, and a round that was cut short does not become whole.
func (r *Record) foldWhole(t *Transition, m *Machine) {
	last, until := len(r.timed)-1, r.Round-r.shortened
	switch {
	case t.Round != nil || t.Whole:
		r.whole = until
	case t.On == TriggerLimit || t.On == TriggerStop || t.On == TriggerReopen || !m.working(t.From) || !m.working(t.To):
	case slices.Contains(r.timed, t.To):
		r.whole = max(0, until-1)
	case last >= 0 && t.From == r.timed[last], last < 0 && t.To == StateCompleting:
		r.whole = until
	}
}

// after says how far the conversation had come.
func (r *Record) after(done string) string {
	if p, ok := r.projection.(Paced); ok {
		return done + " after " + p.Progress()
	}
	if r.settings == nil || r.settings.Rounds == 0 {
		return done + " before its time"
	}
	said := fmt.Sprintf("%s after %d of %d round", done, r.whole, r.settings.Rounds)
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
			return fmt.Sprintf(" because the rest of the hard limit of %s is kept for the conclusion: %s", r.limitOf(&w), raiseOf(&w))
		default:
			return fmt.Sprintf(" by the %s of %s: %s", words, r.limitOf(&w), raiseOf(&w))
		}
	}
	return " by the " + words + ": raise it"
}

// raiseOf says what helps against a limit: to how much it is to be raised, if that is known.
func raiseOf(w *Warning) string {
	switch {
	case w.Needs > 0:
		return "raise it to about " + w.Needs.Rounded()
	case w.NeedsTokens > 0:
		return fmt.Sprintf("raise it to about %d tokens", w.NeedsTokens)
	case w.NeedsCalls > 0:
		return fmt.Sprintf("raise it to about %d calls", w.NeedsCalls)
	default:
		return "raise it"
	}
}

// limitOf returns the limit that a warning reports, in words.
func (r *Record) limitOf(w *Warning) string {
	b := r.hardened
	if w.Kind == WarnSoft {
		b = r.softened
	}
	if b == nil {
		return "the budget"
	}
	limit := softLimits(b)
	if strings.HasPrefix(w.Limit, limitHard) {
		limit = hardLimits(b)
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
