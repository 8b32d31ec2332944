package deliberation

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Contribution is a proposal, a critique, a refinement, or the result of an added node.
type Contribution struct {
	Call   string        `json:"call"` // the ID of its call; see flow.Record.CallUsage
	Round  int           `json:"round"`
	Kind   flow.CallKind `json:"kind"`
	Agent  string        `json:"agent"`            // its author
	Role   string        `json:"role,omitempty"`   // of the agent; "" for an added node
	Target string        `json:"target,omitempty"` // of a critique: the agent whose proposal it is about
	Text   string        `json:"text"`
	Cut    bool          `json:"cut,omitempty"`   // the text ended at the limit of output tokens
	Model  string        `json:"model,omitempty"` // the one that was asked, as "provider/model"
	At     time.Time     `json:"at"`              // when it was recorded
	// Usage, Cost, Unsettled and Took are those of the attempt that succeeded, with the uses of tools in it. Failed attempts are
	// not included.
	Usage provider.Usage `json:"usage,omitzero"`
	Cost  flow.Money     `json:"cost,omitempty"`
	flow.Unsettled
	Took time.Duration `json:"took,omitempty"` // nanoseconds
}

// contribution returns a turn for readers outside.
func (d *Deliberation) contribution(t *flow.Turn) Contribution {
	made := d.effortOf(t)
	c := Contribution{
		Call: t.Call, Round: t.Round, Kind: t.Kind, Agent: t.Speaker, Target: t.Target, Text: t.Text, Cut: t.Cut,
		Model: t.Model, At: made.at, Usage: made.usage, Cost: made.cost, Unsettled: made.unsettled, Took: made.took,
	}
	if w := d.seats[t.Speaker]; w != nil {
		c.Role = w.Role
	}
	return c
}

// Contributions returns the contributions of all rounds, in the order of rounds and slots.
func (d *Deliberation) Contributions() []Contribution {
	var out []Contribution
	all := slices.Collect(turns(d.Record))
	slices.SortStableFunc(all, byPlace)
	for _, t := range all {
		switch t.Kind {
		case KindQuestion, KindAnswer, KindDigest, KindConfidence, KindQuality, KindVote, KindMerge, KindSynthesis:
		default:
			out = append(out, d.contribution(t))
		}
	}
	return out
}

// Standing returns the present proposals, in the order of the config: of each agent that takes part, the latest
// proposal or refinement. An agent without one is missing. An added node reads it; see [Insert].
func (d *Deliberation) Standing() []Contribution {
	var out []Contribution
	for _, w := range d.finalists(0) {
		out = append(out, d.contribution(w.standing()))
	}
	return out
}

// Summary is the summary of an agent's history.
type Summary struct {
	Round int    `json:"round"` // in which the summary was made
	Upto  int    `json:"upto"`  // the last round that it covers; it covers all before too
	Agent string `json:"agent"` // whose history it is
	Role  string `json:"role,omitempty"`
	Text  string `json:"text"` // as it is read: cut to Summaries.MaxLength of the agent
	// Before is the size of what was summarised, a former summary included. After is that of Text. Both are in
	// characters.
	Before int `json:"charactersBefore"`
	After  int `json:"charactersAfter"`
	// Method says why the summary was made: SummaryByLength or SummaryByWindow. At is when it was made. Model, Usage, Cost,
	// Unsettled and Took are those of the attempt that succeeded.
	Method string         `json:"method"`
	At     time.Time      `json:"at"`
	Model  string         `json:"model,omitempty"`
	Usage  provider.Usage `json:"usage,omitzero"`
	Cost   flow.Money     `json:"cost,omitempty"`
	flow.Unsettled
	Took time.Duration `json:"took,omitempty"` // nanoseconds
}

// The methods of summaries.
const (
	SummaryByLength = "length-based" // made because the history was longer than Summaries.Threshold
	SummaryByWindow = "window-based" // made because a prompt that reads the history did not fit the window of its model
)

