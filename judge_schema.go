package debate

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// schemaRubric is the name of the schema of an assessment by a rubric.
const schemaRubric = "assessment-by-rubric"

// debateSchemas returns the schemas that the answers of a debate must match.
func debateSchemas() map[string]*flow.Schema {
	return map[string]*flow.Schema{
		string(KindAssessment): flow.AnswerSchema[Judgement](string(KindAssessment), flow.AnswerOf[Judgement]{
			Check: checkJudgement, Read: judgementOf, Names: judgedNames, Body: assessed,
		}),
		schemaRubric: flow.AnswerSchema[RubricJudgement](schemaRubric, flow.AnswerOf[Judgement]{
			Check: checkMarks, Read: judgementOf, Names: judgedNames, Narrow: narrowMarks, Body: assessed,
		}),
		string(KindVerdict): flow.AnswerSchema[FinalVerdict](string(KindVerdict), flow.AnswerOf[FinalVerdict]{
			Check: checkVerdict, Read: verdictOf, Names: judgedNames, Narrow: narrowVerdict,
			Body: func(_ *flow.Record, in *flow.Intent, spend flow.Spend, v *FinalVerdict) flow.Body {
				return &Verdict{Spend: spend, Judge: in.By, Swapped: in.Tag == tagSwapped, FinalVerdict: *v}
			},
		}),
		string(KindBallot): flow.AnswerSchema[BallotPaper](string(KindBallot), flow.AnswerOf[BallotPaper]{
			Check: checkBallot,
			Body: func(_ *flow.Record, in *flow.Intent, spend flow.Spend, b *BallotPaper) flow.Body {
				return &Ballot{Spend: spend, Voter: in.By, After: in.Tag == tagAfter, BallotPaper: *b}
			},
		}),
		string(KindAssign): flow.AnswerSchema[PositionPlan](string(KindAssign), flow.AnswerOf[PositionPlan]{
			Check: checkPlan,
			Body: func(r *flow.Record, _ *flow.Intent, spend flow.Spend, p *PositionPlan) flow.Body {
				return of(r).assigned(spend, p)
			},
		}),
	}
}

// Tags of calls.
const (
	tagSwapped = "swapped" // a verdict with the participants in the other order
	tagAfter   = "after"   // a vote after the debate
)

func assessed(_ *flow.Record, in *flow.Intent, spend flow.Spend, j *Judgement) flow.Body {
	return &Assessment{Spend: spend, Round: in.Round, Judge: in.By, Judgement: *j}
}

// judgedNames returns the names that the schemas of judges contain.
func judgedNames(r *flow.Record) flow.Names {
	d := of(r)
	return flow.Names{People: namesOf(d.Contestants()), Keys: d.criteria()}
}

func namesOf(participants []Participant) []string {
	names := make([]string, len(participants))
	for i := range participants {
		names[i] = participants[i].Name
	}
	return names
}

// narrowMarks writes the criteria of a rubric into a schema.
func narrowMarks(names flow.Names, data []byte) []byte {
	marks := closed(names.Keys, `{"type":"number","minimum":0,"maximum":10}`)
	return bytes.Replace(data, []byte(`{"additionalProperties":{"type":"number"},"type":"object"`), []byte(marks), 1)
}

// narrowVerdict writes the keys of the scores and criteria into the schema that a provider gets, since a strict
// mode accepts no open maps. The local check keeps the schema of the Go type.
func narrowVerdict(names flow.Names, data []byte) []byte {
	scores := closed(names.People, `{"type":"number","minimum":0,"maximum":100}`)
	findings := closed(names.Keys, `{"type":"string"}`)
	data = bytes.Replace(data, []byte(`{"additionalProperties":{"type":"number"},"type":"object"`), []byte(scores), 1)
	return bytes.Replace(data, []byte(`{"additionalProperties":{"type":"string"},"type":"object"`), []byte(findings), 1)
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
