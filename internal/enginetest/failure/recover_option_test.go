package failure_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

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

// impasse is a debate that stops to ask a person, and what comes of each answer.
type impasse struct {
	change  func(*debate.Config)
	kind    provider.Kind
	hits    func(*provider.Request) bool
	call    string
	options []debate.Option
	// after checks the record that an option has led to; an option that is not in it leads to the
	// debate as it is without the failure.
	after map[debate.Option]func(t *testing.T, r *debate.Record)
}

func impasses() map[string]impasse {
	first := []debate.Option{flow.OptionRetry, flow.OptionWait, flow.OptionModel, flow.OptionSkip, flow.OptionEnd}
	later := stage.SpeakerOptions()
	same := func(*debate.Config) {}
	host := func(t *testing.T, r *debate.Record) {
		t.Helper()
		assert.Equal(t, flow.StateCompleted, r.State)
		assert.Equal(t, flow.EndHost, r.Reason)
		assert.Equal(t, flow.EndedByPerson, r.EndedEarlyBy)
		assert.Contains(t, r.Evidence, "ended after a failure: debate: ")
		assert.Regexp(t, `^ended after [0-3] of 3 rounds by a person after a failure: debate: `, stage.View(r).Outcome().Degraded[0])
	}
	judgeless := func(turns int) func(*testing.T, *debate.Record) {
		return func(t *testing.T, r *debate.Record) {
			t.Helper()
			assert.Equal(t, flow.StateCompleted, r.State)
			assert.Equal(t, flow.EndRounds, r.Reason)
			assert.Empty(t, r.EndedEarlyBy)
			assert.Len(t, r.Turns, turns)
			assert.Nil(t, stage.View(r).Verdict)
			assert.Equal(t, flow.EndedByPerson, r.DroppedBy("judge"))
			assert.Equal(t, []string{"judge has judged no further", "there is no verdict"}, stage.View(r).Outcome().Degraded)
		}
	}
	dropped := func(t *testing.T, r *debate.Record) {
		t.Helper()
		less := []string{"Ben has taken no further part"}
		if r.EndedEarlyBy != "" {
			less = []string{"ended after 2 of 3 rounds by a person: 1 of 2 participants are left", less[0], "missing: round 3"}
		}
		assert.Equal(t, less, stage.View(r).Outcome().Degraded)
		assert.Contains(t, stage.Speakers(r), "r1 Ben")
		assert.NotContains(t, stage.Speakers(r), "r2 Ben")
		assert.NotNil(t, stage.View(r).Verdict)
	}
	skipped := func(who string, round, turns int) func(t *testing.T, r *debate.Record) {
		return func(t *testing.T, r *debate.Record) {
			t.Helper()
			assert.Equal(t, []string{fmt.Sprintf("%s has missed a speech in round %d (authentication)", who, round)}, stage.View(r).Outcome().Degraded)
			assert.NotContains(t, stage.Speakers(r), fmt.Sprintf("r%d %s", round, who))
			assert.Contains(t, stage.Speakers(r), fmt.Sprintf("r%d %s", round+1, who), "it speaks again in the next round")
			assert.Len(t, r.Turns, turns)
			assert.Equal(t, flow.EndRounds, r.Reason)
			assert.Empty(t, r.EndedEarlyBy)
			assert.NotNil(t, stage.View(r).Verdict)
		}
	}
	return map[string]impasse{
		"the only opponent's key, in round one": {
			same, provider.KindAuthentication, stage.Requested("debater", "r1.opening.Ben"), "r1.opening.Ben", first,
			map[debate.Option]func(*testing.T, *debate.Record){
				flow.OptionSkip: skipped("Ben", 1, 5),
				flow.OptionEnd: func(t *testing.T, r *debate.Record) {
					host(t, r)
					assert.Equal(t, []string{"r1 Ada"}, stage.Speakers(r))
					assert.NotNil(t, stage.View(r).Verdict)
				},
			},
		},
		"the first speaker's key": {
			same, provider.KindAuthentication, stage.Requested("debater", "r1.opening.Ada"), "r1.opening.Ada", first,
			map[debate.Option]func(*testing.T, *debate.Record){
				flow.OptionSkip: skipped("Ada", 1, 5),
				flow.OptionEnd: func(t *testing.T, r *debate.Record) {
					host(t, r)
					assert.Empty(t, r.Turns)
					assert.Nil(t, stage.View(r).Verdict)
				},
			},
		},
		"the only opponent's key, in round two": {
			same, provider.KindAuthentication, stage.Requested("debater", "r2.rebuttal.Ben"), "r2.rebuttal.Ben",
			later,
			map[debate.Option]func(*testing.T, *debate.Record){
				flow.OptionSkip: skipped("Ben", 2, 5),
				flow.OptionEnd:  host,
				flow.OptionDrop: func(t *testing.T, r *debate.Record) {
					dropped(t, r)
					assert.Equal(t, flow.EndTooFew, r.Reason)
					assert.Equal(t, flow.EndedByPerson, r.EndedEarlyBy)
				},
			},
		},
		"the key of one of three": {
			func(c *debate.Config) { *c = stage.Crew(3) }, provider.KindAuthentication, stage.Requested("debater", "r2.rebuttal.Ben"), "r2.rebuttal.Ben",
			later,
			map[debate.Option]func(*testing.T, *debate.Record){
				flow.OptionSkip: skipped("Ben", 2, 8),
				flow.OptionEnd:  host,
				flow.OptionDrop: func(t *testing.T, r *debate.Record) {
					dropped(t, r)
					assert.Equal(t, flow.EndRounds, r.Reason)
					assert.Len(t, r.Turns, 7)
				},
			},
		},
		"a judge's assessment": {
			same, provider.KindRefusal, stage.Requested("judge", "r2.assessment.judge"), "r2.assessment.judge", stage.JudgeOptions(debate.KindAssessment),
			map[debate.Option]func(*testing.T, *debate.Record){
				flow.OptionSkip: func(t *testing.T, r *debate.Record) {
					assert.Equal(t, []string{"judge has missed the assessment of round 2 (refusal)"}, stage.View(r).Outcome().Degraded)
					assert.Len(t, r.Turns, 6)
					assert.Len(t, stage.View(r).Assessments, 2)
					assert.NotNil(t, stage.View(r).Verdict)
				},
				flow.OptionEnd: func(t *testing.T, r *debate.Record) {
					host(t, r)
					assert.Len(t, r.Turns, 4)
					assert.NotNil(t, stage.View(r).Verdict, "which the judge can still give")
				},
				flow.OptionDrop: judgeless(6),
			},
		},
		"a judge's verdict": {
			same, provider.KindQuota, stage.Requested("judge", "verdict.judge"), "verdict.judge", stage.JudgeOptions(debate.KindVerdict),
			map[debate.Option]func(*testing.T, *debate.Record){flow.OptionDrop: judgeless(6)},
		},
		"a judge's key": {
			same, provider.KindAuthentication, stage.Requested("judge", "verdict.judge"), "verdict.judge", stage.JudgeOptions(debate.KindVerdict),
			map[debate.Option]func(*testing.T, *debate.Record){flow.OptionDrop: judgeless(6)},
		},
	}
}

