package otel

import "github.com/agonist-dev/debate"

// temperature returns the temperature of a request; nil: none, or unknown. An intent does not contain it,
// so it is taken from the config, for the one flow whose rule is known: the debate's own.
func (w *watch) temperature(in *debate.Intent) *float64 {
	if w.start == nil || w.start.Flow != debate.DefaultFlow {
		return nil
	}
	if row := w.rows[in.Model]; row != nil && row.OwnTemperature || w.start.Models[in.Model].OwnTemperature {
		return nil
	}
	c := w.start.Config
	switch in.Kind {
	case debate.KindAssessment, debate.KindVerdict:
		if c.Judging == nil {
			return nil
		}
		for i := range c.Judging.Judges {
			if c.Judging.Judges[i].Name == in.By {
				return c.Judging.Judges[i].Temperature
			}
		}
		return nil
	case debate.KindAssign:
		if c.Assign == nil {
			return nil
		}
		return c.Assign.Temperature
	case debate.KindBallot, debate.KindSummary:
		return nil
	}
	for i := range c.Participants {
		if p := &c.Participants[i]; p.Name == in.By && p.Temperature != nil {
			return p.Temperature
		}
	}
	return c.Temperature
}
