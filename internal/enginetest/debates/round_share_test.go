package debates_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// spoken lets the speeches of a round take these times, by the name of the speaker.
func spoken(p *scripted.Provider, times map[string]time.Duration, rounds ...string) {
	reply := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		r := reply(req)
		if slices.ContainsFunc(rounds, func(round string) bool { return strings.Contains(req.ID, "/"+round+".") }) {
			r.Delay = times[req.Self]
		}
		return r
	}
}

// A round that fits in its time is held, although some take more than an equal part of it.
func TestARoundThatFitsIsHeld(t *testing.T) {
	for name, seconds := range map[string][]int{
		"a long speech and a short one": {35, 10},
		"a short speech and a long one": {2, 57},
		"half of a part is enough":      {44, 15},
		"three":                         {39, 10, 10},
		"the last one of three":         {5, 5, 49},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.Crew(len(seconds))
			config.RoundTimeout = time.Minute
			engine, p := stage.Engine(config)
			stage.Abiding(p)
			times := make(map[string]time.Duration)
			for i, n := range seconds {
				times[config.Participants[i].Name] = time.Duration(n) * time.Second
			}
			spoken(p, times, "r1", "r2", "r3")
			record := stage.Run(t, engine, config)
			assert.Empty(t, record.SkippedCalls)
			assert.Empty(t, record.Warnings)
			assert.Len(t, record.Turns, 3*len(seconds))
		}))
	}
}

// Of N speakers in a row, the k-th may speak until half of an equal part is left for each who comes after. So whoever needs no
// more than half of a part is heard, whatever the others take.
func TestWhoeverSpeaksLeavesTheOthersTime(t *testing.T) {
	dice := rand.New(rand.NewPCG(29, 2)) // the draws are the same in each run
	for range 200 / longform.Fewer() {
		n := 2 + dice.IntN(5)
		round := time.Duration(2*n) * time.Minute // half of a part is a minute
		config := stage.Crew(n)
		config.Format, config.Judging, config.Rounds, config.RoundTimeout = "free-form", nil, 2, round
		config.TurnTimeout = round
		times := make(map[string]time.Duration)
		var heard, short []string
		var at time.Duration
		for i, p := range config.Participants {
			end := round - time.Duration(n-1-i)*time.Minute
			// A seventh of a second keeps each end apart from each deadline: six of them are no whole second, nor a part of one.
			takes := time.Duration(dice.Int64N(int64(round/time.Second)))*time.Second/time.Duration(1+dice.IntN(4)) + time.Second/7
			times[p.Name] = takes
			if takes <= time.Minute {
				short = append(short, "r1 "+p.Name)
			}
			if at+takes < end {
				at += takes
				heard = append(heard, "r1 "+p.Name)
			} else {
				at = end
			}
		}
		if len(heard) < 2 {
			continue // nobody would be left to speak to
		}
		synctest.Test(t, func(t *testing.T) {
			engine, p := stage.Engine(config)
			stage.Abiding(p)
			spoken(p, times, "r1")
			record := stage.Run(t, engine, config)
			spoke := slices.DeleteFunc(stage.Speakers(record), func(turn string) bool { return !strings.HasPrefix(turn, "r1 ") })
			assert.Equal(t, heard, spoke, times)
			assert.Subset(t, spoke, short)
			assert.Len(t, record.SkippedCalls, n-len(heard))
		})
	}
}

// A speaker who was dropped is still to come no longer: the last one has all that is left.
func TestADroppedSpeakerLeavesTheOthersTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.Crew(3)
		config.Format, config.Judging, config.Rounds, config.RoundTimeout = "free-form", nil, 2, time.Minute
		config.Unattended, config.OnFailure = true, stage.Rules(debate.FailureRule{Do: flow.OptionDrop})
		engine, p := stage.Engine(config)
		stage.Abiding(p)
		spoken(p, map[string]time.Duration{"Ben": 45 * time.Second, "Cyd": 14 * time.Second}, "r1")
		stage.Befall(p, provider.KindRefusal, func(req *provider.Request) bool { return req.Self == "Ada" })
		record := stage.Run(t, engine, config)
		assert.Equal(t, []string{"Ada"}, record.Dropped())
		assert.Empty(t, record.SkippedCalls)
		assert.Equal(t, []string{"r1 Ben", "r1 Cyd", "r2 Ben", "r2 Cyd"}, stage.Speakers(record))
	})
}

