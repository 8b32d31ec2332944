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
	"github.com/agonist-dev/debate/provider"
)

const (
	chunkRounds = 50
	chunkPieces = 100 // of each reply
	chunkBytes  = 3 * chunkRounds * bench.SpeechBytes
	chunkEmits  = 3 * chunkRounds * chunkPieces
)

// inPieces is the script with speeches that arrive in pieces.
func inPieces() *bench.Script {
	script := bench.NewScript()
	script.Pieces = chunkPieces
	return script
}

// BenchmarkW1s plays W1 with replies that come in 100 pieces, while a subscriber drains them.
//
//	emits/s       pieces that the engine's provider gets rid of in a second, the debate's own work included
//	x-callback    that rate, as a part of the floor's whose emit only counts
//	x-channel     the same for a floor whose emit hands the piece to a goroutine through a channel
//	x-bus         the engine's rate with a bus that gathers for 100 ms, as that on PostgreSQL does, as a part of its rate without
//	x-bus-1ms     the same with a bus that gathers for 1 ms
func BenchmarkW1s(b *testing.B) {
	speakers := inPieces()
	w := newWorkload(b, chunkRounds, speakers)
	silent := w.engine
	playOver := func(over bus.Bus) func() {
		engine := w.engineOver(speakers)
		engine.Bus = over
		return func() {
			w.engine = engine
			require.Equal(b, chunkBytes, w.playToSubscriber(b, nil))
			w.engine = silent
		}
	}
	laps := alternate(b, func() {
		got := 0
		w.playFloor(b, func(c provider.Chunk) { got += len(c.Text) })
		require.Equal(b, chunkBytes, got)
	}, func() {
		require.Equal(b, chunkBytes, w.playToChannel(b))
	}, func() {
		require.Equal(b, chunkBytes, w.playToSubscriber(b, nil))
	}, playOver(&bus.Local{Interval: 100 * time.Millisecond}), playOver(&bus.Local{Interval: time.Millisecond}))
	callback, channel, engine := laps[0], laps[1], laps[2]
	rate := func(l lap) float64 { return chunkEmits / l.wall.Seconds() }
	b.ReportMetric(median(engine, rate), "emits/s")
	b.ReportMetric(median(callback, rate), "callback-emits/s")
	b.ReportMetric(median(channel, rate), "channel-emits/s")
	b.ReportMetric(ratio(engine, callback, rate), "x-callback")
	b.ReportMetric(ratio(engine, channel, rate), "x-channel")
	b.ReportMetric(ratio(laps[3], engine, rate), "x-bus")
	b.ReportMetric(ratio(laps[4], engine, rate), "x-bus-1ms")
}

// playToChannel plays a debate on the floor whose pieces go to a goroutine that adds up their bytes.
func (b *workload) playToChannel(t testing.TB) int {
	pieces, sum := make(chan provider.Chunk, 256), make(chan int)
	go func() {
		got := 0
		for c := range pieces {
			got += len(c.Text)
		}
		sum <- got
	}()
	b.playFloor(t, func(c provider.Chunk) { pieces <- c })
	close(pieces)
	return <-sum
}

// playToSubscriber lets the engine play a debate while its events are drained, and yields how many
// bytes the pieces had together. each, which may be nil, gets every event.
func (b *workload) playToSubscriber(t testing.TB, each func(debate.Event)) int {
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
	b.conclude(t, session)
	return got
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
