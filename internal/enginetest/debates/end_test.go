package debates_test

import (
	"fmt"
	"maps"
	"slices"
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

// ending is a debate that ends for a reason.
type ending struct {
	change func(*debate.Config)
	play   play
	spoil  func(*scripted.Provider)
	host   func(t *testing.T, s *debate.Session) // after two and a half seconds
	reason flow.EndReason
	by     string // who has ended it early
	words  string // of the evidence
	rounds int    // that were begun
	failed debate.Kind
}

func endings() map[string]ending {
	says := func(set func(*debate.Judgement), from int) play {
		return play{judges: func(_ string, round int, j *debate.Judgement) {
			if round >= from {
				set(j)
			}
		}}
	}
	f := func(name string) func(*debate.Config) { return func(c *debate.Config) { c.Format = name } }
	budget := func(b debate.Budget) func(*debate.Config) {
		return func(c *debate.Config) { c.MaxTokens, c.Budget = 300, &b }
	}
	return map[string]ending{
		"the judge wishes to end": {
			change: f(format.FreeForm), play: says(func(j *debate.Judgement) { j.ShouldContinue = false }, 2),
			reason: debate.EndJudge, by: "judge", words: "judge wishes to end after round 2: It is settled.", rounds: 2,
		},
		"most of the judges wish to end": {
			change: func(c *debate.Config) {
				c.Format = format.FreeForm
				c.Judging.Judges = []debate.JudgeConfig{{Model: "test/judge"}, {Model: "test/judge"}, {Name: "Zoe", Model: "test/judge"}}
			},
			play: play{judges: func(who string, round int, j *debate.Judgement) {
				j.ShouldContinue = round < 2 && who != "judge" || who == "Zoe"
			}},
			reason: debate.EndJudge, by: "judges", words: "of 3 judges 2: wishes to end after round 2: It is settled.", rounds: 2,
		},
		"all rounds of a free debate": {
			change: f(format.FreeForm), reason: flow.EndRounds, words: "all 4 rounds are spoken", rounds: 4,
		},
		"all rounds, whatever the judge wishes": {
			change: f(format.StructuredRounds), play: says(func(j *debate.Judgement) { j.ShouldContinue = false }, 1),
			reason: flow.EndRounds, words: "the format has 4 rounds", rounds: 4,
		},
		"all rounds, and nobody judges": {
			change: func(c *debate.Config) { c.Judging, c.Format = nil, format.FreeForm },
			reason: flow.EndRounds, words: "all 4 rounds are spoken", rounds: 4,
		},
		"all rounds, judged at the end": {
			change: func(c *debate.Config) { c.Judging.When, c.Format = debate.AtEnd, format.FreeForm },
			reason: flow.EndRounds, words: "all 4 rounds are spoken", rounds: 4,
		},
		"convergence": {
			change: f(format.ConvergenceSeeker), play: says(func(j *debate.Judgement) { j.Flags.ConvergenceReached = true }, 3),
			reason: flow.EndConverged, by: "judge", words: "judge sees convergence in round 3", rounds: 3,
		},
		"convergence before diminishing returns": {
			change: f(format.ConvergenceSeeker),
			play: says(func(j *debate.Judgement) {
				j.Flags.ConvergenceReached, j.Flags.DiminishingReturns, j.ShouldContinue = true, true, false
			}, 2),
			reason: flow.EndConverged, by: "judge", words: "judge sees convergence in round 2", rounds: 2,
		},
		"the judge sees diminishing returns": {
			change: f(format.ConvergenceSeeker), play: says(func(j *debate.Judgement) { j.Flags.DiminishingReturns = true }, 2),
			reason: debate.EndDiminishing, by: "judge", words: "judge sees diminishing returns in round 3: It is settled.", rounds: 3,
		},
		"the detector sees diminishing returns": {
			change: func(c *debate.Config) {
				c.Format, c.StopOn = format.FreeForm, []format.Detector{format.DetectDiminishing}
			},
			play:   says(func(j *debate.Judgement) { j.Flags.Repetitive = true }, 2),
			reason: debate.EndDiminishing, by: flow.EndedByDetector, words: "Returns diminish: ", rounds: 3,
		},
		"repetition": {
			change: func(c *debate.Config) { c.StopOn = []format.Detector{format.DetectRepetition} },
			play:   play{says: onlyAda}, reason: debate.EndRepetition, by: flow.EndedByDetector, words: "Ada: The overlap", rounds: 2,
		},
		"drift": {
			change: func(c *debate.Config) { c.StopOn = []format.Detector{format.DetectDrift} },
			play:   says(func(j *debate.Judgement) { j.Flags.Drifting = true }, 2),
			reason: debate.EndDrift, by: flow.EndedByDetector, words: "Of 1 judges 1 see", rounds: 2,
		},
		"too few are left": { // no rule leaves too few
			change: func(c *debate.Config) { c.Unattended = false },
			spoil:  func(p *scripted.Provider) { stage.Befall(p, provider.KindRefusal, stage.Said("Ben", 2)) },
			host: func(t *testing.T, s *debate.Session) {
				record, err := s.Wait(t.Context())
				require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: stage.Question(t, record, err).ID, Option: flow.OptionDrop}))
			},
			reason: flow.EndTooFew, by: flow.EndedByPerson, words: "1 of 2 participants are left", rounds: 2,
		},
		"a soft limit of money": {
			change: budget(debate.Budget{Soft: 115 * debate.USD / 1000}), reason: flow.EndSoftLimit, by: flow.EndedByBudget,
			words: "soft-limit of the budget: ", rounds: 0,
		},
		"a soft limit of calls": {
			change: budget(debate.Budget{SoftCalls: 5}), reason: flow.EndSoftLimit, by: flow.EndedByBudget, words: "budget: 5 of 5 calls", rounds: 2,
		},
		"a soft limit of tokens": {
			change: budget(debate.Budget{SoftTokens: 60_000}), reason: flow.EndSoftLimit, by: flow.EndedByBudget, words: "tokens", rounds: 0,
		},
		"a soft limit of time": {
			change: budget(debate.Budget{SoftTime: 4 * time.Second}), reason: flow.EndSoftLimit, by: flow.EndedByBudget, words: "of 4s", rounds: 2,
		},
		"a rule does not confirm the cost": {
			change: func(c *debate.Config) {
				budget(debate.Budget{Warn: debate.USD / 10_000, Confirm: true})(c)
				c.Unattended, c.OnFailure = true, []debate.FailureRule{{Calls: []flow.CallKind{flow.KindConfirm}, Do: flow.OptionEnd}}
			},
			reason: flow.EndHost, by: flow.EndedByRule, words: "ended at the cost warning: $", rounds: 1,
		},
		"a hard limit of calls": {
			change: budget(debate.Budget{HardCalls: 5}), reason: flow.EndHardLimit, by: flow.EndedByBudget,
			words: "hard-limit of the budget: ", failed: provider.KindCostLimit,
		},
		"a hard limit of time": {
			change: budget(debate.Budget{HardTime: 4 * time.Second}), reason: flow.EndHardLimit, by: flow.EndedByBudget,
			words: "4s of 4s", failed: provider.KindCostLimit,
		},
		"the host stops": {
			host:   func(t *testing.T, s *debate.Session) { require.NoError(t, s.Stop(t.Context())) },
			reason: flow.EndHost, by: flow.EndedByHost, words: "stopped by the host", rounds: 1,
		},
		"the host stops a pause": {
			host: func(t *testing.T, s *debate.Session) {
				require.NoError(t, s.Pause(t.Context()))
				require.NoError(t, s.Stop(t.Context()))
			},
			reason: flow.EndHost, by: flow.EndedByHost, words: "stopped by the host", rounds: 1,
		},
		"the host cancels": {
			host:   func(t *testing.T, s *debate.Session) { require.NoError(t, s.Cancel(t.Context())) },
			reason: flow.EndHost, by: flow.EndedByHost, words: "canceled by the host", rounds: 1,
		},
		"a judge's failure ends it": {
			change: func(c *debate.Config) { c.OnFailure = []debate.FailureRule{{Do: flow.OptionEnd}} },
			spoil:  func(p *scripted.Provider) { stage.Befall(p, provider.KindRefusal, stage.Requested("judge", "r2.")) },
			reason: flow.EndHost, by: flow.EndedByRule, words: "ended after a failure: debate: refusal", rounds: 2,
		},
		"a failure that nobody mends": {
			spoil:  func(p *scripted.Provider) { stage.Befall(p, provider.KindQuota, stage.Said("Ben", 1)) },
			reason: flow.EndFailed, words: "quota", failed: provider.KindQuota,
		},
	}
}

