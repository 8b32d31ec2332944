package session_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func TestPauseBreaksStreamsOffAndResumeAsksAgain(t *testing.T) {
	stage.InBubble(t, stage.TwoDebaters(), func(t *testing.T, s *debate.Session, p *scripted.Provider) {
		stage.Pass(1500 * time.Millisecond) // Ben is speaking
		require.NoError(t, s.Pause(t.Context()))
		synctest.Wait()
		assert.Equal(t, flow.StatePaused, s.State())
		calls := p.Calls()
		stage.Pass(time.Hour)
		assert.Equal(t, calls, p.Calls(), "nothing is asked in a pause")

		paused := stage.SessionRecord(t, s)
		assert.Equal(t, []string{"r1 Ada"}, stage.Speakers(paused))
		assert.Zero(t, paused.InFlight())
		assert.Positive(t, int64(paused.SpentByParticipant()[1].AtMost), "what was broken off may cost something")

		require.NoError(t, s.Resume(t.Context()))
		record := stage.Ended(t, s)
		assert.Equal(t, stage.Undisturbed(t, stage.TwoDebaters()), stage.Canonical(t, record))
	})
}

func TestADrainingPauseLetsTheSpeakerFinish(t *testing.T) {
	stage.InBubble(t, stage.TwoDebaters(), func(t *testing.T, s *debate.Session, p *scripted.Provider) {
		stage.Pass(1500 * time.Millisecond)
		require.NoError(t, s.Control(t.Context(), flow.Pause{Drain: true}))
		stage.Pass(time.Hour)
		paused := stage.SessionRecord(t, s)
		assert.Equal(t, []string{"r1 Ada", "r1 Ben"}, stage.Speakers(paused))
		assert.Equal(t, 2, p.Calls())
		require.NoError(t, s.Resume(t.Context()))
		record := stage.Ended(t, s)
		assert.Equal(t, 10, p.Calls(), "six turns, three assessments, a verdict: nothing was repeated")
		assert.Equal(t, stage.Undisturbed(t, stage.TwoDebaters()), stage.Canonical(t, record))
	})
}

func TestStopGoesToTheVerdict(t *testing.T) {
	stage.InBubble(t, stage.TwoDebaters(), func(t *testing.T, s *debate.Session, p *scripted.Provider) {
		stage.Pass(1500 * time.Millisecond)
		require.NoError(t, s.Stop(t.Context()))
		record := stage.Ended(t, s)
		assert.Equal(t, flow.StateCompleted, record.State)
		assert.Equal(t, []string{"r1 Ada"}, stage.Speakers(record))
		require.NotNil(t, stage.View(record).Verdict)
		assert.Equal(t, "stopped by the host", record.Evidence)
		assert.Zero(t, record.InFlight())
		assert.Equal(t, p.Calls(), record.Spent().Requests, "what was broken off is charged")
		requests := p.Requests()
		assert.Contains(t, requests[len(requests)-1].Last.Text, "cut short")
	})
}

func TestStopBeforeTheFirstTurnEndsWithoutAVerdict(t *testing.T) {
	stage.InBubble(t, stage.TwoDebaters(), func(t *testing.T, s *debate.Session, _ *scripted.Provider) {
		stage.Pass(500 * time.Millisecond)
		require.NoError(t, s.Stop(t.Context()))
		record := stage.Ended(t, s)
		assert.Equal(t, flow.StateCompleted, record.State)
		assert.Nil(t, stage.View(record).Verdict)
		assert.Zero(t, record.InFlight())
	})
}

func TestCancelEndsWithoutAVerdict(t *testing.T) {
	stage.InBubble(t, stage.TwoDebaters(), func(t *testing.T, s *debate.Session, _ *scripted.Provider) {
		stage.Pass(2500 * time.Millisecond)
		began := time.Now()
		require.NoError(t, s.Cancel(t.Context()))
		record := stage.Ended(t, s)
		assert.Zero(t, time.Since(began))
		assert.Equal(t, flow.StateCanceled, record.State)
		assert.Nil(t, stage.View(record).Verdict)
		assert.Positive(t, int64(record.Spent().Cost))

		err := s.Resume(t.Context())
		var refused *debate.Error
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, provider.KindState, refused.Kind)
		assert.Contains(t, err.Error(), "resume")
		assert.Contains(t, err.Error(), "canceled")
	})
}

func TestErrorAndRetryRepeatNothing(t *testing.T) {
	for name, c := range map[string]struct {
		call  string
		kind  debate.Kind
		round int
		turns []string
		again func(t *testing.T, s *debate.Session, record *debate.Record, err error) *debate.Error
	}{
		"after an error": {"r1.opening.Ben", provider.KindQuota, 1, []string{"r1 Ada"}, func(t *testing.T, s *debate.Session, record *debate.Record, err error) *debate.Error {
			t.Helper()
			failure := stage.RequireKind(t, err, provider.KindQuota)
			assert.Equal(t, flow.StateError, record.State)
			require.NoError(t, s.Retry(t.Context()))
			return failure
		}},
		"after a question": {"r2.rebuttal.Ben", provider.KindAuthentication, 2, []string{"r1 Ada", "r1 Ben", "r2 Ada"}, func(t *testing.T, s *debate.Session, record *debate.Record, err error) *debate.Error {
			t.Helper()
			q := stage.Question(t, record, err)
			assert.Equal(t, stage.SpeakerOptions(), q.Options)
			require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionRetry}))
			return q.Failure
		}},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Unattended = name == "after an error"
			engine, p := stage.Engine(config)
			reply := p.Reply
			var broken atomic.Bool
			broken.Store(true)
			p.Reply = func(req *provider.Request) scripted.Reply {
				if broken.Load() && strings.Contains(req.ID, c.call) {
					return scripted.Reply{Err: &provider.Error{Kind: c.kind, Status: 401, Message: "bad key"}}
				}
				return reply(req)
			}
			session := stage.Started(t, engine, config)
			record, err := session.Wait(t.Context())
			assert.Equal(t, c.turns, stage.Speakers(record))
			broken.Store(false)
			failure := c.again(t, session, record, err)
			assert.Equal(t, c.kind, failure.Kind)
			assert.Equal(t, "Ben", failure.Participant)
			assert.Equal(t, c.round, failure.Round)

			record = stage.Ended(t, session)
			assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record))
			assert.Equal(t, 11, p.Calls(), "ten calls and the one that failed")
		})
	}
}