func TestEveryOptionOfAnInquiry(t *testing.T) {
	t.Parallel()
	impasses, hands := impasses(), handovers()
	for i, name := range slices.Sorted(maps.Keys(impasses)) {
		tc := impasses[name]
		for k, how := range slices.Sorted(maps.Keys(hands)) {
			for n, option := range tc.options {
				if (i+k+n)%min(longform.Fewer(), len(hands)) != 0 {
					continue // the short form hands each over in one way
				}
				hand := hands[how]
				t.Run(name+"/"+string(option)+"/"+how, func(t *testing.T) {
					config := stage.TwoDebaters()
					tc.change(&config)
					config.Unattended = false
					engine, p := stage.Engine(config)
					stage.Abiding(p)
					engine.Store = &store.Memory{}
					cut := stage.Befall(p, tc.kind, tc.hits)
					session := stage.Started(t, engine, config)
					record := stage.AwaitsInput(t, session)
					assert.Equal(t, flow.StateAwaitingInput, record.State)
					require.Len(t, record.Inquiries, 1)
					before := record.Inquiries[0]

					engine, session = hand(t, engine, session)
					record = stage.AwaitsInput(t, session)
					require.Len(t, record.Inquiries, 1)
					q := record.Inquiries[0]
					assert.Equal(t, before.ID, q.ID)
					assert.Equal(t, tc.call, q.About[0].Call)
					assert.Equal(t, tc.options, q.Options)
					assert.Contains(t, q.Question, q.To)
					require.NotNil(t, q.Failure)
					assert.Equal(t, tc.kind, q.Failure.Kind)
					assert.NotEmpty(t, q.Failure.Hint())

					switch option {
					case flow.OptionModel:
						require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: option, Model: "test/spare"}))
					case flow.OptionRetry, flow.OptionWait:
						cut.Over.Store(true) // the host has mended what was wrong
						fallthrough
					default:
						require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: option}))
					}
					record, err := session.Wait(t.Context())
					if record.State == flow.StateError {
						assert.Equal(t, tc.kind, stage.RequireKind(t, err, tc.kind).Kind)
					} else {
						require.NoError(t, err)
					}
					require.Len(t, record.Answers, 1)
					assert.Equal(t, option, record.Answers[0].Option)
					assert.False(t, record.Answers[0].Rule)
					assert.Empty(t, record.Inquiries)
					assert.Zero(t, record.InFlight())
					events := stage.Logged(t, engine, record.ID)
					asksOnce(t, events)
					if check := tc.after[option]; check != nil {
						check(t, record)
						return
					}
					again, whole := stage.Engine(config)
					stage.Abiding(whole)
					assert.Equal(t, stage.Canonical(t, stage.Run(t, again, config)), stage.Canonical(t, record))
					assert.Equal(t, whole.Calls()+1, p.Calls(), "nothing but the failed call was repeated")
				})
			}
		}
	}
}

