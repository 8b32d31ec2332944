package debate

import (
	"fmt"
	"slices"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// degraded returns how the debate was less than configured, in one line each.
func (d *Debate) degraded() []string {
	var out []string
	if d.config == nil || d.format == nil {
		return nil
	}
	for _, name := range d.Dropped() {
		if d.Seat(name) >= 0 {
			out = append(out, fmt.Sprintf("%s has taken no further part", name))
		} else {
			out = append(out, fmt.Sprintf("%s has judged no further", name))
		}
	}
	for i := range d.Skips {
		out = append(out, d.missed(&d.Skips[i]))
	}
	if d.Final() && d.config.Judging != nil {
		switch given := len(d.opinions()); {
		case given == 0:
			out = append(out, "there is no verdict")
		case given < d.quorum():
			out = append(out, fmt.Sprintf("%d of %d judges have given a verdict: fewer than the quorum of %d", given, len(d.bench), d.quorum()))
		case given < len(d.bench):
			out = append(out, fmt.Sprintf("%d of %d judges have given a verdict", given, len(d.bench)))
		}
	}
	for _, u := range d.unread() {
		out = append(out, d.sayUnread(&u))
	}
	if cut := d.sayCut(); cut != "" {
		out = append(out, cut)
	}
	for i := range d.Warnings {
		if d.Warnings[i].Kind == flow.WarnLate {
			out = append(out, d.Warnings[i].Evidence)
		}
	}
	for _, l := range d.LeftOut() {
		out = append(out, l.String())
	}
	for _, o := range d.Outages() {
		out = append(out, d.waited(&o))
	}
	if limit := d.limited(); limit != "" {
		out = append(out, "the budget has ended it: "+limit)
	}
	if d.Reason == flow.EndHost {
		out = append(out, d.Evidence)
	}
	for _, what := range d.missing() {
		out = append(out, "missing: "+what)
	}
	return out
}

// missing returns what the debate lacks in the error state, or what a decision to end it early has cost of what the config
// asks for.
func (d *Debate) missing() []string {
	switch {
	case d.EndedBy != "":
	case d.State == flow.StateError:
		return owes(d.Record)
	default:
		return nil
	}
	out := d.lacksSpeeches()
	if d.Final() || d.State == flow.StateError {
		out = append(out, d.lacksVerdicts()...)
	}
	return out
}

// waited says that an outage is or was waited for.
func (d *Debate) waited(o *flow.Outage) string {
	switch {
	case o.Passed:
		return fmt.Sprintf("%s: %s was waited for, for %s", o.Kind, o.Host, o.Waited.Round(time.Second))
	case o.Over, d.Final(), d.State == flow.StateError:
		return fmt.Sprintf("%s: %s was waited for in vain", o.Kind, o.Host)
	default:
		return o.Evidence
	}
}

// limited returns the limit of the budget that has ended the rounds, or because of which the debate is in the error state.
// "": there is none, or it was raised since.
func (d *Debate) limited() string {
	var limit flow.WarningKind
	switch {
	case d.State == flow.StateError && d.Reason == flow.EndHardLimit:
		limit = flow.WarnHard
	case d.EndedBy == flow.EndedByBudget:
		limit = flow.WarnSoft
	default:
		return ""
	}
	for _, w := range slices.Backward(d.Warnings) {
		if w.Kind == limit {
			return w.Evidence
		}
	}
	return ""
}

// missed returns what was left out, in words.
func (d *Debate) missed(s *flow.Skipped) string {
	what := fmt.Sprintf("a speech in round %d", s.Round)
	switch s.Kind {
	case KindAssessment:
		what = fmt.Sprintf("the assessment of round %d", s.Round)
	case KindBallot:
		what = "a vote"
	case flow.KindSummary:
		what = "a summary"
	}
	cause := string(s.Cause)
	if cause == "" {
		cause = "its time was over"
	}
	if s.Moot != "" {
		return fmt.Sprintf("%s had no question to answer in round %d, because it was left out (%s)", s.By, s.Round, cause)
	}
	return fmt.Sprintf("%s has missed %s (%s)", s.By, what, cause)
}
