package progress

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/deliberation/evaluation"
	"github.com/agonist-dev/debate/flow"
)

// Speech is what an actor has said. Its text is as a model has written it. The other words are cleaned for a terminal.
type Speech struct {
	Who   string // as the actor is shown
	What  string // "rebuttal", "critique of Ada"
	Round int    // 0: outside of the rounds
	Model string // "provider/model"; "": no model was asked
	Text  string // Markdown; behind what an actor has said stand its files, and what was found about its quotations
}

// SpeechOf returns what an event lets people read: a turn, a summary aside, an assessment, a verdict, a vote, a decision or a note. ok is
// false for all other events. name returns how an actor is shown.
func SpeechOf(body flow.Body, name func(id string) string) (s Speech, ok bool) {
	switch b := body.(type) {
	case *flow.Turn:
		if b.Kind == deliberation.KindDigest {
			return Speech{}, false
		}
		s = Speech{Who: name(b.Speaker), What: Thing(b.Kind, name(b.Target)), Round: b.Round, Text: turnText(b) + below(b)}
	case *debate.Assessment:
		s = Speech{Who: name(b.Judge), What: "assessment", Round: b.Round, Text: assessmentText(b)}
	case *debate.Verdict:
		s = Speech{Who: name(b.Judge), What: "verdict", Text: verdictText(b)}
	case *debate.Ballot:
		s = Speech{Who: name(b.Voter), What: "vote", Text: fmt.Sprintf("**%s**: %s", b.Vote, b.Reasoning)}
	case *arbiter.Decision:
		s = Speech{Who: name("arbiter"), What: "decision", Text: decisionText(b)}
	case *debate.FloorGiven:
		s = Speech{Who: "The chair", What: "floor", Round: b.Round, Text: fmt.Sprintf("**%s** has the floor: %s", name(b.To), b.Because)}
	case *flow.Note:
		what := "note"
		if asked := b.Asks(); asked != "" {
			what += ", asks " + name(asked)
		}
		return Speech{Who: Clean(b.As), What: what, Round: b.Round, Text: b.Text}, true
	default:
		return Speech{}, false
	}
	spend := flow.SpendOf(body)
	if s.Model = Clean(spend.Model); spend.StandIn {
		s.What += " (a model stood in)"
	}
	return s, true
}

// Thing names what a job makes.
func (c *Course) Thing(j *Job) string { return Thing(j.Kind, c.Name(j.Target)) }

// Thing names what a call of this kind makes: "critique of Ada", "question to Ada".
func Thing(kind flow.CallKind, target string) string {
	thing := Clean(string(kind))
	switch kind {
	case flow.KindSummary, deliberation.KindDigest:
		thing = "summary"
	case "ballot":
		thing = "vote"
	case "assign":
		thing = "positions"
	case evaluation.KindScore:
		thing = "scores"
	}
	switch {
	case target == "":
		return thing
	case kind == deliberation.KindCritique:
		return thing + " of " + target
	default:
		return thing + " to " + target
	}
}

// below returns what stands below the text of a turn: the files that belong to it, and what the program has found about its quotations.
func below(t *flow.Turn) string {
	var out strings.Builder
	for i := range t.Attachments {
		_, _ = fmt.Fprintf(&out, "\n\n%s", Clean(t.Attachments[i].String()))
	}
	if found := Quotations(t); len(found) > 0 {
		_, _ = fmt.Fprintf(&out, "\n\nQuotations, checked by the program:\n\n- %s\n", strings.Join(found, "\n- "))
	}
	return out.String()
}

// Quotations returns what the program has found about each quotation of a turn, behind its words.
func Quotations(t *flow.Turn) []string {
	out := make([]string, len(t.Quotations))
	for i := range t.Quotations {
		q := &t.Quotations[i]
		out[i] = Clean(q.String())
		if 0 <= q.Start && q.Start < q.End && q.End <= len(t.Text) { // the places of a turn that was redacted are gone
			out[i] = "“" + Shorten(t.Text[q.Start:q.End], mostQuoted) + "”: " + out[i]
		}
	}
	return out
}

// mostQuoted is how many characters of a quotation stand before what was found about it.
const mostQuoted = 160

// turnText returns what a person reads of a turn. Of data that the program does not know, that is the JSON.
func turnText(t *flow.Turn) string {
	if result, ok := arbiter.ResultOf(t); ok {
		return result.Output
	}
	var solution deliberation.Solution
	if t.Kind == deliberation.KindSynthesis && json.Unmarshal(t.Data, &solution) == nil {
		return solution.Description
	}
	var asked struct {
		Questions []string `json:"questions"`
	}
	if t.Kind == deliberation.KindQuestion && json.Unmarshal(t.Data, &asked) == nil {
		if len(asked.Questions) == 0 {
			return "Nothing is unclear."
		}
		return "- " + strings.Join(asked.Questions, "\n- ")
	}
	marks := map[string]evaluation.Mark{}
	if t.Kind == evaluation.KindScore && json.Unmarshal(t.Data, &marks) == nil {
		var out strings.Builder
		for _, criterion := range slices.Sorted(maps.Keys(marks)) {
			_, _ = fmt.Fprintf(&out, "- **%s**: %g. %s\n", criterion, marks[criterion].Score, marks[criterion].Reasoning)
		}
		return out.String()
	}
	if text := strings.TrimSpace(t.Text); len(t.Data) > 0 && strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return "```json\n" + text + "\n```"
	}
	return t.Text
}

func assessmentText(a *debate.Assessment) string {
	var out strings.Builder
	_, _ = fmt.Fprintf(&out, "%s\n\n", a.Reasoning)
	for _, mark := range a.Assessments {
		_, _ = fmt.Fprintf(&out, "- **%s**: %g\n", mark.Participant, mark.Score)
		for _, point := range slices.Concat(mark.Strengths, mark.Weaknesses) {
			_, _ = fmt.Fprintf(&out, "  - %s\n", point)
		}
	}
	if a.Ending != "" {
		_, _ = fmt.Fprintf(&out, "\n%s\n", a.Ending)
	}
	return out.String()
}

func verdictText(v *debate.Verdict) string {
	var out strings.Builder
	_, _ = fmt.Fprintf(&out, "%s\n\n", v.Summary)
	if w := v.Winner; w != nil {
		_, _ = fmt.Fprintf(&out, "**%s** wins. %s\n\n", cmp.Or(w.Participant, string(w.Side)), w.Reasoning)
	}
	for _, name := range slices.Sorted(maps.Keys(v.Scores)) {
		_, _ = fmt.Fprintf(&out, "- %s: %g\n", name, v.Scores[name])
	}
	return out.String()
}

func decisionText(d *arbiter.Decision) string {
	text := "**" + string(d.Move) + "**"
	if len(d.Agents) > 0 {
		text += " " + strings.Join(d.Agents, ", ")
	}
	if d.Reason != "" {
		text += ": " + d.Reason
	}
	if d.Summary != "" {
		text += "\n\n" + d.Summary
	}
	return text
}
