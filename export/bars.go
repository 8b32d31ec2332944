package export

import (
	"fmt"
	"slices"

	"github.com/agonist-dev/debate/flow"
)

// mostBars is how many actors have bars of their own. The table has all of them.
const mostBars = 20

// The sizes of bars, in pixels, and the part of the width that the longest one takes.
const (
	barName, barTokens, barCost = 14, 20, 38
	barRow, barFreeRow          = 66, 48 // of an actor, with its cost and without
	barHeight                   = 13
	barWidest                   = .62
)

// spending draws the tokens and the cost of everybody as bars, in the order of the accounts. Costs that are not known have no bar.
// Where nothing has a cost, none is drawn.
func (w *reporter) spending(accounts []flow.Account) *drawing {
	d := &drawing{
		ID: "usage-drawing", Title: "Tokens and cost", Keys: []key{
			{Class: "input", Text: "tokens read"}, {Class: "output", Text: "tokens written"},
		},
		About: "For everybody, a bar of the tokens read and written, and one of the cost. The table below has the figures.",
	}
	shown := accounts
	if len(accounts) > mostBars {
		shown = accounts[:mostBars]
		d.About += fmt.Sprintf(" The first %d of %d are drawn.", mostBars, len(accounts))
		d.Keys = append(d.Keys, key{Text: fmt.Sprintf("the first %d of %d", mostBars, len(accounts))})
	}
	var tokens, cost float64
	for i := range shown {
		tokens, cost = max(tokens, tokensOf(&shown[i])), max(cost, float64(shown[i].Cost))
	}
	if cost > 0 {
		d.Keys = append(d.Keys, key{Class: "cost", Text: "cost"})
	}
	unknown, row := len(w.unpriced()) > 0, barRow
	free := !slices.ContainsFunc(shown, func(a flow.Account) bool { return a.Cost > 0 || a.AtMost > 0 })
	if free && !unknown {
		row = barFreeRow
	}
	for i := range shown {
		a := &shown[i]
		y := float64(i * row)
		d.add(lettering("name "+w.tones[a.Name], "0", place(y+barName), label(w.called(a.Name), 44), ""))
		read, written := part(float64(a.Usage.Input), tokens), part(float64(a.Usage.Output), tokens)
		bar := func(class string, from, length, y float64) {
			d.add(rect(class, share(from), place(y), share(length), place(barHeight)))
		}
		bar("input", 0, read, y+barTokens)
		bar("output", read, written, y+barTokens)
		beside(d, read+written, y+barTokens, count(a.Usage.Input)+" + "+count(a.Usage.Output))
		if row == barFreeRow {
			continue
		}
		spent := part(float64(a.Cost), cost)
		bar("cost", 0, spent, y+barCost)
		beside(d, spent, y+barCost, w.priceOf(a, unknown))
	}
	d.Height = place(len(shown) * row)
	return d
}

// tokensOf returns how many tokens an account has.
func tokensOf(a *flow.Account) float64 { return max(0, float64(a.Usage.Input)+float64(a.Usage.Output)) }

// part returns the length of a bar.
func part(x, most float64) float64 {
	if most <= 0 || x <= 0 {
		return 0
	}
	return barWidest * min(1, x/most)
}

// beside writes a figure behind the end of a bar.
func beside(d *drawing, end, y float64, words string) {
	d.add(lettering("figure", share(end+.012), place(y+barHeight-2), words, ""))
}

// priceOf writes a cost, and says so where it may be nothing only because a price is not known.
func (w *reporter) priceOf(a *flow.Account, unknown bool) string {
	if a.Cost == 0 && a.AtMost == 0 && unknown && tokensOf(a) > 0 {
		return "price not known"
	}
	return a.Short(a.Cost)
}
