package main

import (
	"fmt"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/examples/internal/stage"
)

// show prints who has the floor, and then what was said. Ballots are sealed until the end.
func show(p stage.Printer, e *debate.Event) {
	switch {
	case e.Round != nil && e.Round.N == 1:
		p.Linef("The audience has voted; the votes stay sealed.")
		fallthrough
	case e.Round != nil:
		p.Linef("\nRound %d of %d: %s, %d turns", e.Round.N, e.Round.Of, e.Round.Phase, e.Round.Calls)
	case e.Intent != nil && e.Intent.Kind != debate.KindBallot && e.Intent.Attempt == 1:
		floor := e.Intent.By
		if e.Intent.Target != "" {
			floor += " to " + e.Intent.Target
		}
		p.Linef("\n  %2d. %s (%s)", e.Intent.Slot+1, floor, e.Intent.Kind)
	case e.Turn != nil:
		p.Speak("      ", e.Turn.Text)
	case e.Failure != nil && e.Failure.Error != nil:
		p.Speak("      ", fmt.Sprintf("[%s gave no answer: %v]", e.Failure.By, e.Failure.Error))
	}
}

// votes opens the ballots.
func votes(p stage.Printer, r *debate.Record) {
	p.Linef("\nThe votes")
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
		p.Linef("\n  %s: %s before, %s after", member.Name, before, after.Vote)
		p.Speak("      ", after.Reasoning)
	}
}

// swing prints how the audience moved, and who has won by that.
func swing(p stage.Printer, o debate.Outcome) {
	p.Linef("\nThe swing of %d voters\n\n  %-10s %8s %8s %8s", o.Swing.Voters, "", "before", "after", "gain")
	for _, vote := range []debate.Vote{debate.VoteFor, debate.VoteAgainst, debate.VoteUndecided} {
		p.Linef("  %-10s %6.0f %% %6.0f %% %+8.0f", vote, o.Swing.Before[vote], o.Swing.After[vote], o.Swing.Gain[vote])
	}
	if o.Side == "" {
		p.Linef("\nNo side has gained more than the other.")
	} else {
		p.Linef("\nThe side %s the motion wins: it has gained more of the audience.", o.Side)
	}
	for _, less := range o.Degraded {
		p.Speak("  ", "Less than was planned: "+less)
	}
}
