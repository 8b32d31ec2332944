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
		return triggerMaxRoundsReached, flow.Exit{Reason: flow.EndRounds, Evidence: evidence, Calls: solutionSize(r)}, true
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
	return triggerBeginRound, exit, true
}

// soloCalls returns the calls of a phase in which each agent has at most one call, and the missing summaries that they read. It is not for
// critiques: an agent has several, each with a slot of its own. instruction writes the last message of a call. It is given the record at
// the time of the request, which may be newer than that of b.
func soloCalls(
	r *flow.Record, phase flow.State, kind flow.CallKind, slot int, instruction func(now *flow.Record, b *board, w *work, a attempt) string,
) []*flow.Call {
	if r.Late() {
		return nil
	}
	b := read(r)
	var calls []*flow.Call
	var wanted []*work
	for i := range b.agents {
		w := &b.agents[i]
		for _, a := range b.duties(w, phase) {
			if !b.missing(a.id) {
				continue
			}
			if lacking := b.lacking(w, a); len(lacking) > 0 {
				wanted = append(wanted, lacking...)
				continue
			}
			call := b.work(w, a.id, kind)
			call.Slot, call.OnFail = b.slot(slot, w.seat, 0), a.onFail(call.OnFail)
			b.word(call, func(b *board, now *flow.Record) string { return instruction(now, b, w, a) })
			calls = append(calls, call)
		}
	}
	return append(calls, b.digests(false, wanted)...)
}
