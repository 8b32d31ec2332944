package main

import (
	"fmt"

	"github.com/agonist-dev/debate"
)

// show tells who has the floor, and then what was said. Ballots are sealed until the end.
func (p printer) show(e *debate.Event) {
	switch {
	case e.Round != nil && e.Round.N == 1:
		p.linef("The audience has voted; the votes stay sealed.")
		fallthrough
	case e.Round != nil:
		p.linef("\nRound %d of %d: %s, %d turns", e.Round.N, e.Round.Of, e.Round.Phase, e.Round.Calls)
	case e.Intent != nil && e.Intent.Kind != debate.KindBallot && e.Intent.Attempt == 1:
		floor := e.Intent.By
		if e.Intent.Target != "" {
			floor += " to " + e.Intent.Target
		}
		p.linef("\n  %2d. %s (%s)", e.Intent.Slot+1, floor, e.Intent.Kind)
	case e.Turn != nil:
		p.speak("      ", e.Turn.Text)
	case e.Failure != nil && e.Failure.Error != nil:
		p.speak("      ", fmt.Sprintf("[%s gave no answer: %v]", e.Failure.By, e.Failure.Error))
	}
}

// votes opens the ballots.
func (p printer) votes(r *debate.Record) {
	p.linef("\nThe votes")
	for _, member := range r.Config().Audience.Members {
		before, after := debate.Vote("none"), debate.Ballot{BallotPaper: debate.BallotPaper{Vote: "none"}}
		for _, ballot := range r.Ballots {
			switch {
			case ballot.Voter != member.Name:
			case ballot.After:
				after = *ballot
			default:
				before = ballot.Vote
			}
		}
		p.linef("\n  %s: %s before, %s after", member.Name, before, after.Vote)
		p.speak("      ", after.Reasoning)
	}
}

// swing prints how the audience was moved, and who has won by it.
func (p printer) swing(o debate.Outcome) {
	p.linef("\nThe swing of %d voters\n\n  %-10s %8s %8s %8s", o.Swing.Voters, "", "before", "after", "gain")
	for _, vote := range []debate.Vote{debate.VoteFor, debate.VoteAgainst, debate.VoteUndecided} {
		p.linef("  %-10s %6.0f %% %6.0f %% %+8.0f", vote, o.Swing.Before[vote], o.Swing.After[vote], o.Swing.Gain[vote])
	}
	if o.Side == "" {
		p.linef("\nNo side has gained more than the other.")
	} else {
		p.linef("\nThe side %s the motion wins: it has gained more of the audience.", o.Side)
	}
	for _, less := range o.Degraded {
		p.speak("  ", "Less than was planned: "+less)
	}
}
