package flow

import (
	"cmp"
	"encoding/json"
	"slices"
)

// CanonicalTurn is what a turn says in the canonical form of a conversation. Its attempt, spend and time are left out.
type CanonicalTurn struct {
	Round   int             `json:"round"`
	Slot    int             `json:"slot"`
	Kind    CallKind        `json:"kind"`
	Speaker string          `json:"speaker"`
	Target  string          `json:"target,omitempty"`
	Text    string          `json:"text"`
	Data    json.RawMessage `json:"data,omitempty"`
	Cut     bool            `json:"cut,omitempty"`
}

// CanonicalTurns returns the turns in the order of rounds and slots, whatever the order in which they arrived. Turns of
// one slot stay in the order in which they were recorded. A flow builds the canonical form of its conversations on
// this: the form that is equal if two conversations are the same.
func (r *Record) CanonicalTurns() []CanonicalTurn {
	turns := slices.Clone(r.Turns)
	slices.SortStableFunc(turns, func(a, b *Turn) int { return cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(a.Slot, b.Slot)) })
	var out []CanonicalTurn
	for _, t := range turns {
		out = append(out, CanonicalTurn{t.Round, t.Slot, t.Kind, t.Speaker, t.Target, t.Text, t.Data, t.Cut})
	}
	return out
}
