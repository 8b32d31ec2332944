package command

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/deliberation/evaluation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
)

// result is what a conversation was held for. Its text was written by models.
type result struct {
	exists  bool
	text    string   // as Markdown: of a debate the speeches, or what was asked after its end, then the outcome
	asked   string   // of a debate that went on for one answer: the question and the answer
	outcome string   // text without the speeches and what was asked
	notes   []string // what is to be known of the result, for the standard error
	data    any      // for --json
	lacks   string   // what is missing, if there is no result; "": the end of the conversation says that
	silent  string   // who was asked after the end of a debate and has not answered; "": nobody
}

// resultOf returns the result of a conversation of any flow.
func resultOf(r *flow.Record) result {
	got := outcomeOf(r)
	got.outcome = got.text
	if d, ok := debate.Of(r); ok && got.exists {
		if e := askedAfter(d); e != nil {
			got.asked = exchange(e)
			got.text = got.asked + got.text
			if e.Answer == nil && r.State == flow.StateCompleted {
				got.silent = progress.Clean(e.To)
			}
			return got
		}
		got.text = saidIn(r, func(*flow.Turn) bool { return true }) + got.text
	}
	return got
}

// askedAfter returns the conclusion after which one participant was asked, if that is all that followed; nil: it is not.
func askedAfter(d *debate.Debate) *debate.Concluded {
	if last := len(d.Earlier) - 1; last >= 0 && d.Earlier[last].Question != "" {
		return &d.Earlier[last]
	}
	return nil
}

// exchange returns as Markdown what one participant was asked after the end of a debate, and the answer.
func exchange(e *debate.Concluded) string {
	answer := "There is none."
	if e.Answer != nil {
		answer = strings.TrimSpace(e.Answer.Text)
	}
	return fmt.Sprintf("%s:\n\n> %s\n\n## Answer of %s\n\n%s\n\n## Outcome\n\n",
		wentOn(e), prompt.Quoted(e.Question), progress.Clean(e.To), answer)
}

// wentOn says how a debate went on after a conclusion.
func wentOn(e *debate.Concluded) string {
	won, then := "Nobody", "there were further rounds"
	if e.Winner != "" {
		won = progress.Clean(e.Winner)
	}
	if e.To != "" {
		then = progress.Clean(e.To) + " was asked"
	}
	return fmt.Sprintf("%s had won after round %d; then %s", won, e.Round, then)
}

// outcomeOf returns the result of a conversation without the speeches of a debate.
func outcomeOf(r *flow.Record) result {
	if d, ok := deliberation.Of(r); ok {
		if solution, by, ok := d.Solution(); ok {
			return result{exists: true, text: solution.Description, notes: assessment(solution), data: struct {
				*deliberation.Solution

				By string `json:"by"`
			}{solution, by}}
		}
		return result{}
	}
	if scores, ok := evaluation.Of(r); ok {
		report := scores.Report()
		return result{exists: r.State == flow.StateCompleted && !early(r), text: scoresText(&report), data: report}
	}
	if w, ok := arbiter.Of(r); ok {
		summary, complete := w.Summary()
		return result{exists: complete, text: summary, data: map[string]any{"summary": summary, "plan": w.Plan(), "iterations": w.Iterations()}}
	}
	if d, ok := debate.Of(r); ok {
		outcome := d.Outcome()
		return result{
			exists: decided(d, &outcome), text: outcomeText(d, &outcome), data: outcome, lacks: strings.Join(outcome.Degraded, "; "),
		}
	}
	return result{exists: r.State == flow.StateCompleted && !early(r)}
}

// early reports whether a conversation that was held for its rounds lacks some of them. A detector ends rounds that lead nowhere: those
// before are the result.
func early(r *flow.Record) bool {
	return r.State == flow.StateCanceled || r.CutShort() != "" && r.EndedEarlyBy != flow.EndedByDetector
}

