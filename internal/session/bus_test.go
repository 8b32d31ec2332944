package session_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
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
	"github.com/agonist-dev/debate/store"
)

// relayed is a debate in one engine, and a second engine on the same store. Each has a way to a bus that they share.
type relayed struct {
	t       *testing.T
	config  *debate.Config
	store   *store.Memory
	shared  *bus.Local
	speaker *debate.Engine
	reader  *debate.Engine
	session *debate.Session
	missing int // how many chunks told the reader that text is missing
}

// overBus starts a debate of two that speak in ten chunks a second, in a bubble. prepare may change the engines before.
func overBus(t *testing.T, prepare func(r *relayed, p *scripted.Provider), test func(r *relayed)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		r := &relayed{t: t, config: &config, store: &store.Memory{}, shared: &bus.Local{}, speaker: engine}
		engine.Store, engine.Bus = r.store, r.shared
		r.reader = &debate.Engine{Store: r.store, Bus: r.shared}
		if prepare != nil {
			prepare(r, p)
		}
		var err error
		r.session, err = engine.Start(t.Context(), stage.InFlow(engine, config))
		require.NoError(t, err)
		defer r.session.Close()
		test(r)
		for _, e := range []*debate.Engine{r.reader, r.speaker} {
			require.NoError(t, e.Shutdown(t.Context()))
		}
	})
}

// follow reads the debate in the second engine to its end.
func (r *relayed) follow(each func(debate.Event)) *transcript {
	r.t.Helper()
	tr, heard := newTranscript(r.t), map[string]*heardText{}
	for event, err := range r.reader.Events(r.t.Context(), r.session.ID(), 0) {
		require.NoError(r.t, err)
		tr.read(event)
		checkHeard(r.t, heard, event)
		if c := body.As[flow.Chunk](event); c != nil && c.Missing != 0 {
			r.missing++
		}
		if each != nil {
			each(event)
		}
	}
	return tr
}

// heardText is what a reader has of a call's text.
type heardText struct {
	chunks []flow.Chunk
	gaps   []flow.Chunk // the chunks that name them
}

// checkHeard collects the chunks of each call and, when its turn comes, checks that each had the text of its place: that of its
// offset and of all that was said to be missing before it.
func checkHeard(t *testing.T, heard map[string]*heardText, event debate.Event) {
	t.Helper()
	if c := body.As[flow.Chunk](event); c != nil {
		if heard[c.Call] == nil {
			heard[c.Call] = &heardText{}
		}
		h := heard[c.Call]
		h.chunks = append(h.chunks, *c)
		return
	}
	if failure := body.As[flow.Failure](event); failure != nil {
		delete(heard, failure.Call)
	}
	turn := body.As[debate.Turn](event)
	if turn == nil || heard[turn.Call] == nil {
		return
	}
	h := heard[turn.Call]
	for _, c := range h.chunks {
		if c.Reasoning || c.Schema != "" {
			continue
		}
		h.gaps = slices.DeleteFunc(h.gaps, func(gap flow.Chunk) bool { return c.Offset <= gap.Offset })
		if c.Missing > 0 {
			h.gaps = append(h.gaps, c)
		}
		at := c.Offset
		for _, gap := range h.gaps {
			at += gap.Missing
		}
		if assert.LessOrEqual(t, at+len(c.Text), len(turn.Text)) {
			assert.Equal(t, turn.Text[at:at+len(c.Text)], c.Text, "the text at %d of %s", at, c.Call)
		}
	}
}

// TestAnotherEngineHearsWhatIsSpoken: its reader gets the chunks by the bus, and the facts by the store.
func TestAnotherEngineHearsWhatIsSpoken(t *testing.T) {
	overBus(t, nil, func(r *relayed) {
		var longest time.Duration
		last := time.Now()
		tr := r.follow(func(debate.Event) {
			longest = max(longest, time.Since(last))
			last = time.Now()
		})
		assert.Len(t, tr.turns, 6)
		assert.Equal(t, 60, tr.chunks)
		assert.Equal(t, 60, tr.parts)
		assert.Equal(t, 35, tr.facts)
		assert.Zero(t, r.missing)
		assert.LessOrEqual(t, longest, 110*time.Millisecond, "the provider speaks every 100 ms, the bus gathers for 10")
	})
}

// TestAReaderWithoutABusIsToldSo: it gets every fact, a word for each call that it does not hear, and each turn's text with the turn.
func TestAReaderWithoutABusIsToldSo(t *testing.T) {
	overBus(t, func(r *relayed, _ *scripted.Provider) { r.reader.Bus = nil }, func(r *relayed) {
		told := map[string]int{}
		tr := r.follow(func(e debate.Event) {
			if c := body.As[flow.Chunk](e); c != nil && c.Missing != 0 {
				assert.Equal(t, -1, c.Missing)
				assert.Empty(t, c.Text)
				told[c.Call]++
			}
		})
		assert.Equal(t, 35, tr.facts)
		assert.Len(t, tr.turns, 6)
		assert.Len(t, told, 10, "six turns, three assessments and a verdict")
		for call, times := range told {
			assert.Equal(t, 1, times, call)
		}
	})
}

