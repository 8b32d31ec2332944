package session_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider/scripted"
)

func TestAReaderWhoHasHeardAFalseStartEndsWithTheTurnsText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		engine.Providers["test"] = trimming{p}
		session := stage.Started(t, engine, config)
		tr, heard := newTranscript(t), 0
		tr.follow(session, func(e debate.Event) {
			if c := body.As[flow.Chunk](e); c != nil && c.Schema == "" && strings.Contains(c.Text, "a false start") {
				heard++
			}
		})
		assert.Equal(t, 6, heard, "every false start of a turn was shown")
		assert.Len(t, tr.turns, 6)
	})
}

func TestTurnsFromBeforeTheSessionComeWithoutChunks(t *testing.T) {
	for name, reopen := range map[string]func(*debate.Engine, context.Context, flow.Config) (*debate.Session, error){
		"opened": func(e *debate.Engine, ctx context.Context, config flow.Config) (*debate.Session, error) {
			return e.Open(ctx, config.Settings().ID)
		},
		"started again": (*debate.Engine).Start,
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.ID = "before"
			engine, p := stage.Engine(config)
			stage.Slowly(p)
			first, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			stage.Pass(2500 * time.Millisecond) // the judge is at work
			require.NoError(t, first.Close())
			session, err := reopen(engine, t.Context(), config)
			require.NoError(t, err)
			defer session.Close()
			spoken := map[string]bool{}
			tr := newTranscript(t)
			tr.follow(session, func(e debate.Event) {
				if e.Kind() == flow.EventChunk && body.As[flow.Chunk](e).Schema == "" {
					spoken[body.As[flow.Chunk](e).Call] = true
				}
			})
			assert.NotContains(t, spoken, stage.AdasOpening)
			assert.NotContains(t, spoken, stage.BensOpening)
			assert.Len(t, spoken, 4, "the turns of this session do")
			assert.Len(t, tr.done, 6)
		}))
	}
}

func TestNoChunkComesBeforeItsCallsIntent(t *testing.T) {
	stage.InBubble(t, stage.TwoDebaters(), func(t *testing.T, s *debate.Session, _ *scripted.Provider) {
		intended := map[string]bool{}
		chunks := 0
		for event, err := range s.Events(t.Context(), 0) {
			require.NoError(t, err)
			switch event.Kind() {
			case flow.EventIntent:
				intended[body.As[flow.Intent](event).Call] = true
			case flow.EventChunk:
				chunks++
				assert.True(t, intended[body.As[flow.Chunk](event).Call], "%s", body.As[flow.Chunk](event).Call)
			}
			stage.Pass(330 * time.Millisecond) // so slow a reader is always behind
		}
		assert.Positive(t, chunks)
	})
}

// TestTheChunksOfHiddenTurnsSaySo: those of speakers who speak at once, and of nobody else, so that a [flow.Veil] can tell.
func TestTheChunksOfHiddenTurnsSaySo(t *testing.T) {
	stage.InBubble(t, stage.Simultaneous(), func(t *testing.T, s *debate.Session, _ *scripted.Provider) {
		hidden := 0
		for event, err := range s.Events(t.Context(), 0) {
			require.NoError(t, err)
			if c := body.As[flow.Chunk](event); c != nil {
				assert.Equal(t, c.Schema == "", c.Hidden, c.Call)
				if c.Hidden {
					hidden++
				}
			}
		}
		assert.Positive(t, hidden)
	})
}

// TestJudgesAreHeardAsTheyWrite: their chunks name a schema, come before the event, and make up the answer.
func TestJudgesAreHeardAsTheyWrite(t *testing.T) {
	config := stage.TwoDebaters()
	config.Rounds = 1
	stage.InBubble(t, config, func(t *testing.T, s *debate.Session, _ *scripted.Provider) {
		schemas, tr := map[string]string{}, newTranscript(t)
		tr.follow(s, func(e debate.Event) {
			if c := body.As[flow.Chunk](e); c != nil && c.Schema != "" {
				schemas[c.Call] = c.Schema
				assert.Equal(t, "judge", c.By)
			}
			if a := body.As[debate.Assessment](e); a != nil {
				var written debate.Judgement
				require.NoError(t, json.Unmarshal([]byte(tr.answers[a.Call]), &written))
				assert.Equal(t, a.Judgement, written)
			}
		})
		assert.Equal(t, map[string]string{"r1.assessment.judge": "assessment", "verdict.judge": "verdict"}, schemas)
		assert.Greater(t, tr.chunks, 2)
	})
}

// TestAReaderFromBeforeTheOpeningGetsChunks: it reads the log, then the session, then the log again, without a gap.
func TestAReaderFromBeforeTheOpeningGetsChunks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.ID = "early"
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		first, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		stage.Pass(1500 * time.Millisecond)
		require.NoError(t, first.Close())

		tr, ended := newTranscript(t), make(chan struct{})
		opened := map[int]int{} // chunks of turns, by how often the debate was opened before
		var times atomic.Int32
		go func() {
			defer close(ended)
			for event, err := range engine.Events(t.Context(), "early", 0) {
				assert.NoError(t, err)
				if err != nil {
					return
				}
				tr.read(event)
				if c := body.As[flow.Chunk](event); c != nil && c.Missing == 0 {
					opened[int(times.Load())]++
				}
			}
		}()
		stage.Pass(time.Second)
		for range 2 {
			times.Add(1)
			session := stage.Reopen(t, engine, "early")
			stage.Pass(4 * time.Second)
			require.NoError(t, session.Close())
			stage.Pass(time.Second)
		}
		times.Add(1)
		last := stage.Reopen(t, engine, "early")
		defer last.Close()
		<-ended
		record := stage.Ended(t, last)
		assert.Equal(t, flow.StateCompleted, record.State)
		assert.Equal(t, record.Seq, tr.last)
		assert.Zero(t, opened[0])
		for n := 1; n <= 3; n++ {
			assert.Positive(t, opened[n], "opened for the %d. time", n)
		}
	})
}
