package debate_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider/scripted"
)

func TestAReaderWhoHasHeardAFalseStartEndsWithTheTurnsText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := twoDebaters()
		engine, p := engineFor(config)
		slowly(p)
		engine.Providers["test"] = trimming{p}
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		defer session.Close()
		tr, heard := newTranscript(t), 0
		tr.follow(session, func(e debate.Event) {
			if e.Kind() == flow.EventChunk && strings.Contains(as[flow.Chunk](e).Text, "a false start") {
				heard++
			}
		})
		assert.Equal(t, 6, heard, "every false start was shown")
		assert.Len(t, tr.turns, 6)
	})
}

func TestTurnsFromBeforeTheSessionComeWithoutChunks(t *testing.T) {
	for name, reopen := range map[string]func(*debate.Engine, context.Context, flow.Config) (*debate.Session, error){
		"opened": func(e *debate.Engine, ctx context.Context, config flow.Config) (*debate.Session, error) {
			return e.Open(ctx, config.Terms().ID)
		},
		"started again": (*debate.Engine).Start,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := twoDebaters()
				config.ID = "before"
				engine, p := engineFor(config)
				slowly(p)
				first, err := engine.Start(t.Context(), config)
				require.NoError(t, err)
				pass(2500 * time.Millisecond) // the judge is at work
				require.NoError(t, first.Close())
				session, err := reopen(engine, t.Context(), config)
				require.NoError(t, err)
				defer session.Close()
				spoken := map[string]bool{}
				tr := newTranscript(t)
				tr.follow(session, func(e debate.Event) {
					if e.Kind() == flow.EventChunk {
						spoken[as[flow.Chunk](e).Call] = true
					}
				})
				assert.NotContains(t, spoken, adasOpening)
				assert.NotContains(t, spoken, bensOpening)
				assert.Len(t, spoken, 4, "the turns of this session do")
				assert.Len(t, tr.done, 6)
			})
		})
	}
}

func TestNoChunkComesBeforeItsCallsIntent(t *testing.T) {
	inBubble(t, twoDebaters(), func(t *testing.T, s *debate.Session, _ *scripted.Provider) {
		intended := map[string]bool{}
		chunks := 0
		for event, err := range s.Events(t.Context(), 0) {
			require.NoError(t, err)
			switch event.Kind() {
			case flow.EventIntent:
				intended[as[flow.Intent](event).Call] = true
			case flow.EventChunk:
				chunks++
				assert.True(t, intended[as[flow.Chunk](event).Call], "%s", as[flow.Chunk](event).Call)
			}
			pass(330 * time.Millisecond) // so slow a reader is always behind
		}
		assert.Positive(t, chunks)
	})
}
