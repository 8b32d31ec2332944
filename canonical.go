package debate

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/agonist-dev/debate/flow"
)

// Canonical returns the JSON of what makes two debates equal: turns in slot order, assessments, verdict and end
// state. Attempts, spends, times and controls are left out.
func (d *Debate) Canonical() ([]byte, error) {
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
		State       flow.State     `json:"state"`
		Turns       []turn         `json:"turns"`
		Assessments []Judgement    `json:"assessments"`
		Verdict     *FinalVerdict  `json:"verdict"`
		Verdicts    []namedVerdict `json:"verdicts,omitempty"`
		Ballots     []namedBallot  `json:"ballots,omitempty"`
	}{State: d.State}
	turns := slices.Clone(d.Turns)
	slices.SortStableFunc(turns, func(a, b *flow.Turn) int { return cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(a.Slot, b.Slot)) })
	for _, t := range turns {
		out.Turns = append(out.Turns, turn{t.Round, t.Slot, t.Kind, t.Speaker, t.Target, t.Text, t.Data, t.Cut})
	}
	for _, a := range d.ordered(d.Assessments) {
		out.Assessments = append(out.Assessments, a.Judgement)
	}
	if d.Verdict != nil {
		out.Verdict = &d.Verdict.FinalVerdict
	}
	if len(d.Verdicts) > 1 {
		for _, v := range d.Verdicts {
			out.Verdicts = append(out.Verdicts, namedVerdict{v.Judge, v.Swapped, v.FinalVerdict})
		}
		slices.SortStableFunc(out.Verdicts, func(a, b namedVerdict) int {
			return cmp.Or(cmp.Compare(d.seatOfJudge(a.Judge), d.seatOfJudge(b.Judge)), order(a.Swapped, b.Swapped))
		})
	}
	for _, b := range d.Ballots {
		out.Ballots = append(out.Ballots, namedBallot{b.Voter, b.After, b.BallotPaper})
	}
	slices.SortStableFunc(out.Ballots, func(a, b namedBallot) int { return cmp.Or(order(a.After, b.After), cmp.Compare(a.Voter, b.Voter)) })
	return json.Marshal(out)
}

// namedVerdict and namedBallot are verdicts and votes in the canonical form.
type (
	namedVerdict struct {
		Judge   string       `json:"judge"`
		Swapped bool         `json:"swapped,omitempty"`
		Verdict FinalVerdict `json:"verdict"`
	}
	namedBallot struct {
		Voter string      `json:"voter"`
		After bool        `json:"after,omitempty"`
		Paper BallotPaper `json:"ballot"`
	}
)

// order puts false before true.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// ordered returns assessments in the order of rounds and judges, whatever the order in which they arrived.
func (d *Debate) ordered(all []*Assessment) []*Assessment {
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b *Assessment) int {
		return cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(d.seatOfJudge(a.Judge), d.seatOfJudge(b.Judge)))
	})
	return out
}
