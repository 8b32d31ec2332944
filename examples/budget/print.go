package main

import (
	"fmt"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
)

// accounts prints the verdict and who spent what. The money in an account is exact; it is rounded only
// here.
func accounts(p stage.Printer, r *debate.Record) {
	if d, ok := debate.Of(r); ok && d.Verdict != nil && d.Verdict.Winner != nil {
		p.Linef("\nThe judge is for %s.", d.Verdict.Winner.Participant)
	}
	p.Linef("\nSpent:")
	for _, a := range append(r.SpentByModel(), r.SpentByParticipant()...) {
		account(p, a)
	}
	for round := 1; round <= r.Round; round++ {
		a := r.SpentInRound(round)
		a.Name = fmt.Sprintf("round %d", round)
		account(p, a)
	}
	total := r.Spent()
	total.Name = "all"
	account(p, total)
}

func account(p stage.Printer, a flow.Account) {
	p.Linef("  %-20s %3d calls %7d tokens %s", a.Name, a.Requests, a.Usage.Input+a.Usage.Output, a)
}
