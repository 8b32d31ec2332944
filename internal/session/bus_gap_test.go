package session_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/bus"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// numbered returns a text of n words of five bytes, in which each place is its own.
func numbered(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "%04d ", i%10_000)
	}
	return text.String()
}

// thenSilent lets Ben open with a text, in chunks of the given size every 20 ms, and say nothing for a minute before his reply ends.
func thenSilent(r *relayed, p *scripted.Provider, text string, size int) {
	stage.Altered(p, func(req *provider.Request, out *scripted.Reply) {
		if strings.HasSuffix(req.ID, stage.BensOpening+"/1") {
			*out = scripted.Reply{Text: text}
		}
	})
	r.config.MaxTokens = 10_000_000
	speak := func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
		if !strings.HasSuffix(req.ID, stage.BensOpening+"/1") {
			return p.Generate(ctx, req, emit)
		}
		for chunk := range slices.Chunk([]byte(text), size) {
			emit(provider.Chunk{Text: string(chunk)})
			stage.Pass(20 * time.Millisecond)
		}
		stage.Pass(time.Minute)
		return p.Generate(ctx, req, func(provider.Chunk) {})
	}
	r.speaker.Providers["test"] = stage.ProviderFunc(speak)
}

// ear is what a reader has of Ben's opening.
type ear struct {
	mu      sync.Mutex
	text    string
	missing []int // what it is told of gaps
	turn    string
}

// listen reads the debate in an engine until Ben's opening is recorded. From its first chunk on it stands still until the given time.
func (e *ear) listen(t *testing.T, r *relayed, engine *debate.Engine, until time.Time) {
	t.Helper()
	stood, heard := false, map[string]*heardText{}
	for event, err := range engine.Events(r.t.Context(), r.session.ID(), 0) {
		if !assert.NoError(t, err) {
			return
		}
		checkHeard(t, heard, event)
		if turn := body.As[debate.Turn](event); turn != nil && turn.Call == stage.BensOpening {
			e.mu.Lock()
			e.turn = turn.Text
			e.mu.Unlock()
			return
		}
		c := body.As[flow.Chunk](event)
		if c == nil || c.Call != stage.BensOpening {
			continue
		}
		e.mu.Lock()
		e.text = e.text[:c.Offset] + c.Text
		if c.Missing != 0 {
			e.missing = append(e.missing, c.Missing)
		}
		e.mu.Unlock()
		if !stood {
			stood = true
			stage.Pass(time.Until(until))
		}
	}
}

// now returns what the reader has at this moment.
func (e *ear) now() (text string, missing []int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.text, slices.Clone(e.missing)
}

// TestTwoSlowReadersMissNothingUntold: both stand still while more messages come than wait for them, and go on one soon after the other,
// while the model speaks or when it has fallen silent. The answer to the first one's request is lost on the second, who gets one of its own.
func TestTwoSlowReadersMissNothingUntold(t *testing.T) {
	for _, d := range []struct{ stand, apart time.Duration }{
		{20 * time.Second, 0},
		{45 * time.Second, 0},
		{45 * time.Second, 100 * time.Millisecond},
		{45 * time.Second, 500 * time.Millisecond},
		{45 * time.Second, 900 * time.Millisecond},
		{45 * time.Second, 1500 * time.Millisecond},
	} {
		t.Run(d.stand.String()+" "+d.apart.String(), func(t *testing.T) {
			text := numbered(2000)
			overBus(t, func(r *relayed, p *scripted.Provider) { thenSilent(r, p, text, 5) }, func(r *relayed) {
				second := &debate.Engine{Store: r.store, Bus: r.shared}
				awake := time.Now().Add(d.stand)
				var first, other ear
				var readers sync.WaitGroup
				readers.Go(func() { first.listen(t, r, r.reader, awake) })
				readers.Go(func() { other.listen(t, r, second, awake.Add(d.apart)) })
				stage.Pass(55 * time.Second) // the model has been silent for a while
				for _, e := range []*ear{&first, &other} {
					has, _ := e.now()
					assert.True(t, strings.HasPrefix(text, has))
					assert.Equal(t, len(text), len(has), "while the model is silent") //nolint:testifylint // it would print the texts
				}
				readers.Wait()
				assert.True(t, first.turn == text && other.turn == text)
				require.NoError(t, second.Shutdown(r.t.Context()))
			})
		})
	}
}

