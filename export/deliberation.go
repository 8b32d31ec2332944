package export

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
)

// deliberated shows what is a deliberation's own: its problem, its solution, who worked it out, and what was said on the way.
func (w *reporter) deliberated(d *deliberation.Deliberation) *told {
	c := d.Config()
	return &told{
		answer: append([]*section{w.solution(d), evaluationsByRound(d)}, w.earlierSolutions(d)...), who: []*section{w.agents(d)},
		material: []*section{asked(c.Problem, c.Context), w.documents(), w.clarifications(d)}, rounds: w.deliberatedRounds(d),
		besides: []*section{w.critiques(d), w.board(d), w.merges(d), w.votes(d)}, engine: []*section{w.histories(d)},
	}
}

// called returns how people know somebody.
func (w *reporter) called(name string) string {
	if w.deliberation != nil {
		if known := w.deliberation.Config().NameOf(name); line(known) != "" {
			return known
		}
	}
	return name
}

// deliberationFacts describes the deliberation.
func (w *reporter) deliberationFacts(d *deliberation.Deliberation) []field {
	c := d.Config()
	ends := "after all rounds"
	if t := c.Termination; t.Threshold != nil {
		what := map[string]string{
			deliberation.TerminationConvergence: "agreement", deliberation.TerminationQuality: "quality",
		}[t.Kind]
		ends = fmt.Sprintf("by the judge's number for %s, from %s of 100 on", what, mark(*t.Threshold))
	}
	made := map[string]string{
		deliberation.SynthesisJudge: "by the judge", deliberation.SynthesisVoting: "by vote",
		deliberation.SynthesisMerge:      "by merging the proposals",
		deliberation.SynthesisRegistered: "by " + c.Synthesizer + " (the host's)",
	}[c.Synthesis]
	return []field{{"Rounds end", ends}, {"Solution", made}}
}

// solution shows the result.
func (w *reporter) solution(d *deliberation.Deliberation) *section {
	s := &section{ID: "solution", Title: "Solution"}
	solution, by, ok := d.Solution()
	switch {
	case !ok && w.record.Final():
		s.Blocks = append([]block{{Headline: "There is no solution."}}, degraded(d.Degraded())...)
		return s
	case !ok:
		s.Blocks = append([]block{{Headline: "There is no solution yet."}}, degraded(d.Degraded())...)
		return s
	}
	if by == "judge" {
		by = "the judge"
	}
	s.Blocks = []block{
		{Headline: fmt.Sprintf("By %s, with a confidence of %s of 100.", w.called(by), mark(solution.Confidence))},
		spoken(solution.Description),
	}
	s.list("Implementation", solution.Implementation)
	s.list("Trade-offs", solution.Tradeoffs)
	s.list("Recommendations", solution.Recommendations)
	s.list("Open questions", solution.OpenQuestions)
	if len(solution.Requirements) > 0 {
		s.Blocks = append(s.Blocks, block{Table: requirements(solution.Requirements)})
	}
	for _, t := range slices.Backward(d.Turns) {
		if t.Kind == deliberation.KindSynthesis {
			s.Blocks = append(s.Blocks, sources(t)...)
			break
		}
	}
	s.Blocks = append(s.Blocks, degraded(d.Degraded())...)
	return s
}

// list adds items, if there are any.
func (s *section) list(label string, items []string) {
	if len(items) > 0 {
		s.Blocks = append(s.Blocks, block{Label: label, Phrases: items})
	}
}

func requirements(all []deliberation.Requirement) *table {
	t := &table{Caption: "Requirements", Head: []string{"Requirement", "Major", "Fulfilled", "Note"}, Figures: 4}
	for _, r := range all {
		t.Rows = append(t.Rows, cells(unmarked(r.Text), yes(r.Major), yes(r.Fulfilled), unmarked(r.Note)))
	}
	return t
}

