package detect_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agonist-dev/debate/detect"
)

func BenchmarkShingle(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ name, text string }{
		{"speech", text(speech(random, 20))},
		{"100000 words", text(speech(random, 6700))},
		{"1 MB without spaces", strings.Repeat("a", 1<<20)},
		{"1 MB of Chinese", chinese(random, 1<<20/3)},
		{"1 MB of broken UTF-8", strings.Repeat("\xff", 1<<20)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				detect.Shingle(c.text)
			}
		})
	}
}

func BenchmarkRepetition(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	var earlier []detect.Shingles
	for range detect.Lookback {
		earlier = append(earlier, detect.Shingle(text(speech(random, 20))))
	}
	now := detect.Shingle(text(speech(random, 20)))
	b.ReportAllocs()
	for b.Loop() {
		detect.Repetition(earlier, now)
	}
}