// windy is a debate whose speakers talk at length.
func windy(summarizer string) (debate.Config, *debate.Engine, *scripted.Provider) {
	config := stage.TwoDebaters()
	config.Format, config.Rounds, config.MaxTokens, config.Reserve, config.Summarizer = format.RoundLimited, 6, 500, 500, summarizer
	engine, p := stage.Engine(config)
	stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
		if req.Schema == nil && req.Self != "summarizer" {
			r.Text += strings.Repeat(" Prices are a gentler tool than bans, and they raise money for trams.", 20)
		}
		r.Usage = provider.Usage{}
	})
	return config, engine, p
}

// large matches what is more than a model's window holds, whatever the engine believes of it.
func large(model, who string, most int) func(*provider.Request) bool {
	return func(req *provider.Request) bool {
		size := len(req.System) + len(req.Last.Text)
		for _, m := range req.Messages {
			size += len(m.Text)
		}
		return req.Model == model && req.Self == who && size > most
	}
}

func TestEveryOptionForAContextThatIsTooLarge(t *testing.T) {
	t.Parallel()
	judge := []debate.Option{flow.OptionSummarize, flow.OptionTruncate, flow.OptionModel, flow.OptionEnd}
	speaker := append(slices.Clone(judge), flow.OptionSkip)
	cases, hands := map[string]struct {
		summarizer string
		hits       func(*provider.Request) bool
		to         string
		options    []debate.Option // of those offered
	}{
		"a speaker":                {"test/judge", large("debater", "Ben", 10_000), "Ben", speaker},
		"a speaker, no summarizer": {"", large("debater", "Ben", 10_000), "Ben", speaker[1:]},
		"the judge":                {"test/judge", large("judge", "judge", 14_000), "judge", judge},
		"the judge, no summarizer": {"", large("judge", "judge", 14_000), "judge", judge},
		"the judge, no summaries":  {flow.NoSummarizer, large("judge", "judge", 14_000), "judge", judge[1:]},
	}, handovers()
	for i, name := range slices.Sorted(maps.Keys(cases)) {
		tc := cases[name]
		for k, how := range slices.Sorted(maps.Keys(hands)) {
			for n, option := range tc.options {
				if (i+k+n)%min(longform.Fewer(), len(hands)) != 0 {
					continue // the short form hands each over in one way
				}
				hand := hands[how]
				t.Run(name+"/"+string(option)+"/"+how, func(t *testing.T) {
					config, engine, p := windy(tc.summarizer)
					config.Unattended = false
					engine.Store = &store.Memory{}
					stage.Befall(p, provider.KindContextOverflow, tc.hits)
					session, err := engine.Start(t.Context(), config)
					require.NoError(t, err)
					t.Cleanup(func() { _ = session.Close() })
					var record *debate.Record
					for n := 0; ; n++ {
						record, err = session.Wait(t.Context())
						if err == nil {
							break
						}
						require.ErrorIs(t, err, debate.ErrAwaitingInput)
						require.Less(t, n, 40, "it does not become small enough")
						require.Len(t, record.Inquiries, 1)
						q := record.Inquiries[0]
						assert.Subset(t, q.Options, tc.options)
						assert.Equal(t, slices.Contains(tc.options, flow.OptionSummarize), slices.Contains(q.Options, flow.OptionSummarize))
						assert.Equal(t, tc.to, q.To)
						engine, session = hand(t, engine, session)
						answer := flow.Answer{Inquiry: q.ID, Option: option}
						if option == flow.OptionModel {
							answer.Model = "test/spare"
						}
						require.NoError(t, session.Answer(t.Context(), answer))
					}
					require.NotEmpty(t, record.Answers)
					assert.Equal(t, flow.StateCompleted, record.State)
					asksOnce(t, stage.Logged(t, engine, record.ID))
					if option == flow.OptionEnd {
						assert.Len(t, record.Answers, 1)
						assert.Equal(t, flow.EndHost, record.Reason)
						return
					}
					assert.NotNil(t, stage.View(record).Verdict)
					degraded := stage.View(record).Outcome().Degraded
					if option == flow.OptionSkip {
						assert.Len(t, record.Turns, 12-len(record.Answers))
						assert.Len(t, degraded, len(record.Answers))
						return
					}
					assert.Len(t, record.Turns, 12)
					assert.Equal(t, tc.to == "judge" && option == flow.OptionTruncate, len(degraded) > 0, degraded)
					switch option {
					case flow.OptionSummarize:
						assert.NotEmpty(t, record.Summaries)
					case flow.OptionModel:
						assert.Len(t, record.Answers, 1, "the other model is used from then on")
					default:
					}
					if tc.summarizer == flow.NoSummarizer || tc.summarizer == "" && option != flow.OptionSummarize {
						assert.Empty(t, record.Summaries)
					}
				})
			}
		}
	}
}

