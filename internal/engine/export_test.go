package engine

import (
	"encoding/json"
	"fmt"
)

// Attributes is what the line of an event says, for the tests.
var Attributes = attributes

// Same and Apart compare values.
var (
	Same  = same
	Apart = apart
)

// Planned reports whether a session keeps the plan of its config.
func Planned(s *Session) bool { return s.plan.Load() != nil }

// Kept writes out what an engine keeps of configs.
func Kept(l *Engine) (setups, renderings []string) {
	write := func(v ...any) string {
		data, err := json.Marshal(v)
		return fmt.Sprint(string(data), err)
	}
	for _, s := range l.setups.last {
		if s != nil {
			setups = append(setups, write(s.plan.config, s.plan.settings, s.rows, s.sound.Load()))
		}
	}
	for _, r := range l.renderings.last {
		if r != nil {
			renderings = append(renderings, write(r.frozen, r.drawn, r.views, r.texts))
		}
	}
	return setups, renderings
}
