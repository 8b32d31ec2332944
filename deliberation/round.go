package deliberation

import (
	"fmt"

	"github.com/agonist-dev/debate/flow"
)

func roundsLeft(r *flow.Record) bool { return r.Round < r.Settings().Rounds }

// planned begins the next round, or ends the rounds.
func planned(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	most := r.Settings().Rounds
	if !roundsLeft(r) {
		evidence := "the only round is done"
		if most > 1 {
			evidence = fmt.Sprintf("all %d rounds are done", most)
		}
		return TriggerMaxRoundsReached, flow.Exit{Reason: flow.EndRounds, Evidence: evidence, Calls: solutionSize(r)}, true
	}
	b := readAt(r, r.Round+1)
	round := &flow.Round{N: b.round, Of: most, Phase: "round"}
	for i := range b.agents {
		if w := &b.agents[i]; w.active {
			round.Calls += 1 + b.config.degree() // a refinement and critiques
			if b.proposes(w) {
				round.Calls++
			}
		}
	}
	exit := flow.Exit{Round: round}
	if b.early() {
		exit.Calls = len(b.digests(true, nil))
	}
	return TriggerBeginRound, exit, true
}