// TestAReaderIsToldThatTheSpeakerHasNoBus: its own bus brings nothing, so that it gets facts only, and one word for each call that
// lasts. A speaker that has a bus and says nothing for long is waited for.
func TestAReaderIsToldThatTheSpeakerHasNoBus(t *testing.T) {
	for name, bused := range map[string]bool{"no bus": false, "a slow model": true} {
		t.Run(name, func(t *testing.T) {
			overBus(t, func(r *relayed, p *scripted.Provider) {
				if !bused {
					r.speaker.Bus = nil
				}
				stage.Altered(p, func(_ *provider.Request, out *scripted.Reply) {
					out.Delay += 10 * time.Second
				})
			}, func(r *relayed) {
				told := map[string]int{}
				var asked time.Time
				tr := r.follow(func(e debate.Event) {
					if body.As[flow.Intent](e) != nil {
						asked = time.Now()
					}
					if c := body.As[flow.Chunk](e); c != nil && c.Missing != 0 {
						assert.Equal(t, -1, c.Missing)
						assert.Empty(t, c.Text)
						assert.Equal(t, 4*time.Second, time.Since(asked))
						told[c.Call]++
					}
				})
				assert.Equal(t, 35, tr.facts)
				assert.Len(t, tr.turns, 6)
				if bused {
					assert.Empty(t, told)
					return
				}
				assert.Len(t, told, 10, "six turns, three assessments and a verdict")
				for call, times := range told {
					assert.Equal(t, 1, times, call)
				}
			})
		})
	}
}

// TestAReaderThatJoinsLateHearsTheTextSoFar: the engine that speaks publishes it again.
func TestAReaderThatJoinsLateHearsTheTextSoFar(t *testing.T) {
	overBus(t, nil, func(r *relayed) {
		stage.Pass(1550 * time.Millisecond) // five of Ben's ten chunks
		joined, first := time.Now(), true
		tr := r.follow(func(e debate.Event) {
			if c := body.As[flow.Chunk](e); c != nil && first {
				first = false
				assert.Equal(t, stage.BensOpening, c.Call)
				assert.Zero(t, c.Offset)
				assert.Equal(t, 5, c.Parts)
				assert.LessOrEqual(t, time.Since(joined), 20*time.Millisecond)
			}
		})
		assert.Zero(t, r.missing)
		assert.Len(t, tr.turns, 5, "the turn before comes without chunks")
	})
}

// TestTwoReadersThatJoinAtOnce: the second one's request comes too soon after the first one's to be answered.
func TestTwoReadersThatJoinAtOnce(t *testing.T) {
	overBus(t, nil, func(r *relayed) {
		stage.Pass(1200 * time.Millisecond)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for _, err := range r.reader.Events(r.t.Context(), r.session.ID(), 0) {
				assert.NoError(t, err)
			}
		}()
		stage.Pass(50 * time.Millisecond)
		tr := r.follow(nil)
		assert.Equal(t, 1, r.missing)
		assert.Len(t, tr.turns, 5)
		<-done
	})
}

// TestAReaderFromBeforeTheOpeningGetsChunksAtOnce: no store tells it, and no clock.
func TestAReaderFromBeforeTheOpeningGetsChunksAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.ID = "early"
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		kept := struct{ debate.Store }{&store.Memory{}} // nobody can watch it
		engine.Store = kept
		first, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		stage.Pass(1500 * time.Millisecond)
		require.NoError(t, first.Close())
		var opened time.Time
		heard := make(chan time.Duration, 1)
		ctx, leave := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for event, err := range engine.Events(ctx, "early", 0) {
				assert.NoError(t, err)
				if c := body.As[flow.Chunk](event); c != nil && c.Missing == 0 {
					heard <- time.Since(opened)
					return
				}
			}
		}()
		stage.Pass(10*time.Second + 30*time.Millisecond)
		opened = time.Now()
		session := stage.Reopen(t, engine, "early")
		assert.Equal(t, 100*time.Millisecond, <-heard, "as soon as it is spoken")
		leave()
		<-ended
		require.NoError(t, session.Close())
	})
}

// TestCallsWithoutASessionArePublished: a runtime of the host program makes them.
func TestCallsWithoutASessionArePublished(t *testing.T) {
	overBus(t, nil, func(r *relayed) {
		stage.Pass(300 * time.Millisecond)
		require.NoError(t, r.session.Close())
		done := make(chan struct{})
		go func() {
			defer close(done)
			ctx, id := r.t.Context(), r.session.ID()
			next, err := r.speaker.Advance(ctx, id, "runtime", flow.Opened{})
			for err == nil && !next.Over {
				if len(next.Calls) == 0 {
					next, err = r.speaker.Advance(ctx, id, "runtime", flow.Tick{})
					continue
				}
				next, err = r.speaker.Call(ctx, id, "runtime", next.Calls[0], nil)
			}
			assert.NoError(t, err)
		}()
		tr := r.follow(nil)
		<-done
		assert.Len(t, tr.turns, 6)
		assert.GreaterOrEqual(t, tr.chunks, 60)
		assert.Zero(t, r.missing)
	})
}

// TestChunksOfABusAreGatheredForTheReader: Engine.ChunkInterval is the reader's, however fast the bus is.
func TestChunksOfABusAreGatheredForTheReader(t *testing.T) {
	overBus(t, func(r *relayed, _ *scripted.Provider) { r.reader.ChunkInterval = 250 * time.Millisecond }, func(r *relayed) {
		tr := r.follow(nil)
		assert.Len(t, tr.turns, 6)
		assert.Less(t, tr.chunks, 40)
		assert.Equal(t, 60, tr.parts)
	})
}
