package deliberation

import "github.com/agonist-dev/debate/flow"

// Degraded lists where the deliberation fell short of its config, one line each:
//   - what has ended it early; see [flow.Record.CutShort]
//   - who was dropped
//   - what its warnings name: what nobody has answered, what is missing, what was left out, made smaller or cut by the budget
//   - options that were left out of requests, because the models lack them
//
// It is empty if nothing was missing. Its JSON has the same, under "degraded".
func (d *Deliberation) Degraded() []string {
	var out []string
	if cut := d.CutShort(); cut != "" {
		out = append(out, cut)
	}
	for _, name := range d.Dropped() {
		out = append(out, d.config.NameOf(name)+" has taken no further part")
	}
	for i := range d.Warnings {
		switch d.Warnings[i].Kind {
		case flow.WarnLeftOut, flow.WarnLate, flow.WarnCapped, WarnUnanswered, WarnSummary, WarnCut, WarnNoConfidence, WarnNoSolution,
			WarnMissing, WarnShortened:
			out = append(out, d.Warnings[i].Evidence)
		default: // about the budget, or about what has passed
		}
	}
	for _, left := range d.LeftOut() {
		out = append(out, left.String())
	}
	return out
}

// Degraded lists where the evaluation fell short of its config, one line each:
//   - what has ended it early; see [flow.Record.CutShort]
//   - once it is over, which evaluators have given no valid answer
//   - options that were left out of requests, because the models lack them
//
// It is empty if nothing was missing. Its JSON has the same, under "degraded".
func (s *Scores) Degraded() []string {
	var out []string
	if cut := s.CutShort(); cut != "" {
		out = append(out, cut)
	}
	if s.Final() {
		for i := range s.config.Evaluators {
			if id := s.config.Evaluators[i].ID; s.sheet(id).gap != "" {
				out = append(out, id+": "+s.sheet(id).gap)
			}
		}
	}
	for _, left := range s.LeftOut() {
		out = append(out, left.String())
	}
	return out
}
