package debates_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// dawdling makes each reply take a second, and some speakers' first of the given round ten. Its judge speaks of those
// who are left.
func dawdling(p *scripted.Provider, round string, who ...string) {
	stage.Slowly(p)
	reply := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		r := reply(req)
		if strings.Contains(req.ID, "/"+round+".") && strings.HasSuffix(req.ID, "/1") && slices.Contains(who, req.Self) {
			r.Delay = 10 * time.Second
		}
		if req.Schema == nil {
			return r
		}
		names := slices.DeleteFunc([]string{"Ada", "Ben", "Cem"}, func(name string) bool {
			return !strings.Contains(string(req.Schema.JSON), strconv.Quote(name))
		})
		if r.Text = stage.Judgement(names, true); req.Schema.Name == "verdict" {
			r.Text = stage.InShape(req.Schema.JSON, stage.Verdict(names))
		}
		return r
	}
}

// three is a debate of three in which Ben dawdles in one round.
func three(mode debate.Mode, round string, test func(t *testing.T, s *debate.Session)) func(*testing.T) {
	return func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Mode, config.RoundTimeout = mode, 6500*time.Millisecond
			config.Participants = append(config.Participants, debate.Participant{Name: "Cem", Side: debate.Against, Model: "test/debater"})
			engine, p := stage.Engine(config)
			dawdling(p, round, "Ben")
			session := stage.Started(t, engine, config)
			test(t, session)
		})
	}
}

func TestARoundThatTakesTooLong(t *testing.T) {
	lates := func(r *debate.Record) (n int) {
		for _, w := range r.Warnings {
			if w.Kind == flow.WarnLate {
				n++
			}
		}
		return n
	}
	missed := func(t *testing.T, r *debate.Record, round int, why string) {
		t.Helper()
		require.Len(t, r.SkippedCalls, 1)
		id := "r1.opening.Ben"
		if round == 2 {
			id = "r2.rebuttal.Ben"
		}
		want := flow.Skipped{Call: id, Kind: r.RoundTurns(round)[0].Kind, By: "Ben", Round: round, Slot: 1, Reason: why}
		assert.Equal(t, want, r.SkippedCalls[0])
		assert.True(t, r.Skipped(id))
		assert.Equal(t, flow.StatusActive, r.Participant("Ben").Status, "nobody is dropped")
		assert.Equal(t, flow.EndRounds, r.Reason)
		assert.Len(t, stage.View(r).Assessments, 3)
		assert.NotNil(t, stage.View(r).Verdict)
		assert.Contains(t, stage.View(r).Outcome().Degraded, fmt.Sprintf("Ben has missed a speech in round %d (its time was over)", round))
	}
	t.Run("sequential", three(debate.Sequential, "r1", func(t *testing.T, s *debate.Session) {
		began := time.Now()
		record := stage.Ended(t, s)
		assert.Equal(t, []string{"r1 Ada", "r1 Cem", "r2 Ada", "r2 Ben", "r2 Cem", "r3 Ada", "r3 Ben", "r3 Cem"}, stage.Speakers(record))
		missed(t, record, 1, "its share of the round's time of 6.5s is over")
		assert.Zero(t, lates(record), "Cem has spoken in time")
		// Ben may speak until half of a third of the time is left; then Cem, two other rounds, three assessments, the verdict
		cut := 6500*time.Millisecond - 6500*time.Millisecond/6
		assert.Equal(t, cut+time.Second+6*time.Second+3*time.Second+time.Second, time.Since(began))
	}))
	t.Run("simultaneous", three(debate.Simultaneous, "r1", func(t *testing.T, s *debate.Session) {
		began := time.Now()
		record := stage.Ended(t, s)
		assert.ElementsMatch(t, []string{"r1 Ada", "r1 Cem", "r2 Ada", "r2 Ben", "r2 Cem", "r3 Ada", "r3 Ben", "r3 Cem"}, stage.Speakers(record))
		missed(t, record, 1, "the round's time of 6.5s is over")
		assert.Equal(t, 1, lates(record))
		// the late round, two others, three assessments, the verdict
		assert.Equal(t, 6500*time.Millisecond+2*time.Second+3*time.Second+time.Second, time.Since(began))
	}))
	t.Run("in the second round", three(debate.Simultaneous, "r2", func(t *testing.T, s *debate.Session) {
		record := stage.Ended(t, s)
		assert.ElementsMatch(t, []string{"r1 Ada", "r1 Ben", "r1 Cem", "r2 Ada", "r2 Cem", "r3 Ada", "r3 Ben", "r3 Cem"}, stage.Speakers(record))
		missed(t, record, 2, "the round's time of 6.5s is over")
	}))
	t.Run("a pause stops the round's time", three(debate.Sequential, "none", func(t *testing.T, s *debate.Session) {
		stage.Pass(1500 * time.Millisecond)
		require.NoError(t, s.Control(t.Context(), flow.Pause{Drain: true}))
		stage.Pass(time.Hour)
		require.NoError(t, s.Resume(t.Context()))
		record := stage.Ended(t, s)
		assert.Len(t, record.Turns, 9)
		assert.Zero(t, lates(record))
	}))
}

