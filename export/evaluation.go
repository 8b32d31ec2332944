package export

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/deliberation/evaluation"
)

// The sizes of the drawing of scores, in pixels.
const (
	scoreRow    = 38 // of a criterion
	scoreDot    = 26 // of the middle of the bar, within its row
	scoreTop    = 14 // of the name
	scoreSpread = 12 // from the first evaluator's dot to the last one's
)

// evaluated shows what is an evaluation's own: the question, the solution that was judged, the scores, and what they rest on.
func (w *reporter) evaluated(s *evaluation.Scores) *told {
	c, report := s.Config(), s.Report()
	judged := &section{ID: "solution", Title: "Solution", Note: "as it was judged", Blocks: []block{spoken(c.Solution)}}
	out := &told{
		answer: []*section{w.scoresByCriterion(&report)}, who: []*section{w.evaluators(c, &report)},
		material: []*section{asked(c.Problem, c.Context), w.documents(), judged},
	}
	for i := range c.Evaluators {
		out.rounds = append(out.rounds, w.reasons(i, &report))
	}
	return out
}

// evaluationFacts describes the evaluation.
func evaluationFacts(s *evaluation.Scores) []field {
	report := s.Report()
	return present(
		field{"Evaluators", fmt.Sprintf("%d of %d have answered", report.Answered, report.Asked)},
		field{"Score", averageOf(&report.Overall)},
		field{"Agreement", agreement(&report)},
	)
}

// ratings returns the judgement of the whole, then the criteria.
func ratings(r *evaluation.Report) []*evaluation.Rating {
	out := []*evaluation.Rating{&r.Overall}
	for i := range r.Criteria {
		out = append(out, &r.Criteria[i])
	}
	return out
}

// averageOf writes the average of a rating; "" if there is no score.
func averageOf(r *evaluation.Rating) string {
	if r.Spread == nil {
		return ""
	}
	return points(r.Spread.Mean) + " of " + points(evaluation.HighestScore)
}

// agreement says how far the evaluators' scores differ.
func agreement(r *evaluation.Report) string {
	var most *evaluation.Rating
	for _, one := range ratings(r) {
		if s := one.Spread; s != nil && s.Of > 1 && (most == nil || s.Max-s.Min > most.Spread.Max-most.Spread.Min) {
			most = one
		}
	}
	switch {
	case most == nil:
		return ""
	case most.Spread.Max == most.Spread.Min:
		return "all scores are the same"
	default:
		s := most.Spread
		return fmt.Sprintf("the scores differ by %s at most: %s, from %s to %s", points(s.Max-s.Min), most.Title, points(s.Min), points(s.Max))
	}
}

// points writes a score, or a difference of scores.
func points(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}

// scoresByCriterion shows the scores by each criterion: as a drawing and as a table.
func (w *reporter) scoresByCriterion(r *evaluation.Report) *section {
	s := &section{ID: "scores", Title: "Scores by criterion"}
	if r.Answered == 0 {
		text := "There are no scores yet."
		if w.record.Final() {
			text = "There are no scores."
		}
		s.Blocks = []block{{Headline: text}}
		return s
	}
	t := &table{Head: []string{"Criterion"}, Figures: 1}
	for _, o := range r.Overall.Opinions {
		t.Head = append(t.Head, w.called(o.Evaluator))
	}
	t.Head = append(t.Head, "Average", "Deviation")
	for _, one := range ratings(r) {
		row := cells(one.Title)
		for _, o := range one.Opinions {
			text := "–"
			if o.Value != nil {
				text = points(*o.Value)
			}
			row = append(row, cell{Text: text})
		}
		if one.Spread == nil {
			row = append(row, cells("–", "–")...)
		} else {
			row = append(row, cell{Text: points(one.Spread.Mean), Bar: true, Share: ofScore(one.Spread.Mean)})
			row = append(row, cells(strconv.FormatFloat(one.Spread.Deviation, 'f', 2, 64))...)
		}
		t.Rows = append(t.Rows, row)
	}
	s.Blocks = []block{
		{Headline: fmt.Sprintf("%s: %s.", r.Overall.Title, averageOf(&r.Overall))},
		{Label: "Scores, of " + points(evaluation.HighestScore), Drawing: w.scoreDrawing(r)},
		{Table: t},
	}
	return s
}

