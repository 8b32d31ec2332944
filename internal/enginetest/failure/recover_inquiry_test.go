package failure_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// Two of four fail while the others speak: both may be asked about before the others have done, in one inquiry if the
// cause is the provider's, or else in one for each.
func TestTwoAreAskedAboutWhileOthersSpeak(t *testing.T) {
	for _, kind := range []debate.Kind{provider.KindRefusal, provider.KindAuthentication} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, restart %v", kind, restart), func(t *testing.T) {
				askedAboutTwo(t, kind, restart)
			})
		}
	}
}

func askedAboutTwo(t *testing.T, kind debate.Kind, restart bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		config := stage.Crew(4)
		config.Mode, config.Unattended = debate.Simultaneous, false
		engine, p := stage.Engine(config)
		engine.Store = &store.Memory{}
		stage.Abiding(p)
		stage.Slowly(p)
		stage.Befall(p, kind, func(req *provider.Request) bool {
			return req.Model == "debater" && (req.Self == "Ada" || req.Self == "Dan")
		})
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		defer func() { _ = session.Close() }()
		stage.Pass(300 * time.Millisecond) // Ben and Cyd are speaking
		synctest.Wait()
		record := stage.SessionRecord(t, session)
		assert.Equal(t, debate.StateAwaitingResponses, record.State)
		assert.Equal(t, 2, record.InFlight())
		if kind == provider.KindRefusal {
			require.Len(t, record.Inquiries, 2)
		} else {
			require.Len(t, record.Inquiries, 1)
			require.Len(t, record.Inquiries[0].About, 2)
			assert.Contains(t, record.Inquiries[0].Question, "Ada")
			assert.Contains(t, record.Inquiries[0].Question, "Dan")
			failure := stage.RequireKind(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionDrop}), provider.KindValidation)
			assert.Equal(t, "by", failure.Field, "whom to drop is said by name")
		}
		ask := map[string]string{} // ids, by who is asked about: in no certain order
		for _, q := range record.Inquiries {
			for _, each := range q.About {
				ask[each.By] = q.ID
			}
		}
		require.Len(t, ask, 2)
		assert.Equal(t, flow.StatusFailed, record.Participant("Ada").Status)

		if restart {
			require.NoError(t, session.Close())
			session = stage.Reopen(t, stage.Twin(engine), session.ID())
		}
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: ask["Dan"], Option: flow.OptionDrop, By: "Dan"}), "while others speak")
		record = stage.AwaitsInput(t, session)
		require.Len(t, record.Inquiries, 1)
		require.Len(t, record.Inquiries[0].About, 1)
		assert.Equal(t, "Ada", record.Inquiries[0].About[0].By)
		assert.Len(t, record.Turns, 2)
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: ask["Ada"], Option: flow.OptionModel, Model: "test/spare"}))
		record = stage.Ended(t, session)
		assert.Equal(t, []string{
			"r1 Ada", "r1 Ben", "r1 Cyd", "r2 Ada", "r2 Ben", "r2 Cyd", "r3 Ada", "r3 Ben", "r3 Cyd",
		}, stage.InSlots(record))
		asksOnce(t, stage.Logged(t, engine, record.ID))
	})
}

// "end" breaks off those who still speak, and closes the questions of the others.
func TestEndIsChosenWhileOthersSpeak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.Crew(4)
		config.Mode, config.Unattended = debate.Simultaneous, false
		engine, p := stage.Engine(config)
		stage.Abiding(p)
		stage.Slowly(p)
		stage.Befall(p, provider.KindRefusal, func(req *provider.Request) bool {
			return strings.Contains(req.ID, "/r2.") && (req.Self == "Ada" || req.Self == "Dan")
		})
		session := stage.Started(t, engine, config)
		stage.Pass(2300 * time.Millisecond)
		synctest.Wait()
		record := stage.SessionRecord(t, session)
		require.Len(t, record.Inquiries, 2)
		require.Equal(t, 2, record.InFlight())
		other := record.Inquiries[1].ID
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionEnd}))
		stage.RequireKind(t, session.Answer(t.Context(), flow.Answer{Inquiry: other, Option: flow.OptionRetry}), provider.KindState)
		record = stage.Ended(t, session)
		assert.Equal(t, flow.StateCompleted, record.State)
		assert.Equal(t, flow.EndHost, record.Reason)
		assert.Equal(t, flow.EndedByPerson, record.EndedEarlyBy)
		assert.NotNil(t, stage.View(record).Verdict)
		assert.Len(t, record.Turns, 4)
		assert.Zero(t, record.InFlight())
	})
}

