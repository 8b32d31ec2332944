package deliberation

import (
	"encoding/json"
	"slices"

	"github.com/agonist-dev/debate/flow"
)

// Canonical returns what makes two deliberations the same: the turns in slot order and the end state, as JSON. Attempts,
// spend, times and controls are left out.
func (d *Deliberation) Canonical() ([]byte, error) {
	type turn struct {
		Round   int             `json:"round"`
		Slot    int             `json:"slot"`
		Kind    flow.CallKind   `json:"kind"`
		Speaker string          `json:"speaker"`
		Target  string          `json:"target,omitempty"`
		Text    string          `json:"text"`
		Data    json.RawMessage `json:"data,omitempty"`
		Cut     bool            `json:"cut,omitempty"`
	}
	out := struct {
		State flow.State `json:"state"`
		Turns []turn     `json:"turns"`
	}{State: d.State}
	turns := slices.Clone(d.Turns)
	slices.SortStableFunc(turns, byPlace)
	for _, t := range turns {
		out.Turns = append(out.Turns, turn{t.Round, t.Slot, t.Kind, t.Speaker, t.Target, t.Text, t.Data, t.Cut})
	}
	return json.Marshal(out)
}