// One of two misses the round in which its time is over, and speaks in the next one. If nobody has spoken, the debate
// fails.
func TestARoundThatTakesTooLongForTwo(t *testing.T) {
	for _, round := range []string{"r1", "r2"} {
		for _, mode := range []debate.Mode{debate.Sequential, debate.Simultaneous} {
			for _, both := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %s, both %v", round, mode, both), stage.Bubbled(func(t *testing.T) {
					config := stage.TwoDebaters()
					config.Mode, config.RoundTimeout = mode, 2500*time.Millisecond
					engine, p := stage.Engine(config)
					late := []string{"Ben"}
					if both {
						late = append(late, "Ada")
					}
					dawdling(p, round, late...)
					session := stage.Started(t, engine, config)
					record, err := session.Wait(t.Context())
					if both {
						require.ErrorIs(t, err, &debate.Error{Kind: provider.KindTimeout})
						assert.Equal(t, flow.StateError, record.State)
						assert.Empty(t, stage.View(record).Verdicts)
						assert.Empty(t, record.RoundTurns(record.Round))
						require.NoError(t, session.Retry(t.Context()))
						record = stage.Ended(t, session)
						assert.Len(t, record.Turns, 6, "the round is held again")
						assert.NotNil(t, stage.View(record).Verdict)
						return
					}
					require.NoError(t, err)
					assert.Equal(t, flow.EndRounds, record.Reason)
					assert.NotNil(t, stage.View(record).Verdict)
					want := []string{"r1 Ada", "r1 Ben", "r2 Ada", "r2 Ben", "r3 Ada", "r3 Ben"}
					want = slices.DeleteFunc(want, func(turn string) bool { return turn == round+" Ben" })
					assert.ElementsMatch(t, want, stage.Speakers(record))
					require.Len(t, record.SkippedCalls, 1)
					assert.Equal(t, "Ben", record.SkippedCalls[0].By)
				}))
			}
		}
	}
}