// Every reason to stop is recorded with its evidence: in the log, and in the record.
func TestEveryReasonToStopIsRecorded(t *testing.T) {
	t.Parallel()
	reached := map[flow.EndReason]bool{}
	for name, tc := range endings() {
		reached[tc.reason] = true
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Rounds = 4
			if tc.change != nil {
				tc.change(&config)
			}
			engine, p := stage.Engine(config)
			engine.Store = &store.Memory{}
			tc.play.on(p, "Ada", "Ben")
			if tc.reason == flow.EndTooFew {
				stage.Abiding(p)
			}
			if tc.spoil != nil {
				tc.spoil(p)
			}
			stage.Slowly(p)
			session := stage.Started(t, engine, config)
			if tc.host != nil {
				stage.Pass(2500 * time.Millisecond)
				tc.host(t, session)
			}
			record, err := session.Wait(t.Context())
			if tc.failed != "" {
				stage.RequireKind(t, err, tc.failed)
				assert.Equal(t, flow.StateError, record.State)
			} else {
				require.NoError(t, err)
				assert.True(t, record.Final())
			}
			if tc.rounds > 0 {
				assert.Equal(t, tc.rounds, record.Round)
			}
			change := stage.LastReason(stage.Logged(t, engine, record.ID))
			assert.Equal(t, tc.reason, change.Reason)
			assert.Contains(t, change.Evidence, tc.words)
			assert.Equal(t, tc.reason, record.Reason)
			assert.Equal(t, change.Evidence, record.Evidence)
			assert.Equal(t, tc.by, change.By)
			if tc.failed != "" {
				tc.by = "" // it has not ended yet
			}
			assert.Equal(t, tc.by, record.EndedEarlyBy)
			if tc.by == flow.EndedByDetector {
				want := fmt.Sprintf("ended after %d of 4 rounds by the detector %s: %s", tc.rounds, tc.reason, tc.words)
				assert.True(t, strings.HasPrefix(record.CutShort(), want), record.CutShort())
			}
			missing := slices.ContainsFunc(stage.View(record).Outcome().Degraded, func(s string) bool { return strings.HasPrefix(s, "missing: round") })
			assert.Equal(t, (tc.by != "" || tc.failed != "") && record.Round < 4, missing, "the outcome names the rounds that were not held")

			stored := stage.StoredRecord(t, engine, record.ID)
			assert.Equal(t, record.Reason, stored.Reason)
			assert.Equal(t, record.Evidence, stored.Evidence)
			assert.Equal(t, record.EndedEarlyBy, stored.EndedEarlyBy)
		}))
	}
	all := []flow.EndReason{
		debate.EndJudge, flow.EndRounds, flow.EndConverged, debate.EndDiminishing, debate.EndRepetition, debate.EndDrift, flow.EndTooFew,
		flow.EndSoftLimit, flow.EndHardLimit, flow.EndHost, flow.EndFailed,
	}
	assert.ElementsMatch(t, all, slices.Collect(maps.Keys(reached)), "each is reached")
}

