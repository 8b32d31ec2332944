package debate

import "github.com/agonist-dev/debate/flow"

// estimateDebate counts the calls of a debate, round by round.
func estimateDebate(e *flow.Estimator, rounds int) error {
	d := of(e.Record())
	end := func() { e.Calls(verdictsAndVotes(d.Record)) }
	assign := assignCalls(d)
	e.Calls(assign)
	for i := range assign {
		e.Added(&assign[i])
	}
	e.Calls(ballotCalls(d, false))
	for round := 1; round <= rounds; round++ {
		if err := e.Round(round); err != nil {
			return err
		}
		for i := range d.schedule {
			call := turnCall(d, &d.schedule[i])
			e.Calls([]flow.Call{call})
			e.Said(&call)
		}
		e.Calls(assessmentCalls(d.Record))
		if round == 1 {
			e.First(end)
		}
	}
	end()
	return nil
}
