package bench_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/bus"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/bench"
	"github.com/agonist-dev/debate/internal/body"
)

const (
	chunkRounds = 50
	chunkPieces = 100 // of each reply
)

// inPieces is the script with speeches that arrive in pieces.
func inPieces() *bench.Script {
	script := bench.NewScript()
	script.Pieces = chunkPieces
	return script
}

// BenchmarkW1s plays W1 with replies that come in 100 pieces, while a subscriber drains them. Command peers measures the same beside a
// bare loop.
//
//	emits/s       pieces that the engine's provider gets rid of in a second, the debate's own work included
//	x-bus         that rate with a bus that gathers for 100 ms, as that on PostgreSQL does, as a part of the rate without
//	x-bus-1ms     the same with a bus that gathers for 1 ms
func BenchmarkW1s(b *testing.B) {
	w := newWorkload(b, chunkRounds, inPieces())
	playOver := func(over bus.Bus) func() {
		engine := w.engineOver(inPieces())
		engine.Bus = over
		return func() {
			w.engine = engine
			w.playToSubscriber(b, nil)
		}
	}
	laps := alternate(b, playOver(nil), playOver(&bus.Local{Interval: 100 * time.Millisecond}), playOver(&bus.Local{Interval: time.Millisecond}))
	rate := func(l lap) float64 { return 3 * chunkRounds * chunkPieces / l.wall.Seconds() }
	b.ReportMetric(median(laps[0], rate), "emits/s")
	b.ReportMetric(ratio(laps[1], laps[0], rate), "x-bus")
	b.ReportMetric(ratio(laps[2], laps[0], rate), "x-bus-1ms")
}

// playToSubscriber lets the engine play a debate while its events are drained, and checks that the pieces have as many bytes together as
// the speeches. each, which may be nil, gets every event.
func (b *workload) playToSubscriber(t testing.TB, each func(debate.Event)) {
	session, err := b.engine.Start(context.Background(), b.config)
	require.NoError(t, err)
	got := 0
	for event, err := range session.Events(context.Background(), 0) {
		if err != nil {
			require.NoError(t, err)
		}
		if event.Kind() == flow.EventChunk {
			got += len(body.As[flow.Chunk](event).Text)
		}
		if each != nil {
			each(event)
		}
	}
	require.Equal(t, 3*b.config.Rounds*bench.SpeechBytes, got)
	record, err := session.Wait(context.Background())
	require.NoError(t, err)
	b.forget(t, record)
}

func TestPiecesAddUpUnderLoad(t *testing.T) {
	w := newWorkload(t, 5, inPieces())
	texts, turns := make(map[string]*strings.Builder), 0
	w.playToSubscriber(t, func(e debate.Event) {
		switch e.Kind() {
		case flow.EventChunk:
			text := texts[body.As[flow.Chunk](e).Call]
			if text == nil {
				text = &strings.Builder{}
				texts[body.As[flow.Chunk](e).Call] = text
			}
			assert.Equal(t, text.Len(), body.As[flow.Chunk](e).Offset)
			text.WriteString(body.As[flow.Chunk](e).Text)
		case flow.EventTurn:
			turns++
			require.Contains(t, texts, body.As[debate.Turn](e).Call)
			assert.Equal(t, body.As[debate.Turn](e).Text, texts[body.As[debate.Turn](e).Call].String())
		}
	})
	assert.Equal(t, 15, turns)
}
