package deliberation

import "slices"

// Degraded lists where the deliberation fell short of its config, one line each, as that of any conversation does: see
// [flow.Record.Degraded]. Its warnings name what nobody has answered, what is missing, and what was left out or made
// smaller.
//
// It is empty if nothing was missing. Its JSON has the same, under "degraded".
func (d *Deliberation) Degraded() []string {
	return d.Record.Degraded(owes, func(name string) string { return d.config.NameOf(name) + " has taken no further part" })
}

// Degraded lists where the evaluation fell short of its config, one line each: what the record of any conversation lists, see
// [flow.Record.Degraded], and once it is over, which evaluators have given no valid answer.
//
// It is empty if nothing was missing. Its JSON has the same, under "degraded".
func (s *Scores) Degraded() []string {
	out := s.Record.Degraded(owedScores, nil)
	if !s.Final() {
		return out
	}
	for i := range s.config.Evaluators {
		a := s.sheet(s.config.Evaluators[i].ID)
		if line := a.without(); a.gap != "" && !slices.Contains(out, line) { // a warning says so
			out = append(out, line)
		}
	}
	return out
}
