package main

import "github.com/agonist-dev/debate/flow"

// Decision is what the editor answers with, as JSON.
type Decision struct {
	Decision string `json:"decision" jsonschema:"enum=accept,enum=revise,enum=reject" redact:"-"`
	Reasons  string `json:"reasons"`
}

// decisionSchema says how the editor's answer is read. The others read the reasons alone.
func decisionSchema() *flow.Schema {
	return flow.AnswerSchema[Decision]("decision", flow.AnswerOf[Decision]{
		Spoken: "reasons",
		Check: func(r *flow.Record, d *Decision) []string {
			if d.Decision == "revise" && r.Round >= r.Settings().Rounds {
				return []string{"decision: no revision is left: accept or reject"}
			}
			return nil
		},
	})
}

// decisionOf returns the decision of the present round; the zero value if there is none yet.
func decisionOf(r *flow.Record) Decision {
	d, _ := flow.AnswerTo[Decision](r, decide(r)[0].ID)
	return d
}
