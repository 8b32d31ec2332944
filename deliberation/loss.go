package deliberation

import (
	"slices"

	"github.com/agonist-dev/debate/flow"
)

// What a deliberation can do without when a call has failed for good. A rule leaves enough to go on with: two agents in each
// phase, half of the votes, one merge. A person may do more as long as there is something left to make a solution of.

// cost says what the failure of an agent's call may cost.
func (b *board) cost(w *work, kind flow.CallKind) flow.OnFail {
	out := flow.OnFail{Skip: flow.RuleToo, Drop: b.droppable(w)}
	switch kind {
	case KindDigest:
		return flow.OnFail{Aid: true}
	case KindQuestion: // asking is optional
	case KindVote:
		out.Skip = b.votesLeft(w.ID)
		out.Drop = min(out.Drop, out.Skip)
	case KindSynthesis:
		if len(b.authors()) < 2 {
			return flow.OnFail{} // nobody else is there to write
		}
	default:
		if b.able(b.Working(), w) < 2 {
			out.Skip, out.Drop = flow.PersonOnly, min(out.Drop, flow.PersonOnly)
		}
		if kind == KindProposal && w.standing() == nil && b.proposing(w) == 0 {
			out.Skip = flow.Nobody
		}
	}
	return out
}

// droppable says who may drop an agent, by what the others have.
func (b *board) droppable(w *work) flow.Allowance {
	switch b.proposing(w) {
	case 0:
		return flow.Nobody
	case 1:
		return flow.PersonOnly
	default:
		return flow.RuleToo
	}
}

// able returns how many agents but one are able to take part in a phase.
func (b *board) able(phase flow.State, except *work) int {
	n := 0
	for i := range b.agents {
		if w := &b.agents[i]; w.active && w != except && !b.leftOut(w, phase) {
			n++
		}
	}
	return n
}

// proposing returns how many agents but one have a proposal, or can still write one before the critiques.
func (b *board) proposing(except *work) int {
	closed := slices.Contains([]flow.State{StateCritiquing, StateRefining, StateEvaluating, flow.StateCompleting}, b.Working())
	n := 0
	for i := range b.agents {
		if w := &b.agents[i]; w.active && w != except && (w.standing() != nil || !closed && !b.leftOut(w, StateProposing)) {
			n++
		}
	}
	return n
}

// votesLeft says who may do without a voter. A rule leaves at least half of those who were to vote.
func (b *board) votesLeft(but string) flow.Allowance {
	all, left := b.electorate(), 0
	for _, name := range all {
		if id := b.ballot(name).id; name != but && (b.Done(id) || !b.Skipped(id) && !b.IsDropped(name)) {
			left++
		}
	}
	if 2*left < len(all) {
		return flow.PersonOnly
	}
	return flow.RuleToo
}

// mergesLeft says who may do without another merge. A rule leaves at least one.
func (b *board) mergesLeft() flow.Allowance {
	skipped := 0
	for i := range b.SkippedCalls {
		if b.SkippedCalls[i].Kind == KindMerge {
			skipped++
		}
	}
	if all := len(b.finalists(0)) - 1; all-skipped < 2 {
		return flow.PersonOnly
	}
	return flow.RuleToo
}

// decided reports whether a person has left out or dropped one of the agents that a phase lacks.
func (b *board) decided(phase flow.State) bool {
	return slices.ContainsFunc(b.agents, func(w work) bool {
		var missed []attempt
		switch {
		case !w.active:
			return b.DroppedBy(w.ID) == flow.EndedByPerson
		case w.standing() == nil:
			missed = b.duties(&w, StateProposing)
		case b.leftOut(&w, phase):
			missed = b.duties(&w, phase)
		}
		return slices.ContainsFunc(missed, func(a attempt) bool { return b.SkippedBy(a.id) == flow.EndedByPerson })
	})
}
