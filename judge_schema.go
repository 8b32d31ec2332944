package debate

import (
	"bytes"
	"encoding/json"
	"strings"
)

// schemaRubric is the name of the schema of an assessment by a rubric.
const schemaRubric = "assessment-by-rubric"

// debateSchemas returns the schemas that the answers of a debate must match.
func debateSchemas() map[string]*Schema {
	return map[string]*Schema{
		string(KindAssessment): AnswerSchema[Judgement](string(KindAssessment), AnswerOf[Judgement]{
			Check: checkJudgement, Read: judgementOf, Names: judgedNames, Body: assessed,
		}),
		schemaRubric: AnswerSchema[RubricJudgement](schemaRubric, AnswerOf[Judgement]{
			Check: checkMarks, Read: judgementOf, Names: judgedNames, Narrow: narrowMarks, Body: assessed,
		}),
		string(KindVerdict): AnswerSchema[FinalVerdict](string(KindVerdict), AnswerOf[FinalVerdict]{
			Check: checkVerdict, Read: verdictOf, Names: judgedNames, Narrow: narrowVerdict,
			Body: func(_ *Record, in *Intent, spend Spend, v *FinalVerdict) Body {
				return &Verdict{Spend: spend, Judge: in.By, Swapped: in.Tag == tagSwapped, FinalVerdict: *v}
			},
		}),
		string(KindBallot): AnswerSchema[BallotPaper](string(KindBallot), AnswerOf[BallotPaper]{
			Check: checkBallot,
			Body: func(_ *Record, in *Intent, spend Spend, b *BallotPaper) Body {
				return &Ballot{Spend: spend, Voter: in.By, After: in.Tag == tagAfter, BallotPaper: *b}
			},
		}),
		string(KindAssign): AnswerSchema[PositionPlan](string(KindAssign), AnswerOf[PositionPlan]{
			Check: checkPlan,
			Body:  func(r *Record, _ *Intent, spend Spend, p *PositionPlan) Body { return of(r).assigned(spend, p) },
		}),
	}
}

// Tags of calls.
const (
	tagSwapped = "swapped" // a verdict with the participants in the other order
	tagAfter   = "after"   // a vote after the debate
)

func assessed(_ *Record, in *Intent, spend Spend, j *Judgement) Body {
	return &Assessment{Spend: spend, Round: in.Round, Judge: in.By, Judgement: *j}
}

// judgedNames returns the names that the schemas of judges contain.
func judgedNames(r *Record) Names {
	d := of(r)
	return Names{People: namesOf(d.Contestants()), Keys: d.criteria()}
}

func namesOf(participants []Participant) []string {
	names := make([]string, len(participants))
	for i := range participants {
		names[i] = participants[i].Name
	}
	return names
}

// narrowMarks writes the criteria of a rubric into a schema.
func narrowMarks(names Names, data []byte) []byte {
	marks := closed(names.Keys, `{"type":"number","minimum":0,"maximum":10}`)
	return bytes.Replace(data, []byte(`{"additionalProperties":{"type":"number"},"type":"object"`), []byte(marks), 1)
}

// narrowVerdict writes the keys of the scores and criteria into the schema that a provider gets, since a strict
// mode accepts no open maps. The local check keeps the schema of the Go type.
func narrowVerdict(names Names, data []byte) []byte {
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
