package log_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// pinnedDebates are those that are pinned beside the ones of [scenes].
func pinnedDebates() []pinned {
	return []pinned{
		{"failures", failuresSet, toItsEnd},
		{"skipped", skippedSet, toItsEnd},
		{"quorum", quorumSet, toItsEnd},
		{"dropped-by-choice", failingKey, choosing(flow.Answer{Option: flow.OptionDrop})},
		{"model-by-choice", failingKey, choosing(flow.Answer{Option: flow.OptionModel, Model: "test/spare"})},
		{"end-by-choice", failingKey, choosing(flow.Answer{Option: flow.OptionEnd})},
		{"judge-left-out-by-choice", failingOfTwo, choosing(flow.Answer{Option: flow.OptionDrop})},
		{"assessment-left-out-by-choice", failingJudge, choosing(flow.Answer{Option: flow.OptionSkip})},
		{"error-and-retry", once("r1.opening.Ada", provider.KindQuota), mended},
		{"rate-limit", once("r2.rebuttal.Ada", provider.KindRateLimit), toItsEnd},
		{"paused-and-stopped", slowSet, pausedAndStopped},
		{"canceled-in-flight", slowSet, canceledInFlight},
		{"soft-limit", limitedTo(debate.Budget{SoftCalls: 5}), toItsEnd},
		{"soft-limit-of-money", lavish, toItsEnd},
		{"hard-limit", limitedTo(debate.Budget{HardCalls: 5}), halts},
		{"fork", slowSet, forks},
		{"fork-of-nothing", slowSet, forksAnew},
		{"import", slowSet, imports},
	}
}

func spared(config debate.Config) (debate.Config, *debate.Engine, *scripted.Provider) {
	engine, p := stage.Engine(config)
	engine.Models["test/spare"] = debate.Model{Priced: true, Input: 2_000_000, Output: 5_000_000}
	stage.Abiding(p)
	return config, engine, p
}

// failuresSet is a debate with retries, fallbacks, a rejected answer and a participant who is dropped.
func failuresSet() (debate.Config, *debate.Engine, *scripted.Provider) {
	config := stage.Crew(4)
	config.Mode, config.OnFailure = debate.Simultaneous, stage.Dropping()
	config.Participants[1].Fallbacks = []string{"test/spare"}
	config, engine, p := spared(config)
	stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
		call := stage.CallOf(req)
		switch {
		case call == "r1.opening.Ada" && !strings.HasSuffix(req.ID, "/3"):
			r.Err = &provider.Error{Kind: provider.KindNetwork, Message: "no route"}
		case call == "r2.rebuttal.Cyd" && strings.HasSuffix(req.ID, "/1"):
			r.Text = " "
		case req.Schema != nil && strings.HasPrefix(call, "r2.") && !stage.Reasked(req):
			r.Text = `{"score": "eleven"}`
		}
	})
	stage.Befall(p, provider.KindAPI, stage.Said("Ben", 2))
	stage.Befall(p, provider.KindRefusal, stage.Said("Dan", 2))
	return config, engine, p
}

// skippedSet is a flow whose calls are left out when they fail.
func skippedSet() (debate.Config, *debate.Engine, *scripted.Provider) {
	p := stage.ToolAsker([]provider.ToolCall{stage.ToolCall("1", "add", `{"a":-1,"b":2}`)}, []provider.ToolCall{stage.ToolCall("2", "add", `{"a":"x"}`)})
	stage.Befall(p, provider.KindRefusal, func(req *provider.Request) bool { return req.Self == "Ben" })
	return stage.ToolUsers(), stage.WorkshopEngine(p, 1, map[string]debate.Tool{"add": new(stage.Tally).MustTool()}), p
}

// quorumSet is a panel of which one fails, and the others are not of one mind.
func quorumSet() (debate.Config, *debate.Engine, *scripted.Provider) {
	c := stage.NewCourt(stage.ForAda(), stage.ForBen(), stage.ForNobody(), stage.ForBen())
	delete(c.Rules, "judge-2.swapped")
	c.Config.Judging.Protocol, c.Config.Judging.BothOrders = debate.Borda, true
	c.Config.OnFailure = stage.Dropping()
	reply := c.Source.Reply
	c.Source.Reply = func(req *provider.Request) scripted.Reply {
		out := reply(req)
		if stage.Requested("judge-2", "verdict.judge-2/")(req) { // its other verdict fails first, and nobody wants this one then
			out.Delay = 20 * time.Second
		}
		return out
	}
	return c.Config, c.Engine, c.Source
}

func failingKey() (debate.Config, *debate.Engine, *scripted.Provider) {
	config := stage.Crew(3)
	config.Unattended = false
	config, engine, p := spared(config)
	stage.Befall(p, provider.KindAuthentication, stage.Requested("debater", "r2.rebuttal.Ben"))
	return config, engine, p
}

func failingJudge() (debate.Config, *debate.Engine, *scripted.Provider) { return failingOf() }

func failingOfTwo() (debate.Config, *debate.Engine, *scripted.Provider) {
	return failingOf(debate.JudgeConfig{Name: "Zed", Model: "test/judge"})
}

// failingOf has a judge who fails in the second round, and these others.
func failingOf(others ...debate.JudgeConfig) (debate.Config, *debate.Engine, *scripted.Provider) {
	config := stage.TwoDebaters()
	config.Unattended = false
	config.Judging.Judges = append(config.Judging.Judges, others...)
	config, engine, p := spared(config)
	stage.Befall(p, provider.KindRefusal, stage.Requested("judge", "r2.assessment.judge"))
	return config, engine, p
}

