package prompt_test

import (
	"testing"

	"github.com/agonist-dev/debate/prompt"
)

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := prompt.Parse(nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDebater(b *testing.B) {
	set, d := parsed(b, nil), full()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := set.Debater(d); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDebate renders what a debate of three debaters and a judge needs in all its rounds.
func BenchmarkDebate(b *testing.B) {
	set, d, j := parsed(b, nil), full(), judge()
	whole := []render{
		func(s *prompt.Set) (string, error) { return s.Debater(d) },
		func(s *prompt.Set) (string, error) { return s.Debater(d) },
		func(s *prompt.Set) (string, error) { return s.Debater(d) },
		func(s *prompt.Set) (string, error) { return s.Judge(j) },
		turn(prompt.Turn{Phase: "opening", Opening: true, Rounds: 3}),
		turn(prompt.Turn{Phase: "rebuttal", Rounds: 3}),
		turn(prompt.Turn{Phase: "closing", Closing: true, Rounds: 3}),
		assess(prompt.Assess{Participants: names, Rounds: 3}),
		verdict(prompt.Verdict{Participants: names, Rounds: 3}),
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, do := range whole {
			if _, err := do(set); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkFill(b *testing.B) {
	rendered := text(b, parsed(b, nil), assess(prompt.Assess{Participants: names, Rounds: 3}))
	b.ReportAllocs()
	b.SetBytes(int64(len(rendered)))
	for b.Loop() {
		prompt.Fill(rendered, 12, 12)
	}
}
