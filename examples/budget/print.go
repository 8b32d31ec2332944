package main

import (
	"fmt"
	"io"

	"github.com/agonist-dev/debate"
)

// printer writes for a reader. If nobody reads any more, there is nobody to tell so.
type printer struct{ out io.Writer }

func (p printer) linef(format string, args ...any) { _, _ = fmt.Fprintf(p.out, format+"\n", args...) }

func usd(m debate.Money) string { return fmt.Sprintf("$%.4f", float64(m)/float64(debate.USD)) }

// accounts shows the verdict and who has spent what. The money in an account is exact; it is rounded
// only here.
func (p printer) accounts(r *debate.Record) {
	if v := r.Verdict; v != nil && v.Winner != nil {
		p.linef("\nThe judge is for %s.", v.Winner.Participant)
	}
	p.linef("\nSpent:")
	for _, a := range append(r.SpentByModel(), r.SpentByParticipant()...) {
		p.account(a)
	}
	for round := 1; round <= r.Round; round++ {
		a := r.SpentInRound(round)
		a.Name = fmt.Sprintf("round %d", round)
		p.account(a)
	}
	total := r.Spent()
	total.Name = "all"
	p.account(total)
}

func (p printer) account(a debate.Account) {
	p.linef("  %-20s %3d calls %7d tokens %s", a.Name, a.Requests, a.Usage.Input+a.Usage.Output, usd(a.Cost))
}
