package deliberation

import "slices"

// Degraded lists where the deliberation fell short of its config, one line each: what the record of any conversation lists, see
// [flow.Record.Degraded], and who was dropped. Its warnings name what nobody has answered, what is missing, and what was left out or made
// smaller.
//
// It is empty if nothing was missing. Its JSON has the same, under "degraded".
func (d *Deliberation) Degraded() []string {
	out := d.Record.Degraded(owes)
	for _, name := range d.Dropped() {
		out = append(out, d.config.NameOf(name)+" has taken no further part")
	}
	return out
}

// Degraded lists where the evaluation fell short of its config, one line each: what the record of any conversation lists, see
// [flow.Record.Degraded], who was dropped, and once it is over, which evaluators have given no valid answer.
//
// It is empty if nothing was missing. Its JSON has the same, under "degraded".
func (s *Scores) Degraded() []string {
	out := s.Record.Degraded(owedScores)
	for _, name := range s.Dropped() {
		out = append(out, name+" has taken no further part")
	}
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
