package main

import (
	"fmt"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
)

// show prints who has the floor, and then what was said. Ballots are sealed until the end.
func show(p stage.Printer, e *debate.Event) {
	switch body := e.Body.(type) {
	case *flow.Round:
		if body.N == 1 {
			p.Linef("The audience has voted; the votes stay sealed.")
		}
		p.Linef("\nRound %d of %d: %s, %d turns", body.N, body.Of, body.Phase, body.Calls)
	case *flow.Intent:
		if body.Kind != debate.KindBallot && body.Attempt == 1 {
			floor := body.By
			if body.Target != "" {
				floor += " to " + body.Target
			}
			p.Linef("\n  %2d. %s (%s)", body.Slot+1, floor, body.Kind)
		}
	case *debate.Turn:
		p.Speak("      ", body.Text)
	case *flow.Failure:
		p.Speak("      ", fmt.Sprintf("[%s gave no answer: %v]", body.By, body.Error))
	}
}

// votes opens the ballots.
func votes(p stage.Printer, d *debate.Debate) {
	p.Linef("\nThe votes")
	for _, member := range d.Config().Audience.Members {
		before, after := debate.Vote("none"), debate.Ballot{BallotAnswer: debate.BallotAnswer{Vote: "none"}}
		for _, ballot := range d.Ballots {
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
