package failure_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

func TestWhoKeepsFailingIsDroppedByARuleAndTheDebateGoesOn(t *testing.T) {
	for _, mode := range []debate.Mode{debate.Sequential, debate.Simultaneous} {
		t.Run(string(mode), func(t *testing.T) {
			config := stage.Crew(3)
			config.Mode, config.OnFailure = mode, stage.Dropping()
			config.Judging.Protocol = debate.Plurality
			engine, p := stage.Engine(config)
			stage.Abiding(p)
			stage.Befall(p, provider.KindRefusal, stage.Said("Ben", 1))
			record := stage.Run(t, engine, config)
			assert.Equal(t, []string{"r1 Ada", "r1 Cyd", "r2 Ada", "r2 Cyd", "r3 Ada", "r3 Cyd"}, stage.InSlots(record))
			assert.Equal(t, flow.StatusDropped, record.Participant("Ben").Status)
			assert.Equal(t, []string{"Ben has taken no further part"}, stage.View(record).Outcome().Degraded)
			require.NotNil(t, stage.View(record).Verdict)
			assert.NotContains(t, stage.View(record).Verdict.Scores, "Ben")
			events := stage.Logged(t, engine, record.ID)
			i := slices.IndexFunc(events, func(e debate.Event) bool { return e.Kind() == flow.EventDropped })
			require.GreaterOrEqual(t, i, 0)
			assert.Equal(t, "Ben", body.As[flow.Dropped](events[i]).Participant)
			assert.Contains(t, body.As[flow.Dropped](events[i]).Reason, "refusal")
			assert.Equal(t, 1, strings.Count(strings.Join(intents(events), "\n"), "Ben"), "who is dropped is not asked again")
		})
	}
}

// No rule leaves fewer than a debate needs. A person may, once a round was spoken: then there is something to judge.
func TestBelowTwoAPersonSendsTheDebateToItsVerdict(t *testing.T) {
	for _, attended := range []bool{false, true} {
		t.Run(fmt.Sprintf("attended %v", attended), func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Unattended, config.OnFailure = !attended, stage.Dropping()
			engine, p := stage.Engine(config)
			stage.Abiding(p)
			stage.Befall(p, provider.KindRefusal, stage.Said("Ben", 2))
			session := stage.Started(t, engine, config)
			record, err := session.Wait(t.Context())
			assert.Equal(t, []string{"r1 Ada", "r1 Ben", "r2 Ada"}, stage.Speakers(record))
			if !attended {
				stage.RequireKind(t, err, provider.KindRefusal)
				assert.Equal(t, flow.StateError, record.State)
				assert.Empty(t, record.Answers)
				assert.Equal(t, flow.StatusFailed, record.Participant("Ben").Status)
				return
			}
			require.ErrorIs(t, err, debate.ErrAwaitingInput)
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionDrop}))
			record = stage.Ended(t, session)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Len(t, record.Turns, 3)
			assert.Equal(t, flow.EndTooFew, record.Reason)
			assert.Equal(t, flow.EndedByPerson, record.EndedEarlyBy)
			assert.Equal(t, "1 of 2 participants are left", record.Evidence)
			less := []string{"ended after 2 of 3 rounds by a person: 1 of 2 participants are left", "Ben has taken no further part", "missing: round 3"}
			assert.Equal(t, less, stage.View(record).Outcome().Degraded)
			assert.NotNil(t, stage.View(record).Verdict)
		})
	}
}