// Summaries returns the summaries that were made, in the order of rounds and agents. Summaries that a summarizer made for
// the record are not among them.
func (d *Deliberation) Summaries() []Summary {
	var out []Summary
	all := slices.Clone(d.Turns)
	slices.SortStableFunc(all, byPlace)
	for _, t := range all {
		w := d.seats[t.Speaker]
		if t.Kind != KindDigest || w == nil {
			continue
		}
		made := d.effortOf(t)
		s := Summary{
			Round: t.Round, Upto: d.covered(t), Agent: t.Speaker, Role: w.Role, Text: w.shown(t), Method: SummaryByLength, At: made.at,
			Model: t.Model, Usage: made.usage, Cost: made.cost, Unsettled: made.unsettled, Took: made.took,
		}
		if condensed(t) {
			s.Method = SummaryByWindow
		}
		s.Before, s.After = d.measure(w, t)
		out = append(out, s)
	}
	return out
}

// Asked is a question of agents before the first round, and its answer.
type Asked struct {
	ID        string   `json:"id,omitempty"`        // of the inquiry: "question.1.ada.2"; "" if the config has the answer
	Iteration int      `json:"iteration,omitempty"` // from 1, in which it was asked first; 0 if the config has the answer
	Agents    []string `json:"agents,omitempty"`    // who have asked it, the first of them first; none: only the config tells of it
	Known     bool     `json:"known,omitempty"`     // whether the config has the answer
	Question  string   `json:"question"`
	Answered  bool     `json:"answered"`
	Answer    string   `json:"answer,omitempty"`
	Skipped   bool     `json:"skipped,omitempty"` // the answer was NotAnswered
}

// Clarifications returns the answers of the config, and then the agents' questions with their answers, in the order of
// iterations and agents. Questions that differ only in the case of letters, in spaces or in final punctuation count as
// one.
func (d *Deliberation) Clarifications() []Asked { return d.clarifications(0) }

// Evaluation is the judge's view of one round. Exactly one of Confidence and Quality is set.
type Evaluation struct {
	Round      int         `json:"round"`
	Confidence *Confidence `json:"confidence,omitempty"`
	Quality    *Quality    `json:"quality,omitempty"`
}

// Evaluations returns the accepted evaluations, in the order of rounds.
func (d *Deliberation) Evaluations() []Evaluation {
	var out []Evaluation
	for _, t := range d.Turns {
		e := Evaluation{Round: t.Round}
		switch t.Kind {
		case KindConfidence:
			e.Confidence = decoded[Confidence](t)
		case KindQuality:
			e.Quality = decoded[Quality](t)
		default:
		}
		if e.Confidence != nil || e.Quality != nil {
			out = append(out, e)
		}
	}
	return out
}

// decoded reads a turn's data; nil: it is something else.
func decoded[T any](t *flow.Turn) *T {
	v := new(T)
	if json.Unmarshal(t.Data, v) != nil {
		return nil
	}
	return v
}

// valueOf returns the number of an evaluation.
func valueOf(t *flow.Turn) (float64, bool) {
	switch t.Kind {
	case KindConfidence:
		if v := decoded[Confidence](t); v != nil {
			return v.Confidence, true
		}
	case KindQuality:
		if v := decoded[Quality](t); v != nil {
			return v.Quality, true
		}
	default:
	}
	return 0, false
}

// Ballot is one vote on the final proposals.
type Ballot struct {
	Voter string `json:"voter"`
	Vote
}

// Votes returns the votes, and the scores that they give, the best proposal first. Without votes all scores are equal.
func (d *Deliberation) Votes() ([]Ballot, []Score) {
	var out []Ballot
	for _, t := range d.votes {
		if v := decoded[Vote](t); v != nil {
			out = append(out, Ballot{t.Speaker, *v})
		}
	}
	return out, d.tally()
}
