package deliberation

import (
	"encoding/json"

	"github.com/agonist-dev/debate/flow"
)

// Canonical returns what makes two deliberations the same: the turns in slot order and the end state, as JSON. Attempts,
// spend, times and controls are left out.
func (d *Deliberation) Canonical() ([]byte, error) {
	return json.Marshal(struct {
		State flow.State     `json:"state"`
		Turns json.Marshaler `json:"turns"`
	}{d.State, d.CanonicalTurns()})
}
