package debate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
)

// What a debate can do without when a call has failed for good.

// failureRules are the rules of unattended debates, after those of the config.
func failureRules() []flow.FailureRule {
	return []flow.FailureRule{
		{Calls: []flow.CallKind{KindAssessment}, Kinds: []flow.Kind{provider.KindInvalidResponse}, Do: flow.OptionSkip},
	}
}

// failingSpeaker says what a participant's speech may cost. Whoever misses a round speaks again in the next one. A rule
// may only leave out as many as the format can do without. A person may drop a participant as long as there is something
// left to judge.
func (d *Debate) failingSpeaker(name string) flow.OnFail {
	out := flow.OnFail{Skip: flow.RuleToo, Drop: flow.RuleToo}
	if d.fewWithout(name) {
		out.Skip, out.Drop = flow.PersonOnly, flow.PersonOnly
		only := func(p Participant) bool { return p.Name == name && d.format.Judged(p.Side) }
		if left := d.participants(); d.Round <= 1 || countJudged(d.format, left) == 1 && slices.ContainsFunc(left, only) {
			out.Drop = flow.Nobody
		}
	}
	return out
}

// failingJudge says what a judge's answer may cost. An assessment can be missed, a verdict cannot. A rule may drop a judge
// if the panel keeps its quorum. A person may drop any judge: without the last one the debate has no verdict. If a person or
// the host ends the debate while a judge's assessment has failed, that judge's verdict is optional (Aid): it is tried, and nobody is asked
// about its failure. At a verdict the judge is dropped: the end would be the same.
func (d *Debate) failingJudge(name string, kind flow.CallKind) flow.OnFail {
	out := flow.OnFail{Drop: flow.PersonOnly, DropEnds: kind == KindVerdict}
	if left := len(d.Judges()) - 1; left > 0 && left >= d.quorum() {
		out.Drop = flow.RuleToo
	}
	switch {
	case kind == KindAssessment:
		out.Skip = flow.RuleToo
	case d.decidedToEnd() && d.Failed(assessmentID(d.Round, name)) && !d.Skipped(assessmentID(d.Round, name)):
		out.Aid = true
	}
	return out
}

// decidedToEnd reports whether somebody has decided to end the debate early: no limit, rule or judge.
func (d *Debate) decidedToEnd() bool {
	return d.EndedEarlyBy == flow.EndedByPerson || d.EndedEarlyBy == flow.EndedByHost
}

// owes returns what the debate lacks, as far as nobody has decided to do without it. Whoever ends a debate early does
// without the rest of its course, not without the verdicts.
func owes(r *flow.Record) []string {
	d := of(r)
	var out []string
	if !d.withoutVerdict() {
		out = d.lacksVerdicts()
	}
	if d.EndedEarlyBy == "" {
		out = append(d.lacksSpeeches(), out...)
	}
	return out
}

// withoutVerdict reports whether a person has decided to do without the verdicts that are missing: by dropping the last judge, or by
// ending the debate at the assessment of a judge whose verdict then has failed too.
func (d *Debate) withoutVerdict() bool {
	if d.config.Judging != nil && len(d.Judges()) == 0 {
		return slices.ContainsFunc(d.bench, func(i int) bool {
			return d.DroppedBy(d.config.Judging.Judges[i].Name) == flow.EndedByPerson
		})
	}
	return !slices.ContainsFunc(verdictCalls(d), func(call *flow.Call) bool { return !call.OnFail.Aid || !d.Failed(call.ID) })
}

// lacksSpeeches returns what is missing of the rounds that the config asks for. Who has asked for one answer alone misses nothing else.
func (d *Debate) lacksSpeeches() []string {
	var out []string
	if d.alone {
		if who := d.owesAnswer(); who != "" && !d.Skipped(asideID(d.Round, d.former, who)) {
			out = append(out, "the answer of "+who+" to "+d.askedAfter().asked())
		}
		return out
	}
	if who := d.unspoken(); len(who) > 0 {
		out = append(out, fmt.Sprintf("in round %d the speeches of %s", d.Round, strings.Join(who, ", ")))
	}
	switch first, last := d.Round+1, d.rounds(); {
	case first == last:
		out = append(out, fmt.Sprintf("round %d", last))
	case first < last:
		out = append(out, fmt.Sprintf("rounds %d to %d", first, last))
	}
	return out
}

// lacksVerdicts returns which verdicts are missing. Where nothing was said there is nothing to judge.
func (d *Debate) lacksVerdicts() []string {
	if len(d.Turns) == 0 {
		return nil
	}
	var out []string
	if d.config.Judging != nil && len(d.Judges()) == 0 {
		out = append(out, "a verdict: no judge is left")
	}
	for _, call := range verdictCalls(d) {
		out = append(out, "the verdict of "+call.By)
	}
	return slices.Compact(out)
}

// skippedInRound reports whether a participant misses a speech of the present round.
func (d *Debate) skippedInRound(name string) bool {
	return slices.ContainsFunc(d.SkippedCalls, func(s flow.Skipped) bool {
		return s.By == name && s.Round == d.Round && s.With == "" && !s.Aid
	})
}

// rounds returns the largest number of rounds, as it is now.
func (d *Debate) rounds() int {
	if settings := d.Settings(); settings != nil && settings.Rounds > 0 {
		return settings.Rounds
	}
	return d.config.Rounds
}

// kinds returns the function for [flow.Flow].Kinds: what a format asks for, and what every debate may.
func kinds(formats map[string]format.Format) func(flow.Config) []flow.CallKind {
	return func(config flow.Config) []flow.CallKind {
		all := []flow.CallKind{KindAssessment, KindVerdict, KindBallot, KindAssign, format.KindQuestion, format.KindAnswer, KindAside, KindFloor}
		if f, ok := formatOf(formats, config.(*Config)); ok {
			all = append(all, f.Kinds()...)
		}
		return all
	}
}
