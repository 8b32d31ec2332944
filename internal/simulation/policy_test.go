package simulation_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// policy is who decides about calls that have failed for good.
type policy int

const (
	personRetries policy = iota // a person, who only tries again
	hostRetries                 // nobody: the debate is in error, and its host retries
	unattended                  // the rules that an unattended debate has without any in its config
	rulesGiveUp                 // rules that skip and drop
	personGivesUp               // a person who chooses anything but the end
)

// drawPolicy draws who decides. The first two lose nothing: the debate must then end as the undisturbed one does.
func (s *sim) drawPolicy(c *debate.Config) {
	s.policy = oneOf(s.dice, personRetries, personRetries, hostRetries, hostRetries, unattended, rulesGiveUp, personGivesUp)
	switch s.policy {
	case hostRetries:
		c.OnFailure = []flow.FailureRule{{Do: flow.OptionFail}}
	case unattended:
		c.Unattended = true
	case rulesGiveUp:
		c.Unattended = chance(s.dice, 2)
		c.OnFailure = []flow.FailureRule{{Do: flow.OptionSkip}, {Do: flow.OptionDrop}}
		if chance(s.dice, 2) {
			slices.Reverse(c.OnFailure)
		}
		if chance(s.dice, 2) {
			c.OnFailure = slices.Insert(c.OnFailure, 0, flow.FailureRule{Kinds: []flow.Kind{provider.KindAuthentication, provider.KindQuota}, Do: flow.OptionWait})
		}
	default:
	}
	if c.Unattended {
		c.OnFailure = append(c.OnFailure, flow.FailureRule{Calls: []flow.CallKind{flow.KindConfirm}, Do: flow.OptionContinue})
	}
	c.Patience = oneOf(s.dice, 0, time.Nanosecond, 40*time.Second)
}

// choose answers an inquiry about calls that have failed, or about the cost warning.
func (s *sim) choose(q *flow.Inquiry) flow.Answer {
	a := flow.Answer{Inquiry: q.ID, Option: oneOf(s.dice, flow.OptionRetry, flow.OptionWait)}
	switch {
	case q.ID == flow.InquiryCost:
		a.Option = flow.OptionContinue
	case s.policy == personGivesUp:
		a.Option = oneOf(s.dice, q.Options[:len(q.Options)-1]...) // the last one is end
	default:
	}
	switch a.Option {
	case flow.OptionModel:
		a.Option = flow.OptionRetry
	case flow.OptionDrop, flow.OptionSkip:
		able := slices.DeleteFunc(slices.Clone(q.About), func(f flow.FailedCall) bool { return !slices.Contains(f.Options, a.Option) })
		a.By = able[s.dice.IntN(len(able))].By
	default:
	}
	return a
}

// checkAnswer keeps what was chosen. Only rules and people who may give up choose to go without something.
func (s *sim) checkAnswer(a *flow.Answer) {
	if a.Inquiry == flow.InquiryCost {
		s.confirms = false
	}
	if gives := a.Option == flow.OptionSkip || a.Option == flow.OptionDrop; gives {
		allowed := a.Rule && (s.policy == unattended || s.policy == rulesGiveUp) || !a.Rule && s.policy == personGivesUp
		if !allowed || a.Option == flow.OptionDrop && s.policy == unattended {
			s.failf("%+v: nobody was to decide so", a)
		}
		s.chosen[a.Option] = true
	}
}

// checkSkipped: nothing is left out that nobody has decided about.
func (s *sim) checkSkipped(k *flow.Skipped) {
	if !s.chosen[flow.OptionSkip] || k.Cause == "" {
		s.failf("%s is left out: %s", k.Call, k.Reason)
	}
	vote := k.Kind == debate.KindBallot || k.Kind == format.KindQuestion
	if s.policy == unattended && !vote && (k.Kind != debate.KindAssessment || k.Cause != provider.KindInvalidResponse) {
		s.failf("%s is left out after %s, and no rule says so", k.Call, k.Cause)
	}
	s.skipped = append(s.skipped, k.Call)
}

// thinned reports whether the debate has gone on without something.
func (s *sim) thinned() bool { return len(s.dropped)+len(s.skipped) > 0 }

// silentLoss returns what a completed debate lacks although nobody has decided to do without it; "": nothing.
func silentLoss(r *flow.Record, log []debate.Event) string {
	if r.State != flow.StateCompleted {
		return ""
	}
	if early := r.Reason != flow.EndRounds; early != (r.EndedEarlyBy != "") {
		return fmt.Sprintf("it has ended for %q, and %q has decided so", r.Reason, r.EndedEarlyBy)
	}
	for round := 1; round <= r.Round; round++ {
		if lost := lostInRound(r, round); lost != "" {
			return lost
		}
	}
	if endedFromError(log) {
		return "" // somebody has decided to do without a verdict
	}
	return lostAtEnd(r)
}

// endedFromError reports whether somebody has ended the debate where it had failed.
func endedFromError(log []debate.Event) bool {
	return slices.ContainsFunc(log, func(e debate.Event) bool {
		t := body.As[flow.Transition](e)
		return t != nil && t.From == flow.StateError && t.To == flow.StateCompleted && t.On == flow.TriggerStop && t.By != ""
	})
}

