package engine

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
)

// Attributes is what the line of an event says, for the tests.
var Attributes = attributes

// Same, Alike and Apart compare values.
var (
	Same  = same
	Alike = alike
	Apart = apart
)

// Numbers returns a function that makes numbers of values.
func Numbers() func(prompts bool, values ...any) uint64 {
	n := &numbers{seed: maphash.MakeSeed()}
	return n.of
}

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
			setups = append(setups, write(s.plan.config, s.plan.settings, s.rows))
		}
	}
	for _, r := range l.renderings.last {
		if r != nil {
			renderings = append(renderings, write(r.frozen, r.drawn, r.views, r.texts))
		}
	}
	return setups, renderings
}
