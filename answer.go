package debate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// schemaRubric is the name of the schema of an assessment by a rubric.
const schemaRubric = "assessment-by-rubric"

// debateSchemas returns the schemas that the answers of a debate must match.
func debateSchemas() map[string]*flow.Schema {
	schemas := map[string]*flow.Schema{
		string(KindAssessment): flow.AnswerSchema[Judgement](string(KindAssessment), flow.AnswerOf[Judgement]{
			Check: checkJudgement, Read: judgementOf, Names: assessedNames, Body: assessed,
		}),
		schemaRubric: flow.AnswerSchema[RubricJudgement](schemaRubric, flow.AnswerOf[Judgement]{
			Check: checkMarks, Read: judgementOf, Names: assessedNames, Narrow: narrowMarks, Body: assessed,
		}),
		string(KindVerdict): flow.AnswerSchema[FinalVerdict](string(KindVerdict), flow.AnswerOf[FinalVerdict]{
			Check: checkVerdict, Read: verdictOf, Names: judgedNames, Narrow: narrowVerdict,
			Body: func(_ *flow.Record, in *flow.Intent, spend flow.Spend, v *FinalVerdict) flow.Body {
				return &Verdict{Spend: spend, Judge: in.By, Swapped: in.Tag == tagSwapped, FinalVerdict: *v}
			},
		}),
		string(KindBallot): flow.AnswerSchema[BallotAnswer](string(KindBallot), flow.AnswerOf[BallotAnswer]{
			Check: checkBallot,
			Body: func(_ *flow.Record, in *flow.Intent, spend flow.Spend, b *BallotAnswer) flow.Body {
				return &Ballot{Spend: spend, Voter: in.By, After: in.Tag == tagAfter, BallotAnswer: *b}
			},
		}),
		string(KindAssign): flow.AnswerSchema[PositionPlan](string(KindAssign), flow.AnswerOf[PositionPlan]{
			Check: checkPlan, Names: planNames,
			Body: func(r *flow.Record, _ *flow.Intent, spend flow.Spend, p *PositionPlan) flow.Body {
				return of(r).assigned(spend, p)
			},
		}),
	}
	maps.Copy(schemas, personSchemas())
	return schemas
}

// Tags of calls.
const (
	tagSwapped = "swapped" // a verdict with the participants in the other order
	tagAfter   = "after"   // a vote after the debate
)

func assessed(_ *flow.Record, in *flow.Intent, spend flow.Spend, j *Judgement) flow.Body {
	return &Assessment{Spend: spend, Round: in.Round, Judge: in.By, Judgement: *j}
}

// judgedNames returns the names that the schema of a verdict contains.
func judgedNames(r *flow.Record) flow.Names {
	d := of(r)
	return flow.Names{People: namesOf(d.Contestants()), Keys: d.criteria()}
}

// assessedNames returns the names that the schemas of assessments contain.
func assessedNames(r *flow.Record) flow.Names {
	d := of(r)
	return flow.Names{People: namesOf(d.inRound()), Keys: d.criteria()}
}

func namesOf(participants []Participant) []string {
	names := make([]string, len(participants))
	for i := range participants {
		names[i] = participants[i].Name
	}
	return names
}

// narrowMarks writes the criteria of a rubric into a schema.
func narrowMarks(names flow.Names, data []byte) []byte { return numbered(data, names.Keys, 10) }

// narrowVerdict writes the keys of the scores and criteria into the schema that a provider gets, since a strict
// mode accepts no open maps. The local check keeps the schema of the Go type.
func narrowVerdict(names flow.Names, data []byte) []byte {
	findings := closed(names.Keys, `{"type":"string"}`)
	data = numbered(data, names.People, 100)
	return bytes.Replace(data, []byte(`{"additionalProperties":{"type":"string"},"type":"object"`), []byte(findings), 1)
}

