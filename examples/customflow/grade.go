package main

import (
	"fmt"

	"github.com/agonist-dev/debate/flow"
)

// Mark is what the grader answers with, as JSON.
type Mark struct {
	Score int    `json:"score" jsonschema:"minimum=0,maximum=100"`
	Hire  bool   `json:"hire"`
	Why   string `json:"why"`
}

// Graded is an event of this flow's own: the mark that was accepted.
type Graded struct {
	flow.Spend
	Mark

	Grader string `json:"grader" redact:"-"`
}

// EventKind implements [flow.Body].
func (*Graded) EventKind() flow.EventKind { return "graded" }

// markSchema says how the grader's answer is read. An answer that is not accepted is asked for once more.
func markSchema() *flow.Schema {
	return flow.AnswerSchema[Mark]("mark", flow.AnswerOf[Mark]{
		Check: func(r *flow.Record, m *Mark) []string {
			if pass := r.Config().(*Config).PassMark; m.Hire != (m.Score >= pass) {
				return []string{fmt.Sprintf("hire is %t with a score of %d, but the pass mark is %d", m.Hire, m.Score, pass)}
			}
			return nil
		},
		Body: func(_ *flow.Record, in *flow.Intent, spend flow.Spend, m *Mark) flow.Body {
			return &Graded{Spend: spend, Mark: *m, Grader: in.By}
		},
	})
}

// Interview is the part that the flow keeps beside the record.
type Interview struct {
	*flow.Record

	Grade *Graded // nil: there is no mark yet, or the grader was dropped
}

// Fold implements [flow.Projection].
func (i *Interview) Fold(e *flow.Event) error {
	if body, ok := e.Body.(*Graded); ok {
		i.Grade = body
	}
	return nil
}
