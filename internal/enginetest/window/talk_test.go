package window_test

import (
	"github.com/agonist-dev/debate"
)

// kindsOf yields the warnings about windows, as "context-80 Ada".
func kindsOf(r *debate.Record) []string {
	var out []string
	for _, w := range r.Warnings {
		if w.By != "" {
			out = append(out, string(w.Kind)+" "+w.By)
		}
	}
	return out
}
