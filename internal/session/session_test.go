package session_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

func TestASessionIsEditedUntilItIsValid(t *testing.T) {
	config := stage.TwoDebaters()
	engine, p := stage.Engine(config)
	bad := config
	bad.Topic = ""
	session, err := engine.New(bad)
	require.NoError(t, err)
	defer session.Close()
	assert.Equal(t, flow.StateConfiguring, session.State())
	require.Error(t, session.Start(t.Context()))

	require.ErrorContains(t, session.Validate(t.Context()), "topic")
	assert.Equal(t, flow.StateConfiguring, session.State())
	require.NoError(t, session.Edit(config))
	require.NoError(t, session.Validate(t.Context()))
	assert.Equal(t, flow.StateReady, session.State())
	require.NoError(t, session.Edit(config))
	assert.Equal(t, flow.StateConfiguring, session.State(), "an edit has to be validated")
	require.Error(t, session.Start(t.Context()))
	assert.Zero(t, p.Calls())
	require.NoError(t, session.Validate(t.Context()))
	require.NoError(t, session.Start(t.Context()))
	record := stage.Ended(t, session)
	assert.Equal(t, session.ID(), record.ID)
	require.Error(t, session.Edit(config), "what has started is not edited")
}

func TestSimultaneousSpeakersDoNotHearEachOther(t *testing.T) {
	config := stage.TwoDebaters()
	config.Mode = debate.Simultaneous
	synctest.Test(t, func(t *testing.T) {
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		began := time.Now()
		record := stage.Run(t, engine, config)
		assert.Equal(t, 7*time.Second, time.Since(began), "three rounds of one turn and one assessment, and the verdict")
		assert.Len(t, record.Turns, 6)
		for _, req := range p.Requests() {
			if req.Schema != nil {
				continue
			}
			own := 0
			for _, m := range req.Messages {
				if m.Speaker == req.Self {
					own++
				}
			}
			assert.Len(t, req.Messages, 2*own, "%s has heard as much of the other as of itself", req.ID)
		}
	})
}

func TestARecordThatWasGivenAwayIsNotWrittenAnyMore(t *testing.T) { // for the race detector
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	session := stage.Started(t, engine, config)
	record := stage.Ended(t, session)

	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for range 100 {
				assert.Equal(t, "Ada", stage.View(record).Outcome().Winner)
				assert.Len(t, record.Turns, 6)
			}
		})
	}
	for range 100 {
		stage.RequireKind(t, session.Stop(t.Context()), provider.KindState)
	}
	readers.Wait()
}
