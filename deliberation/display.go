package deliberation

import (
	"cmp"

	"github.com/agonist-dev/debate/flow"
)

// Activity returns a phrase for what somebody does who is asked for a call of this kind, such as "critiquing ben". target is whom the call
// is about, or "". A kind of an added node stands for itself.
func Activity(kind flow.CallKind, target string) string {
	doing := cmp.Or(map[flow.CallKind]string{
		KindQuestion: "asking", KindAnswer: "answering", KindProposal: "proposing", KindCritique: "critiquing", KindRefinement: "refining",
		KindDigest: "summarizing", KindConfidence: "judging confidence", KindQuality: "judging quality", KindVote: "voting",
		KindMerge: "merging", KindSynthesis: "synthesizing",
	}[kind], string(kind))
	if target != "" {
		doing += " " + target
	}
	return doing
}

// Sizes measures the summaries of agents' histories while the events of a deliberation are read. The zero value has seen no event. It
// belongs to one goroutine.
type Sizes struct{ turns *sorted }

// Fold takes the next event. If the event is a summary, Fold returns the size of what was summarised, and that of the summary as it is
// read, both in characters as in [Summary]. For any other event both are 0, and so they are if Fold has not seen the start.
func (s *Sizes) Fold(e *flow.Event) (before, after int) {
	switch body := e.Body.(type) {
	case *flow.Start:
		if config := ConfigIn(body); config != nil {
			s.turns = sorting(config)
		}
	case *flow.Turn:
		if s.turns == nil {
			break
		}
		s.turns.sort(placed(body, &s.turns.latest))
		if w := s.turns.seats[body.Speaker]; w != nil && body.Kind == KindDigest {
			return s.turns.measure(w, body)
		}
	}
	return 0, 0
}

// measure returns how many characters an agent's summary was made of, and how many are read of it.
func (k *sorted) measure(w *work, digest *flow.Turn) (before, after int) {
	former := w.digest(digest.Round - 1)
	if former != nil {
		before = characters(w.shown(former))
	}
	for _, item := range k.items(w, k.covered(former), k.covered(digest)+1) {
		before += characters(item.Text)
	}
	return before, characters(w.shown(digest))
}
