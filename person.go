package debate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/prompt"
)

// PersonJudgement is what a person who judges answers about one round: a sentence, a score for each participant who has spoken in it, a
// mark for the round, and whether the debate should go on.
type PersonJudgement struct {
	Reasoning      string             `json:"reasoning"`
	Scores         map[string]float64 `json:"scores" redact:"keys"` // from 0 to 10, by name
	QualityScore   float64            `json:"qualityScore" jsonschema:"minimum=0,maximum=10"`
	ShouldContinue bool               `json:"shouldContinue"`
}

// PersonVerdict is what a person who judges answers about the whole debate: a sentence, a score for each participant, a mark for the
// debate, and the winner. In a format without a winner it has no scores and no winner.
type PersonVerdict struct {
	Reasoning    string             `json:"reasoning"`
	Scores       map[string]float64 `json:"scores" redact:"keys"` // from 0 to 100, by name
	QualityScore float64            `json:"qualityScore" jsonschema:"minimum=0,maximum=100"`
	Winner       string             `json:"winner" redact:"-"` // a participant's name or, where sides win, a side; "": nobody has won
}

// answeredPersonVerdict is a person's verdict as it was answered.
type answeredPersonVerdict struct {
	PersonVerdict

	named bool // whether the answer says who has won, even if nobody has
}

// Names of the schemas of people who judge.
const (
	schemaPersonAssessment = "assessment-by-person"
	schemaPersonVerdict    = "verdict-by-person"
)

// personSchemas returns the schemas that the answers of people who judge must match.
func personSchemas() map[string]*flow.Schema {
	return map[string]*flow.Schema{
		schemaPersonAssessment: flow.AnswerSchema[PersonJudgement](schemaPersonAssessment, flow.AnswerOf[PersonJudgement]{
			Check: checkPersonJudgement, Fields: judgeFields,
			Read: func(tree any) *PersonJudgement {
				o := objectOf(tree)
				return &PersonJudgement{o.text("reasoning"), o.numbers("scores"), o.number("qualityScore"), o.truth("shouldContinue")}
			},
			Body: func(_ *flow.Record, in *flow.Intent, spend flow.Spend, p *PersonJudgement) flow.Body {
				return &Assessment{Spend: spend, Round: in.Round, Judge: in.By, Judgement: p.judgement()}
			},
		}),
		schemaPersonVerdict: flow.AnswerSchema[personVerdictShape](schemaPersonVerdict, flow.AnswerOf[answeredPersonVerdict]{
			Check: checkPersonVerdict, Fields: judgeFields,
			Read: func(tree any) *answeredPersonVerdict {
				o := objectOf(tree)
				v := PersonVerdict{o.text("reasoning"), o.numbers("scores"), o.number("qualityScore"), o.text("winner")}
				return &answeredPersonVerdict{v, o.has("winner")}
			},
			Body: func(r *flow.Record, in *flow.Intent, spend flow.Spend, p *answeredPersonVerdict) flow.Body {
				return &Verdict{Spend: spend, Judge: in.By, Swapped: in.Tag == tagSwapped, FinalVerdict: p.verdict(of(r).contest())}
			},
		}),
	}
}

// judgement returns the assessment that a person has given. What a person is not asked for is empty.
func (p *PersonJudgement) judgement() Judgement {
	j := Judgement{ShouldContinue: p.ShouldContinue, QualityScore: p.QualityScore, Reasoning: p.Reasoning}
	for _, name := range slices.Sorted(maps.Keys(p.Scores)) {
		j.Assessments = append(j.Assessments, ParticipantMark{
			Participant: name, Strengths: []string{}, Weaknesses: []string{}, Score: p.Scores[name],
		})
	}
	return j
}

// verdict returns the verdict that a person has given. What a person is not asked for is empty.
func (p *PersonVerdict) verdict(c contest) FinalVerdict {
	v := FinalVerdict{
		Summary: p.Reasoning, KeyPoints: []KeyPoints{}, AreasOfAgreement: []string{}, AreasOfDisagreement: []string{}, Scores: p.Scores,
		Criteria: map[string]string{}, QualityScore: p.QualityScore, Insights: []string{},
	}
	if v.Scores == nil {
		v.Scores = map[string]float64{}
	}
	switch {
	case p.Winner == "":
	case c.sides != nil:
		v.Winner = &Winner{Side: format.Side(p.Winner), Reasoning: p.Reasoning}
	default:
		v.Winner = &Winner{Participant: p.Winner, Reasoning: p.Reasoning}
	}
	return v
}

func checkPersonJudgement(r *flow.Record, p *PersonJudgement) []string {
	d := of(r)
	return append(d.checkScores(d.roundContest(), p.Scores, 10), blank("reasoning", p.Reasoning)...)
}

func checkPersonVerdict(r *flow.Record, p *answeredPersonVerdict) []string {
	d := of(r)
	contest := d.contest()
	problems := d.checkWinner(contest, p.Winner)
	if d.winnerless() {
		p.Scores = nil
	} else {
		problems = append(d.checkScores(contest, p.Scores, 100), problems...)
		if !p.named {
			problems = append(problems, "winner: is missing; \"\" if nobody has won")
		}
	}
	return append(problems, blank("reasoning", p.Reasoning)...)
}

// personAssessed is what a person is asked about the present round.
func (d *Debate) personAssessed(s *sheet) string {
	example := exampleOf(PersonJudgement{Reasoning: "…", Scores: even(s.people, 7), QualityScore: 7, ShouldContinue: true})
	return fmt.Sprintf("Round %d of %d is over. How good was it?\n\n%s%s\n\nThe answer looks like this: %s", d.Round, d.rounds(),
		d.aim(), prompt.FillNames(s.fields.String(), s.people), example)
}

// personJudged is what a person is asked about the whole debate.
func (d *Debate) personJudged(s *sheet, swapped bool) string {
	question := "How good was it, and who has won?"
	example := exampleOf(PersonVerdict{Reasoning: "…", Scores: even(s.people, 70), QualityScore: 70})
	if d.winnerless() {
		question = "How good was it?"
		example = exampleOf(personVerdictShape{Reasoning: "…", QualityScore: 70})
	}
	if swapped && !d.winnerless() { // without a winner the question names nobody
		question += " You are asked this twice, the second time with the participants in the other order: answer as if it were the first time."
	}
	return fmt.Sprintf("The debate is over. %s\n\n%s%s\n\nThe answer looks like this: %s", question,
		d.aim(), prompt.FillNames(s.fields.String(), s.people), example)
}

// aim tells a person what is judged, and in which language to write.
func (d *Debate) aim() string {
	if text := d.Text(askAim); text != "" {
		return text + d.language() + "\n\n"
	}
	return ""
}

// even gives everybody the same score. The names are those that the judge is shown: labels stand in their own order then, which says
// nothing of the names.
func even(names []string, score float64) map[string]float64 {
	scores := make(map[string]float64, len(names))
	for _, name := range names {
		scores[name] = score
	}
	return scores
}

// exampleOf returns an answer as JSON.
func exampleOf(answer any) string {
	data, err := json.Marshal(answer)
	if err != nil {
		return "{}"
	}
	return string(data)
}