func TestBelowTwoBeforeOneRoundIsAnError(t *testing.T) {
	for name, tc := range map[string]struct {
		size    int
		falls   []string
		dropped int // the rule drops as many as the debate can do without
	}{
		"one of two":    {2, []string{"Ada"}, 0},
		"two of three":  {3, []string{"Ada", "Cyd"}, 1},
		"three of four": {4, []string{"Ada", "Ben", "Dan"}, 2},
	} {
		for _, mode := range []debate.Mode{debate.Sequential, debate.Simultaneous} {
			t.Run(name+"/"+string(mode), func(t *testing.T) {
				config := stage.Crew(tc.size)
				config.Mode, config.OnFailure = mode, stage.Dropping()
				engine, p := stage.Engine(config)
				stage.Abiding(p)
				stage.Befall(p, provider.KindQuota, func(req *provider.Request) bool { return slices.Contains(tc.falls, req.Self) })
				session := stage.Started(t, engine, config)
				record, err := session.Wait(t.Context())
				failure := stage.RequireKind(t, err, provider.KindQuota)
				assert.Contains(t, tc.falls, failure.Participant)
				assert.NotContains(t, record.Dropped(), failure.Participant)
				assert.Len(t, record.Dropped(), tc.dropped)
				assert.Contains(t, failure.Hint(), "Top up the account")
				assert.Equal(t, flow.StateError, record.State)
				assert.Zero(t, stage.View(record).Verdicts)
				last := stage.LastReason(stage.Logged(t, engine, record.ID))
				assert.Equal(t, flow.EndFailed, last.Reason)
				assert.Contains(t, last.Evidence, "quota")
			})
		}
	}
}

func TestASideThatIsLostEndsTheDebate(t *testing.T) {
	sides := func(c *debate.Config) {
		*c = stage.Crew(3, debate.For, debate.Against, debate.For)
	}
	for name, tc := range map[string]struct {
		change   func(*debate.Config)
		from     int
		evidence string // "": a person cannot choose it either
	}{
		"two against one, in round two": {sides, 2, `nobody is left on the side "against"`},
		"two against one, in round one": {sides, 1, ""},
		"lincoln-douglas, in round two": {func(c *debate.Config) { c.Format, c.Rounds = format.LincolnDouglas, 0 }, 2, "1 of 2 participants are left"},
		"lincoln-douglas, in round one": {func(c *debate.Config) { c.Format, c.Rounds = format.LincolnDouglas, 0 }, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			tc.change(&config)
			config.OnFailure = stage.Dropping()
			start := func() (*debate.Session, *debate.Record, error) {
				engine, p := stage.Engine(config)
				stage.Abiding(p)
				stage.Befall(p, provider.KindRefusal, stage.Said("Ben", tc.from))
				session := stage.Started(t, engine, config)
				record, err := session.Wait(t.Context())
				return session, record, err
			}
			_, record, err := start()
			stage.RequireKind(t, err, provider.KindRefusal)
			assert.Equal(t, flow.StateError, record.State, "no rule may do this")
			assert.Empty(t, record.Dropped())

			config.Unattended = false
			session, record, err := start()
			require.ErrorIs(t, err, debate.ErrAwaitingInput)
			q := record.Inquiries[0]
			if tc.evidence == "" {
				assert.NotContains(t, q.Options, flow.OptionDrop)
				stage.RequireKind(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionDrop}), provider.KindValidation)
				return
			}
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionDrop}))
			record = stage.Ended(t, session)
			assert.Equal(t, flow.EndTooFew, record.Reason)
			assert.Equal(t, flow.EndedByPerson, record.EndedEarlyBy)
			assert.Equal(t, tc.evidence, record.Evidence)
			assert.NotNil(t, stage.View(record).Verdict)
		})
	}
}

func TestTwoOfFourFailAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.Crew(4)
		config.Mode, config.OnFailure = debate.Simultaneous, stage.Dropping()
		engine, p := stage.Engine(config)
		stage.Abiding(p)
		stage.Slowly(p)
		stage.Befall(p, provider.KindRefusal, func(req *provider.Request) bool { return req.Self == "Ada" || req.Self == "Dan" })
		record := stage.Run(t, engine, config)
		assert.Equal(t, []string{"r1 Ben", "r1 Cyd", "r2 Ben", "r2 Cyd", "r3 Ben", "r3 Cyd"}, stage.InSlots(record))
		assert.ElementsMatch(t, []string{"Ada has taken no further part", "Dan has taken no further part"}, stage.View(record).Outcome().Degraded)
		asksOnce(t, stage.Logged(t, engine, record.ID))
		assert.Zero(t, record.InFlight())
	})
}

// intents yields who was asked with which model, as "call model".
func intents(events []debate.Event) (out []string) {
	for i := range events {
		if in := body.As[flow.Intent](events[i]); in != nil {
			out = append(out, in.Call+" "+in.Model)
		}
	}
	return out
}