func TestAnOpenInquiryAndTheControls(t *testing.T) {
	config := stage.TwoDebaters()
	config.Unattended = false
	for name, hits := range map[string]func(*provider.Request) bool{
		"speaker":    stage.Requested("debater", "r2.rebuttal.Ben"),
		"assessment": stage.Requested("judge", "r2.assessment"),
		"verdict":    stage.Requested("judge", "verdict"),
	} {
		open := func(t *testing.T) (*debate.Engine, *debate.Session, *stage.Outage, flow.Inquiry) {
			t.Helper()
			engine, p := stage.Engine(config)
			engine.Store = &store.Memory{}
			cut := stage.Befall(p, provider.KindAuthentication, hits)
			session := stage.Started(t, engine, config)
			record := stage.AwaitsInput(t, session)
			return engine, session, cut, record.Inquiries[0]
		}
		t.Run(name+"/pause and resume", func(t *testing.T) {
			_, session, cut, q := open(t)
			require.NoError(t, session.Pause(t.Context()))
			assert.Equal(t, flow.StatePaused, session.State())
			require.NoError(t, session.Resume(t.Context()))
			record := stage.AwaitsInput(t, session)
			require.Equal(t, []flow.Inquiry{q}, record.Inquiries, "asked once")
			cut.Over.Store(true)
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionRetry}))
			record = stage.Ended(t, session)
			assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record))
		})
		t.Run(name+"/answered in a pause, and restarted", func(t *testing.T) {
			engine, session, _, q := open(t)
			require.NoError(t, session.Pause(t.Context()))
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionModel, Model: "test/spare"}))
			assert.Equal(t, flow.StatePaused, session.State(), "an answer does not end a pause")
			require.NoError(t, session.Close())
			session = stage.Reopen(t, stage.Twin(engine), session.ID())
			t.Cleanup(func() { _ = session.Close() })
			assert.Equal(t, flow.StatePaused, session.State())
			require.NoError(t, session.Resume(t.Context()))
			record := stage.Ended(t, session)
			assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record))
		})
		t.Run(name+"/stop", func(t *testing.T) {
			_, session, _, q := open(t)
			require.NoError(t, session.Stop(t.Context()))
			record, err := session.Wait(t.Context())
			if name == "verdict" { // there is no other way than to ask again
				require.ErrorIs(t, err, debate.ErrAwaitingInput)
				require.Len(t, record.Inquiries, 1)
				assert.Equal(t, flow.EndRounds, record.Reason, "the rounds were over before the host stopped them")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Equal(t, flow.EndHost, record.Reason)
			assert.Equal(t, "stopped by the host", record.Evidence)
			assert.NotNil(t, stage.View(record).Verdict)
			assert.Empty(t, record.Inquiries)
			stage.RequireKind(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionRetry}), provider.KindState)
		})
		t.Run(name+"/cancel", func(t *testing.T) {
			_, session, _, q := open(t)
			require.NoError(t, session.Cancel(t.Context()))
			record := stage.Ended(t, session)
			assert.Equal(t, flow.StateCanceled, record.State)
			assert.Equal(t, flow.EndHost, record.Reason)
			assert.Equal(t, "canceled by the host", record.Evidence)
			assert.Nil(t, stage.View(record).Verdict)
			assert.Empty(t, record.Inquiries)
			stage.RequireKind(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionRetry}), provider.KindState)
		})
	}
}

// Calls that share a question keep their own causes: in what is recorded of each, and in the question about who is left.
func TestASharedQuestionKeepsEachCause(t *testing.T) {
	says := map[string]string{"Ada": "no right to model a", "Ben": "no right to model b", "Cyd": "no right to model c"}
	for _, option := range []debate.Option{flow.OptionSkip, flow.OptionDrop} {
		for _, order := range [][]string{{"Ada", "Ben"}, {"Ben", "Ada"}, {"Cyd", "Ben"}} {
			t.Run(fmt.Sprint(option, order), func(t *testing.T) {
				config := stage.Crew(5)
				config.Mode, config.Unattended = debate.Simultaneous, false
				engine, p := stage.Engine(config)
				stage.Abiding(p)
				reply := p.Reply
				p.Reply = func(req *provider.Request) scripted.Reply {
					if why, fails := says[req.Self]; fails && strings.Contains(req.ID, "/r2.") {
						return scripted.Reply{Err: &provider.Error{Kind: provider.KindAuthentication, Status: 403, Message: why}}
					}
					return reply(req)
				}
				session := stage.Started(t, engine, config)
				left := []string{"Ada", "Ben", "Cyd"}
				for _, who := range order {
					record := stage.AwaitsInput(t, session)
					require.Len(t, record.Inquiries, 1)
					require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: option, By: who}))
					left = slices.DeleteFunc(left, func(name string) bool { return name == who })
					record = stage.SessionRecord(t, session)
					require.Len(t, record.Inquiries, 1)
					q := record.Inquiries[0]
					var asked []string
					for _, each := range q.About {
						asked = append(asked, each.By)
					}
					assert.ElementsMatch(t, left, asked)
					assert.True(t, strings.HasPrefix(q.Question, strings.Join(asked, ", ")+": authentication: "), q.Question)
					assert.Contains(t, q.Question, says[asked[0]], "the cause of the first who is left")
					assert.Equal(t, asked[0], q.To)
					assert.Equal(t, asked[0], q.Failure.Participant)
				}
				for _, event := range stage.Logged(t, engine, session.ID()) {
					if skipped := body.As[flow.Skipped](event); skipped != nil {
						assert.Contains(t, skipped.Reason, says[skipped.By])
						assert.Equal(t, provider.KindAuthentication, skipped.Cause)
					}
					if dropped := body.As[flow.Dropped](event); dropped != nil {
						assert.Contains(t, dropped.Reason, says[dropped.Participant])
					}
				}
			})
		}
	}
}