// unmarked returns a text of a cell without the signs of Markdown for strong words and code.
func unmarked(text string) string { return strings.NewReplacer("**", "", "`", "").Replace(text) }

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// agents lists who took part, with their roles.
func (w *reporter) agents(d *deliberation.Deliberation) *section {
	c := d.Config()
	s := &section{ID: "agents", Title: "Agents"}
	said := make(map[string]int)
	for _, one := range d.Contributions() {
		said[one.Agent]++
	}
	for _, p := range w.config.Participants {
		at := slices.IndexFunc(c.Agents, func(a deliberation.Agent) bool { return a.ID == p.Name })
		if at < 0 {
			continue
		}
		a := &c.Agents[at]
		did := plural(said[a.ID], "contribution")
		if turns := w.record.Participant(a.ID).Turns; said[a.ID] == 0 && turns > 0 { // it has asked, and not contributed yet
			did = plural(turns, "turn")
		}
		card := w.card(a.ID, performer(a.Model, "", a.Person), a.Fallbacks, did)
		card.Marks = append(notes(otherThan(card.Title, a.ID), roleOf(c, a)), card.Marks...)
		s.Articles = append(s.Articles, card)
	}
	if j := c.Judge; j.Model != "" {
		s.Articles = append(s.Articles, w.card("judge", j.Model, j.Fallbacks, ""))
	}
	return s
}

// roleOf returns the title of an agent's role. Who has words of its own has no role's.
func roleOf(c *deliberation.Config, a *deliberation.Agent) string {
	if a.Prompt != "" {
		return "with a prompt of its own"
	}
	if role, err := deliberation.FindRole(a.Role, c.Roles); err == nil {
		return role.Title
	}
	return a.Role
}

// clarifications shows what the agents have asked, and what they were told.
func (w *reporter) clarifications(d *deliberation.Deliberation) *section {
	s := &section{ID: "clarifications", Title: "Clarifications"}
	for _, q := range d.Clarifications() {
		a := &article{Class: "turn", Title: "Known beforehand", Blocks: []block{spoken(q.Question)}}
		if len(q.Agents) > 0 {
			names := make([]string, len(q.Agents))
			for i, id := range q.Agents {
				names[i] = w.called(id)
			}
			a.Title, a.Tone = "Asked by "+strings.Join(names, ", "), w.tones[q.Agents[0]]
		}
		if q.Known && len(q.Agents) > 0 {
			a.Marks = []string{"known beforehand"}
		}
		if q.Answered && !q.Skipped {
			a.Blocks = append(a.Blocks, block{Label: "Answer", Speech: &q.Answer})
			for _, t := range d.Turns {
				if t.Call == q.ID && len(t.Attachments) > 0 {
					a.Blocks = append(a.Blocks, w.files(t.Attachments))
				}
			}
		} else {
			a.Blocks = append(a.Blocks, block{Text: "Not answered."})
		}
		s.Articles = append(s.Articles, a)
	}
	s.Fold = plural(len(s.Articles), "question")
	return s
}

// deliberatedRounds returns a section for each round, with what was said and evaluated in it.
func (w *reporter) deliberatedRounds(d *deliberation.Deliberation) []*section {
	byRound := make(map[int][]*flow.Turn)
	for _, t := range d.Turns {
		switch t.Kind {
		case deliberation.KindQuestion, deliberation.KindAnswer, deliberation.KindDigest, deliberation.KindVote, deliberation.KindMerge,
			deliberation.KindSynthesis:
		default:
			byRound[t.Round] = append(byRound[t.Round], t)
		}
	}
	for _, n := range d.Notes {
		if _, ok := byRound[n.Round]; !ok {
			byRound[n.Round] = nil
		}
	}
	var out []*section
	for _, n := range slices.Sorted(maps.Keys(byRound)) {
		s := &section{ID: "round-" + strconv.Itoa(n), Title: "Round " + strconv.Itoa(n)}
		if n == 0 {
			s.Title = "Outside the rounds"
		}
		slices.SortStableFunc(byRound[n], func(a, b *flow.Turn) int { return a.Slot - b.Slot })
		s.Articles = w.contributions(n, slices.DeleteFunc(byRound[n], func(t *flow.Turn) bool {
			return t.Kind == deliberation.KindConfidence || t.Kind == deliberation.KindQuality
		}))
		for _, e := range d.Evaluations() {
			if e.Round == n {
				s.Articles = append(s.Articles, roundEvaluation(&e))
			}
		}
		s.folded(len(byRound))
		out = append(out, s)
	}
	return out
}

