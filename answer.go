package debate

import (
	"maps"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/prompt"
)

// Names of schemas of judges, beside those that are named after the kind of the call.
const (
	schemaRubric   = "assessment-by-rubric"
	schemaNoWinner = "verdict-without-winner"
)

// debateSchemas returns the schemas that the answers of a debate must match.
func debateSchemas() map[string]*flow.Schema {
	assessment := flow.AnswerOf[answeredJudgement]{
		Check: checkJudgement, Read: judgementOf, Fields: judgeFields,
		Body: func(_ *flow.Record, in *flow.Intent, spend flow.Spend, j *answeredJudgement) flow.Body {
			return &Assessment{Spend: spend, Round: in.Round, Judge: in.By, Judgement: j.Judgement}
		},
	}
	verdict := flow.AnswerOf[FinalVerdict]{
		Check: checkVerdict, Read: verdictOf, Fields: judgeFields,
		Body: func(_ *flow.Record, in *flow.Intent, spend flow.Spend, v *FinalVerdict) flow.Body {
			return &Verdict{Spend: spend, Judge: in.By, Swapped: in.Tag == tagSwapped, FinalVerdict: *v}
		},
	}
	before, after := ballotFields(false), ballotFields(true)
	schemas := map[string]*flow.Schema{
		string(KindAssessment): flow.AnswerSchema[judgementShape](string(KindAssessment), assessment),
		schemaRubric:           flow.AnswerSchema[judgementShape](schemaRubric, assessment),
		string(KindVerdict):    flow.AnswerSchema[FinalVerdict](string(KindVerdict), verdict),
		schemaNoWinner:         flow.AnswerSchema[talkShape](schemaNoWinner, verdict),
		string(KindBallot): flow.AnswerSchema[BallotAnswer](string(KindBallot), flow.AnswerOf[BallotAnswer]{
			Check: checkBallot,
			Fields: func(_ *flow.Record, call *flow.Call) prompt.Fields {
				if call.Tag == tagAfter {
					return after
				}
				return before
			},
			Body: func(_ *flow.Record, in *flow.Intent, spend flow.Spend, b *BallotAnswer) flow.Body {
				return &Ballot{Spend: spend, Voter: in.By, After: in.Tag == tagAfter, BallotAnswer: *b}
			},
		}),
		string(KindAssign): flow.AnswerSchema[PositionPlan](string(KindAssign), flow.AnswerOf[PositionPlan]{
			Check: checkPlan, Fields: planFieldsOf,
			Body: func(r *flow.Record, _ *flow.Intent, spend flow.Spend, p *PositionPlan) flow.Body {
				return of(r).assigned(spend, p)
			},
		}),
	}
	schemas[string(KindFloor)] = floorSchema()
	maps.Copy(schemas, personSchemas())
	return schemas
}

// Tags of calls.
const (
	tagSwapped = "swapped" // a verdict with the participants in the other order
	tagAfter   = "after"   // a vote after the debate
)

func namesOf(participants []Participant) []string {
	names := make([]string, len(participants))
	for i := range participants {
		names[i] = participants[i].Name
	}
	return names
}

// answeredJudgement is an assessment as a judge has answered it.
type answeredJudgement struct {
	Judgement

	tree object // the same as it was read: a field that only some assessments have may be missing
}

// The two answers of a judge are read from the tree that was validated, so that their text is parsed once. The
// schema guarantees every type. What is missing nevertheless stays zero, and the checks that follow find it.

// object is a JSON object of a validated tree.
type object map[string]any

func judgementOf(tree any) *answeredJudgement {
	o := objectOf(tree)
	noticed := objectOf(o["flags"])
	j := &answeredJudgement{tree: o, Judgement: Judgement{
		ShouldContinue: o.truth("shouldContinue"), QualityScore: o.number("qualityScore"),
		Reasoning: o.text("reasoning"), Ending: o.text("ending"), Recommendations: o.text("recommendations"),
	}}
	for _, flag := range flags {
		*flag.of(&j.Flags) = noticed.truth(flag.name)
	}
	list := o.objects("assessments")
	j.Assessments = make([]ParticipantMark, len(list))
	for i, mark := range list {
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
	list := o.objects("keyPoints")
	v.KeyPoints = make([]KeyPoints, len(list))
	for i, points := range list {
		v.KeyPoints[i] = KeyPoints{Participant: points.text("participant"), MainArguments: points.texts("mainArguments")}
	}
	if winner := objectOf(o["winner"]); winner != nil {
		v.Winner = &Winner{
			Participant: winner.text("participant"), Side: format.Side(winner.text("side")), Reasoning: winner.text("reasoning"),
		}
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

// has reports whether the object has a field.
func (o object) has(key string) bool {
	_, ok := o[key]
	return ok
}

func (o object) objects(key string) []object {
	list, _ := o[key].([]any)
	out := make([]object, len(list))
	for i := range list {
		out[i] = objectOf(list[i])
	}
	return out
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