// Whoever is late in two rounds in a row is not left out a second time: the debate fails, and Retry holds the round again.
func TestWhoIsLateTwiceInARow(t *testing.T) {
	for _, mode := range []debate.Mode{debate.Sequential, debate.Simultaneous} {
		for _, unattended := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, unattended %v", mode, unattended), stage.Bubbled(func(t *testing.T) {
				config := stage.TwoDebaters()
				config.Mode, config.RoundTimeout, config.Unattended = mode, 2500*time.Millisecond, unattended
				engine, p := stage.Engine(config)
				dawdling(p, "r1", "Ben")
				stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
					if strings.Contains(req.ID, "/r2.") && strings.HasSuffix(req.ID, "Ben/1") {
						r.Delay = 10 * time.Second
					}
				})
				session := stage.Started(t, engine, config)
				record, err := session.Wait(t.Context())
				require.ErrorIs(t, err, &debate.Error{Kind: provider.KindTimeout})
				require.ErrorContains(t, err, "for the second round in a row")
				assert.Equal(t, flow.StateError, record.State)
				assert.Equal(t, 2, record.Round)
				assert.Equal(t, "Ben", record.Failure.Participant)
				require.Len(t, record.SkippedCalls, 1, "the first time")
				require.NoError(t, session.Retry(t.Context()))
				record = stage.Ended(t, session)
				assert.ElementsMatch(t, []string{"r1 Ada", "r2 Ada", "r2 Ben", "r3 Ada", "r3 Ben"}, stage.Speakers(record))
				assert.NotNil(t, stage.View(record).Verdict)
			}))
		}
	}
}

// Ben's refusal is recorded only once the round's time is over, since the store is slow: he misses the round, and nothing
// is owed.
func TestACallThatFailsAsTheRoundEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Mode, config.RoundTimeout = debate.Simultaneous, time.Minute
		engine, p := stage.Engine(config)
		engine.Store = slowStore{&store.Memory{}}
		stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
			switch {
			case !strings.Contains(req.ID, "/r3."):
			case req.Self == "Ada":
				r.Delay = 54500 * time.Millisecond
			case req.Self == "Ben":
				r.Delay, r.Err = 55*time.Second, &provider.Error{Kind: provider.KindRefusal, Message: "no"}
			}
		})
		record := stage.Run(t, engine, config)
		assert.Len(t, record.Turns, 5)
		require.Len(t, record.SkippedCalls, 1)
		assert.Equal(t, "r3.closing.Ben", record.SkippedCalls[0].Call)
		assert.NotNil(t, stage.View(record).Verdict)
	})
}

// slowStore takes three seconds for each append.
type slowStore struct{ *store.Memory }

func (s slowStore) Append(ctx context.Context, id string, after int64, writer string, events []debate.Event) error {
	stage.Pass(3 * time.Second)
	return s.Memory.Append(ctx, id, after, writer, events)
}

// The time is over while a group speaks: the groups that have not begun miss the round too, and the verdict that fails
// then is asked for again without them.
func TestTheTimeOfARoundOfGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Format, config.Rounds, config.RoundTimeout = "", 2, time.Hour
		config.CustomFormat = &format.Format{Name: "groups", End: format.EndByRounds, Phases: []format.Phase{{
			Name: "all", First: 1, Last: -1, Slots: []format.Slot{{Who: "all", Group: 1}, {Who: "all", Group: 2}},
		}}}
		engine, p := stage.Engine(config)
		reply, broken := p.Reply, true
		p.Reply = func(req *provider.Request) scripted.Reply {
			r := reply(req)
			if req.Self == "Ben" && strings.Contains(req.ID, "/r2.") {
				r.Delay = 10 * time.Minute
			}
			if broken && req.Schema != nil && req.Schema.Name == "verdict" {
				r.Err = &provider.Error{Kind: provider.KindAuthentication, Message: "no"}
			}
			return r
		}
		session := stage.Started(t, engine, config)
		stage.Pass(5 * time.Minute)
		require.NoError(t, session.Control(t.Context(), flow.Amendment{RoundTimeout: new(flow.Duration(time.Minute))}))
		record, err := session.Wait(t.Context())
		require.ErrorIs(t, err, &debate.Error{Kind: provider.KindAuthentication})
		assert.Len(t, record.Turns, 5)
		assert.Len(t, record.SkippedCalls, 3)
		broken = false
		require.NoError(t, session.Retry(t.Context()))
		record = stage.Ended(t, session)
		assert.NotNil(t, stage.View(record).Verdict)
		assert.Len(t, record.SkippedCalls, 3)
	})
}
