package deliberation

import (
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// owes returns what a deliberation lacks of what its config asks for: a solution, unless it was ended early before anything stood that a
// solution could be made of.
func owes(r *flow.Record) []string {
	b := read(r)
	if _, _, ok := b.Solution(); ok {
		return nil
	}
	if b.stands() > 0 {
		return []string{"the solution"}
	}
	if b.EndedEarlyBy != "" {
		return nil
	}
	return []string{"proposals, and the solution"}
}

// failureRules are the rules of unattended deliberations, after those of the config.
func failureRules() []flow.FailureRule {
	return []flow.FailureRule{
		{
			Calls: []flow.CallKind{KindConfidence, KindQuality}, Kinds: []flow.Kind{provider.KindInvalidResponse},
			Do: flow.OptionSkip,
		},
	}
}

// kinds returns the kinds of the calls of a deliberation.
func kinds(flow.Config) []flow.CallKind {
	return []flow.CallKind{
		KindQuestion, KindAnswer, KindProposal, KindCritique, KindRefinement, KindDigest, KindConfidence, KindQuality, KindVote, KindMerge,
		KindSynthesis,
	}
}
