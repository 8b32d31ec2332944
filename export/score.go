package export

import (
	"slices"

	"github.com/agonist-dev/debate/deliberation"
)

// scoresByRound shows what the judges have thought of each participant, round by round: the mean where there are several.
func (w *reporter) scoresByRound() *section {
	s := &section{ID: "scores", Title: "Scores by round"}
	t := &trend{id: "scores-drawing", title: "Scores, of 10", most: 10}
	type at struct {
		round int
		name  string
	}
	sums, counts, judges := make(map[at]float64), make(map[at]float64), make(map[string]bool)
	for _, a := range w.debate.Assessments {
		judges[a.Judge] = true
		t.rounds = append(t.rounds, a.Round)
		for i := range a.Assessments {
			where := at{a.Round, a.Assessments[i].Participant}
			sums[where] += a.Assessments[i].Score
			counts[where]++
		}
	}
	slices.Sort(t.rounds)
	t.rounds = slices.Compact(t.rounds)
	if len(judges) > 1 {
		t.title = "Scores, of 10: the mean of " + plural(len(judges), "judge")
	}
	for _, p := range w.config.Participants {
		l := trendLine{name: w.sided(p.Name), class: w.tones[p.Name], values: make(map[int]float64)}
		for _, round := range t.rounds {
			if n := counts[at{round, p.Name}]; n > 0 {
				l.add(round, sums[at{round, p.Name}]/n, t.most)
			}
		}
		t.lines = append(t.lines, l)
	}
	s.Blocks = t.blocks()
	return s
}

// evaluationsByRound shows the judge's number for each round of a deliberation, and where it ends the rounds.
func evaluationsByRound(d *deliberation.Deliberation) *section {
	s := &section{ID: "scores", Title: "Evaluations by round"}
	t := &trend{id: "scores-drawing", title: "The judge's numbers, of 100", most: 100}
	agreement := trendLine{name: "agreement", class: "seat-1", values: make(map[int]float64)}
	quality := trendLine{name: "quality", class: "seat-2", values: make(map[int]float64)}
	for _, e := range d.Evaluations() {
		t.rounds = append(t.rounds, e.Round)
		if e.Confidence != nil {
			agreement.add(e.Round, e.Confidence.Confidence, t.most)
		}
		if e.Quality != nil {
			quality.add(e.Round, e.Quality.Quality, t.most)
		}
	}
	slices.Sort(t.rounds)
	t.rounds = slices.Compact(t.rounds)
	for _, l := range []trendLine{agreement, quality} {
		if len(l.values) > 0 {
			t.lines = append(t.lines, l)
		}
	}
	if limit := d.Config().Termination.Threshold; limit != nil {
		t.limit = *limit
	}
	s.Blocks = t.blocks()
	return s
}
