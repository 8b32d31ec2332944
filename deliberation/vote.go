package deliberation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
)

// Vote is a ranking of the final proposals by an agent or the judge.
type Vote struct {
	// Ranking holds the ids of the authors of all final proposals, each once, the best first. An agent does not rank
	// its own proposal.
	Ranking   []string `json:"ranking" redact:"-"`
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
				problems = append(problems, fmt.Sprintf("ranking[%d]: is a duplicate", i))
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

func (b *board) voteID(name string) string { return b.Concluding("vote." + name) }

func (b *board) ballot(name string) attempt {
	return b.attempt(b.voteID(name), halved("of a part of each proposal"))
}

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

// electorate returns all who were to vote, also those who were dropped for it.
func (b *board) electorate() []string {
	var names []string
	for i := range b.agents {
		if w := &b.agents[i]; w.active || w.voter {
			names = append(names, w.ID)
		}
	}
	if b.judges() {
		names = append(names, nameJudge)
	}
	return names
}

// voting returns the votes that are missing, then the writing out of the winning proposal.
func (b *board) voting() []*flow.Call {
	if calls := b.missingVotes(); len(calls) > 0 {
		return calls
	}
	return b.written()
}

// votingAll returns the votes that are missing, and the dearest writing out.
func (b *board) votingAll() []*flow.Call {
	calls := b.missingVotes()
	if w := b.dearest(func(w *work) int { return len(w.standing().Text) }); w != nil {
		calls = append(calls, b.writing(w))
	}
	return calls
}

func (b *board) missingVotes() []*flow.Call {
	var calls []*flow.Call
	for i, name := range b.voters() {
		if b.missing(b.ballot(name).id) {
			calls = append(calls, b.vote(name, i))
		}
	}
	return calls
}

// vote asks one of the voters, by their order.
func (b *board) vote(name string, place int) *flow.Call {
	seat, a := b.seat(name), b.ballot(name)
	call := b.judge(a.id, KindVote)
	call.OnFail.Skip = b.votesLeft(name)
	if seat >= 0 {
		call = b.call(&b.agents[seat], a.id, KindVote)
	}
	call.Schema, call.Slot, call.OnFail = voteSchema(seat), b.slot(slotEvaluate, 1, place), a.onFail(call.OnFail)
	b.word(call, func(b *board, now *flow.Record) string {
		var out strings.Builder
		shown := b.ranked(name, place)
		for _, w := range shown {
			b.quoteAs(&out, w.ID+": proposal", cut(w.standing().Text, a.halves))
		}
		return out.String() + prompt.FillNames(b.ask(now, "ask."+schemaVote, KindVote), idsOf(shown)) + a.note("vote")
	})
	return call
}

// ranked returns whose proposals a voter is shown and ranks, in their order. Each voter's begins with another, by its place among the
// voters, so that no place is the best.
func (b *board) ranked(voter string, place int) []*work {
	return slices.DeleteFunc(b.finalists(place+1), func(w *work) bool { return w.ID == voter })
}

// written asks the author of the winning proposal to write it out as the solution. If that author is left out or dropped,
// the next one is asked.
func (b *board) written() []*flow.Call {
	if slices.ContainsFunc(b.Turns[b.reopenedAt:], func(t *flow.Turn) bool { return t.Kind == KindSynthesis }) {
		return nil
	}
	if authors := b.authors(); len(authors) > 0 {
		return []*flow.Call{b.writing(authors[0])}
	}
	return nil
}

// authors returns those who can still write their proposals out, the best proposal first.
func (b *board) authors() []*work {
	var out []*work
	for _, score := range b.tally() {
		if w := b.seats[score.Agent]; !b.Skipped(b.writingID(w.ID)) {
			out = append(out, w)
		}
	}
	return out
}

func (b *board) writingID(author string) string { return b.synthesisID() + "." + author }

// writing asks an agent to write its proposal out.
func (b *board) writing(w *work) *flow.Call {
	call := b.call(w, b.writingID(w.ID), KindSynthesis)
	call.Schema, call.Slot = schemaSolution, b.slot(slotEvaluate, 2, w.seat)
	b.word(call, func(b *board, now *flow.Record) string {
		var out strings.Builder
		b.quoteAs(&out, w.ID+": proposal", w.standing().Text)
		return out.String() + b.ask(now, "ask.written", KindSynthesis) + b.unfinished()
	})
	return call
}

// Score is what a final proposal got in the votes.
type Score struct {
	Agent  string `json:"agent"`
	Points int    `json:"points"` // Borda: for each voter the number of proposals that it ranked lower
	First  int    `json:"first"`  // how many voters ranked it first
}

// tally counts the votes: the best first. Of those with equal points the one that more voters ranked first
// comes before, then the one that comes earlier in the config. An agent's own proposal is on no ballot of its agent. vote.Borda would count
// it as ranked below all others, and so in favour of those whose authors have not voted.
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

// unvoted warns of the votes that are missing, of those whose prompts were made smaller, and of the authors in whose place
// another one has written the solution.
func (b *board) unvoted() []flow.Warning {
	if b.config.Synthesis != SynthesisVoting {
		return nil
	}
	var warnings []flow.Warning
	voted := len(b.finalists(0)) > 1 || len(b.votes) > 0
	for _, name := range b.electorate() {
		switch a := b.ballot(name); {
		case !voted:
		case b.Done(a.id) && a.short > 0:
			warnings = append(warnings, a.smaller(name))
		case !b.Done(a.id) && (b.Skipped(a.id) || b.IsDropped(name)):
			warnings = append(warnings, b.failing(flow.WarnLeftOut, a.id, name, name+" is left out of the vote"))
		}
	}
	_, author, ok := b.Solution()
	for i := range b.agents {
		w := &b.agents[i]
		failed := slices.ContainsFunc(b.Failures, func(f flow.FailedAttempt) bool { return f.Call == b.writingID(w.ID) })
		if id := b.writingID(w.ID); ok && (b.Skipped(id) || failed && !w.active) {
			warnings = append(warnings, b.failing(flow.WarnLeftOut, id, w.ID, author+" writes the solution in place of "+w.ID))
		}
	}
	return warnings
}
