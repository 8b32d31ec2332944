package deliberation_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// perRound plays a deliberation whose replies come at once, and returns the time of one of its rounds.
func perRound(t testing.TB, n int) time.Duration {
	t.Helper()
	engine, p := engineFor(sized(func(string) int { return replyLength }))
	p.Record = false
	config := rounds(n, true)
	began := time.Now()
	play(t, engine, config)
	return time.Since(began) / time.Duration(n)
}

// BenchmarkRounds prints the time of a round with instant replies and summaries on, in debates of 10, 50 and 200
// rounds, and how much longer it is in the last than in the first: about 1, for no step looks at all that was said.
//
//	go test -run '^$' -bench Rounds -benchtime 3x ./deliberation
func BenchmarkRounds(b *testing.B) {
	least := map[int]time.Duration{}
	for b.Loop() {
		for _, n := range []int{10, 50, 200} {
			if d := perRound(b, n); least[n] == 0 || d < least[n] {
				least[n] = d
			}
		}
	}
	for n, d := range least {
		b.ReportMetric(float64(d.Microseconds()), fmt.Sprintf("us/round-R=%d", n))
	}
	b.ReportMetric(float64(least[200])/float64(least[10]), "x-R=200/R=10")
	b.ReportMetric(0, "ns/op")
}

// TestARoundTakesNoLongerForThoseBefore holds this to the memory that a round takes, which no other process changes.
func TestARoundTakesNoLongerForThoseBefore(t *testing.T) {
	all := func(n int) float64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		perRound(t, n)
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	early, late := (all(30)-all(10))/20, (all(120)-all(100))/20
	t.Logf("%.0f KiB for a round of the first thirty, %.0f for one after a hundred", early/1024, late/1024)
	assert.LessOrEqual(t, late, early*1.5)
}
