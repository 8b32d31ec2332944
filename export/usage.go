package export

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// usage shows what the debate has used and cost.
func (w *reporter) usage() *section {
	r := w.record
	s := &section{ID: "usage", Title: "Usage and cost"}
	total := r.Spent()
	total.Name = "Total"
	people, models := r.SpentByParticipant(), r.SpentByModel()
	slices.SortStableFunc(people, func(a, b flow.Account) int { return w.place(a.Name) - w.place(b.Name) })
	slices.SortStableFunc(models, func(a, b flow.Account) int { return strings.Compare(a.Name, b.Name) })
	who := "By participant and judge"
	switch {
	case w.deliberation != nil:
		who = "By agent and judge"
	case w.work != nil:
		who = "By agent and arbiter"
	}
	if len(people) > 0 {
		s.Blocks = append(s.Blocks, block{Drawing: w.spending(people)})
	}
	for i := range people {
		people[i].Name = w.called(people[i].Name)
	}
	s.account(who, "Who", people, total)
	s.account("By model", "Model", models, total)
	s.account("By round", roundColumn, w.byRound(), total)
	if unknown := w.unpriced(); len(unknown) > 0 {
		s.Blocks = append(s.Blocks, block{Label: "Without a known price, and counted as free", Items: unknown})
	}
	return s
}

// account adds a table of accounts.
func (s *section) account(caption, of string, accounts []flow.Account, total flow.Account) {
	if len(accounts) == 0 {
		return
	}
	t := &table{
		Caption: caption, Figures: 1, Total: true,
		Head: []string{of, "Cost", "Requests", "Input tokens", "of them cached", "Output tokens"},
	}
	told := total.Told != 0 || total.Table != 0
	if told {
		t.Head = append(t.Head, "Cost told by vendors (more than by the prices)")
	}
	for _, a := range append(slices.Clone(accounts), total) {
		if a.Name == "" {
			a.Name = "no model"
		}
		row := cells(a.Name, a.Short(a.Cost), count(a.Requests), count(a.Usage.Input), count(a.Usage.CachedInput), count(a.Usage.Output))
		if told {
			row = append(row, cell{Text: toldCost(&a)})
		}
		t.Rows = append(t.Rows, row)
	}
	s.Blocks = append(s.Blocks, block{Table: t})
}

// toldCost returns the part of a cost that vendors have told, and how much more that is than the prices say.
func toldCost(a *flow.Account) string {
	if a.Told == 0 && a.Table == 0 {
		return ""
	}
	more := (a.Told - a.Table).Rounded()
	if a.Told >= a.Table {
		more = "+" + more
	}
	return a.Told.Rounded() + " (" + more + ")"
}

// byRound returns the accounts of the rounds in the record, and of everything outside them.
func (w *reporter) byRound() []flow.Account {
	r := w.record
	rounds := []int{0, r.Round}
	for n := range r.Round {
		rounds = append(rounds, n)
	}
	for _, t := range r.Turns {
		rounds = append(rounds, t.Round)
	}
	slices.Sort(rounds)
	var out []flow.Account
	for _, n := range slices.Compact(rounds) {
		a := r.SpentInRound(n)
		if a.Requests == 0 {
			continue
		}
		a.Name = strconv.Itoa(n)
		if n == 0 {
			a.Name = "outside the rounds"
		}
		out = append(out, a)
	}
	return out
}

// unpriced returns the models that were used and have no known price.
func (w *reporter) unpriced() []string {
	var out []string
	for _, a := range w.record.SpentByModel() {
		if m, ok := w.record.Model(a.Name); a.Name != "" && ok && !m.Priced {
			out = append(out, a.Name)
		}
	}
	return out
}

// spentBy writes what somebody has cost.
func (w *reporter) spentBy(name string) string {
	var a flow.Account
	for _, one := range w.record.SpentByParticipant() {
		if one.Name == name {
			a = one
		}
	}
	return w.priceOf(&a, len(w.unpriced()) > 0)
}

// total writes the cost of the debate, as far as it is known.
func (w *reporter) total() string {
	cost := w.record.Spent().String()
	if len(w.unpriced()) > 0 {
		return cost + ", without the models whose price is not known"
	}
	return cost
}
