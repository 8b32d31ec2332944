package failure_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// oxfordHeard is a debate before an audience of two, whose members ask.
func oxfordHeard() debate.Config {
	c := stage.TwoDebaters()
	c.Format, c.Rounds, c.Judging = format.Oxford, 0, nil
	c.Audience = &debate.Audience{Members: []debate.Member{{Model: "test/aud"}, {Model: "test/aud"}}}
	return c
}

// voting makes an audience vote.
func voting(p *scripted.Provider) {
	reply := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema != nil && strings.Contains(req.ID, "/vote.") {
			return scripted.Reply{Text: `{"vote":"for","reasoning":"It was well said."}`}
		}
		return reply(req)
	}
}

// crossed is a debate of two teams of three who cross-examine each other.
func crossed() debate.Config {
	c := stage.Crew(6, debate.For, debate.For, debate.For, debate.Against, debate.Against, debate.Against)
	c.Format, c.Rounds, c.Judging.When = format.KarlPopper, 0, debate.AtEnd
	return c
}

// Nobody but the config or a person decides to do without a call, whatever it is for.
func TestNothingIsLeftOutWithoutARule(t *testing.T) {
	asks := func(who string) func(*provider.Request) bool {
		return func(req *provider.Request) bool {
			return req.Self == who && strings.Contains(req.Last.Text, "Seek an admission")
		}
	}
	for name, tc := range map[string]struct {
		config debate.Config
		hits   func(*provider.Request) bool
	}{
		"a question of a debater":   {crossed(), asks("Fay")},
		"a question of the hearers": {oxfordHeard(), func(r *provider.Request) bool { return r.Self == "audience-1" && strings.Contains(r.ID, "exchange") }},
		"a vote before":             {oxfordHeard(), func(r *provider.Request) bool { return strings.Contains(r.ID, "/vote.before.audience-1") }},
		"a vote after":              {oxfordHeard(), func(r *provider.Request) bool { return strings.Contains(r.ID, "/vote.after.audience-2") }},
	} {
		t.Run(name, func(t *testing.T) {
			config := tc.config
			config.Unattended = true
			calm, source := stage.Engine(config)
			stage.Abiding(source)
			voting(source)
			undisturbed := stage.Run(t, calm, config)

			engine, p := stage.Engine(config)
			stage.Abiding(p)
			voting(p)
			o := stage.Befall(p, provider.KindAuthentication, tc.hits)
			session := stage.Started(t, engine, config)
			record, err := session.Wait(t.Context())
			stage.RequireKind(t, err, provider.KindAuthentication)
			assert.Equal(t, flow.StateError, record.State)
			assert.Empty(t, record.SkippedCalls)

			o.Over.Store(true)
			require.NoError(t, session.Retry(t.Context()))
			record = stage.Ended(t, session)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Len(t, record.Turns, len(undisturbed.Turns), "nothing is missing once the cause is gone")
			assert.Empty(t, record.SkippedCalls)
		})
	}
}

// A question that a rule leaves out takes its answers with it: each is recorded, and none counts against its speaker.
func TestTheAnswersToALeftOutQuestionAreRecorded(t *testing.T) {
	config := oxfordHeard()
	config.Unattended, config.OnFailure = true, stage.Rules(debate.FailureRule{Calls: []flow.CallKind{format.KindQuestion}, Do: flow.OptionSkip})
	engine, p := stage.Engine(config)
	voting(p)
	stage.Befall(p, provider.KindRefusal, func(r *provider.Request) bool { return strings.Contains(r.ID, "exchange") && r.Self == "audience-1" })
	record := stage.Run(t, engine, config)
	assert.Equal(t, flow.StateCompleted, record.State)

	f := stage.View(record).Format()
	answers := 0
	for _, s := range f.Schedule(stage.View(record).Config().Cast(), 2) {
		id := fmt.Sprintf("r2.%s", s.ID)
		assert.True(t, record.Done(id) || record.Skipped(id), id)
	}
	for _, s := range record.SkippedCalls {
		if s.With == "" {
			continue
		}
		answers++
		assert.Equal(t, format.KindAnswer, s.Kind)
		assert.Equal(t, provider.KindRefusal, s.Cause)
		assert.True(t, record.Skipped(s.With), "of a question that was left out")
		assert.Contains(t, stage.View(record).Outcome().Degraded, s.By+" had no question to answer in round 2, because it was left out (refusal)")
	}
	assert.Equal(t, 2, answers)
}

// Whoever retries after the error of a cost warning has confirmed it.
func TestARetryConfirmsTheCostWarning(t *testing.T) {
	config := stage.TwoDebaters()
	config.Unattended, config.Budget = true, &debate.Budget{Warn: debate.USD / 1000, Confirm: true}
	engine, _ := stage.Engine(config)
	session := stage.Started(t, engine, config)
	record, err := session.Wait(t.Context())
	stage.RequireKind(t, err, provider.KindState)
	assert.Equal(t, flow.StateError, record.State)
	assert.Empty(t, record.EndedEarlyBy)
	require.NoError(t, session.Retry(t.Context()))
	record = stage.Ended(t, session)
	assert.Equal(t, flow.EndRounds, record.Reason)
	assert.Len(t, record.Turns, 6)
}
