package deliberation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
)

// Solution is the result of a deliberation, in the JSON in which a model answers. Lists are never nil in an accepted
// answer.
type Solution struct {
	// Description is the solution in Markdown.
	Description     string   `json:"solution"`
	Implementation  []string `json:"implementation"` // notes for those who build it
	Tradeoffs       []string `json:"tradeoffs"`
	Recommendations []string `json:"recommendations"`
	// Requirements has at least one entry if a model has made the solution. A [SynthesizerFunc] may leave it empty, and
	// its confidence is then at most 40.
	Requirements  []Requirement `json:"requirements"`
	OpenQuestions []string      `json:"openQuestions"`
	// Confidence is from 0 to 100. It is at most 40 while a major requirement is not fulfilled.
	Confidence float64 `json:"confidence" jsonschema:"minimum=0,maximum=100"`
}

// Requirement is a requirement of the problem.
type Requirement struct {
	Text      string `json:"text"`
	Major     bool   `json:"major"` // without it the problem is not solved
	Fulfilled bool   `json:"fulfilled"`
	Note      string `json:"note"` // how it is fulfilled, or why not
}

// schemaSolution names the schema of a solution.
const schemaSolution = "solution"

func checkSolution(r *flow.Record, v *Solution) []string {
	var problems []string
	if len(v.Requirements) == 0 && (of(r).config.Synthesis != SynthesisRegistered || v.Confidence > mostUnmet) {
		problems = append(problems, "requirements: is empty: it lists every requirement of the problem, fulfilled or not")
	}
	if strings.TrimSpace(v.Description) == "" {
		problems = append(problems, "solution: is blank")
	}
	problems = append(problems, checkRequirements(v.Requirements)...)
	return append(problems, unmet("confidence", v.Confidence, v.Requirements)...)
}

func checkRequirements(all []Requirement) []string {
	var problems []string
	for i := range all {
		if strings.TrimSpace(all[i].Text) == "" {
			problems = append(problems, fmt.Sprintf("requirements[%d].text: is blank", i))
		}
	}
	return problems
}

// unmet refuses a high mark for what leaves a major requirement unmet. The mark is the judge's to correct.
func unmet(field string, mark float64, all []Requirement) []string {
	if mark <= mostUnmet {
		return nil
	}
	for i := range all {
		if all[i].Major && !all[i].Fulfilled {
			return []string{fmt.Sprintf("%s: is %g, but the major requirement requirements[%d] is not fulfilled: at most %d is possible then",
				field, mark, i, mostUnmet)}
		}
	}
	return nil
}

// Solution returns the solution and its author: the judge, the author of the winning proposal, or the registered
// synthesizer. ok is false if there is no solution. Those after which the deliberation went on stand in Earlier.
func (d *Deliberation) Solution() (solution *Solution, by string, ok bool) {
	for _, t := range slices.Backward(d.Turns[d.reopenedAt:]) {
		if t.Kind != KindSynthesis {
			continue
		}
		solution = &Solution{}
		if json.Unmarshal(t.Data, solution) != nil {
			return nil, "", false
		}
		return solution, t.Speaker, true
	}
	return nil, "", false
}

// schemas are what the structured answers of the flow must match.
func schemas() map[string]*flow.Schema {
	out := make(map[string]*flow.Schema)
	add(out, schemaQuestions, flow.AnswerOf[questionList]{
		Check: checkQuestions,
		Fields: func(r *flow.Record, _ *flow.Call) prompt.Fields {
			return questionFields(of(r).config.mostQuestions())
		},
	})
	add(out, schemaConfidence, flow.AnswerOf[Confidence]{Fields: always(confidenceFields())})
	add(out, schemaQuality, flow.AnswerOf[Quality]{Check: checkQuality, Fields: always(qualityFields())})
	for seat := -1; seat < mostAgents; seat++ {
		add(out, voteSchema(seat), flow.AnswerOf[Vote]{Check: checkVote(seat), Fields: votedFields})
	}
	add(out, schemaSolution, flow.AnswerOf[Solution]{Check: checkSolution, Fields: always(solutionFields())})
	return out
}

// add makes a schema. All of these types compile; one that did not would refuse every answer.
func add[T any](to map[string]*flow.Schema, name string, answer flow.AnswerOf[T]) {
	to[name] = flow.AnswerSchema[T](name, answer)
}
