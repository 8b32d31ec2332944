package deliberation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// Vote is a ranking of the final proposals, in the JSON in which an agent or the judge answers.
type Vote struct {
	// Ranking holds the ids of the authors of all final proposals, each once, the best first. An agent does not rank
	// its own proposal.
	Ranking   []string `json:"ranking" jsonschema:"description=ids of the authors of the proposals you have been shown; the best first"`
	Reasoning string   `json:"reasoning"`
}

const schemaVote = "vote"

// voteSchema names the schema of somebody's vote: which ranking is whole depends on who gives it. An agent has the
// one of its seat, and who has none, such as the judge, that without a number.
func voteSchema(seat int) string {
	if seat < 0 {
		return schemaVote
	}
	return fmt.Sprintf("%s-%d", schemaVote, seat)
}

// checkVote checks the vote of whoever sits there: it ranks what it has been shown, all of it.
func checkVote(voter int) func(*flow.Record, *Vote) []string {
	return func(r *flow.Record, v *Vote) []string {
		b := read(r)
		shown := make(map[string]bool)
		for _, w := range b.finalists(0) {
			shown[w.ID] = w.seat != voter
		}
		var problems []string
		for i, id := range v.Ranking {
			switch others, known := shown[id]; {
			case !known:
				problems = append(problems, fmt.Sprintf("ranking[%d]: is the id of no proposal", i))
			case !others:
				problems = append(problems, fmt.Sprintf("ranking[%d]: is your own proposal, which you do not rank", i))
			case slices.Contains(v.Ranking[:i], id):
				problems = append(problems, fmt.Sprintf("ranking[%d]: stands there twice", i))
			}
		}
		for _, w := range b.finalists(0) {
			if shown[w.ID] && !slices.Contains(v.Ranking, w.ID) {
				problems = append(problems, fmt.Sprintf("ranking: the proposal of %s, that you have been shown, is missing", w.ID))
			}
		}
		return problems
	}
}

func voteID(name string) string { return "vote." + name }

// voters are the agents with a proposal of somebody else to rank, and the judge if there is one. Nobody votes where there is
// no choice.
func (b *board) voters() []string {
	if len(b.finalists(0)) < 2 {
		return nil
	}
	var names []string
	for i := range b.agents {
		if b.agents[i].active {
			names = append(names, b.agents[i].ID)
		}
	}
	if b.judges() {
		names = append(names, nameJudge)
	}
	return names
}

// voting returns the votes that are missing, then the writing out of the winning proposal.
func (b *board) voting() []flow.Call {
	var calls []flow.Call
	for i, name := range b.voters() {
		if b.missing(voteID(name)) {
			calls = append(calls, b.vote(name, i))
		}
	}
	if len(calls) > 0 {
		return calls
	}
	return b.written()
}

// vote asks one of the voters, by their order.
func (b *board) vote(name string, place int) flow.Call {
	seat := b.seat(name)
	call := b.judge(voteID(name), KindVote)
	if seat >= 0 {
		call = b.call(&b.agents[seat], voteID(name), KindVote)
	}
	call.Schema, call.Slot = voteSchema(seat), b.slot(slotEvaluate, 1, place)
	call.Last = func(r *flow.Record) string {
		var out strings.Builder
		for _, w := range b.finalists(place + 1) { // each begins with another, so that no place is the best
			if w.ID != name {
				b.quoteAs(&out, w.ID+": proposal", w.standing().Text)
			}
		}
		return out.String() + r.Text("ask.vote")
	}
	return call
}

// written asks the author of the winning proposal to write it out as the solution; if that fails, the next.
func (b *board) written() []flow.Call {
	if slices.ContainsFunc(b.Turns, func(t *flow.Turn) bool { return t.Kind == KindSynthesis }) {
		return nil
	}
	for _, score := range b.tally() {
		w := &b.agents[b.seat(score.Agent)]
		if w.active && !b.Failed(synthesisID+"."+w.ID) {
			return []flow.Call{b.writing(w)}
		}
	}
	return nil
}

// writing asks an agent to write its proposal out.
func (b *board) writing(w *work) flow.Call {
	call := b.call(w, synthesisID+"."+w.ID, KindSynthesis)
	call.Schema, call.Slot = schemaSolution, b.slot(slotEvaluate, 2, w.seat)
	call.Last = func(r *flow.Record) string {
		var out strings.Builder
		b.quoteAs(&out, w.ID+": proposal", w.standing().Text)
		return out.String() + r.Text("ask.written") + b.unfinished()
	}
	return call
}

// Score is what a final proposal got in the votes.
type Score struct {
	Agent  string
	Points int // Borda: for each voter the number of proposals that it ranked lower
	First  int // how many voters ranked it first
}

// tally counts the votes: the best first. Of those with equal points the one that more voters ranked first
// comes before, then the one that comes earlier in the config.
func (d *Deliberation) tally() []Score {
	var scores []Score
	for _, w := range d.finalists(0) {
		scores = append(scores, Score{Agent: w.ID})
	}
	for _, t := range d.votes {
		var v Vote
		if json.Unmarshal(t.Data, &v) != nil {
			continue
		}
		ranking := slices.DeleteFunc(v.Ranking, func(id string) bool { return id == t.Speaker })
		for place, id := range ranking {
			for i := range scores {
				if scores[i].Agent == id {
					scores[i].Points += len(ranking) - 1 - place
					if place == 0 {
						scores[i].First++
					}
				}
			}
		}
	}
	slices.SortStableFunc(scores, func(x, y Score) int {
		return cmp.Or(cmp.Compare(y.Points, x.Points), cmp.Compare(y.First, x.First))
	})
	return scores
}

// unvoted warns of the votes that are missing.
func (b *board) unvoted() []flow.Warning {
	if b.config.Synthesis != SynthesisVoting {
		return nil
	}
	var warnings []flow.Warning
	for _, name := range b.voters() {
		if id := voteID(name); b.Failed(id) {
			warnings = append(warnings, b.failing(id, name, name+" is left out of the vote"))
		}
	}
	return warnings
}
