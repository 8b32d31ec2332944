package providertest

import (
	"fmt"
	"strings"
)

// Table returns the fault table of h, one line for each row: how many checks show it, or why the vendor
// has no such signal. A golden file of it documents what [RunHTTP] proves about an adapter.
func (h *HTTP) Table() string {
	var b strings.Builder
	for _, r := range table() {
		if checks := h.checks(r); len(checks) > 0 {
			fmt.Fprintf(&b, "%s: %d\n", r.name, len(checks))
			continue
		}
		fmt.Fprintf(&b, "%s: - %s\n", r.name, h.Lacks[r.name])
	}
	return b.String()
}
