package debates_test

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

func tell(t *testing.T, r *debate.Record) {
	t.Helper()
	t.Logf("state %s, round %d, reason %s (%s), turns %v, verdicts %d, assessments %d, inquiries %d, failure %v, outcome %+v", r.State, r.Round, r.Reason, r.Evidence,
		stage.Speakers(r), len(stage.View(r).Verdicts), len(stage.View(r).Assessments), len(r.Inquiries), r.Failure, stage.View(r).Outcome().Degraded)
}

func TestAStopInAPauseShowsTheGroupsTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.Crew(3)
		config.Mode = debate.Simultaneous
		engine, p := stage.Engine(config)
		stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
			if req.Schema == nil && req.Self != config.Participants[0].Name {
				r.Delay = time.Minute
			}
		})
		s := stage.Started(t, engine, config)
		stage.Pass(10 * time.Second)
		require.NoError(t, s.Pause(t.Context()))
		synctest.Wait()
		require.NoError(t, s.Stop(t.Context()))
		record := stage.Ended(t, s)
		tell(t, record)
		require.Len(t, record.Turns, 1)
		for _, req := range p.Requests() {
			if req.Schema != nil && req.Schema.Name == "verdict" {
				assert.Len(t, req.Messages, 1, "the verdict must be given on what has been said")
			}
		}
	})
}

// control: Stop without the pause shows them
func TestAStopShowsTheGroupsTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.Crew(3)
		config.Mode = debate.Simultaneous
		engine, p := stage.Engine(config)
		stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
			if req.Schema == nil && req.Self != config.Participants[0].Name {
				r.Delay = time.Minute
			}
		})
		s := stage.Started(t, engine, config)
		stage.Pass(10 * time.Second)
		require.NoError(t, s.Stop(t.Context()))
		record := stage.Ended(t, s)
		tell(t, record)
		for _, req := range p.Requests() {
			if req.Schema != nil && req.Schema.Name == "verdict" {
				assert.Len(t, req.Messages, 1)
			}
		}
	})
}

func TestDowntimeIsNoTimeOfTheRound(t *testing.T) {
	for _, mode := range []debate.Mode{debate.Simultaneous, debate.Sequential} {
		t.Run(string(mode), stage.Bubbled(func(t *testing.T) {
			config := stage.Crew(3)
			config.ID = "down"
			config.Mode, config.RoundTimeout = mode, time.Minute
			engine, p := stage.Engine(config)
			engine.Store = &store.Memory{}
			stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
				if req.Schema == nil {
					r.Delay = 5 * time.Second
				}
			})
			s, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			stage.Pass(time.Second)
			require.NoError(t, s.Close())
			stage.Pass(time.Hour) // the process is down
			other := stage.Twin(engine)
			s = stage.Reopen(t, other, "down")
			defer s.Close()
			record, err := s.Wait(t.Context())
			if record != nil {
				tell(t, record)
			}
			require.NoError(t, err)
			assert.Len(t, record.RoundTurns(1), 3, "nobody was slow: the process was down")
			for _, who := range record.Participants() {
				assert.NotEqual(t, flow.StatusDropped, who.Status, who.Name)
			}
		}))
	}
}

func TestEmptyRoundsAreNotJudged(t *testing.T) {
	for _, mode := range []debate.Mode{debate.Simultaneous, debate.Sequential} {
		t.Run(string(mode), stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Mode, config.RoundTimeout = mode, 30*time.Second
			engine, p := stage.Engine(config)
			reply := p.Reply
			p.Reply = func(req *provider.Request) scripted.Reply {
				if req.Schema == nil {
					return scripted.Reply{Err: &provider.Error{Kind: provider.KindRateLimit}}
				}
				return reply(req)
			}
			s := stage.Started(t, engine, config)
			record, err := s.Wait(t.Context())
			if record != nil {
				tell(t, record)
			}
			t.Log(err)
			require.Error(t, err, "no round is complete: that is an error, labelled")
		}))
	}
}

func TestASlotOfNoScheduleIsHarmless(t *testing.T) {
	config := stage.Crew(3)
	config.ID = "slot"
	config.Mode = debate.Simultaneous
	engine, p := stage.Engine(config)
	engine.Store = &store.Memory{}
	stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
		if req.Schema == nil && req.Self != config.Participants[0].Name {
			r.Delay = time.Hour
		}
	})
	s, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	for event, err := range s.Events(t.Context(), 0) {
		require.NoError(t, err)
		if body.As[debate.Turn](event) != nil {
			break
		}
	}
	data, err := s.Snapshot(t.Context())
	require.NoError(t, err)
	s.Close()
	var tree map[string]any
	require.NoError(t, json.Unmarshal(data, &tree))
	for _, e := range tree["events"].([]any) {
		e := e.(map[string]any)
		for _, k := range []string{"intent", "turn"} {
			if m, ok := e[k].(map[string]any); ok && (m["by"] == config.Participants[0].Name || m["speaker"] == config.Participants[0].Name) {
				m["slot"] = 99
			}
		}
	}
	data, _ = json.Marshal(tree)
	other := stage.Twin(engine)
	other.Store = &store.Memory{}
	var panicked any
	func() {
		defer func() {
			panicked = recover()
			if panicked != nil {
				t.Log(string(debug.Stack()))
			}
		}()
		s, err = stage.Restore(t.Context(), other, data)
		t.Log(err)
		if err == nil {
			s.Close()
		}
	}()
	assert.Nil(t, panicked, "%v", panicked)
}

func TestAWarningAtTheEndHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Judging.When = debate.AtEnd
		config.Judging.Judges = []debate.JudgeConfig{{Name: "m", Model: "test/judge"}, {Name: "Pat", Person: true}}
		engine, _ := stage.Engine(config)
		plain := run2(t, engine, config)
		before := plain.Spent().Cost
		t.Log(before)
		config.Budget = &debate.Budget{Warn: before - 1, Confirm: true}
		engine, _ = stage.Engine(config)
		s := stage.Started(t, engine, config)
		record := stage.AwaitsInput(t, s)
		tell(t, record)
		require.Len(t, record.Inquiries, 1)
		require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Text: stage.ByPerson(debate.KindVerdict, "Ada", "Ben")}))
		synctest.Wait()
		record = stage.SessionRecord(t, s)
		tell(t, record)
		assert.Equal(t, flow.StateCompleted, record.State, "nothing is left to ask: no call will follow")
	})
}

func run2(t *testing.T, engine *debate.Engine, config debate.Config) *debate.Record {
	s, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer s.Close()
	record := stage.AwaitsInput(t, s)
	return record
}

func TestIDsDoNotCollide(t *testing.T) {
	config := stage.TwoDebaters()
	config.Format = ""
	config.CustomFormat = &debate.Format{
		Name: "mine", End: format.EndByRounds,
		Phases: []format.Phase{{Name: "assessment.x", First: 1, Last: -1}},
	}
	config.Participants[0].Name = "y"
	config.Judging.Judges[0].Name = "x.y"
	engine, _ := stage.Engine(config)
	if err := engine.Validate(t.Context(), config); err != nil {
		t.Log("refused:", err)
		return
	}
	record := stage.Run(t, engine, config)
	tell(t, record)
	assert.Len(t, stage.View(record).Assessments, 3, "the judge assesses each round")
}

func TestASummaryLeavesTheVerdictsShare(t *testing.T) {
	t.Parallel()
	failed := 0
	for _, price := range []debate.Money{10, 15, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 100, 120} {
		d := stage.NewTalk(24, 0).Summarizes(false)
		d.Windows(0, 5000)
		d.Engine.Models["test/debater"] = debate.Model{Priced: true, Input: 1, Output: 1, CachedInput: 1, CacheWrite: 1}
		d.Engine.Models["test/judge"] = debate.Model{Priced: true, Window: 5000, Input: 10, Output: 10, CachedInput: 10, CacheWrite: 10}
		d.Engine.Models["test/summarizer"] = debate.Model{Priced: true, Input: price, Output: price, CachedInput: price, CacheWrite: price}
		d.Config.Budget = &debate.Budget{Hard: 900_000, SoftTokens: 1 << 40}
		s, err := d.Engine.Start(t.Context(), d.Config)
		require.NoError(t, err)
		_, err = s.Wait(t.Context())
		r, _ := s.Record(t.Context())
		s.Close()
		t.Log(price, r.State, r.Reason, len(r.Turns), len(r.Summaries), len(stage.View(r).Verdicts), int64(r.Spent().Cost), err)
		if r.State == flow.StateError && len(r.Warnings) > 0 {
			for _, w := range r.Warnings {
				if w.Kind == flow.WarnSoft {
					failed++
				}
			}
		}
	}
	assert.Zero(t, failed, "a soft limit had ended it, and there is no verdict")
}

var _ = fmt.Sprint

func TestAnEndThatIsChosenShowsTheGroupsTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.Crew(3)
		config.Mode, config.Unattended = debate.Simultaneous, false
		engine, p := stage.Engine(config)
		stage.Befall(p, provider.KindAuthentication, func(req *provider.Request) bool {
			return req.Schema == nil && req.Self == config.Participants[2].Name
		})
		s := stage.Started(t, engine, config)
		record := stage.AwaitsInput(t, s)
		require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionEnd}))
		record = stage.Ended(t, s)
		tell(t, record)
		for _, req := range p.Requests() {
			if req.Schema != nil && req.Schema.Name == "verdict" {
				assert.Len(t, req.Messages, len(record.Turns))
			}
		}
	})
}

func TestASummarizerThatFailsIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	d := stage.NewTalk(30, 6000).Summarizes(true)
	d.Config.Retry, d.Config.OnFailure = stage.NoRetry(), []debate.FailureRule{{Calls: []flow.CallKind{flow.KindSummary}, Do: flow.OptionSkip}}
	d.Summary = func(*provider.Request) scripted.Reply {
		return scripted.Reply{Err: &provider.Error{Kind: provider.KindAuthentication}}
	}
	record := stage.Run(t, d.Engine, d.Config)
	t.Log(len(record.Turns), len(d.Summaries()), len(record.Warnings))
	assert.Less(t, len(d.Summaries()), 10)
}

// Rules that drop one judge after the other are no circle. The one who is left gives the verdict.
func TestManyJudgesAreNoCircle(t *testing.T) {
	config := stage.TwoDebaters()
	config.Judging.When = debate.AtEnd
	config.OnFailure = []debate.FailureRule{{Do: flow.OptionTruncate}, {Do: flow.OptionDrop}}
	config.Judging.Judges = nil
	for range 80 / longform.Fewer() {
		config.Judging.Judges = append(config.Judging.Judges, debate.JudgeConfig{Model: "test/judge"})
	}
	config.Judging.Judges = append(config.Judging.Judges, debate.JudgeConfig{Model: "test/debater"})
	config.Judging.Quorum = 1
	engine, _ := stage.Engine(config)
	row := engine.Models["test/judge"]
	row.Window = 4500
	engine.Models["test/judge"] = row
	record := stage.Run(t, engine, config)
	assert.Equal(t, flow.StateCompleted, record.State)
	assert.Len(t, record.Dropped(), 80/longform.Fewer())
	assert.Len(t, record.Answers, 2*(80/longform.Fewer()), "each was made smaller in vain, and then dropped")
	assert.Len(t, stage.View(record).Verdicts, 1)
}
