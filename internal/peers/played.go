package main

import (
	"fmt"

	w1 "github.com/agonist-dev/debate/internal/bench"
)

// played is what a side has left of a debate.
type played struct {
	turns       []turn
	assessments int
	winner      string
	streamed    int // bytes of the pieces that a subscriber got
}

type turn struct {
	speaker, text string
}

// check reports a debate that is not the whole one.
func (p *played) check(rounds int, streamed bool) error {
	size := 0
	for i := range p.turns {
		size += len(p.turns[i].text)
	}
	want := rounds * len(w1.Debaters()) * w1.SpeechBytes
	switch {
	case size != want, len(p.turns) != rounds*len(w1.Debaters()):
		return fmt.Errorf("%d turns of %d bytes; want %d bytes", len(p.turns), size, want)
	case p.assessments != rounds, p.winner != w1.Ada:
		return fmt.Errorf("%d assessments, winner %q", p.assessments, p.winner)
	case streamed && p.streamed != want:
		return fmt.Errorf("%d bytes in pieces; want %d", p.streamed, want)
	default:
		return nil
	}
}