// lostInRound looks for the speeches and assessments of a round.
func lostInRound(r *flow.Record, round int) string {
	d := stage.View(r)
	config := d.Config()
	last := round == r.Round && r.EndedEarlyBy != "" // the round that somebody may have broken off
	skipped := func(is func(k *flow.Skipped) bool) bool {
		return slices.ContainsFunc(r.SkippedCalls, func(k flow.Skipped) bool { return k.Round == round && is(&k) })
	}
	schedule := d.Format().Schedule(config.Cast(), round)
	for _, speech := range schedule {
		given := slices.ContainsFunc(r.Turns, func(t *flow.Turn) bool { return t.Round == round && t.Slot == speech.Slot })
		gone := r.IsDropped(speech.Speaker) || r.IsDropped(speech.Target)
		left := func(slot int) bool {
			return skipped(func(k *flow.Skipped) bool {
				return k.Slot == slot && k.By == schedule[slot].Speaker && k.Kind == schedule[slot].Kind
			})
		}
		if given || gone || last || left(speech.Slot) || unasked(schedule, speech, left) {
			continue
		}
		return fmt.Sprintf("%s, slot %d of round %d, has neither spoken nor been left out", speech.Speaker, speech.Slot, round)
	}
	heard := slices.ContainsFunc(r.Turns, func(t *flow.Turn) bool {
		seat := slices.IndexFunc(config.Participants, func(p debate.Participant) bool { return p.Name == t.Speaker })
		return t.Round == round && seat >= 0 && d.Format().Judged(config.Participants[seat].Side)
	})
	if config.Judging == nil || config.Judging.When == debate.AtEnd || last || !heard { // nobody is marked for a round without a turn
		return ""
	}
	for _, judge := range seated(r) {
		given := slices.ContainsFunc(d.Assessments, func(a *debate.Assessment) bool { return a.Judge == judge && a.Round == round })
		left := skipped(func(k *flow.Skipped) bool { return k.Kind == debate.KindAssessment && k.By == judge })
		if !given && !left {
			return fmt.Sprintf("%s has neither assessed round %d nor been left out", judge, round)
		}
	}
	return ""
}

// unasked reports whether a speech would answer nothing: every question since the answer before it was left out.
func unasked(schedule []format.Speech, answer format.Speech, skipped func(slot int) bool) bool {
	if answer.Kind != format.KindAnswer {
		return false
	}
	left := false
	for _, q := range slices.Backward(schedule[:answer.Slot]) {
		if q.Kind == format.KindAnswer && q.Speaker == answer.Speaker && q.Target == answer.Target {
			break
		}
		if q.Kind == format.KindQuestion && q.Speaker == answer.Target && (q.Seat < 0 || q.Target == answer.Speaker) {
			if !skipped(q.Slot) {
				return false
			}
			left = true
		}
	}
	return left
}

// lostAtEnd looks for the verdicts, which nobody can do without, and for the votes.
func lostAtEnd(r *flow.Record) string {
	d := stage.View(r)
	if len(r.Turns) == 0 {
		return ""
	}
	for _, judge := range seated(r) {
		given := 0
		for _, v := range d.Verdicts {
			if v.Judge == judge {
				given++
			}
		}
		if doneWithout(r, judge) {
			continue
		}
		if want := map[bool]int{false: 1, true: 2}[d.Config().Judging.BothOrders]; given != want {
			return fmt.Sprintf("%s has given %d of %d verdicts", judge, given, want)
		}
	}
	if d.Config().Audience == nil {
		return ""
	}
	for _, m := range d.Config().Audience.Members {
		given := slices.ContainsFunc(d.Ballots, func(b *debate.Ballot) bool { return b.Voter == m.Name && b.After })
		left := slices.ContainsFunc(r.SkippedCalls, func(k flow.Skipped) bool { return k.Kind == debate.KindBallot && k.By == m.Name })
		if !given && !left {
			return fmt.Sprintf("%s has neither voted nor been left out", m.Name)
		}
	}
	return ""
}

// doneWithout reports whether somebody has ended the debate while an assessment of the judge had failed, and the judge's verdict, which was
// then tried, has failed too.
func doneWithout(r *flow.Record, judge string) bool {
	assessment := fmt.Sprintf("r%d.assessment.%s", r.Round, judge)
	return (r.EndedEarlyBy == flow.EndedByPerson || r.EndedEarlyBy == flow.EndedByHost) && r.Failed(assessment) && !r.Skipped(assessment) &&
		(r.Failed("verdict."+judge) || r.Failed("verdict."+judge+".swapped"))
}

// seated returns the judges who are to judge: neither recused nor dropped.
func seated(r *flow.Record) []string {
	d, names := stage.View(r), []string(nil)
	if d.Config().Judging == nil {
		return nil
	}
	for _, judge := range d.Config().Judging.Judges {
		if !r.IsDropped(judge.Name) && !slices.Contains(d.Recused(), judge.Name) {
			names = append(names, judge.Name)
		}
	}
	return names
}
