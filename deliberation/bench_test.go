package deliberation_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agonist-dev/debate/deliberation"
)

// BenchmarkFigures prints the figures of a deliberation of three agents, as ratios. Time is that of a synctest
// bubble with 100 ms for each call: x-ideal is the time by that of phases of one call each, x-path by the critical
// path of the run itself, evaluations included. Characters are those of the request bodies that reach a local fake of
// the chat-completions protocol, whose replies have 1,700 characters: x-most is by the bound of 774,142, x-off by the
// same without summaries. bytes/turn is the size of the log by contributions. Read is what all prompts of twenty rounds
// have, and the longest of them, for each way to end and to make the solution.
//
//	go test -run '^$' -bench Figures -benchtime 1x ./deliberation
func BenchmarkFigures(b *testing.B) {
	for _, n := range []int{2, 5, 10} {
		b.Run(fmt.Sprintf("Fixed/R=%d", n), func(b *testing.B) { benchTime(b, n, deliberation.TerminationFixed, false) })
		b.Run(fmt.Sprintf("Summaries/R=%d", n), func(b *testing.B) { benchTime(b, n, deliberation.TerminationFixed, true) })
		b.Run(fmt.Sprintf("Convergence/R=%d", n), func(b *testing.B) { benchTime(b, n, deliberation.TerminationConvergence, true) })
		b.Run(fmt.Sprintf("Characters/R=%d", n), func(b *testing.B) {
			for b.Loop() {
				on, _ := onTheWire(b, shortener(n, true))
				off, _ := onTheWire(b, shortener(n, false))
				b.ReportMetric(float64(on), "characters")
				b.ReportMetric(float64(on)/float64(off), "x-off")
				if n == 10 {
					b.ReportMetric(float64(on)/mostCharacters, "x-most")
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
	for _, end := range []string{deliberation.TerminationFixed, deliberation.TerminationConvergence, deliberation.TerminationQuality} {
		for _, synthesis := range []string{deliberation.SynthesisJudge, deliberation.SynthesisMerge, deliberation.SynthesisVoting} {
			b.Run("Read/"+end+"/"+synthesis, func(b *testing.B) { benchRead(b, end, synthesis) })
		}
	}
}

// benchRead counts what is read in twenty rounds.
func benchRead(b *testing.B, end, synthesis string) {
	const n = 20
	for b.Loop() {
		config := rounds(n, true)
		config.Termination.Kind, config.Synthesis = end, synthesis
		on, off := readings(b, config, n, true), readings(b, config, n, false)
		b.ReportMetric(float64(on.all), "characters")
		b.ReportMetric(float64(on.all)/float64(off.all), "x-off")
		b.ReportMetric(float64(on.longest), "longest")
	}
	b.ReportMetric(0, "ns/op")
}

// benchTime measures in a bubble, which belongs to a test: the benchmark runs one.
func benchTime(b *testing.B, n int, termination string, summaries bool) {
	for b.Loop() {
		var f figures
		testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: b.Name(), F: func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f = measure(t, withTermination(rounds(n, summaries), termination)) })
		}}})
		path := ideal(n)
		if termination != deliberation.TerminationFixed {
			path += time.Duration(n-1) * latency
		}
		b.ReportMetric(f.took.Seconds()/ideal(n).Seconds(), "x-ideal")
		b.ReportMetric(f.took.Seconds()/path.Seconds(), "x-path")
		b.ReportMetric(float64(f.calls), "calls")
		b.ReportMetric(float64(f.bytes)/float64(f.turns), "bytes/turn")
	}
	b.ReportMetric(0, "ns/op")
}
