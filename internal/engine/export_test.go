package engine

import (
	"encoding/json"
	"fmt"
)

// Attributes is what the line of an event says, for the tests.
var Attributes = attributes

// KeyOf returns the key of values; the zero key: there is none.
func KeyOf(values ...any) [32]byte { return keyOf(values...) }

// Kept writes out what an engine keeps of configs.
func Kept(l *Engine) (setups, renderings []string) {
	write := func(v ...any) string {
		data, err := json.Marshal(v)
		return fmt.Sprint(string(data), err)
	}
	for _, one := range l.setups.last {
		if s := one.value; s != nil {
			setups = append(setups, write(s.rows)+fmt.Sprint(*s.roster, s.told))
		}
	}
	for _, one := range l.renderings.last {
		if r := one.value; r != nil {
			renderings = append(renderings, write(r.views, r.texts))
		}
	}
	return setups, renderings
}