// A speaker who begins late has an equal part of what is left, and is not cut off at once.
func TestASpeakerWhoBeginsLateHasAPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := stage.CallsOf(func(c *flow.Call) { c.Round = 1 })
		f := stage.OneState(func(r *debate.Record) []*flow.Call {
			for _, call := range all(r) {
				if !r.Skipped(call.ID) {
					if call.By == "Ben" {
						call.NotBefore = r.StartedAt.Add(50 * time.Second)
					}
					return []*flow.Call{call} // one after the other
				}
			}
			return nil
		})
		f.Timed = []debate.State{stage.Asks}
		f.Steps[flow.StateInitializing] = flow.Step{Next: func(*debate.Record) (debate.Trigger, flow.Exit, bool) {
			return flow.TriggerInitialized, flow.Exit{Round: &flow.Round{N: 1, Of: 1, Calls: 3}}, true
		}}
		engine, p, config := stage.WithFlow(f)
		p.Reply = func(*provider.Request) scripted.Reply {
			return scripted.Reply{Text: "Words.", Delay: 4900 * time.Millisecond}
		}
		config.Participants = append(config.Participants, debate.Participant{Name: "Cyd", Model: "test/debater"})
		config.RoundTimeout = time.Minute
		record := stage.Run(t, engine, stage.InFlow(engine, config))
		assert.Empty(t, record.SkippedCalls)
		assert.Equal(t, []string{"r1 Ada", "r1 Ben", "r1 Cyd"}, stage.Speakers(record))
	})
}

// personBeside is a flow whose one round is limited in time, and in which Ben is a person.
func personBeside() *debate.Flow {
	all := stage.CallsOf(func(c *flow.Call) {
		c.Round = 1
		if c.By == "Ben" {
			c.Performer, c.Model = flow.ByPerson, ""
		}
	})
	f := stage.OneState(func(r *debate.Record) []*flow.Call {
		return slices.DeleteFunc(all(r), func(c *flow.Call) bool { return r.Skipped(c.ID) })
	})
	f.Timed = []debate.State{stage.Asks}
	f.Steps[flow.StateInitializing] = flow.Step{Next: func(*debate.Record) (debate.Trigger, flow.Exit, bool) {
		return flow.TriggerInitialized, flow.Exit{Round: &flow.Round{N: 1, Of: 1, Calls: 4}}, true
	}}
	return f
}

// The time of a round stands still from the moment at which only a person is awaited, also if the debate is paused then.
func TestAPauseWhileAPersonIsAwaitedTakesNoTimeOfTheRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, _, config := stage.WithFlow(personBeside())
		config.RoundTimeout = time.Minute
		session := stage.Started(t, engine, stage.InFlow(engine, config))
		stage.AwaitsInput(t, session)
		stage.Pass(time.Hour)
		require.NoError(t, session.Pause(t.Context()))
		stage.Pass(time.Hour)
		require.NoError(t, session.Resume(t.Context()))
		asked := stage.AwaitsInput(t, session)
		require.Len(t, asked.Inquiries, 1)
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: asked.Inquiries[0].ID, Text: "Here I am."}))
		assert.Empty(t, stage.Ended(t, session).SkippedCalls)
	})
}

// A person who is asked beside models is not cut off with them: the time of the round stands still for all while a person is asked,
// and goes on when the last of them has answered.
func TestAPersonHasNoShareOfARound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p, config := stage.WithFlow(personBeside())
		p.Reply = func(*provider.Request) scripted.Reply { return scripted.Reply{Text: "Words.", Delay: 4 * time.Hour} }
		config.RoundTimeout, config.TurnTimeout = time.Hour, 5*time.Hour
		session := stage.Started(t, engine, stage.InFlow(engine, config))
		stage.Pass(2 * time.Hour)
		record, err := session.Record(t.Context())
		require.NoError(t, err)
		require.Len(t, record.Inquiries, 1)
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Text: "Here I am."}))
		record = stage.Ended(t, session)
		require.Len(t, record.SkippedCalls, 1)
		assert.Equal(t, "say.Ada", record.SkippedCalls[0].Call)
		assert.Greater(t, record.LastAt.Sub(record.StartedAt), 2*time.Hour, "her part of the hour has gone on when he had answered")
		assert.Equal(t, []string{"r1 Ben"}, stage.Speakers(record))
	})
}
