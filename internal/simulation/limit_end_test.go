package simulation_test

import (
	"slices"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// checkEnd looks at what is left when all is over.
func (s *limitSim) checkEnd() {
	s.t.Helper()
	b, r := &s.books, s.core.Record()
	if r.InFlight() != 0 || r.Reserved() != 0 {
		s.failf("in state %s, %d calls in flight reserve %v", r.State, r.InFlight(), r.Reserved())
	}
	reason := string(r.Reason)
	switch {
	case r.Final() && (r.Reason == "" || r.Evidence == ""):
		s.failf("the debate has ended in state %s without a reason, or evidence for it: %q, %q", r.State, r.Reason, r.Evidence)
	case r.State == flow.StateError:
		if r.Failure == nil || r.Failure.Kind == "" {
			s.failf("the error has no kind: %v", r.Failure)
		}
		reason = string(b.last.Reason) + ": " + string(r.Failure.Kind)
	case r.State == flow.StateAwaitingInput:
		if len(r.Inquiries) == 0 {
			s.failf("nothing is awaited")
		}
		reason = "nobody answers"
	default:
	}
	if r.Final() && b.withdrawn != "" && r.Reason != flow.EndTooFew {
		s.failf("%s was withdrawn, nobody has dropped its speaker, and the debate has ended for %q", b.withdrawn, r.Reason)
	}
	s.seen.ended(string(r.State), reason)
	if lost := silentLoss(r, s.log); lost != "" {
		s.failf("%s", lost)
	}
	s.checkSoft(r)
	s.checkOutcomeOf(r)
	want := outline(s.core)
	s.same("the log", outline(s.reload()), want)
	if chance(s.dice, 8) {
		s.same("the log, the second time,", outline(s.reload()), want)
	}
	s.seen.events += len(s.log)
	s.seen.turns += len(r.Turns)
	s.seen.verdicts += len(stage.View(r).Verdicts)
}

// checkSoft: a soft limit leads to a verdict, for which there is enough as long as nothing fails there.
func (s *limitSim) checkSoft(r *debate.Record) {
	b := &s.books
	if !b.soft || stage.View(r).Config().Judging == nil {
		return
	}
	if len(r.Turns) == 0 { // there is nothing to judge
		before := r.Spent().Requests // such as those of the audience
		if budget := r.Settings().Budget; before == 0 && len(b.setbacks) == 0 && !budget.Confirm && budget.SoftTime == 0 {
			s.failf("nothing has failed, and no turn was within the limits that were accepted: %s", r.Evidence)
		}
		s.seen.count("soft limit before any turn")
		return
	}
	unlucky := b.replaced || b.pondered
	for call, n := range b.setbacks {
		unlucky = unlucky || n > 0 && (strings.HasPrefix(call, "verdict.") || strings.HasPrefix(call, "vote.after."))
	}
	if r.State == flow.StateError && r.Failure.Kind == provider.KindCostLimit && !unlucky && r.Settings().Budget.HardTime == 0 {
		s.failf("a soft limit has ended the rounds, and not enough was left for the verdict: %s", b.last.Evidence)
	}
	if r.State != flow.StateCompleted || r.Reason != flow.EndSoftLimit {
		return
	}
	for _, judge := range stage.View(r).Config().Judging.Judges {
		if b.dropped[judge.Name] || slices.Contains(stage.View(r).Recused(), judge.Name) {
			continue
		}
		given := 0
		for _, v := range stage.View(r).Verdicts {
			if v.Judge == judge.Name {
				given++
			}
		}
		if want := map[bool]int{false: 1, true: 2}[stage.View(r).Config().Judging.BothOrders]; given != want {
			s.failf("a soft limit has ended the debate, and %s has given %d of %d verdicts", judge.Name, given, want)
		}
	}
	if stage.View(r).Verdict != nil {
		s.seen.count("verdict after a soft limit")
	} else {
		s.seen.count("soft limit, and all judges dropped")
	}
}

// checkOutcomeOf: a panel decides if, and only if, enough of it have judged.
func (s *limitSim) checkOutcomeOf(r *debate.Record) {
	judging, outcome := stage.View(r).Config().Judging, stage.View(r).Outcome()
	if judging == nil || outcome.Decision != format.ByJudges {
		return
	}
	complete, winners := 0, make(map[string]bool)
	for _, judge := range judging.Judges {
		given := 0
		for _, v := range stage.View(r).Verdicts {
			if v.Judge != judge.Name {
				continue
			}
			given++
			winners[stage.View(r).PartyOf(&v.FinalVerdict)] = true
		}
		if given > 1 || given == 1 && !judging.BothOrders {
			complete++
		}
	}
	if complete != outcome.Verdicts {
		s.failf("%d judges have judged, the outcome says %d", complete, outcome.Verdicts)
	}
	enough, winner := complete >= max(1, s.quorum()), outcome.Winner
	if stage.View(r).BySides() {
		winner = string(outcome.Side)
	}
	switch {
	case !enough && (winner != "" || outcome.Tie):
		s.failf("%d judges decide, the quorum is %d", complete, s.quorum())
	case !enough && r.Final() && len(outcome.Degraded) == 0:
		s.failf("%d judges of a quorum of %d have judged, and nothing says so", complete, s.quorum())
	case enough && len(winners) == 1 && !winners[""] && judging.Protocol != debate.Borda && !winners[winner]:
		s.failf("all judges name %v, the outcome %q", winners, winner)
	default:
	}
	if winner != "" {
		s.seen.count("winner")
	}
}
