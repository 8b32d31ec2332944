package deliberation

import (
	"fmt"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
)

// tasks are what a person is asked for, by the kind of the call.
var tasks = map[flow.CallKind]string{ //nolint:gochecknoglobals // read only
	KindProposal:   "Write your proposal, so complete that somebody who reads nothing else could act on it. Name your assumptions.",
	KindCritique:   "Say what must stay in this proposal, what is wrong with it, and how to mend that. Its author reads it and rewrites it.",
	KindRefinement: "Rewrite your proposal, complete by itself. Change it where others are right, and say what you have changed, and why.",
	KindVote:       "Rank these proposals, the best first, by the names of their authors: " + prompt.Names + ".",
	KindSynthesis:  "This is the proposal to go by. Write it out as the solution.",
}

// word words a call: for a model, and for a person, who reads the same pieces between no markers, and no words of a prompt. words is given
// the record at the time of the request, which may be newer than that of b.
func (b *board) word(call *flow.Call, words func(b *board, now *flow.Record) string) {
	call.Last = func(now *flow.Record) string { return words(b, now) }
	if call.Person == nil {
		return
	}
	call.Person.Ask = func(now *flow.Record) string {
		plain := *b
		plain.plain = true
		text := plain.briefing(call) + words(&plain, now)
		if b.config.Language != "" {
			text += "\n\nWrite in " + b.config.Language + "."
		}
		return text
	}
}

// ask returns what an instruction asks for: a text of the prompts, or words for a person.
func (b *board) ask(now *flow.Record, name string, kind flow.CallKind) string {
	if b.plain {
		return tasks[kind]
	}
	return now.Text(name)
}

// briefing tells a person whose turn it is, and what all have to solve.
func (b *board) briefing(call *flow.Call) string {
	var out strings.Builder
	fmt.Fprintf(&out, "It is your turn, %s: %s, round %d of %d.\n\n",
		b.config.NameOf(call.By), call.Kind, b.round, b.Record.Settings().Rounds)
	b.quoteAs(&out, "The problem", b.config.Problem)
	if b.config.Context != "" {
		b.quoteAs(&out, "The context", b.config.Context)
	}
	for _, c := range b.clarifications(0) {
		if c.Answered && !c.Skipped {
			b.quoteAs(&out, "Asked before: "+c.Question, c.Answer)
		}
	}
	return out.String()
}

// summarises reports whether a model can summarise the history of an agent.
func (b *board) summarises(w *work) bool {
	return !w.Person || w.StandIn != "" || b.Replacement(w.ID) != ""
}