// A debate that an error has stopped, and that a retry has set going again, ends for another reason.
func TestAMendedFailureIsNoReason(t *testing.T) {
	config := stage.TwoDebaters()
	engine, p := stage.Engine(config)
	cut := stage.Befall(p, provider.KindQuota, stage.Said("Ben", 1))
	session := stage.Started(t, engine, config)
	_, err := session.Wait(t.Context())
	stage.RequireKind(t, err, provider.KindQuota)
	cut.Over.Store(true)
	require.NoError(t, session.Retry(t.Context()))
	record := stage.Ended(t, session)
	assert.Equal(t, flow.EndRounds, record.Reason)
	assert.Nil(t, record.Failure)
}

// Who gives up after an error has stopped the debate, whatever the error was.
func TestAnErrorThatIsGivenUp(t *testing.T) {
	for name, control := range map[string]func(*debate.Session, *testing.T) error{
		"stopped":  func(s *debate.Session, t *testing.T) error { return s.Stop(t.Context()) },
		"canceled": func(s *debate.Session, t *testing.T) error { return s.Cancel(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			engine, p := stage.Engine(config)
			stage.Befall(p, provider.KindQuota, stage.Said("Ben", 1))
			session := stage.Started(t, engine, config)
			_, err := session.Wait(t.Context())
			stage.RequireKind(t, err, provider.KindQuota)
			require.NoError(t, control(session, t))
			record := stage.Ended(t, session)
			assert.True(t, record.Final())
			assert.Equal(t, flow.EndHost, record.Reason)
			assert.Equal(t, name+" by the host", record.Evidence)
			assert.Contains(t, stage.View(record).Outcome().Degraded, "ended after 0 of 3 rounds: "+name+" by the host")
			assert.Nil(t, stage.View(record).Verdict)
		})
	}
}

// The reason that is recorded is the first: what comes at the verdict does not replace why the rounds ended.
func TestWhyTheRoundsEndedStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Format = format.FreeForm
		engine, p := stage.Engine(config)
		engine.Store = &store.Memory{}
		play{judges: func(_ string, _ int, j *debate.Judgement) { j.ShouldContinue = false }}.on(p, "Ada", "Ben")
		stage.Slowly(p)
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		stage.Pass(3500 * time.Millisecond) // the verdict is being made
		require.NoError(t, session.Pause(t.Context()))
		require.NoError(t, session.Close())
		session = stage.Reopen(t, stage.Twin(engine), session.ID())
		defer session.Close()
		require.NoError(t, session.Resume(t.Context()))
		record := stage.Ended(t, session)
		assert.Equal(t, debate.EndJudge, record.Reason)
		assert.True(t, strings.HasPrefix(record.Evidence, "judge wishes to end"), record.Evidence)
	})
}