// handovers are the ways in which a debate that waits comes into other hands, or stays in the same.
func handovers() map[string]func(t *testing.T, e *debate.Engine, s *debate.Session) (*debate.Engine, *debate.Session) {
	return map[string]func(*testing.T, *debate.Engine, *debate.Session) (*debate.Engine, *debate.Session){
		"at once": func(_ *testing.T, e *debate.Engine, s *debate.Session) (*debate.Engine, *debate.Session) { return e, s },
		"after a restart": func(t *testing.T, e *debate.Engine, s *debate.Session) (*debate.Engine, *debate.Session) {
			snapshot, err := s.Snapshot(t.Context())
			require.NoError(t, err)
			require.NoError(t, s.Close())
			other := stage.Twin(e)
			other.Store = nil
			restored, err := stage.Restore(t.Context(), other, snapshot)
			require.NoError(t, err)
			t.Cleanup(func() { _ = restored.Close() })
			return other, restored
		},
		"from another engine": func(t *testing.T, e *debate.Engine, s *debate.Session) (*debate.Engine, *debate.Session) {
			require.NoError(t, s.Close())
			other := stage.Twin(e)
			opened := stage.Reopen(t, other, s.ID())
			t.Cleanup(func() { _ = opened.Close() })
			return other, opened
		},
	}
}

// asksOnce requires that no call was done twice.
func asksOnce(t *testing.T, events []debate.Event) {
	t.Helper()
	done := map[string]int{}
	for i := range events {
		if turn := body.As[debate.Turn](events[i]); turn != nil {
			done[turn.Call]++
		}
		if a := body.As[debate.Assessment](events[i]); a != nil {
			done[a.Call]++
		}
		if v := body.As[debate.Verdict](events[i]); v != nil {
			done[v.Call]++
		}
	}
	for call, n := range done {
		assert.Equal(t, 1, n, call)
	}
}