// ofScore returns the part of the highest score that a score is.
func ofScore(x float64) float64 { return max(0, min(1, x/evaluation.HighestScore)) }

// scoreDrawing draws, for each criterion, the average as a bar, and the score of each evaluator as a dot.
func (w *reporter) scoreDrawing(r *evaluation.Report) *drawing {
	d := &drawing{
		ID: "scores-drawing", Title: "Scores by criterion", Keys: []key{{Class: "range", Text: "average"}},
		About: "For each criterion, a bar of the average, and a dot for the score of each evaluator. The table below has the figures.",
	}
	all := ratings(r)
	for i, o := range r.Overall.Opinions {
		if i == mostLines {
			d.Keys = append(d.Keys, key{Text: "and " + plural(len(r.Overall.Opinions)-mostLines, "more evaluator")})
			break
		}
		d.Keys = append(d.Keys, key{Class: "dot " + w.tones[o.Evaluator], Text: label(w.called(o.Evaluator), 30)})
	}
	for i, one := range all {
		y := float64(i * scoreRow)
		d.add(lettering("name", "0", place(y+scoreTop), label(one.Title, 44), ""))
		if one.Spread == nil {
			continue
		}
		mean := barWidest * ofScore(one.Spread.Mean)
		d.add(rect("range", "0%", place(y+scoreDot-barHeight/2), share(mean), place(barHeight)))
		d.add(lettering("figure", share(barWidest+.03), place(y+scoreDot+4), points(one.Spread.Mean), ""))
		n := float64(len(one.Opinions))
		for j, o := range one.Opinions { // below each other, so that equal scores are all seen
			if o.Value != nil {
				beside := (float64(j) - (n-1)/2) * scoreSpread / n
				d.add(shape{
					Kind: "circle", Class: "dot " + w.tones[o.Evaluator], X: share(barWidest * ofScore(*o.Value)), Y: place(y + scoreDot + beside),
				})
			}
		}
	}
	d.Height = place(len(all) * scoreRow)
	return d
}

// evaluators lists who has scored, or was to.
func (w *reporter) evaluators(c *evaluation.Config, r *evaluation.Report) *section {
	s := &section{ID: "evaluators", Title: "Evaluators"}
	for i := range c.Evaluators {
		e := &c.Evaluators[i]
		card := w.card(e.ID, e.Model, e.Fallbacks, "")
		if e.Origin != nil && e.Origin.Source != deliberation.SourceBuiltIn {
			card.Marks = append(card.Marks, "with a prompt of its own")
		}
		if o := r.Overall.Opinions[i]; len(card.Blocks) == 0 && o.Value == nil && o.Gap != "" {
			card.Blocks = append(card.Blocks, block{Text: "No score: " + line(o.Gap)})
		}
		s.Articles = append(s.Articles, card)
	}
	return s
}

// reasons shows what the scores of one evaluator rest on.
func (w *reporter) reasons(evaluator int, r *evaluation.Report) *section {
	whole := r.Overall.Opinions[evaluator]
	s := &section{ID: "evaluator-" + strconv.Itoa(evaluator+1), Title: "Reasons of " + w.called(whole.Evaluator)}
	for _, one := range ratings(r) {
		o := one.Opinions[evaluator]
		if o.Value == nil {
			continue
		}
		s.Articles = append(s.Articles, &article{
			Class: classAssessment, Title: one.Title, Tone: w.tones[o.Evaluator],
			Marks: []string{points(*o.Value) + " of " + points(evaluation.HighestScore)}, Blocks: []block{spoken(o.Reasoning)},
		})
	}
	s.Fold = plural(len(s.Articles), "score")
	return s
}