// A round whose time is over goes on with what was said. If nobody has spoken, the debate goes to the error state, and a
// retry gives the round its time again.
func TestARoundWhoseTimeIsOver(t *testing.T) {
	limited := debate.Error{Kind: provider.KindRateLimit, RetryAfter: 30 * time.Second}
	network := debate.Error{Kind: provider.KindNetwork, RetryAfter: 30 * time.Second}
	overflow := debate.Error{Kind: provider.KindContextOverflow}
	for name, c := range map[string]struct {
		ada, ben *debate.Error // nil: it speaks
		statuses [2]flow.Status
	}{
		"all are rate-limited":  {&limited, &limited, [2]flow.Status{flow.StatusRateLimited, flow.StatusRateLimited}},
		"one is rate-limited":   {&limited, &network, [2]flow.Status{flow.StatusRateLimited, flow.StatusRetrying}},
		"a context is exceeded": {&overflow, &network, [2]flow.Status{flow.StatusContextExceeded, flow.StatusRetrying}},
		"one has spoken":        {&limited, nil, [2]flow.Status{flow.StatusRateLimited, flow.StatusActive}},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.Attended()
			config.Mode, config.Judging, config.RoundTimeout, config.Patience = debate.Simultaneous, nil, 10*time.Second, 0
			config.MaxTokens = 500 // too little to be lowered after an overflow
			s := stage.Begun(t, config)
			s.Says(stage.AdasOpening, 1)
			s.Says(stage.BensOpening, 1)
			calls, missed := []string{"r2.rebuttal.Ada", "r2.rebuttal.Ben"}, 2
			for i, failure := range []*debate.Error{c.ada, c.ben} {
				if failure == nil {
					s.Says(calls[i], 1)
					missed--
				} else {
					s.Fails(calls[i], 1, *failure)
				}
			}
			r := s.Record()
			for i, p := range r.Participants() {
				assert.Equal(t, c.statuses[i], p.Status, p.Name)
			}
			require.Equal(t, debate.StateAwaitingResponses, r.State)

			s.At = s.At.Add(10 * time.Second)
			out := s.Feed(flow.Tick{})
			assert.Len(t, r.Active(), 2)
			assert.Empty(t, r.Inquiries, "nobody is asked about what is left out")
			require.Len(t, r.SkippedCalls, missed)
			for i, skipped := range r.SkippedCalls {
				assert.Equal(t, calls[i], skipped.Call)
				assert.Empty(t, skipped.Cause)
				assert.Contains(t, skipped.Reason, "time of 10s is over")
			}
			if missed == 1 {
				assert.Equal(t, 3, r.Round)
				assert.Equal(t, debate.StateAwaitingResponses, r.State)
				return
			}
			assert.Equal(t, flow.StateError, r.State)
			assert.Equal(t, 2, r.Round)
			assert.Equal(t, flow.EndFailed, stage.LastReason(out.Events).Reason)
			require.NotNil(t, r.Failure)
			assert.Equal(t, provider.KindTimeout, r.Failure.Kind)
			assert.ErrorContains(t, r.Failure, "nobody has spoken within the round's time of 10s")

			s.At = s.At.Add(time.Hour)
			s.Feed(flow.Retry{})
			assert.Empty(t, r.SkippedCalls, "they are asked again")
			if c.ada == &overflow { // it may overflow again
				return
			}
			assert.Equal(t, debate.StateAwaitingResponses, r.State)
			for _, call := range calls {
				s.Says(call, 2)
			}
			assert.Equal(t, 3, r.Round)
			assert.Len(t, r.RoundTurns(2), 2)
		})
	}
}

// What is missing of a late round stays missing if the round is over, and only its judge is asked again.
func TestARetryAfterALateRoundAsksItsJudgeOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.RoundTimeout = 20 * time.Second
		engine, p := stage.Engine(config)
		stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
			if stage.Requested("debater", "r3.closing.Ben")(req) {
				r.Delay = time.Minute
			}
		})
		cut := stage.Befall(p, provider.KindRefusal, stage.Requested("judge", "r3.assessment"))
		session := stage.Started(t, engine, config)
		record, err := session.Wait(t.Context())
		stage.RequireKind(t, err, provider.KindRefusal)
		require.Len(t, record.SkippedCalls, 1)
		cut.Over.Store(true)
		require.NoError(t, session.Retry(t.Context()))
		record = stage.Ended(t, session)
		assert.Equal(t, flow.StateCompleted, record.State)
		assert.Len(t, record.Turns, 5)
		require.Len(t, record.SkippedCalls, 1)
		assert.Equal(t, "r3.closing.Ben", record.SkippedCalls[0].Call)
		assert.NotNil(t, stage.View(record).Verdict)
	})
}