// roundEvaluation shows the judge's view of a round.
func roundEvaluation(e *deliberation.Evaluation) *article {
	a := &article{Class: classAssessment, Title: "Evaluation by the judge"}
	if c := e.Confidence; c != nil {
		a.Marks = []string{fmt.Sprintf("agreement %s of 100", mark(c.Confidence))}
		a.Blocks = []block{spoken(c.Reasoning)}
		a.list("Disputed", c.Disagreements)
	}
	if q := e.Quality; q != nil {
		a.Marks = []string{fmt.Sprintf("quality %s of 100", mark(q.Quality))}
		a.Blocks = []block{spoken(q.Reasoning), {Table: requirements(q.Requirements)}}
	}
	return a
}

// merges shows what the proposals were merged into on the way to the solution.
func (w *reporter) merges(d *deliberation.Deliberation) *section {
	s := &section{ID: "merges", Title: "Merged proposals"}
	all := slices.Clone(d.Turns)
	slices.SortStableFunc(all, func(a, b *flow.Turn) int { return a.Slot - b.Slot })
	for _, t := range all {
		if t.Kind == deliberation.KindMerge {
			s.Articles = append(s.Articles, w.turn(t))
		}
	}
	s.Fold = plural(len(s.Articles), "merged proposal")
	return s
}

// votes shows how the final proposals were ranked.
func (w *reporter) votes(d *deliberation.Deliberation) *section {
	s := &section{ID: "votes", Title: "Vote"}
	ballots, scores := d.Votes()
	if len(ballots) == 0 {
		return nil
	}
	t := &table{Caption: "Points of the final proposals", Head: []string{"Proposal of", "Points", "First places"}, Figures: 1}
	for _, score := range scores {
		t.Rows = append(t.Rows, cells(w.called(score.Agent), count(score.Points), count(score.First)))
	}
	s.Blocks = append(s.Blocks, block{Table: t})
	slices.SortStableFunc(ballots, func(x, y deliberation.Ballot) int { return w.place(x.Voter) - w.place(y.Voter) })
	for _, b := range ballots {
		var ranks []string
		for i, id := range b.Ranking {
			ranks = append(ranks, fmt.Sprintf("%d. %s", i+1, w.called(id)))
		}
		s.Articles = append(s.Articles, &article{
			Class: classAssessment, Title: "Vote of " + w.called(b.Voter), Tone: w.tones[b.Voter], Marks: ranks,
			Blocks: []block{spoken(b.Reasoning)},
		})
	}
	s.Fold = plural(len(s.Articles), "vote")
	return s
}

// histories shows the summaries that the agents' histories were read in.
func (w *reporter) histories(d *deliberation.Deliberation) *section {
	s := &section{ID: "histories", Title: "Summaries"}
	for _, sum := range d.Summaries() {
		covers := "round 1"
		if sum.Upto > 1 {
			covers = fmt.Sprintf("rounds 1 to %d", sum.Upto)
		}
		s.Articles = append(s.Articles, &article{
			Class: "summary", Title: w.called(sum.Agent) + ", " + covers, Tone: w.tones[sum.Agent],
			Marks:  notes(fmt.Sprintf("%s characters in place of %s", count(sum.After), count(sum.Before)), sum.Model),
			Blocks: []block{spoken(sum.Text)},
		})
	}
	return s
}
