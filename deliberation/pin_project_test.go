package deliberation_test

import (
	"encoding/json"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/pin"
)

// projected writes a log, one event a line.
func projected(log []flow.Event) string { return pin.Log(log, pinOwn) }

// pinOwn adds the values that only a deliberation has: those of its config. The names of a mode and of a format are those
// that a deliberation had as a debate.
func pinOwn(l *pin.Line, body flow.Body) {
	s, ok := body.(*flow.Start)
	if !ok {
		return
	}
	c, ok := s.Config.Go.(*deliberation.Config)
	if !ok {
		c = new(deliberation.Config)
		if err := json.Unmarshal(s.Config.JSON, c); err != nil {
			l.Add("broken", err.Error())
		}
	}
	l.Add("version", s.Version, "topic", s.Settings.Topic, "mode", "sequential", "rounds", s.Settings.Rounds, "format", "deliberation",
		"flow", s.Flow, "flowVersion", s.FlowVersion)
	for i := range c.Agents {
		l.Add("participant", c.Agents[i].ID, "model", c.Agents[i].Model, "fallbacks", c.Agents[i].Fallbacks)
	}
	if j := c.Judge; j.Model != "" {
		l.Add("judge", "judge", "model", j.Model, "fallbacks", j.Fallbacks)
	}
}
