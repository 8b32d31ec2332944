package main

import (
	"context"

	w1 "github.com/agonist-dev/debate/internal/bench"
)

// floor plays the debate as a bare loop.
//
// It keeps one append-only transcript and sends a view of it, without a copy. It decodes and validates
// each answer of the judge and keeps the tree. It has no log, no events, no budget, no retries, no
// timeouts and no controls.
type floor struct {
	script  *w1.Script
	answers *answers
	systems map[string]string
	rounds  int
	emit    func(piece string)                         // nil: speeches arrive whole
	keep    func(step int, speaker, text string) error // nil: nothing is stored
}

func newFloor(s *w1.Script, a *answers, rounds int) *floor {
	f := &floor{script: s, answers: a, systems: make(map[string]string), rounds: rounds}
	for _, name := range append(w1.Debaters(), w1.Judge) {
		f.systems[name] = system(name)
	}
	return f
}

func (f *floor) play(ctx context.Context) (*played, error) {
	out := &played{}
	var kept []map[string]any
	step := 0
	ask := func(asked w1.Kind, name string, round int) (string, error) {
		size := len(f.systems[name]) + len(instruction(asked, round))
		for i := range out.turns {
			size += len(out.turns[i].text)
		}
		text, err := f.script.Answer(ctx, asked, name, len(out.turns), size)
		if err == nil && f.emit != nil && asked == w1.Speech {
			text = f.gather(text)
		}
		if step++; err == nil && f.keep != nil {
			err = f.keep(step, name, text)
		}
		return text, err
	}
	for round := 1; round <= f.rounds; round++ {
		for _, name := range w1.Debaters() {
			text, err := ask(w1.Speech, name, round)
			if err != nil {
				return nil, err
			}
			out.turns = append(out.turns, turn{name, text})
		}
		text, err := ask(w1.Assessing, w1.Judge, round)
		if err != nil {
			return nil, err
		}
		tree, err := f.answers.assess(text)
		if err != nil {
			return nil, err
		}
		kept = append(kept, tree)
	}
	text, err := ask(w1.Concluding, w1.Judge, f.rounds)
	if err != nil {
		return nil, err
	}
	out.assessments = len(kept)
	out.winner, err = f.answers.conclude(text)
	return out, err
}

// gather emits a speech in pieces and puts it together again.
func (f *floor) gather(text string) string {
	var whole []byte
	for piece := range f.script.Split(text) {
		whole = append(whole, piece...)
		f.emit(piece)
	}
	return string(whole)
}

// playToReader hands each piece to a goroutine through a channel, which adds up the bytes.
func playToReader(ctx context.Context, s *w1.Script, a *answers, rounds int) (*played, error) {
	pieces, sum := make(chan string, 64), make(chan int)
	go func() {
		got := 0
		for piece := range pieces {
			got += len(piece)
		}
		sum <- got
	}()
	f := newFloor(s, a, rounds)
	f.emit = func(piece string) { pieces <- piece }
	out, err := f.play(ctx)
	close(pieces)
	got := <-sum
	if err != nil {
		return nil, err
	}
	out.streamed = got
	return out, nil
}
