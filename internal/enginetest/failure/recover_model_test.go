package failure_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func TestFallbacksAreEachParticipantsOwn(t *testing.T) {
	config := stage.TwoDebaters()
	config.Retry = stage.NoRetry()
	config.Participants[0].Fallbacks = []string{"test/spare", "test/last"}
	config.Participants[1].Fallbacks = []string{"test/last"}
	config.Judging.Judges[0].Fallbacks = []string{"test/spare"}
	engine, p := stage.Engine(config)
	stage.Befall(p, provider.KindAPI, func(req *provider.Request) bool {
		return stage.Requested("debater", "r2")(req) || stage.Requested("spare", "r2.rebuttal")(req) || stage.Requested("judge", "verdict")(req)
	})
	record := stage.Run(t, engine, config)
	assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record))
	models := map[string]string{}
	for _, turn := range record.Turns {
		models[turn.Call] = turn.Model
	}
	assert.Equal(t, "test/last", models["r2.rebuttal.Ada"], "the second fallback, after the first")
	assert.Equal(t, "test/last", models["r2.rebuttal.Ben"])
	assert.Equal(t, "test/debater", models["r3.closing.Ada"], "each turn is first asked of the model that was configured")
	assert.Equal(t, "test/judge", stage.View(record).Assessments[1].Model)
	assert.Equal(t, "test/spare", stage.View(record).Verdict.Model)
}

// A fallback that takes over while an answer is asked for again begins from the beginning. Once its answers are rejected too, the next
// model is asked.
func TestEveryFallbackIsAskedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Rounds, config.Retry = 1, stage.NoRetry()
		config.Judging.When = debate.AtEnd
		config.Judging.Judges[0].Fallbacks = []string{"test/spare", "test/last"}
		engine, p := stage.Engine(config)
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			switch {
			case req.Schema == nil || req.Model == "last":
				return reply(req)
			case req.Model == "judge" && stage.Reasked(req):
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindAPI, Status: 500}}
			default:
				return scripted.Reply{Text: "no JSON"}
			}
		}
		record := stage.Run(t, engine, config)
		require.NotNil(t, stage.View(record).Verdict)
		assert.Equal(t, "test/last", stage.View(record).Verdict.Model)
		asked := intents(stage.Logged(t, engine, record.ID))
		assert.Equal(t, []string{
			"verdict.judge test/judge", "verdict.judge test/judge", "verdict.judge test/spare", "verdict.judge test/spare",
			"verdict.judge test/last",
		}, asked[2:])
	})
}

func TestAnotherModelIsUsedFromThenOn(t *testing.T) {
	config := stage.TwoDebaters()
	config.Rounds, config.Unattended = 4, false
	engine, p := stage.Engine(config)
	engine.Models["test/spare"] = debate.Model{Priced: true, Input: 7_000_000, Output: 11_000_000}
	stage.Befall(p, provider.KindAuthentication, stage.Said("Ben", 2))
	session := stage.Started(t, engine, config)
	record := stage.AwaitsInput(t, session)
	_, known := record.Model("test/spare")
	assert.False(t, known)
	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionModel, Model: "test/spare"}))
	record = stage.Ended(t, session)
	assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record))
	assert.Len(t, record.Answers, 1, "asked once")
	for _, turn := range record.Turns {
		want := "test/debater"
		if turn.Speaker == "Ben" && turn.Round > 1 {
			want = "test/spare"
		}
		assert.Equal(t, want, turn.Model, turn.Call)
	}
	frozen, known := record.Model("test/spare")
	require.True(t, known)
	assert.Equal(t, engine.Models["test/spare"], frozen)
	last := record.Turns[len(record.Turns)-1]
	assert.Equal(t, frozen.Cost(last.Usage), last.Cost)

	// An engine with other prices goes on with the frozen ones.
	other := stage.Twin(engine)
	other.Models = nil
	restored, err := stage.Restore(t.Context(), other, stage.SnapshotOf(t, engine, record.ID))
	require.NoError(t, err)
	again := stage.Ended(t, restored)
	row, _ := again.Model("test/spare")
	assert.Equal(t, frozen, row)
}

func TestABudgetRefusesAModelWithoutAPrice(t *testing.T) {
	config := stage.TwoDebaters()
	config.Budget, config.Unattended = &debate.Budget{Hard: 10 * debate.USD}, false
	engine, p := stage.Engine(config)
	engine.Models["test/spare"] = debate.Model{Priced: true, Input: 7_000_000, Output: 11_000_000}
	stage.Befall(p, provider.KindAuthentication, stage.Said("Ben", 2))
	session := stage.Started(t, engine, config)
	record := stage.AwaitsInput(t, session)
	q := record.Inquiries[0]
	failure := stage.RequireKind(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionModel, Model: "test/free"}), provider.KindValidation)
	assert.Equal(t, "model", failure.Field)
	assert.ErrorContains(t, failure, "price")
	after := stage.SessionRecord(t, session)
	assert.Equal(t, record.Seq, after.Seq)
	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionModel, Model: "test/spare"}))
	record = stage.Ended(t, session)
	assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record))
}

// A rule chooses a model once for a call until the program retries: rules that name two models go in no circle.
func TestEachModelOfTheRulesIsTriedOncePerCall(t *testing.T) {
	config := stage.TwoDebaters()
	config.OnFailure = []debate.FailureRule{{Do: flow.OptionModel, Model: "test/spare"}, {Do: flow.OptionModel, Model: "test/last"}}
	engine, p := stage.Engine(config)
	var asked []string
	o := stage.Befall(p, provider.KindAuthentication, func(req *provider.Request) bool {
		if req.Self == "Ben" {
			asked = append(asked, req.Model)
		}
		return req.Self == "Ben"
	})
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	for _, want := range [][]string{{"debater", "spare", "last"}, {"last", "spare", "last"}, {"last", "spare", "last"}} {
		_, err = session.Wait(t.Context())
		stage.RequireKind(t, err, provider.KindAuthentication)
		assert.Equal(t, want, asked)
		asked = nil
		require.NoError(t, session.Retry(t.Context()))
	}
	_, err = session.Wait(t.Context())
	stage.RequireKind(t, err, provider.KindAuthentication)
	o.Over.Store(true)
	require.NoError(t, session.Retry(t.Context()))
	record := stage.Ended(t, session)
	assert.Equal(t, "test/last", record.Replacement("Ben"), "the last one that was chosen stays")
}

// A conversation takes as many replacements as it has failures: an actor has one at a time.
func TestReplacementsHaveNoEnd(t *testing.T) {
	longform.Lone(t)
	config := stage.TwoDebaters()
	config.OnFailure = []debate.FailureRule{{Do: flow.OptionModel, Model: "test/spare"}, {Do: flow.OptionModel, Model: "test/last"}}
	s := stage.Begun(t, config)
	call, attempt := "r1.opening.Ada", 0
	for range 2100 {
		for range 3 {
			attempt++
			s.Fails(call, attempt, debate.Error{Kind: provider.KindAuthentication})
		}
		require.Equal(t, flow.StateError, s.Record().State)
		s.Feed(flow.Retry{})
	}
	require.NoError(t, s.Err())
}
