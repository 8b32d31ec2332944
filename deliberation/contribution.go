package deliberation

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/agonist-dev/debate"
)

// Typed views of a record. They are computed anew each time and share nothing but texts with it.

// Contribution is a proposal, a critique, a refinement, or what an added node has brought.
type Contribution struct {
	Round  int
	Kind   debate.CallKind
	Agent  string // who speaks
	Role   string // of the agent; "": an added node's
	Target string // of a critique: whose proposal it is about
	Text   string
	Cut    bool   // the text ended at the limit of output tokens
	Model  string // "provider/model" that was asked
	// Usage, Cost and Took are those of the attempt that brought it, without the uses of tools before it and the
	// attempts that failed.
	Usage debate.Usage
	Cost  debate.Money
	Took  time.Duration
}

// contribution yields a turn for readers outside.
func (b *board) contribution(t *debate.Turn) Contribution {
	c := Contribution{
		Round: t.Round, Kind: t.Kind, Agent: t.Speaker, Target: t.Target, Text: t.Text, Cut: t.Cut,
		Model: t.Model, Usage: t.Usage, Cost: t.Cost, Took: t.Took,
	}
	if seat := b.seat(t.Speaker); seat >= 0 {
		c.Role = b.agents[seat].Role
	}
	return c
}

// Contributions yields the contributions of all rounds, in the order of rounds and slots.
func Contributions(r *debate.Record) []Contribution {
	b := read(r)
	var out []Contribution
	all := slices.Collect(turns(r))
	slices.SortStableFunc(all, byPlace)
	for _, t := range all {
		switch t.Kind {
		case KindQuestion, KindAnswer, KindDigest, KindConfidence, KindQuality, KindVote, KindMerge, KindSynthesis:
		default:
			out = append(out, b.contribution(t))
		}
	}
	return out
}

// Standing yields what stands now, in the order of the config: of each agent that takes part the latest proposal
// or refinement. Who has none yet is missing. It is what an added node has to look at; see [Insert].
func Standing(r *debate.Record) []Contribution {
	b := read(r)
	var out []Contribution
	for _, w := range b.finalists(0) {
		out = append(out, b.contribution(w.standing()))
	}
	return out
}

// Summary is the summary of an agent's history.
type Summary struct {
	Round int    // in which it was made
	Upto  int    // the last round that it covers, from the first on
	Agent string // whose history it is
	Text  string // as it is read: cut to the agent's Summaries.MaxLength
	// Before and After are sizes in characters: of what was summarised, a former summary included, and of Text.
	Before, After int
}

// SummariesOf yields the summaries that were made, oldest first.
func SummariesOf(r *debate.Record) []Summary {
	b := read(r)
	var out []Summary
	for _, t := range r.Turns {
		seat := b.seat(t.Speaker)
		if t.Kind != KindDigest || seat < 0 {
			continue
		}
		w := &b.agents[seat]
		s := Summary{Round: t.Round, Upto: b.covered(t), Agent: t.Speaker, Text: w.shown(t)}
		s.After = characters(s.Text)
		former := w.digest(t.Round - 1)
		if former != nil {
			s.Before = characters(w.shown(former))
		}
		for _, item := range b.items(w, b.covered(former), s.Upto+1) {
			s.Before += characters(item.Text)
		}
		out = append(out, s)
	}
	return out
}

// Asked is a question of an agent before the first round, and its answer.
type Asked struct {
	ID        string // of the inquiry: "question.1.ada.2"
	Iteration int    // from 1
	Agent     string
	Question  string
	Answered  bool
	Answer    string
	Skipped   bool // it was answered with NotAnswered
}

// Clarifications yields the agents' questions, by iteration and agent.
func Clarifications(r *debate.Record) []Asked { return read(r).clarifications(0) }

// Evaluation is the judge's view of one round. Exactly one of Confidence and Quality is set.
type Evaluation struct {
	Round      int
	Confidence *Confidence
	Quality    *Quality
}

// Evaluations yields the evaluations that were accepted, by round.
func Evaluations(r *debate.Record) []Evaluation {
	var out []Evaluation
	for _, t := range r.Turns {
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
func decoded[T any](t *debate.Turn) *T {
	v := new(T)
	if json.Unmarshal(t.Data, v) != nil {
		return nil
	}
	return v
}

// valueOf yields the number of an evaluation.
func valueOf(t *debate.Turn) (float64, bool) {
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
	Voter string
	Vote
}

// Votes yields the votes, and what they add up to: the best proposal first. Without votes all are equal.
func Votes(r *debate.Record) ([]Ballot, []Score) {
	b := read(r)
	var out []Ballot
	for _, t := range b.votes {
		if v := decoded[Vote](t); v != nil {
			out = append(out, Ballot{t.Speaker, *v})
		}
	}
	return out, b.tally()
}

// PromptSource says what somebody was told to be, and where those words come from.
type PromptSource struct {
	Who    string // an agent's id, or "judge"
	Role   string // of an agent
	Source string // SourceBuiltIn, SourceConfig, or the absolute path of a file
	SHA256 string // of the file, or of the text, in hexadecimal digits; "" for the built-in judge
	Text   string
}

// Prompts yields which prompt everybody got, in the order of the config, the judge last.
func Prompts(r *debate.Record) []PromptSource {
	s := of(r)
	out := make([]PromptSource, 0, len(s.Agents)+1)
	for i := range s.Agents {
		m := &s.Agents[i]
		out = append(out, PromptSource{m.ID, m.Role, m.Source, m.SHA256, m.Prompt})
	}
	judge := PromptSource{Who: nameJudge, Source: s.Judge.Source, SHA256: s.Judge.SHA256, Text: s.Judge.Prompt}
	if judge.Text == "" {
		judge.Text = builtinJudge
	}
	return append(out, judge)
}