// numbered writes the keys of the first open map of numbers into a schema, with numbers from 0 to most.
func numbered(data []byte, keys []string, most int) []byte {
	numbers := closed(keys, fmt.Sprintf(`{"type":"number","minimum":0,"maximum":%d}`, most))
	return bytes.Replace(data, []byte(`{"additionalProperties":{"type":"number"},"type":"object"`), []byte(numbers), 1)
}

// closed begins the schema of an object that has exactly these keys. Its last brace is left open.
func closed(keys []string, each string) string {
	var properties, required []string
	for _, key := range keys {
		name, _ := json.Marshal(key) //nolint:errchkjson // a string always marshals
		properties = append(properties, string(name)+":"+each)
		required = append(required, string(name))
	}
	return `{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":[` + strings.Join(required, ",") +
		`],"additionalProperties":false`
}

// The two answers of a judge are read from the tree that was validated, so that their text is parsed once. The
// schema guarantees every type. What is missing nevertheless stays zero, and the checks that follow find it.

// object is a JSON object of a validated tree.
type object map[string]any

func judgementOf(tree any) *Judgement {
	o := objectOf(tree)
	flags := objectOf(o["flags"])
	j := &Judgement{
		ShouldContinue: o.truth("shouldContinue"), QualityScore: o.number("qualityScore"),
		Reasoning: o.text("reasoning"), Recommendations: o.text("recommendations"),
		Flags: Flags{
			Repetitive: flags.truth("repetitive"), Drifting: flags.truth("drifting"),
			DiminishingReturns: flags.truth("diminishingReturns"), ConvergenceReached: flags.truth("convergenceReached"),
		},
	}
	list, _ := o["assessments"].([]any)
	j.Assessments = make([]ParticipantMark, len(list))
	for i := range list {
		mark := objectOf(list[i])
		j.Assessments[i] = ParticipantMark{
			Participant: mark.text("participant"), Strengths: mark.texts("strengths"), Weaknesses: mark.texts("weaknesses"),
			Score: mark.number("score"), Criteria: mark.numbers("criteria"),
		}
	}
	return j
}

func verdictOf(tree any) *FinalVerdict {
	o := objectOf(tree)
	v := &FinalVerdict{
		Summary: o.text("summary"), AreasOfAgreement: o.texts("areasOfAgreement"), AreasOfDisagreement: o.texts("areasOfDisagreement"),
		QualityScore: o.number("qualityScore"), Insights: o.texts("insights"),
		Scores: make(map[string]float64), Criteria: make(map[string]string),
	}
	list, _ := o["keyPoints"].([]any)
	v.KeyPoints = make([]KeyPoints, len(list))
	for i := range list {
		points := objectOf(list[i])
		v.KeyPoints[i] = KeyPoints{Participant: points.text("participant"), MainArguments: points.texts("mainArguments")}
	}
	if winner := objectOf(o["winner"]); winner != nil {
		v.Winner = &Winner{Participant: winner.text("participant"), Reasoning: winner.text("reasoning")}
	}
	for name := range objectOf(o["scores"]) {
		v.Scores[name] = objectOf(o["scores"]).number(name)
	}
	for name := range objectOf(o["criteria"]) {
		v.Criteria[name] = objectOf(o["criteria"]).text(name)
	}
	return v
}

func objectOf(v any) object {
	o, _ := v.(map[string]any)
	return o
}

func (o object) text(key string) string {
	s, _ := o[key].(string)
	return s
}

func (o object) number(key string) float64 {
	n, _ := o[key].(float64)
	return n
}

func (o object) truth(key string) bool {
	b, _ := o[key].(bool)
	return b
}

func (o object) texts(key string) []string {
	list, _ := o[key].([]any)
	out := make([]string, len(list))
	for i := range list {
		out[i], _ = list[i].(string)
	}
	return out
}

// numbers returns an object of numbers, or nil if there is none.
func (o object) numbers(key string) map[string]float64 {
	inner := objectOf(o[key])
	if inner == nil {
		return nil
	}
	out := make(map[string]float64, len(inner))
	for name := range inner {
		out[name] = inner.number(name)
	}
	return out
}
