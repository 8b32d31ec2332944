package debate

import (
	"encoding/json"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
)

// MarshalJSON writes the record's JSON, then what the judges, the audience and the search for positions have contributed, and
// the outcome. Until the debate is over, schedule has the speeches of the present round. Each assessment, verdict and ballot has its time
// as "at". The JSON cannot be read back.
func (d *Debate) MarshalJSON() ([]byte, error) {
	var own struct {
		Assignment  json.Marshaler   `json:"assignment,omitempty"`
		Assessments []json.Marshaler `json:"assessments,omitempty"`
		Verdict     *FinalVerdict    `json:"verdict,omitempty"`
		Verdicts    []json.Marshaler `json:"verdicts,omitempty"`
		Ballots     []json.Marshaler `json:"ballots,omitempty"`
		Earlier     []Concluded      `json:"earlier,omitempty"`
		Floors      []json.Marshaler `json:"floors,omitempty"`
		Shares      []Share          `json:"shares,omitempty"`
		Schedule    []format.Speech  `json:"schedule,omitempty"` // of the present round, until the debate is over
		Outcome     Outcome          `json:"outcome"`
	}
	if a := d.Assignment; a != nil {
		own.Assignment = d.At(a.Call, a)
	}
	for _, a := range d.Assessments {
		own.Assessments = append(own.Assessments, d.At(a.Call, a))
	}
	if d.Verdict != nil {
		own.Verdict = &d.Verdict.FinalVerdict
	}
	for _, v := range d.Verdicts {
		own.Verdicts = append(own.Verdicts, d.At(v.Call, v))
	}
	for _, b := range d.Ballots {
		own.Ballots = append(own.Ballots, d.At(b.Call, b))
	}
	for _, g := range d.Floors {
		own.Floors = append(own.Floors, d.At(g.Call, g))
	}
	if d.config.Floor != nil {
		own.Shares = d.Shares()
	}
	own.Schedule = d.Schedule()
	own.Earlier, own.Outcome = d.Earlier, d.Outcome()
	return d.MarshalWith(own)
}

// Schedule returns the speeches of the present round, those that were held included. A debate that is over has none. It is read only.
func (d *Debate) Schedule() []format.Speech {
	if d.Final() {
		return nil
	}
	return d.schedule
}

var _ flow.Described = Config{}