// decided reports whether a debate has the decision that it was held for. Without judges and audience that is all its rounds.
func decided(d *debate.Debate, o *debate.Outcome) bool {
	config := d.Config()
	switch {
	case o.Side != "" || o.Winner != "" || o.Tie || o.Verdicts > 0:
		return true
	case config == nil || config.Judging != nil || config.Audience != nil:
		return false
	default:
		return d.State == flow.StateCompleted && !early(d.Record)
	}
}

// assessment says in a few lines what the author of a solution thinks of it.
func assessment(s *deliberation.Solution) []string {
	out := []string{fmt.Sprintf("Confidence: %g of 100", s.Confidence)}
	plain := strings.NewReplacer("**", "", "`", "") // a line of these is not rendered
	for _, r := range s.Requirements {
		if !r.Fulfilled {
			out = append(out, "Not fulfilled: "+plain.Replace(r.Text))
		}
	}
	for _, question := range s.OpenQuestions {
		out = append(out, "Open question: "+plain.Replace(question))
	}
	return out
}

// outcomeText writes the outcome of a debate as Markdown: who has won, the scores, and the summary of a judge who is of the
// panel's mind.
func outcomeText(d *debate.Debate, o *debate.Outcome) string {
	var out strings.Builder
	switch {
	case o.Winner != "":
		_, _ = fmt.Fprintf(&out, "%s wins.\n", progress.Clean(o.Winner))
	case o.Side != "":
		_, _ = fmt.Fprintf(&out, "The side %s wins.\n", progress.Clean(string(o.Side)))
	case o.Tie:
		out.WriteString("It is a tie.\n")
	case o.Verdicts > 0:
		out.WriteString("Nobody wins.\n")
	default:
		why := ""
		if c := d.Config(); c != nil && c.Judging == nil && c.Audience == nil {
			why = " No judge was configured."
		}
		_, _ = fmt.Fprintf(&out, "There is no verdict.%s Rounds: %d\n", why, d.Round)
	}
	if len(o.Scores) > 0 {
		out.WriteString("\n## Scores\n\n")
	}
	for _, name := range slices.SortedFunc(maps.Keys(o.Scores), func(a, b string) int {
		return cmp.Or(cmp.Compare(o.Scores[b], o.Scores[a]), cmp.Compare(a, b))
	}) {
		_, _ = fmt.Fprintf(&out, "- %s: %g\n", progress.Clean(name), o.Scores[name])
	}
	if len(d.Verdicts) > 0 {
		v := cmp.Or(d.Verdict, d.Verdicts[0])
		_, _ = fmt.Fprintf(&out, "\n## Summary of %s\n\n%s\n", progress.Clean(v.Judge), strings.TrimSpace(v.Summary))
		if v.Winner != nil {
			_, _ = fmt.Fprintf(&out, "\n%s\n", strings.TrimSpace(v.Winner.Reasoning))
		}
	}
	return out.String()
}

// scoresText writes the averages of an evaluation as a table of Markdown that can be read as it is.
func scoresText(r *evaluation.Report) string {
	const line = "| %-32s | %6v | %6v | %7v | %9v |\n"
	var out strings.Builder
	_, _ = fmt.Fprintf(&out, line, "Criterion", "Mean", "Lowest", "Highest", "Deviation")
	rule := func(length int) string { return strings.Repeat("-", length-1) + ":" }
	_, _ = fmt.Fprintf(&out, line, strings.Repeat("-", 32), rule(6), rule(6), rule(7), rule(9))
	for _, rating := range append(slices.Clone(r.Criteria), r.Overall) {
		if s := rating.Spread; s != nil {
			_, _ = fmt.Fprintf(&out, line, rating.Title, fmt.Sprintf("%.1f", s.Mean), s.Min, s.Max, fmt.Sprintf("%.2f", s.Deviation))
		} else {
			_, _ = fmt.Fprintf(&out, line, rating.Title, "-", "-", "-", "-")
		}
	}
	asked := progress.Plural(r.Asked, "evaluator")
	_, _ = fmt.Fprintf(&out, "\n%d of %s answered. %d is the best score.\n", r.Answered, asked, evaluation.HighestScore)
	return out.String()
}
