package debate_test

import (
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
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// dawdling makes each reply take a second and Ben's of the given round ten. Its judge speaks of those
// who are left.
func dawdling(p *scripted.Provider, round string) {
	slowly(p)
	reply := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		r := reply(req)
		if strings.Contains(req.ID, "/"+round+".") && req.Self == "Ben" {
			r.Delay = 10 * time.Second
		}
		if req.Schema == nil {
			return r
		}
		names := slices.DeleteFunc([]string{"Ada", "Ben", "Cem"}, func(name string) bool {
			return !strings.Contains(string(req.Schema.JSON), strconv.Quote(name))
		})
		if r.Text = judgement(names, true); req.Schema.Name == "verdict" {
			r.Text = verdict(names)
		}
		return r
	}
}

// three is a debate of three in which Ben dawdles in one round.
func three(mode debate.Mode, round string, test func(t *testing.T, s *debate.Session)) func(*testing.T) {
	return func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			config := twoDebaters()
			config.Mode, config.RoundTimeout = mode, 3500*time.Millisecond
			config.Participants = append(config.Participants, debate.Participant{Name: "Cem", Side: debate.Against, Model: "test/debater"})
			engine, p := engineFor(config)
			dawdling(p, round)
			session, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			defer session.Close()
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
	t.Run("sequential", three(debate.Sequential, "r1", func(t *testing.T, s *debate.Session) {
		record, err := s.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{"r1 Ada", "r2 Ada", "r2 Cem", "r3 Ada", "r3 Cem"}, speakers(record), "Cem had no turn and stays")
		assert.Equal(t, flow.StatusDropped, record.Participant("Ben").Status)
		assert.Len(t, view(record).Assessments, 3)
		assert.Equal(t, 1, lates(record))
	}))
	t.Run("simultaneous", three(debate.Simultaneous, "r1", func(t *testing.T, s *debate.Session) {
		began := time.Now()
		record, err := s.Wait(t.Context())
		require.NoError(t, err)
		assert.ElementsMatch(t, []string{"r1 Ada", "r1 Cem", "r2 Ada", "r2 Cem", "r3 Ada", "r3 Cem"}, speakers(record))
		assert.Equal(t, flow.StatusDropped, record.Participant("Ben").Status)
		assert.Equal(t, 1, lates(record))
		// the late round, two others, three assessments, the verdict
		assert.Equal(t, 3500*time.Millisecond+2*time.Second+3*time.Second+time.Second, time.Since(began))
	}))
	t.Run("in the second round", three(debate.Simultaneous, "r2", func(t *testing.T, s *debate.Session) {
		record, err := s.Wait(t.Context())
		require.NoError(t, err)
		assert.ElementsMatch(t, []string{"r1 Ada", "r1 Ben", "r1 Cem", "r2 Ada", "r2 Cem", "r3 Ada", "r3 Cem"}, speakers(record))
		assert.NotNil(t, view(record).Verdict)
	}))
	t.Run("a pause stops the round's time", three(debate.Sequential, "none", func(t *testing.T, s *debate.Session) {
		pass(1500 * time.Millisecond)
		require.NoError(t, s.Pause(t.Context(), debate.Drain))
		pass(time.Hour)
		require.NoError(t, s.Resume(t.Context()))
		record, err := s.Wait(t.Context())
		require.NoError(t, err)
		assert.Len(t, record.Turns, 9)
		assert.Zero(t, lates(record))
	}))
}

// Of two nobody can be dropped before a round is complete: then the debate fails, else it is over.
func TestARoundThatTakesTooLongForTwo(t *testing.T) {
	for round, want := range map[string]error{"r1": &debate.Error{Kind: provider.KindTimeout}, "r2": nil} {
		for _, mode := range []debate.Mode{debate.Sequential, debate.Simultaneous} {
			t.Run(round+" "+string(mode), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					config := twoDebaters()
					config.Mode, config.RoundTimeout = mode, 2500*time.Millisecond
					engine, p := engineFor(config)
					dawdling(p, round)
					session, err := engine.Start(t.Context(), config)
					require.NoError(t, err)
					defer session.Close()
					record, err := session.Wait(t.Context())
					require.ErrorIs(t, err, want)
					if want == nil {
						assert.Equal(t, flow.EndTooFew, record.Reason)
						assert.NotNil(t, view(record).Verdict)
						assert.ElementsMatch(t, []string{"r1 Ada", "r1 Ben", "r2 Ada"}, speakers(record))
					} else {
						assert.Equal(t, flow.StateError, record.State)
						assert.Empty(t, view(record).Verdicts)
					}
				})
			})
		}
	}
}