// TestASlowReaderThatNobodyAnswersIsToldThatTextIsMissing: by number as soon as the next piece comes, and 4 s after the bus has said that
// it has dropped messages if none does.
func TestASlowReaderThatNobodyAnswersIsToldThatTextIsMissing(t *testing.T) {
	for name, d := range map[string]struct {
		stands time.Duration
		want   func(missing int) bool
	}{
		"more is said": {20 * time.Second, func(n int) bool { return n > 1000 }},
		"no more is":   {45 * time.Second, func(n int) bool { return n == -1 }},
	} {
		t.Run(name, func(t *testing.T) {
			text := numbered(2000)
			overBus(t, func(r *relayed, p *scripted.Provider) {
				thenSilent(r, p, text, 5)
				r.reader.Bus = &faulty{r.shared, func(bus.Message) []bus.Message { return nil }} // its requests are lost
			}, func(r *relayed) {
				until := time.Now().Add(d.stands)
				var e ear
				var reader sync.WaitGroup
				reader.Go(func() { e.listen(t, r, r.reader, until) })
				stage.Pass(time.Until(until.Add(5 * time.Second)))
				has, missing := e.now()
				assert.Less(t, len(has), len(text))
				if assert.Len(t, missing, 1) {
					assert.True(t, d.want(missing[0]), "%d bytes", missing[0])
				}
				reader.Wait()
				assert.True(t, e.turn == text && e.text == text, "the turn has it")
			})
		})
	}
}

// TestAnAnswerThatIsLostIsCounted: what comes after it says how much it was.
func TestAnAnswerThatIsLostIsCounted(t *testing.T) {
	overBus(t, func(r *relayed, _ *scripted.Provider) {
		began, least := time.Now(), 1<<20
		r.speaker.Bus = &faulty{r.shared, func(m bus.Message) []bus.Message {
			least = min(least, len(m.Data)) // a message without text
			if at := time.Since(began); at > 1550*time.Millisecond && at < 1590*time.Millisecond && len(m.Data) > least+2 {
				return nil
			}
			return []bus.Message{m}
		}}
	}, func(r *relayed) {
		stage.Pass(1550 * time.Millisecond) // five of Ben's ten chunks
		var told []flow.Chunk
		said := 0
		tr := r.follow(func(e debate.Event) {
			if c := body.As[flow.Chunk](e); c != nil && c.Missing != 0 {
				told = append(told, *c)
			}
			if turn := body.As[debate.Turn](e); turn != nil && turn.Call == stage.BensOpening {
				said = len(turn.Text)
			}
		})
		assert.Len(t, tr.turns, 5)
		if assert.Len(t, told, 2) {
			assert.Equal(t, stage.BensOpening, told[0].Call)
			assert.Zero(t, told[0].Offset)
			assert.Empty(t, told[0].Text)
			assert.InDelta(t, said/2, told[0].Missing, 5)
			assert.NotEmpty(t, told[1].Text, "the next piece")
			assert.Equal(t, told[0].Missing, told[1].Missing, "is at the same place, and says it anew")
			assert.Zero(t, told[1].Offset)
		}
	})
}

// TestTextBeyondWhatAReaderKeepsIsNamed: 4 MiB of one call. The rest comes with the turn.
func TestTextBeyondWhatAReaderKeepsIsNamed(t *testing.T) {
	text := numbered(1_260_000)
	overBus(t, func(r *relayed, p *scripted.Provider) { thenSilent(r, p, text, 49_999) }, func(r *relayed) {
		var e ear
		var reader sync.WaitGroup
		reader.Go(func() { e.listen(t, r, r.reader, time.Now()) })
		stage.Pass(30 * time.Second)
		has, missing := e.now()
		assert.Equal(t, []int{-1}, missing)
		assert.Greater(t, len(has), 4<<20-49_999)
		assert.LessOrEqual(t, len(has), 4<<20)
		assert.True(t, strings.HasPrefix(text, has))
		reader.Wait()
		assert.True(t, e.turn == text && e.text == text, "the turn has all of it")
	})
}

// TestAHoleThatNoAnswerMendsIsAskedForTwice: a reader joins when more was said than an answer has. The model says nothing for long.
func TestAHoleThatNoAnswerMendsIsAskedForTwice(t *testing.T) {
	text := numbered(20_000)
	var asks atomic.Int64
	overBus(t, func(r *relayed, p *scripted.Provider) {
		thenSilent(r, p, text, 1000)
		r.reader.Bus = &faulty{r.shared, func(m bus.Message) []bus.Message {
			asks.Add(1)
			return []bus.Message{m}
		}}
	}, func(r *relayed) {
		stage.Pass(10 * time.Second)
		var e ear
		var reader sync.WaitGroup
		reader.Go(func() { e.listen(t, r, r.reader, time.Now()) })
		stage.Pass(30 * time.Second)
		assert.LessOrEqual(t, asks.Load(), int64(2))
		assert.Positive(t, asks.Load())
		has, missing := e.now()
		assert.NotEmpty(t, has)
		assert.NotEmpty(t, missing)
		reader.Wait()
		assert.True(t, e.turn == text && e.text == text, "the turn has it")
	})
}
