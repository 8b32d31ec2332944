package durable_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/process"
)

// promptly is how soon a process goes on with what another one has left or answered. The promise is a second,
// which the figures show. What fails is ten, which whoever looks every 20 s cannot hold. A busy machine may take longer:
// the short form finds whoever waits for a lease of an hour, or for a third of one to pass.
var promptly = longform.Or(10*time.Second, 15*time.Minute)

// TestAnswerFromAnotherProcess answers, here, what a debate asks that another process runs.
func TestAnswerFromAnotherProcess(t *testing.T) {
	for _, kind := range kinds() {
		t.Run(kind, func(t *testing.T) {
			place := newPlace(t, kind)
			o := order{
				Task: "ask", Place: place, Ledger: filepath.Join(t.TempDir(), "ledger"), Play: asking, IDs: []string{"asked"},
				Lease: time.Hour, // nobody waits for its end, nor for its renewal, which would find the answer
			}
			engine := engineOn(opened(t, place), nil)
			asker := process.Launch(t, o)
			config := configOf(asking, o.IDs[0])
			var given []time.Time
			for round := range config.Rounds + 1 {
				text := `{"scores":{"Ada":7,"Ben":6},"qualityScore":7,"shouldContinue":true,"reasoning":"The judge has read it."}`
				if round == config.Rounds {
					text = `{"scores":{"Ada":70,"Ben":60},"qualityScore":70,"winner":"Ada","reasoning":"The judge has read it all."}`
				}
				inquiry := asker.Hear(t)
				given = append(given, time.Now())
				require.NoError(t, engine.Control(t.Context(), o.IDs[0], flow.Answer{Inquiry: inquiry, Text: text}))
			}
			_, killed := asker.Wait(t)
			require.False(t, killed)

			longest := time.Duration(0)
			lines := readLedger(t, o.Ledger)
			for _, at := range given {
				for len(lines) > 0 && (lines[0].What != appended || lines[0].At.Before(at)) {
					lines = lines[1:]
				}
				require.NotEmpty(t, lines, "nobody has gone on")
				longest = max(longest, lines[0].At.Sub(at))
			}
			record := stage.StoredRecord(t, engine, o.IDs[0])
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Len(t, record.Answers, len(given))
			d, ok := debate.Of(record)
			require.True(t, ok)
			assert.True(t, strings.HasPrefix(d.Verdict.Summary, "The judge"))
			figuref("an answer by another process, %s: %d answers, the debate went on after at most %s",
				kind, len(given), longest.Round(time.Millisecond))
			assert.Less(t, longest, promptly)
		})
	}
}
