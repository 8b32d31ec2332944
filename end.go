package debate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
)

// The reasons for which a debate ends, beside those that all flows share; see [flow.EndReason].
const (
	EndJudge       flow.EndReason = "judge"               // the judges wish to end
	EndDiminishing flow.EndReason = "diminishing-returns" // the judges or the detector see diminishing returns
	EndRepetition  flow.EndReason = "repetition"          // the detector finds repetition
	EndDrift       flow.EndReason = "drift"               // the detector finds that speeches leave the topic
)

// endReason returns why the debate ends after this round, if it does. It does not end before its last round while somebody
// without whom there is nothing to judge has not spoken yet.
func endReason(d *Debate) (end flow.Exit, ok bool) {
	if d.format == nil || len(d.SkippedCalls) > 0 && d.Round < d.rounds() && d.unheardWithout("") {
		return end, false
	}
	p := d.panelOf(d.Round)
	name := "the judge"
	if n := len(d.Assessments); n > 0 && d.Assessments[n-1].Round == d.Round {
		name = d.Assessments[n-1].Judge
	}
	says := func(n int, does string, agrees func(*Assessment) bool) string {
		what := fmt.Sprintf(does, d.Round) + d.why(agrees)
		if p.all() == 1 {
			return name + " " + what
		}
		return fmt.Sprintf("of %d judges %d: %s", p.all(), n, what)
	}
	by := "judge" // never a name, which could be that of somebody else who ends debates
	if p.all() > 1 {
		by = "judges"
	}
	switch d.format.End {
	case format.EndByRounds:
		if d.Round >= d.rounds() {
			return flow.Exit{Reason: flow.EndRounds, Evidence: fmt.Sprintf("the format has %d rounds", d.rounds())}, true
		}
	case format.EndByConvergence:
		switch {
		case p.most(p.converged):
			says := says(p.converged, "sees convergence in round %d", func(a *Assessment) bool { return a.Flags.ConvergenceReached })
			return flow.Exit{Reason: flow.EndConverged, Evidence: says, By: by}, true
		case p.most(p.returns):
			says := says(p.returns, "sees diminishing returns in round %d", func(a *Assessment) bool { return a.Flags.DiminishingReturns })
			return flow.Exit{Reason: EndDiminishing, Evidence: says, By: by}, true
		}
	default:
		if p.judges > 0 && p.most(p.judges-p.goOn) {
			says := says(p.judges-p.goOn, "wishes to end after round %d", func(a *Assessment) bool { return !a.ShouldContinue })
			return flow.Exit{Reason: EndJudge, Evidence: says, By: by}, true
		}
	}
	return d.found(d.stopOn())
}

// mostWhy bounds what the evidence of an end repeats of a judge's reason, in bytes.
const mostWhy = 200

// why returns the reason of the first judge of the present round who agrees to end the debate. A person gives one reason for all.
func (d *Debate) why(agrees func(*Assessment) bool) string {
	for _, a := range d.assessed(d.Round) {
		if !agrees(a) {
			continue
		}
		reason := a.Ending
		if !hasText(reason) {
			reason = a.Reasoning
		}
		if why := d.Line(strings.TrimSpace(reason), mostWhy); why != "" {
			return ": " + why
		}
	}
	return ""
}

// tooFew returns why the debate cannot continue with the participants who are left, if it cannot. See few.
func tooFew(d *Debate) (string, bool) {
	if len(d.Dropped()) == 0 {
		return "", false
	}
	return d.few(d.participants())
}

// few returns why a debate between these participants is not possible, if it is not. One of these holds then:
//   - there are fewer than two participants, or fewer than two contestants of a debate that was configured with
//     two or more
//   - nobody is left on a side that the debate is about or that the format requires
func (d *Debate) few(left []Participant) (string, bool) {
	f, all := d.format, d.config.Participants
	judged, wanted := countJudged(f, left), min(2, countJudged(f, all))
	if len(left) < 2 || judged < wanted {
		return fmt.Sprintf("%d of %d participants are left", len(left), len(all)), true
	}
	for _, side := range []format.Side{format.For, format.Against, format.Neutral} {
		seated := func(s format.Seats) bool { return s.Side == side && s.Min > 0 }
		needed := side != format.Neutral && f.Chair != side || slices.ContainsFunc(f.Seats, seated)
		if needed && countSide(all, side) > 0 && countSide(left, side) == 0 {
			return fmt.Sprintf("nobody is left on the side %q", side), true
		}
	}
	return "", false
}

// fewWithout reports whether the debate could not continue if this participant were left out of the present round, beside
// those who are left out of it already.
func (d *Debate) fewWithout(name string) bool {
	left := slices.DeleteFunc(slices.Clone(d.participants()), func(p Participant) bool { return p.Name == name || d.skippedInRound(p.Name) })
	_, few := d.few(left)
	return few
}

// unheardWithout reports whether fewer would have spoken in the whole debate than it needs, if this participant said nothing
// in the present round either. "" asks about those who have spoken so far.
func (d *Debate) unheardWithout(name string) bool {
	if name != "" && d.heard(name) {
		return false
	}
	left := d.participants()
	if _, few := d.few(left); few {
		return false // for another reason
	}
	_, few := d.few(slices.DeleteFunc(slices.Clone(left), func(p Participant) bool {
		return !d.heard(p.Name) && (name == "" || p.Name == name || d.skippedInRound(p.Name))
	}))
	return few
}

// heard reports whether a participant has spoken in the debate.
func (d *Debate) heard(name string) bool {
	return slices.ContainsFunc(d.Turns, func(t *flow.Turn) bool { return t.Speaker == name && t.Kind != KindAside })
}

func countJudged(f *format.Format, participants []Participant) int {
	n := 0
	for i := range participants {
		if f.Judged(participants[i].Side) {
			n++
		}
	}
	return n
}

func countSide(participants []Participant, side format.Side) int {
	n := 0
	for i := range participants {
		if participants[i].Side == side {
			n++
		}
	}
	return n
}