// choosing plays a debate whose one question a person answers.
func choosing(answer flow.Answer) func(*testing.T, *debate.Engine, *debate.Session) []debate.Event {
	return func(t *testing.T, engine *debate.Engine, s *debate.Session) []debate.Event {
		record := stage.AwaitsInput(t, s)
		require.Len(t, record.Inquiries, 1)
		answer.Inquiry = record.Inquiries[0].ID
		require.NoError(t, s.Answer(t.Context(), answer))
		return toItsEnd(t, engine, s)
	}
}

// once is a debate in which the first attempt at a call fails. Nobody speaks beside it: all who wait for the end of a
// rate limit go on at the same time but for the jitter.
func once(call string, kind provider.Kind) func() (debate.Config, *debate.Engine, *scripted.Provider) {
	return func() (debate.Config, *debate.Engine, *scripted.Provider) {
		config, engine, p := spared(stage.TwoDebaters())
		stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
			if strings.HasSuffix(req.ID, "/"+call+"/1") {
				r.Err = &provider.Error{Kind: kind, Message: "no", RetryAfter: 7 * time.Second}
			}
		})
		return config, engine, p
	}
}

func mended(t *testing.T, engine *debate.Engine, s *debate.Session) []debate.Event {
	_, err := s.Wait(t.Context())
	require.Error(t, err)
	require.NoError(t, s.Retry(t.Context()))
	return toItsEnd(t, engine, s)
}

func slowSet() (debate.Config, *debate.Engine, *scripted.Provider) {
	config, engine, p := spared(stage.TwoDebaters())
	stage.Slowly(p)
	return config, engine, p
}

func pausedAndStopped(t *testing.T, engine *debate.Engine, s *debate.Session) []debate.Event {
	stage.Pass(1500 * time.Millisecond) // Ben is speaking
	require.NoError(t, s.Pause(t.Context()))
	stage.Pass(time.Hour)
	require.NoError(t, s.Resume(t.Context()))
	stage.Pass(500 * time.Millisecond)
	require.NoError(t, s.Control(t.Context(), flow.Pause{Drain: true}))
	stage.Pass(time.Hour)
	require.NoError(t, s.Resume(t.Context()))
	stage.Pass(2500 * time.Millisecond)
	require.NoError(t, s.Stop(t.Context()))
	return toItsEnd(t, engine, s)
}

func canceledInFlight(t *testing.T, engine *debate.Engine, s *debate.Session) []debate.Event {
	stage.Pass(1500 * time.Millisecond)
	require.NoError(t, s.Cancel(t.Context()))
	return toItsEnd(t, engine, s)
}

func limitedTo(budget debate.Budget) func() (debate.Config, *debate.Engine, *scripted.Provider) {
	return func() (debate.Config, *debate.Engine, *scripted.Provider) {
		config := stage.TwoDebaters()
		budget.Warn = debate.USD / 1000
		config.Budget = &budget
		return spared(config)
	}
}

// lavish is a debate in which one turn costs more than the soft limit.
func lavish() (debate.Config, *debate.Engine, *scripted.Provider) {
	config, engine, p := limitedTo(debate.Budget{Soft: 556 * debate.USD / 1000})()
	stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
		if stage.CallOf(req) == "r2.rebuttal.Ada" {
			r.Usage.Output = 300_000
		}
	})
	return config, engine, p
}

// halts plays a debate that does not get to its end.
func halts(t *testing.T, engine *debate.Engine, s *debate.Session) []debate.Event {
	_, err := s.Wait(t.Context())
	require.Error(t, err)
	return stage.Logged(t, engine, s.ID())
}

// forks plays the fork of a debate that is made while Ben is speaking, with another model.
func forks(t *testing.T, engine *debate.Engine, s *debate.Session) []debate.Event {
	stage.Pass(1500 * time.Millisecond)
	log := stage.Logged(t, engine, s.ID())
	fork, err := engine.Fork(t.Context(), s.ID(), log[len(log)-1].Seq, debate.Editing(func(c *debate.Config) {
		c.ID, c.Rounds, c.Participants[1].Model = "pinned-branch", 2, "test/spare"
	}))
	require.NoError(t, err)
	defer fork.Close()
	return toItsEnd(t, engine, fork)
}

// forksAnew forks a debate before its first event.
func forksAnew(t *testing.T, engine *debate.Engine, s *debate.Session) []debate.Event {
	toItsEnd(t, engine, s)
	fork, err := engine.Fork(t.Context(), s.ID(), 0, debate.Editing(func(c *debate.Config) { c.ID, c.Rounds = "pinned-anew", 1 }))
	require.NoError(t, err)
	defer fork.Close()
	return toItsEnd(t, engine, fork)
}

// imports takes an unfinished debate to another engine.
func imports(t *testing.T, engine *debate.Engine, s *debate.Session) []debate.Event {
	stage.Pass(5500 * time.Millisecond)
	data := stage.Exported(t, engine, s.ID())
	require.NoError(t, s.Close())
	_, other, p := slowSet()
	stage.Unequally(p)
	other.Seed = func() string { return "another seed that nobody may know" }
	id, err := other.Import(t.Context(), bytes.NewReader(data))
	require.NoError(t, err)
	again := stage.Reopen(t, other, id)
	defer again.Close()
	return toItsEnd(t, other, again)
}
