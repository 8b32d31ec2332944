package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
)

// publish writes the solution in Markdown, and how it was reached.
func publish(w io.Writer, r *debate.Record, demo bool) error {
	d, ok := deliberation.Of(r)
	if !ok {
		return errors.New("the record is of no deliberation")
	}
	s, by, ok := d.Solution()
	if !ok {
		return errors.New("the deliberation has ended without a solution")
	}
	p := stage.Printer{Out: w}
	p.Linef("# %s\n\n%s", stage.Clean(r.Settings().Topic), clean(s.Description))
	list(p, "Implementation", s.Implementation)
	list(p, "Trade-offs", s.Tradeoffs)
	list(p, "Recommendations", s.Recommendations)
	list(p, "Requirements", requirements(s))
	list(p, "Open questions", s.OpenQuestions)

	p.Linef("\n---\n")
	p.Linef("Confidence: %g of 100, according to %s. %s.", s.Confidence, stage.Clean(by), ending(r))
	for _, e := range d.Evaluations() {
		switch {
		case e.Confidence != nil:
			reasons := stage.Clean(e.Confidence.Reasoning)
			p.Linef("Round %d: the judge is %g %% sure that the agents agree. %s", e.Round, e.Confidence.Confidence, reasons)
		case e.Quality != nil:
			reasons := stage.Clean(e.Quality.Reasoning)
			p.Linef("Round %d: the judge marks the quality with %g of 100. %s", e.Round, e.Quality.Quality, reasons)
		}
	}
	spent := r.Spent()
	cost, prices := spent.String(), ""
	if m, ok := r.Model(d.Config().Agents[0].Model); !ok || !m.Priced {
		cost = "at an unknown price"
	} else if demo {
		prices = " at the prices of gpt-4.1-mini"
	}
	p.Linef("Cost%s: %d requests, %d tokens in, %d tokens out:", prices, spent.Requests, spent.Usage.Input, spent.Usage.Output)
	p.Linef("%s.", cost)
	return nil
}

// ending says why the rounds have ended.
func ending(r *debate.Record) string {
	switch r.Reason {
	case flow.EndRounds:
		return "It has ended after " + plural(r.Round, "round") + ", as planned"
	case flow.EndConverged:
		return "The agents agree after " + plural(r.Round, "round")
	case deliberation.EndQuality:
		return "The proposals are good enough after " + plural(r.Round, "round")
	default:
		return fmt.Sprintf("It ended after %s: %s", plural(r.Round, "round"), stage.Clean(string(r.Reason)+" "+r.Evidence))
	}
}

func list(p stage.Printer, title string, items []string) {
	if len(items) == 0 {
		return
	}
	p.Linef("\n## %s\n", title)
	for _, item := range items {
		p.Linef("- %s", stage.Clean(item))
	}
}

func requirements(s *deliberation.Solution) []string {
	out := make([]string, len(s.Requirements))
	for i, one := range s.Requirements {
		box, weight := "[ ]", ""
		if one.Fulfilled {
			box = "[x]"
		}
		if one.Major {
			weight = "**major**, "
		}
		out[i] = fmt.Sprintf("%s %s%s: %s", box, weight, one.Text, one.Note)
	}
	return out
}

// clean removes what could control a terminal from a text in Markdown. It keeps the lines.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		default:
			return -1
		}
	}, text)
}
