package debate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
)

// PersonJudgement is what a person who judges answers about one round: a score for each participant, a mark for the round,
// whether the debate should go on, and a sentence.
type PersonJudgement struct {
	Scores         map[string]float64 `json:"scores" jsonschema:"description=0 to 10 for every participant by name" redact:"keys"`
	QualityScore   float64            `json:"qualityScore" jsonschema:"minimum=0,maximum=10,description=quality of the round as a whole"`
	ShouldContinue bool               `json:"shouldContinue" jsonschema:"description=whether another round is worth having"`
	Reasoning      string             `json:"reasoning" jsonschema:"description=why you judge so, in a sentence"`
}

// PersonVerdict is what a person who judges answers about the whole debate: a score for each participant, a mark for the
// debate, the winner, and a sentence.
type PersonVerdict struct {
	Scores       map[string]float64 `json:"scores" jsonschema:"description=0 to 100 for every participant by name" redact:"keys"`
	QualityScore float64            `json:"qualityScore" jsonschema:"minimum=0,maximum=100,description=quality of the debate as a whole"`
	Winner       string             `json:"winner" jsonschema:"description=the winner's name; empty if nobody has won" redact:"-"`
	Reasoning    string             `json:"reasoning" jsonschema:"description=why you judge so, in a sentence"`
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
			Check: checkPersonJudgement, Names: assessedNames, Narrow: narrowScores(10),
			Read: func(tree any) *PersonJudgement {
				o := objectOf(tree)
				return &PersonJudgement{o.numbers("scores"), o.number("qualityScore"), o.truth("shouldContinue"), o.text("reasoning")}
			},
			Body: func(_ *flow.Record, in *flow.Intent, spend flow.Spend, p *PersonJudgement) flow.Body {
				return &Assessment{Spend: spend, Round: in.Round, Judge: in.By, Judgement: p.judgement()}
			},
		}),
		schemaPersonVerdict: flow.AnswerSchema[PersonVerdict](schemaPersonVerdict, flow.AnswerOf[PersonVerdict]{
			Check: checkPersonVerdict, Names: judgedNames, Narrow: narrowScores(100),
			Read: func(tree any) *PersonVerdict {
				o := objectOf(tree)
				return &PersonVerdict{o.numbers("scores"), o.number("qualityScore"), o.text("winner"), o.text("reasoning")}
			},
			Body: func(_ *flow.Record, in *flow.Intent, spend flow.Spend, p *PersonVerdict) flow.Body {
				return &Verdict{Spend: spend, Judge: in.By, Swapped: in.Tag == tagSwapped, FinalVerdict: p.verdict()}
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
func (p *PersonVerdict) verdict() FinalVerdict {
	v := FinalVerdict{
		Summary: p.Reasoning, KeyPoints: []KeyPoints{}, AreasOfAgreement: []string{}, AreasOfDisagreement: []string{}, Scores: p.Scores,
		Criteria: map[string]string{}, QualityScore: p.QualityScore, Insights: []string{},
	}
	if p.Winner != "" {
		v.Winner = &Winner{Participant: p.Winner, Reasoning: p.Reasoning}
	}
	return v
}

func checkPersonJudgement(r *flow.Record, p *PersonJudgement) []string {
	return append(checkScores(of(r).inRound(), p.Scores, 10), blank("reasoning", p.Reasoning)...)
}

func checkPersonVerdict(r *flow.Record, p *PersonVerdict) []string {
	d := of(r)
	contestants := d.Contestants()
	problems := checkScores(contestants, p.Scores, 100)
	problems = append(problems, d.checkWinner(contestants, p.Winner)...)
	return append(problems, blank("reasoning", p.Reasoning)...)
}

// checkScores finds contestants without a score, and scores that are out of bounds or somebody else's.
func checkScores(contestants []Participant, scores map[string]float64, most float64) []string {
	var problems []string
	for i := range contestants {
		name := contestants[i].Name
		score, ok := scores[name]
		switch {
		case !ok:
			problems = append(problems, fmt.Sprintf("scores: %q is missing", name))
		case score < 0 || score > most:
			problems = append(problems, fmt.Sprintf("scores: the score of %q is not between 0 and %g", name, most))
		}
	}
	if len(scores) > len(contestants) {
		problems = append(problems, "scores: somebody is scored who is no participant")
	}
	return problems
}

// checkWinner finds a winner who cannot be one. "": nobody has won.
func (d *Debate) checkWinner(contestants []Participant, winner string) []string {
	switch {
	case winner == "":
		return nil
	case d.format.Decide == format.NoWinner:
		return []string{"winner: is not null, but this format has no winner"}
	case !has(contestants, winner):
		return []string{"winner: is no participant, by the exact name"}
	case d.IsDropped(winner) && !d.format.LeaverMayWin:
		return []string{"winner: has left the debate, and cannot win"}
	default:
		return nil
	}
}

// narrowScores writes the names of those who are scored into a schema.
func narrowScores(most int) func(flow.Names, []byte) []byte {
	return func(names flow.Names, data []byte) []byte { return numbered(data, names.People, most) }
}

// personAssessed is what a person is asked about the present round.
func (d *Debate) personAssessed() string {
	contestants := d.inRound()
	example := d.example(PersonJudgement{Scores: even(contestants, 7), QualityScore: 7, ShouldContinue: true, Reasoning: "…"})
	return fmt.Sprintf("Round %d of %d is over. How good was each of %s in it, from 0 to 10? How good was the round, from 0 to 10? "+
		"Should the debate go on? Why, in a sentence? The answer looks like this: %s", d.Round, d.rounds(), d.listed(contestants), example)
}

// personJudged is what a person is asked about the whole debate.
func (d *Debate) personJudged() string {
	contestants := d.Contestants()
	who := `Who has won ("" if nobody)?`
	if d.format.Decide == format.NoWinner {
		who = `This format has no winner, so that one is "".`
	}
	example := d.example(PersonVerdict{Scores: even(contestants, 70), QualityScore: 70, Winner: "", Reasoning: "…"})
	return fmt.Sprintf("The debate is over. How good was each of %s, from 0 to 100? How good was the debate, from 0 to 100? "+
		"%s Why, in a sentence? The answer looks like this: %s", d.listed(contestants), who, example)
}

// even gives everybody the same score.
func even(participants []Participant, score float64) map[string]float64 {
	scores := make(map[string]float64, len(participants))
	for i := range participants {
		scores[participants[i].Name] = score
	}
	return scores
}

// listed names participants as their judges see them.
func (d *Debate) listed(participants []Participant) string {
	names := namesOf(participants)
	for i := range names {
		names[i] = d.Hide(names[i])
	}
	return strings.Join(names, ", ")
}

// example returns an answer as JSON, with names as judges see them.
func (d *Debate) example(answer any) string {
	data, err := json.Marshal(answer)
	if err != nil {
		return "{}"
	}
	return d.Hide(string(data))
}
