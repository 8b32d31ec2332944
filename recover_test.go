package debate_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// outage makes the requests fail that it hits, until it is over.
type outage struct{ over atomic.Bool }

// befall lets an outage befall a provider.
func befall(p *scripted.Provider, kind provider.Kind, hits func(req *provider.Request) bool) *outage {
	o, reply := &outage{}, p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		if !o.over.Load() && hits(req) {
			return scripted.Reply{Err: &provider.Error{Kind: kind, Status: 400, Message: "no"}}
		}
		return reply(req)
	}
	return o
}

// requested matches the requests of one model for calls whose id holds this.
func requested(model, call string) func(*provider.Request) bool {
	return func(req *provider.Request) bool { return req.Model == model && strings.Contains(req.ID, "/"+call) }
}

// said matches the requests of the debaters' model in somebody's name, from a round on.
func said(who string, from int) func(*provider.Request) bool {
	return func(req *provider.Request) bool {
		round := 0
		if m := callRound.FindStringSubmatch(req.ID); m != nil {
			_, _ = fmt.Sscan(m[1], &round)
		}
		return req.Model == "debater" && req.Self == who && round >= from
	}
}

// noRetry lets every failed attempt be the last.
func noRetry() *debate.RetryPolicy {
	return &debate.RetryPolicy{Max: map[debate.Kind]int{
		provider.KindNetwork: 0, provider.KindRateLimit: 0, provider.KindAPI: 0, provider.KindTimeout: 0, provider.KindInvalidResponse: 0,
	}}
}

// twin is another engine that asks the same models, as another process does; its store is the same.
func twin(e *debate.Engine) *debate.Engine {
	return &debate.Engine{Providers: e.Providers, Judges: e.Judges, Models: e.Models, Store: e.Store}
}

// handovers are the ways in which a debate that waits comes into other hands, or stays in the same.
func handovers() map[string]func(t *testing.T, e *debate.Engine, s *debate.Session) (*debate.Engine, *debate.Session) {
	return map[string]func(*testing.T, *debate.Engine, *debate.Session) (*debate.Engine, *debate.Session){
		"at once": func(_ *testing.T, e *debate.Engine, s *debate.Session) (*debate.Engine, *debate.Session) { return e, s },
		"after a restart": func(t *testing.T, e *debate.Engine, s *debate.Session) (*debate.Engine, *debate.Session) {
			snapshot, err := s.Snapshot(t.Context())
			require.NoError(t, err)
			require.NoError(t, s.Close())
			other := twin(e)
			other.Store = nil
			restored, err := other.Restore(t.Context(), snapshot)
			require.NoError(t, err)
			t.Cleanup(func() { _ = restored.Close() })
			return other, restored
		},
		"from another engine": func(t *testing.T, e *debate.Engine, s *debate.Session) (*debate.Engine, *debate.Session) {
			require.NoError(t, s.Close())
			other := twin(e)
			opened, err := other.Open(t.Context(), s.ID())
			require.NoError(t, err)
			t.Cleanup(func() { _ = opened.Close() })
			return other, opened
		},
	}
}

// logged yields the debate's facts.
func logged(t *testing.T, e *debate.Engine, id string) []debate.Event {
	t.Helper()
	return logOf(t, e, id).events
}

// intents yields who was asked with which model, as "call model".
func intents(events []debate.Event) (out []string) {
	for i := range events {
		if in := as[flow.Intent](events[i]); in != nil {
			out = append(out, in.Call+" "+in.Model)
		}
	}
	return out
}

// asksOnce requires that no call was done twice.
func asksOnce(t *testing.T, events []debate.Event) {
	t.Helper()
	done := map[string]int{}
	for i := range events {
		if turn := as[debate.Turn](events[i]); turn != nil {
			done[turn.Call]++
		}
		if a := as[debate.Assessment](events[i]); a != nil {
			done[a.Call]++
		}
		if v := as[debate.Verdict](events[i]); v != nil {
			done[v.Call]++
		}
	}
	for call, n := range done {
		assert.Equal(t, 1, n, call)
	}
}

// ended yields the last transition that gives a reason.
func ended(events []debate.Event) (last flow.Transition) {
	for i := range events {
		if change := as[flow.Transition](events[i]); change != nil && change.Reason != "" {
			last = *change
		}
	}
	return last
}

func TestAFailureIsRetriedByItsKind(t *testing.T) {
	for kind, attempts := range map[debate.Kind]int{
		provider.KindNetwork: 4, provider.KindRateLimit: 6, provider.KindAPI: 3, provider.KindTimeout: 3, provider.KindInvalidResponse: 2,
		provider.KindQuota: 1, provider.KindAuthentication: 1, provider.KindRefusal: 1, provider.KindContentFilter: 1, provider.KindContextOverflow: 1,
	} {
		t.Run(string(kind), func(t *testing.T) {
			config := twoDebaters()
			events, err := onClock(t, config, func(_ *debate.Engine, p *scripted.Provider) { befall(p, kind, said("Ada", 1)) })
			require.Error(t, err)
			assert.Len(t, intents(events), attempts)
			last := as[flow.Transition](events[len(events)-1])
			require.NotNil(t, last)
			if kind == provider.KindAuthentication || kind == provider.KindContextOverflow {
				assert.Equal(t, flow.StateAwaitingInput, last.To, "a person can mend this")
				return
			}
			require.Equal(t, flow.StateError, last.To)
			assert.Equal(t, kind, last.Failure.Kind)
			assert.NotEmpty(t, last.Failure.Hint())
		})
	}
}

func TestFallbacksAreEachParticipantsOwn(t *testing.T) {
	config := twoDebaters()
	config.Retry = noRetry()
	config.Participants[0].Fallbacks = []string{"test/spare", "test/last"}
	config.Participants[1].Fallbacks = []string{"test/last"}
	config.Judging.Judges[0].Fallbacks = []string{"test/spare"}
	engine, p := engineFor(config)
	befall(p, provider.KindAPI, func(req *provider.Request) bool {
		return requested("debater", "r2")(req) || requested("spare", "r2.rebuttal")(req) || requested("judge", "verdict")(req)
	})
	record := run(t, engine, config)
	assert.Equal(t, undisturbed(t, config), canonical(t, record))
	models := map[string]string{}
	for _, turn := range record.Turns {
		models[turn.Call] = turn.Model
	}
	assert.Equal(t, "test/last", models["r2.rebuttal.Ada"], "the second fallback, after the first")
	assert.Equal(t, "test/last", models["r2.rebuttal.Ben"])
	assert.Equal(t, "test/debater", models["r3.closing.Ada"], "each turn is first asked of the model that was configured")
	assert.Equal(t, "test/judge", view(record).Assessments[1].Model)
	assert.Equal(t, "test/spare", view(record).Verdict.Model)
}

// The answer of a fallback that has taken over the re-ask is rejected too: the next model is asked, not the same again.
func TestEveryFallbackIsAskedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := twoDebaters()
		config.Rounds, config.Retry = 1, noRetry()
		config.Judging.When = debate.AtEnd
		config.Judging.Judges[0].Fallbacks = []string{"test/spare", "test/last"}
		engine, p := engineFor(config)
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			switch {
			case req.Schema == nil || req.Model == "last":
				return reply(req)
			case req.Model == "judge" && strings.Contains(req.ID, ".again"):
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindAPI, Status: 500}}
			default:
				return scripted.Reply{Text: "no JSON"}
			}
		}
		record := run(t, engine, config)
		require.NotNil(t, view(record).Verdict)
		assert.Equal(t, "test/last", view(record).Verdict.Model)
		asked := intents(logged(t, engine, record.ID))
		assert.Equal(t, []string{
			"verdict.judge test/judge", "verdict.judge.again test/judge", "verdict.judge.again test/spare", "verdict.judge test/last",
		}, asked[2:])
	})
}

// crew is a debate of so many, who are of these sides, or of none.
func crew(n int, sides ...debate.Side) debate.Config {
	config := twoDebaters()
	config.Participants = nil
	for i, name := range []string{"Ada", "Ben", "Cyd", "Dan", "Eve", "Fay"}[:n] {
		p := debate.Participant{Name: name, Model: "test/debater", Position: name + " has a position."}
		if i < len(sides) {
			p.Side = sides[i]
		}
		config.Participants = append(config.Participants, p)
	}
	return config
}

// abiding makes judges name exactly those whom they are to judge.
func abiding(p *scripted.Provider) {
	reply := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema == nil {
			return reply(req)
		}
		var names []string
		for _, name := range []string{"Ada", "Ben", "Cyd", "Dan", "Eve", "Fay"} {
			if strings.Contains(string(req.Schema.JSON), `"`+name+`"`) {
				names = append(names, name)
			}
		}
		return script(names)(req)
	}
}

func TestWhoKeepsFailingIsDroppedAndTheDebateGoesOn(t *testing.T) {
	for _, mode := range []debate.Mode{debate.Sequential, debate.Simultaneous} {
		t.Run(string(mode), func(t *testing.T) {
			config := crew(3)
			config.Mode = mode
			config.Judging.Protocol = debate.Plurality
			engine, p := engineFor(config)
			abiding(p)
			befall(p, provider.KindRefusal, said("Ben", 1))
			record := run(t, engine, config)
			assert.Equal(t, []string{"r1 Ada", "r1 Cyd", "r2 Ada", "r2 Cyd", "r3 Ada", "r3 Cyd"}, inSlots(record))
			assert.Equal(t, flow.StatusDropped, record.Participant("Ben").Status)
			assert.Equal(t, []string{"Ben has taken no further part"}, view(record).Outcome().Degraded)
			require.NotNil(t, view(record).Verdict)
			assert.NotContains(t, view(record).Verdict.Scores, "Ben")
			events := logged(t, engine, record.ID)
			i := slices.IndexFunc(events, func(e debate.Event) bool { return e.Kind() == flow.EventDropped })
			require.GreaterOrEqual(t, i, 0)
			assert.Equal(t, "Ben", as[flow.Dropped](events[i]).Participant)
			assert.Contains(t, as[flow.Dropped](events[i]).Reason, "refusal")
			assert.Equal(t, 1, strings.Count(strings.Join(intents(events), "\n"), "Ben"), "who is dropped is not asked again")
		})
	}
}

// inSlots yields who spoke, in the order of rounds and slots.
func inSlots(r *debate.Record) (out []string) {
	for round := 1; round <= r.Round; round++ {
		for _, turn := range r.RoundTurns(round) {
			out = append(out, fmt.Sprintf("r%d %s", turn.Round, turn.Speaker))
		}
	}
	return out
}

func TestBelowTwoTheDebateGoesToItsVerdictAfterOneRound(t *testing.T) {
	config := twoDebaters()
	engine, p := engineFor(config)
	abiding(p)
	befall(p, provider.KindRefusal, said("Ben", 2))
	record := run(t, engine, config)
	assert.Equal(t, flow.StateCompleted, record.State)
	assert.Equal(t, []string{"r1 Ada", "r1 Ben", "r2 Ada"}, speakers(record))
	assert.Equal(t, flow.EndTooFew, record.Reason)
	assert.Equal(t, "1 of 2 participants are left", record.Evidence)
	assert.Equal(t, []string{"Ben has taken no further part"}, view(record).Outcome().Degraded)
	assert.NotNil(t, view(record).Verdict)
}

func TestBelowTwoBeforeOneRoundIsAnError(t *testing.T) {
	for name, tc := range map[string]struct {
		size   int
		falls  []string
		failed string
	}{
		"one of two":    {2, []string{"Ada"}, "Ada"},
		"two of three":  {3, []string{"Ada", "Cyd"}, "Cyd"},
		"three of four": {4, []string{"Ada", "Ben", "Dan"}, "Dan"},
	} {
		for _, mode := range []debate.Mode{debate.Sequential, debate.Simultaneous} {
			t.Run(name+"/"+string(mode), func(t *testing.T) {
				config := crew(tc.size)
				config.Mode = mode
				engine, p := engineFor(config)
				abiding(p)
				befall(p, provider.KindQuota, func(req *provider.Request) bool { return slices.Contains(tc.falls, req.Self) })
				session, err := engine.Start(t.Context(), config)
				require.NoError(t, err)
				defer session.Close()
				record, err := session.Wait(t.Context())
				failure := requireKind(t, err, provider.KindQuota)
				assert.Contains(t, tc.falls, failure.Participant)
				assert.Contains(t, failure.Hint(), "top it up")
				assert.Equal(t, flow.StateError, record.State)
				assert.Zero(t, view(record).Verdicts)
				last := ended(logged(t, engine, record.ID))
				assert.Equal(t, flow.EndFailed, last.Reason)
				assert.Contains(t, last.Evidence, "quota")
			})
		}
	}
}

func TestASideThatIsLostEndsTheDebate(t *testing.T) {
	sides := func(c *debate.Config) {
		*c = crew(3, debate.For, debate.Against, debate.For)
	}
	for name, tc := range map[string]struct {
		change   func(*debate.Config)
		from     int
		evidence string // "": it is an error
	}{
		"two against one, in round two": {sides, 2, `nobody is left on the side "against"`},
		"two against one, in round one": {sides, 1, ""},
		"lincoln-douglas, in round two": {func(c *debate.Config) { c.Format, c.Rounds = format.LincolnDouglas, 0 }, 2, "1 of 2 participants are left"},
		"lincoln-douglas, in round one": {func(c *debate.Config) { c.Format, c.Rounds = format.LincolnDouglas, 0 }, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			config := twoDebaters()
			tc.change(&config)
			engine, p := engineFor(config)
			abiding(p)
			befall(p, provider.KindRefusal, said("Ben", tc.from))
			session, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			defer session.Close()
			record, err := session.Wait(t.Context())
			if tc.evidence == "" {
				requireKind(t, err, provider.KindRefusal)
				assert.Equal(t, flow.StateError, record.State)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, flow.EndTooFew, record.Reason)
			assert.Equal(t, tc.evidence, record.Evidence)
			assert.NotNil(t, view(record).Verdict)
		})
	}
}

func TestTwoOfFourFailAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := crew(4)
		config.Mode = debate.Simultaneous
		engine, p := engineFor(config)
		abiding(p)
		slowly(p)
		befall(p, provider.KindRefusal, func(req *provider.Request) bool { return req.Self == "Ada" || req.Self == "Dan" })
		record := run(t, engine, config)
		assert.Equal(t, []string{"r1 Ben", "r1 Cyd", "r2 Ben", "r2 Cyd", "r3 Ben", "r3 Cyd"}, inSlots(record))
		assert.ElementsMatch(t, []string{"Ada has taken no further part", "Dan has taken no further part"}, view(record).Outcome().Degraded)
		asksOnce(t, logged(t, engine, record.ID))
		assert.Zero(t, record.InFlight())
	})
}

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
	retryOrModel := []debate.Option{flow.OptionRetry, flow.OptionModel}
	judges := []debate.Option{flow.OptionModel, flow.OptionRetry, flow.OptionWithout, flow.OptionEnd}
	same := func(*debate.Config) {}
	host := func(t *testing.T, r *debate.Record) {
		t.Helper()
		assert.Equal(t, flow.StateCompleted, r.State)
		assert.Equal(t, flow.EndHost, r.Reason)
		assert.Contains(t, r.Evidence, "ended after a failure: debate: ")
		assert.Contains(t, view(r).Outcome().Degraded, r.Evidence)
	}
	unjudged := func(t *testing.T, r *debate.Record) {
		t.Helper()
		assert.Equal(t, flow.StateCompleted, r.State)
		assert.Equal(t, []string{"judge has judged no further", "there is no verdict"}, view(r).Outcome().Degraded[:2])
		assert.Nil(t, view(r).Verdict)
		assert.Empty(t, view(r).Outcome().Winner)
	}
	dropped := func(t *testing.T, r *debate.Record) {
		t.Helper()
		assert.Equal(t, []string{"Ben has taken no further part"}, view(r).Outcome().Degraded)
		assert.Contains(t, speakers(r), "r1 Ben")
		assert.NotContains(t, speakers(r), "r2 Ben")
		assert.NotNil(t, view(r).Verdict)
	}
	return map[string]impasse{
		"the only opponent's key, in round one": {
			same, provider.KindAuthentication, requested("debater", "r1.opening.Ben"), "r1.opening.Ben", append(slices.Clone(retryOrModel), flow.OptionEnd),
			map[debate.Option]func(*testing.T, *debate.Record){flow.OptionEnd: func(t *testing.T, r *debate.Record) {
				host(t, r)
				assert.Equal(t, []string{"r1 Ada"}, speakers(r))
				assert.NotNil(t, view(r).Verdict)
			}},
		},
		"the first speaker's key": {
			same, provider.KindAuthentication, requested("debater", "r1.opening.Ada"), "r1.opening.Ada", append(slices.Clone(retryOrModel), flow.OptionEnd),
			map[debate.Option]func(*testing.T, *debate.Record){flow.OptionEnd: func(t *testing.T, r *debate.Record) {
				host(t, r)
				assert.Empty(t, r.Turns)
				assert.Nil(t, view(r).Verdict)
			}},
		},
		"the only opponent's key, in round two": {
			same, provider.KindAuthentication, requested("debater", "r2.rebuttal.Ben"), "r2.rebuttal.Ben",
			append(slices.Clone(retryOrModel), flow.OptionDrop, flow.OptionEnd),
			map[debate.Option]func(*testing.T, *debate.Record){
				flow.OptionEnd: host,
				flow.OptionDrop: func(t *testing.T, r *debate.Record) {
					dropped(t, r)
					assert.Equal(t, flow.EndTooFew, r.Reason)
				},
			},
		},
		"the key of one of three": {
			func(c *debate.Config) { *c = crew(3) }, provider.KindAuthentication, requested("debater", "r2.rebuttal.Ben"), "r2.rebuttal.Ben",
			append(slices.Clone(retryOrModel), flow.OptionDrop, flow.OptionEnd),
			map[debate.Option]func(*testing.T, *debate.Record){
				flow.OptionEnd: host,
				flow.OptionDrop: func(t *testing.T, r *debate.Record) {
					dropped(t, r)
					assert.Equal(t, flow.EndRounds, r.Reason)
					assert.Len(t, r.Turns, 7)
				},
			},
		},
		"a judge's assessment": {
			same, provider.KindRefusal, requested("judge", "r2.assessment.judge"), "r2.assessment.judge", judges,
			map[debate.Option]func(*testing.T, *debate.Record){
				flow.OptionWithout: func(t *testing.T, r *debate.Record) {
					unjudged(t, r)
					assert.Len(t, r.Turns, 6, "the speakers go on")
					assert.Equal(t, flow.EndRounds, r.Reason)
				},
				flow.OptionEnd: func(t *testing.T, r *debate.Record) {
					unjudged(t, r)
					host(t, r)
					assert.Len(t, r.Turns, 4)
				},
			},
		},
		"a judge's verdict": {
			same, provider.KindQuota, requested("judge", "verdict.judge"), "verdict.judge", judges,
			map[debate.Option]func(*testing.T, *debate.Record){flow.OptionWithout: unjudged, flow.OptionEnd: unjudged},
		},
		"a judge's key": {
			same, provider.KindAuthentication, requested("judge", "verdict.judge"), "verdict.judge", judges,
			map[debate.Option]func(*testing.T, *debate.Record){flow.OptionWithout: unjudged, flow.OptionEnd: unjudged},
		},
	}
}

func TestEveryOptionOfAnInquiry(t *testing.T) {
	for name, tc := range impasses() {
		for how, hand := range handovers() {
			for _, option := range tc.options {
				t.Run(name+"/"+string(option)+"/"+how, func(t *testing.T) {
					config := twoDebaters()
					tc.change(&config)
					engine, p := engineFor(config)
					abiding(p)
					engine.Store = &store.Memory{}
					cut := befall(p, tc.kind, tc.hits)
					session, err := engine.Start(t.Context(), config)
					require.NoError(t, err)
					t.Cleanup(func() { _ = session.Close() })
					record, err := session.Wait(t.Context())
					require.ErrorIs(t, err, debate.ErrAwaitingInput)
					assert.Equal(t, flow.StateAwaitingInput, record.State)
					require.Len(t, record.Inquiries, 1)
					before := record.Inquiries[0]

					engine, session = hand(t, engine, session)
					record, err = session.Wait(t.Context())
					require.ErrorIs(t, err, debate.ErrAwaitingInput)
					require.Len(t, record.Inquiries, 1)
					q := record.Inquiries[0]
					assert.Equal(t, before.ID, q.ID)
					assert.Equal(t, tc.call, q.About)
					assert.Equal(t, tc.options, q.Options)
					assert.Contains(t, q.Question, q.To)
					require.NotNil(t, q.Failure)
					assert.Equal(t, tc.kind, q.Failure.Kind)
					assert.NotEmpty(t, q.Failure.Hint())

					switch option {
					case flow.OptionModel:
						require.NoError(t, session.Choose(t.Context(), q.ID, option, "test/spare"))
					case flow.OptionRetry:
						cut.over.Store(true) // the host has mended what was wrong
						fallthrough
					default:
						require.NoError(t, session.Choose(t.Context(), q.ID, option))
					}
					record, err = session.Wait(t.Context())
					require.NoError(t, err)
					require.Len(t, record.Answers, 1)
					assert.Equal(t, option, record.Answers[0].Option)
					assert.False(t, record.Answers[0].Unattended)
					assert.Empty(t, record.Inquiries)
					assert.Zero(t, record.InFlight())
					events := logged(t, engine, record.ID)
					asksOnce(t, events)
					if check := tc.after[option]; check != nil {
						check(t, record)
						return
					}
					again, whole := engineFor(config)
					abiding(whole)
					assert.Equal(t, canonical(t, run(t, again, config)), canonical(t, record))
					assert.Equal(t, whole.Calls()+1, p.Calls(), "nothing but the failed call was repeated")
				})
			}
		}
	}
}

// windy is a debate whose speakers talk at length.
func windy(summarizer string) (debate.Config, *debate.Engine, *scripted.Provider) {
	config := twoDebaters()
	config.Format, config.Rounds, config.MaxTokens, config.Reserve, config.Summarizer = format.RoundLimited, 6, 500, 500, summarizer
	engine, p := engineFor(config)
	reply := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		r := reply(req)
		if req.Schema == nil && req.Self != "summarizer" {
			r.Text += strings.Repeat(" Prices are a gentler tool than bans, and they raise money for trams.", 20)
		}
		r.Usage = provider.Usage{}
		return r
	}
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
	withSummary := []debate.Option{flow.OptionSummarize, flow.OptionTruncate, flow.OptionModel, flow.OptionEnd}
	for name, tc := range map[string]struct {
		summarizer string
		hits       func(*provider.Request) bool
		to         string
		options    []debate.Option
	}{
		"a speaker":                {"test/judge", large("debater", "Ben", 10_000), "Ben", withSummary},
		"a speaker, no summarizer": {"", large("debater", "Ben", 10_000), "Ben", withSummary[1:]},
		"the judge":                {"test/judge", large("judge", "judge", 14_000), "judge", withSummary},
		"the judge, no summarizer": {"", large("judge", "judge", 14_000), "judge", withSummary[1:]},
	} {
		for how, hand := range handovers() {
			for _, option := range tc.options {
				t.Run(name+"/"+string(option)+"/"+how, func(t *testing.T) {
					config, engine, p := windy(tc.summarizer)
					engine.Store = &store.Memory{}
					befall(p, provider.KindContextOverflow, tc.hits)
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
						assert.Equal(t, tc.options, q.Options)
						assert.Equal(t, tc.to, q.To)
						engine, session = hand(t, engine, session)
						var model []string
						if option == flow.OptionModel {
							model = append(model, "test/spare")
						}
						require.NoError(t, session.Choose(t.Context(), q.ID, option, model...))
					}
					require.NotEmpty(t, record.Answers)
					assert.Equal(t, flow.StateCompleted, record.State)
					asksOnce(t, logged(t, engine, record.ID))
					if option == flow.OptionEnd {
						assert.Len(t, record.Answers, 1)
						assert.Equal(t, flow.EndHost, record.Reason)
						return
					}
					assert.Len(t, record.Turns, 12)
					assert.NotNil(t, view(record).Verdict)
					assert.Empty(t, view(record).Outcome().Degraded)
					switch option {
					case flow.OptionSummarize:
						assert.NotEmpty(t, record.Summaries)
					case flow.OptionModel:
						assert.Len(t, record.Answers, 1, "the other model is used from then on")
					default:
					}
					if tc.summarizer == "" {
						assert.Empty(t, record.Summaries)
					}
				})
			}
		}
	}
}

func TestAnotherModelIsUsedFromThenOn(t *testing.T) {
	config := twoDebaters()
	config.Rounds = 4
	engine, p := engineFor(config)
	engine.Models["test/spare"] = debate.Model{Priced: true, Input: 7_000_000, Output: 11_000_000}
	befall(p, provider.KindAuthentication, said("Ben", 2))
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	record, err := session.Wait(t.Context())
	require.ErrorIs(t, err, debate.ErrAwaitingInput)
	_, known := record.Model("test/spare")
	assert.False(t, known)
	require.NoError(t, session.Choose(t.Context(), record.Inquiries[0].ID, flow.OptionModel, "test/spare"))
	record, err = session.Wait(t.Context())
	require.NoError(t, err)
	assert.Equal(t, undisturbed(t, config), canonical(t, record))
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
	other := twin(engine)
	other.Models = nil
	restored, err := other.Restore(t.Context(), snapshotOf(t, engine, record.ID))
	require.NoError(t, err)
	again, err := restored.Wait(t.Context())
	require.NoError(t, err)
	row, _ := again.Model("test/spare")
	assert.Equal(t, frozen, row)
}

func TestABudgetRefusesAModelWithoutAPrice(t *testing.T) {
	config := twoDebaters()
	config.Budget = &debate.Budget{Hard: 10 * debate.USD}
	engine, p := engineFor(config)
	engine.Models["test/spare"] = debate.Model{Priced: true, Input: 7_000_000, Output: 11_000_000}
	befall(p, provider.KindAuthentication, said("Ben", 2))
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	record, err := session.Wait(t.Context())
	require.ErrorIs(t, err, debate.ErrAwaitingInput)
	q := record.Inquiries[0]
	failure := requireKind(t, session.Choose(t.Context(), q.ID, flow.OptionModel, "test/free"), provider.KindValidation)
	assert.Equal(t, "model", failure.Field)
	assert.ErrorContains(t, failure, "price")
	after, err := session.Record(t.Context())
	require.NoError(t, err)
	assert.Equal(t, record.Seq, after.Seq)
	require.NoError(t, session.Choose(t.Context(), q.ID, flow.OptionModel, "test/spare"))
	record, err = session.Wait(t.Context())
	require.NoError(t, err)
	assert.Equal(t, undisturbed(t, config), canonical(t, record))
}

func TestWrongAnswersAreRefusedAndChangeNothing(t *testing.T) {
	config := twoDebaters()
	engine, p := engineFor(config)
	befall(p, provider.KindAuthentication, said("Ben", 1))
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	record, err := session.Wait(t.Context())
	require.ErrorIs(t, err, debate.ErrAwaitingInput)
	id := record.Inquiries[0].ID
	for name, tc := range map[string]struct {
		inquiry string
		option  debate.Option
		model   []string
		kind    debate.Kind
		field   string
	}{
		"no such inquiry":      {"ask.nothing.1", flow.OptionRetry, nil, provider.KindState, ""},
		"the call's id":        {"r1.opening.Ben", flow.OptionRetry, nil, provider.KindState, ""},
		"no inquiry":           {"", flow.OptionRetry, nil, provider.KindState, ""},
		"not offered":          {id, flow.OptionDrop, nil, provider.KindValidation, "option"},
		"a judge's":            {id, flow.OptionWithout, nil, provider.KindValidation, "option"},
		"unknown":              {id, "dance\n\x00", nil, provider.KindValidation, "option"},
		"none":                 {id, "", nil, provider.KindValidation, "option"},
		"no model":             {id, flow.OptionModel, nil, provider.KindValidation, "model"},
		"an empty model":       {id, flow.OptionModel, []string{""}, provider.KindValidation, "model"},
		"a model's half":       {id, flow.OptionModel, []string{"debater"}, provider.KindValidation, "model"},
		"a model of two lines": {id, flow.OptionModel, []string{"test/\x1b[31m\n"}, provider.KindValidation, "model"},
		"a model in no UTF-8":  {id, flow.OptionModel, []string{"test/\xff"}, provider.KindValidation, "model"},
		"a model too long":     {id, flow.OptionModel, []string{"test/" + strings.Repeat("a", 300)}, provider.KindValidation, "model"},
		"an unknown provider":  {id, flow.OptionModel, []string{"other/debater"}, provider.KindValidation, "model"},
		"a model with a retry": {id, flow.OptionRetry, []string{"test/spare"}, provider.KindValidation, "model"},
	} {
		t.Run(name, func(t *testing.T) {
			failure := requireKind(t, session.Choose(t.Context(), tc.inquiry, tc.option, tc.model...), tc.kind)
			assert.Equal(t, tc.field, failure.Field)
			assert.NotContains(t, failure.Error(), "\n")
		})
	}
	failure := requireKind(t, session.Answer(t.Context(), id, "retry"), provider.KindValidation)
	assert.Equal(t, "option", failure.Field, "a choice is no text")
	require.Error(t, session.Acknowledge(t.Context()))
	require.Error(t, session.Resume(t.Context()))
	require.Error(t, session.Retry(t.Context()))
	after, err := session.Record(t.Context())
	require.NoError(t, err)
	assert.Equal(t, record.Seq, after.Seq)
	assert.Equal(t, flow.StateAwaitingInput, session.State())
	assert.Equal(t, record.Inquiries, after.Inquiries)

	require.NoError(t, session.Choose(t.Context(), id, flow.OptionModel, "test/spare"))
	requireKind(t, session.Choose(t.Context(), id, flow.OptionModel, "test/spare"), provider.KindState)
	_, err = session.Wait(t.Context())
	require.NoError(t, err)
	requireKind(t, session.Choose(t.Context(), id, flow.OptionModel, "test/spare"), provider.KindState)
}

// The host has renewed the key behind the provider, and answers "retry": the answer has no place for a key.
func TestAnAnswerCarriesNoKey(t *testing.T) {
	const old, fresh = "sk-old-5f1d7a0c", "sk-new-93be21aa"
	var key atomic.Value
	key.Store(old)
	config := twoDebaters()
	engine, p := engineFor(config)
	reply := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		if key.Load() == old && strings.Contains(req.ID, "r2.rebuttal.Ben") {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindAuthentication, Status: 401, Message: "the key is refused"}}
		}
		return reply(req)
	}
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	record, err := session.Wait(t.Context())
	require.ErrorIs(t, err, debate.ErrAwaitingInput)
	assert.Contains(t, record.Inquiries[0].Failure.Hint(), "Renew the API key")
	key.Store(fresh)
	require.NoError(t, session.Choose(t.Context(), record.Inquiries[0].ID, flow.OptionRetry))
	record, err = session.Wait(t.Context())
	require.NoError(t, err)
	assert.Equal(t, undisturbed(t, config), canonical(t, record))
	snapshot := string(snapshotOf(t, engine, record.ID))
	assert.NotContains(t, snapshot, old)
	assert.NotContains(t, snapshot, fresh)

	answer, err := json.Marshal(record.Answers[0])
	require.NoError(t, err)
	assert.JSONEq(t, fmt.Sprintf(`{"inquiry":%q,"option":"retry"}`, record.Answers[0].Inquiry), string(answer))
	var read flow.Answer
	assert.Error(t, strictly(t, `{"inquiry":"a","option":"retry","key":"sk-new"}`, &read))
}

// strictly reads an answer as a program does that takes no key that it does not know.
func strictly(t *testing.T, text string, into any) error {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

// Two of four are refused while the others speak: both questions are open at once, and may be answered
// before the others have done.
func TestSeveralInquiriesAreOpenWhileOthersSpeak(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprintf("restart %v", restart), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := crew(4)
				config.Mode = debate.Simultaneous
				engine, p := engineFor(config)
				engine.Store = &store.Memory{}
				abiding(p)
				slowly(p)
				befall(p, provider.KindAuthentication, func(req *provider.Request) bool {
					return req.Model == "debater" && (req.Self == "Ada" || req.Self == "Dan")
				})
				session, err := engine.Start(t.Context(), config)
				require.NoError(t, err)
				defer func() { _ = session.Close() }()
				pass(300 * time.Millisecond) // Ben and Cyd are speaking
				synctest.Wait()
				record, err := session.Record(t.Context())
				require.NoError(t, err)
				assert.Equal(t, debate.StateAwaitingResponses, record.State)
				assert.Equal(t, 2, record.InFlight())
				require.Len(t, record.Inquiries, 2)
				ask := map[string]string{} // ids, by who is asked about: in no certain order
				for _, q := range record.Inquiries {
					ask[q.To] = q.ID
				}
				require.Len(t, ask, 2)
				assert.Equal(t, flow.StatusFailed, record.Participant("Ada").Status)

				if restart {
					require.NoError(t, session.Close())
					session, err = twin(engine).Open(t.Context(), session.ID())
					require.NoError(t, err)
				}
				require.NoError(t, session.Choose(t.Context(), ask["Dan"], flow.OptionDrop), "while others speak")
				record, err = session.Wait(t.Context())
				require.ErrorIs(t, err, debate.ErrAwaitingInput)
				require.Len(t, record.Inquiries, 1)
				assert.Len(t, record.Turns, 2)
				require.NoError(t, session.Choose(t.Context(), ask["Ada"], flow.OptionModel, "test/spare"))
				record, err = session.Wait(t.Context())
				require.NoError(t, err)
				assert.Equal(t, []string{
					"r1 Ada", "r1 Ben", "r1 Cyd", "r2 Ada", "r2 Ben", "r2 Cyd", "r3 Ada", "r3 Ben", "r3 Cyd",
				}, inSlots(record))
				asksOnce(t, logged(t, engine, record.ID))
			})
		})
	}
}

// "end" breaks off those who still speak, and closes the questions of the others.
func TestEndIsChosenWhileOthersSpeak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := crew(4)
		config.Mode = debate.Simultaneous
		engine, p := engineFor(config)
		abiding(p)
		slowly(p)
		befall(p, provider.KindAuthentication, func(req *provider.Request) bool {
			return strings.Contains(req.ID, "/r2.") && (req.Self == "Ada" || req.Self == "Dan")
		})
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		defer session.Close()
		pass(2300 * time.Millisecond)
		synctest.Wait()
		record, err := session.Record(t.Context())
		require.NoError(t, err)
		require.Len(t, record.Inquiries, 2)
		require.Equal(t, 2, record.InFlight())
		other := record.Inquiries[1].ID
		require.NoError(t, session.Choose(t.Context(), record.Inquiries[0].ID, flow.OptionEnd))
		requireKind(t, session.Choose(t.Context(), other, flow.OptionRetry), provider.KindState)
		record, err = session.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, flow.StateCompleted, record.State)
		assert.Equal(t, flow.EndHost, record.Reason)
		assert.NotNil(t, view(record).Verdict)
		assert.Len(t, record.Turns, 4)
		assert.Zero(t, record.InFlight())
	})
}

func TestAnOpenInquiryAndTheControls(t *testing.T) {
	for name, hits := range map[string]func(*provider.Request) bool{
		"speaker":    requested("debater", "r2.rebuttal.Ben"),
		"assessment": requested("judge", "r2.assessment"),
		"verdict":    requested("judge", "verdict"),
	} {
		open := func(t *testing.T) (*debate.Engine, *debate.Session, *outage, flow.Inquiry) {
			t.Helper()
			config := twoDebaters()
			engine, p := engineFor(config)
			engine.Store = &store.Memory{}
			cut := befall(p, provider.KindAuthentication, hits)
			session, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			t.Cleanup(func() { _ = session.Close() })
			record, err := session.Wait(t.Context())
			require.ErrorIs(t, err, debate.ErrAwaitingInput)
			return engine, session, cut, record.Inquiries[0]
		}
		t.Run(name+"/pause and resume", func(t *testing.T) {
			_, session, cut, q := open(t)
			require.NoError(t, session.Pause(t.Context()))
			assert.Equal(t, flow.StatePaused, session.State())
			require.NoError(t, session.Resume(t.Context()))
			record, err := session.Wait(t.Context())
			require.ErrorIs(t, err, debate.ErrAwaitingInput)
			require.Equal(t, []flow.Inquiry{q}, record.Inquiries, "asked once")
			cut.over.Store(true)
			require.NoError(t, session.Choose(t.Context(), q.ID, flow.OptionRetry))
			record, err = session.Wait(t.Context())
			require.NoError(t, err)
			assert.Equal(t, undisturbed(t, twoDebaters()), canonical(t, record))
		})
		t.Run(name+"/answered in a pause, and restarted", func(t *testing.T) {
			engine, session, _, q := open(t)
			require.NoError(t, session.Pause(t.Context()))
			require.NoError(t, session.Choose(t.Context(), q.ID, flow.OptionModel, "test/spare"))
			assert.Equal(t, flow.StatePaused, session.State(), "an answer does not end a pause")
			require.NoError(t, session.Close())
			session, err := twin(engine).Open(t.Context(), session.ID())
			require.NoError(t, err)
			t.Cleanup(func() { _ = session.Close() })
			assert.Equal(t, flow.StatePaused, session.State())
			require.NoError(t, session.Resume(t.Context()))
			record, err := session.Wait(t.Context())
			require.NoError(t, err)
			assert.Equal(t, undisturbed(t, twoDebaters()), canonical(t, record))
		})
		t.Run(name+"/stop", func(t *testing.T) {
			_, session, _, q := open(t)
			require.NoError(t, session.Stop(t.Context()))
			record, err := session.Wait(t.Context())
			if name == "verdict" { // there is no other way than to ask again
				require.ErrorIs(t, err, debate.ErrAwaitingInput)
				require.Len(t, record.Inquiries, 1)
				assert.Equal(t, flow.EndRounds, record.Reason, "the rounds were over before the host stopped them")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Equal(t, flow.EndHost, record.Reason)
			assert.Equal(t, "stopped by the host", record.Evidence)
			assert.NotNil(t, view(record).Verdict)
			assert.Empty(t, record.Inquiries)
			requireKind(t, session.Choose(t.Context(), q.ID, flow.OptionRetry), provider.KindState)
		})
		t.Run(name+"/cancel", func(t *testing.T) {
			_, session, _, q := open(t)
			require.NoError(t, session.Cancel(t.Context()))
			record, err := session.Wait(t.Context())
			require.NoError(t, err)
			assert.Equal(t, flow.StateCanceled, record.State)
			assert.Equal(t, flow.EndHost, record.Reason)
			assert.Equal(t, "canceled by the host", record.Evidence)
			assert.Nil(t, view(record).Verdict)
			assert.Empty(t, record.Inquiries)
			requireKind(t, session.Choose(t.Context(), q.ID, flow.OptionRetry), provider.KindState)
		})
	}
}

// judgedByAPerson is a debate of one round that waits for a person's assessment, or for the verdict.
func judgedByAPerson(t *testing.T, when debate.When) (*debate.Engine, *debate.Session, flow.Inquiry) {
	t.Helper()
	config := twoDebaters()
	config.Rounds = 1
	config.Judging.When = when
	config.Judging.Judges = []debate.JudgeConfig{{Name: "Zoe", Person: true}}
	engine, _ := engineFor(config)
	engine.Store = &store.Memory{}
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	record, err := session.Wait(t.Context())
	require.ErrorIs(t, err, debate.ErrAwaitingInput)
	require.Len(t, record.Inquiries, 1)
	return engine, session, record.Inquiries[0]
}

func TestAPersonWhoJudgesCanBeAnsweredForAfterAPause(t *testing.T) {
	for name, hand := range handovers() {
		t.Run(name, func(t *testing.T) {
			engine, session, q := judgedByAPerson(t, debate.EveryRound)
			assert.Equal(t, "Zoe", q.To)
			assert.Empty(t, q.Options)
			assert.True(t, json.Valid(q.Schema))
			require.Error(t, session.Choose(t.Context(), q.ID, flow.OptionEnd), "a person who judges is not about a failure")
			require.NoError(t, session.Pause(t.Context()))
			_, session = hand(t, engine, session)
			require.NoError(t, session.Resume(t.Context()))
			record, err := session.Wait(t.Context())
			require.ErrorIs(t, err, debate.ErrAwaitingInput)
			require.Len(t, record.Inquiries, 1)
			require.NoError(t, session.Pause(t.Context()))
			require.NoError(t, session.Answer(t.Context(), q.ID, judgement([]string{"Ada", "Ben"}, true)), "in a pause")
			require.NoError(t, session.Resume(t.Context()))
			record, err = session.Wait(t.Context())
			require.ErrorIs(t, err, debate.ErrAwaitingInput)
			require.Len(t, view(record).Assessments, 1)
			require.Equal(t, "verdict.Zoe", record.Inquiries[0].ID)
			require.NoError(t, session.Answer(t.Context(), "verdict.Zoe", verdict([]string{"Ada", "Ben"})))
			record, err = session.Wait(t.Context())
			require.NoError(t, err)
			assert.Equal(t, "Ada", view(record).Outcome().Winner)
		})
	}
}

func TestStopAndCancelWhileAPersonJudges(t *testing.T) {
	t.Run("stop at an assessment", func(t *testing.T) {
		_, session, q := judgedByAPerson(t, debate.EveryRound)
		require.NoError(t, session.Stop(t.Context()))
		record, err := session.Wait(t.Context())
		require.ErrorIs(t, err, debate.ErrAwaitingInput)
		require.Len(t, record.Inquiries, 1)
		assert.Equal(t, "verdict.Zoe", record.Inquiries[0].ID)
		requireKind(t, session.Answer(t.Context(), q.ID, "late"), provider.KindState)
		require.NoError(t, session.Answer(t.Context(), "verdict.Zoe", verdict([]string{"Ben", "Ada"})))
		record, err = session.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "Ben", view(record).Outcome().Winner)
	})
	t.Run("stop at the verdict", func(t *testing.T) {
		_, session, q := judgedByAPerson(t, debate.AtEnd)
		require.NoError(t, session.Stop(t.Context()))
		record, err := session.Wait(t.Context())
		require.ErrorIs(t, err, debate.ErrAwaitingInput, "the verdict is still wanted")
		require.Len(t, record.Inquiries, 1)
		require.NoError(t, session.Answer(t.Context(), q.ID, verdict([]string{"Ben", "Ada"})))
		_, err = session.Wait(t.Context())
		require.NoError(t, err)
	})
	t.Run("cancel", func(t *testing.T) {
		_, session, q := judgedByAPerson(t, debate.AtEnd)
		require.NoError(t, session.Cancel(t.Context()))
		record, err := session.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, flow.StateCanceled, record.State)
		assert.Empty(t, record.Inquiries)
		requireKind(t, session.Answer(t.Context(), q.ID, "late"), provider.KindState)
	})
}

// Of a panel a model has failed and a person is asked: "end" leaves the person's question open, for the verdict is wanted.
func TestEndIsChosenWhileAPersonJudges(t *testing.T) {
	config := twoDebaters()
	config.Rounds = 1
	config.Judging.When, config.Judging.Quorum = debate.AtEnd, 2
	config.Judging.Judges = []debate.JudgeConfig{{Model: "test/judge"}, {Name: "Zoe", Person: true}}
	engine, p := engineFor(config)
	befall(p, provider.KindRefusal, requested("judge", "verdict"))
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	record, err := session.Wait(t.Context())
	require.ErrorIs(t, err, debate.ErrAwaitingInput)
	require.Len(t, record.Inquiries, 2)
	i := slices.IndexFunc(record.Inquiries, func(q flow.Inquiry) bool { return q.About != "" })
	require.NoError(t, session.Choose(t.Context(), record.Inquiries[i].ID, flow.OptionEnd))
	record, err = session.Wait(t.Context())
	require.ErrorIs(t, err, debate.ErrAwaitingInput)
	require.Len(t, record.Inquiries, 1)
	require.NoError(t, session.Answer(t.Context(), "verdict.Zoe", verdict([]string{"Ben", "Ada"})))
	record, err = session.Wait(t.Context())
	require.NoError(t, err)
	assert.Len(t, view(record).Verdicts, 1)
	assert.Contains(t, view(record).Outcome().Degraded, "1 of 2 judges have given a verdict: fewer than the quorum of 2")
}

// What is chosen where nobody is there, by default and as Config.Unattended says.
func TestUnattended(t *testing.T) {
	authentication := func(from int) func(p *scripted.Provider) {
		return func(p *scripted.Provider) { befall(p, provider.KindAuthentication, said("Ben", from)) }
	}
	judging := func(kind provider.Kind, calls string) func(p *scripted.Provider) {
		return func(p *scripted.Provider) {
			befall(p, kind, func(req *provider.Request) bool { return req.Schema != nil && strings.Contains(req.ID, calls) })
		}
	}
	for name, tc := range map[string]struct {
		change   func(*debate.Config)
		befalls  func(*scripted.Provider)
		options  []debate.Option // of the answers; nil: nobody was to be asked
		reason   flow.EndReason
		degraded []string
		turns    int
		verdict  bool
	}{
		"a judge, by default": {
			func(c *debate.Config) {
				c.Unattended = &debate.Unattended{}
				c.Judging.Judges[0].Fallbacks = []string{"test/spare"}
			},
			judging(provider.KindRefusal, "r2."),
			[]debate.Option{flow.OptionWithout},
			flow.EndRounds,
			[]string{"judge has judged no further", "there is no verdict"},
			6, false,
		},
		"a judge whose fallback answers": {
			func(c *debate.Config) {
				c.Unattended = &debate.Unattended{}
				c.Judging.Judges[0].Fallbacks = []string{"test/spare"}
			},
			func(p *scripted.Provider) { befall(p, provider.KindRefusal, requested("judge", "r2.")) },
			nil, flow.EndRounds, nil, 6, true,
		},
		"a judge, to the end": {
			func(c *debate.Config) { c.Unattended = &debate.Unattended{Judge: flow.OptionEnd} },
			judging(provider.KindRefusal, "r2."),
			[]debate.Option{flow.OptionEnd},
			flow.EndHost,
			[]string{"judge has judged no further", "there is no verdict"},
			4, false,
		},
		"a judge at the verdict": {
			func(c *debate.Config) { c.Unattended = &debate.Unattended{Judge: flow.OptionEnd} },
			judging(provider.KindRefusal, "verdict"),
			[]debate.Option{flow.OptionEnd},
			flow.EndRounds,
			[]string{"judge has judged no further", "there is no verdict"},
			6, false,
		},
		"one of a panel": {
			func(c *debate.Config) {
				c.Unattended = &debate.Unattended{Judge: flow.OptionEnd}
				c.Judging.Judges = []debate.JudgeConfig{{Model: "test/judge"}, {Model: "test/spare"}, {Model: "test/last"}}
			},
			func(p *scripted.Provider) { befall(p, provider.KindRefusal, requested("judge", "r2.")) },
			nil, flow.EndRounds,
			[]string{"judge has judged no further", "2 of 3 judges have given a verdict"},
			6, true,
		},
		"a key, by default": {
			func(c *debate.Config) { *c = crew(3); c.Unattended = &debate.Unattended{} },
			authentication(2), nil, flow.EndRounds,
			[]string{"Ben has taken no further part"},
			7, true,
		},
		"a key, by default, below two": {
			func(c *debate.Config) { c.Unattended = &debate.Unattended{} },
			authentication(2), nil, flow.EndTooFew,
			[]string{"Ben has taken no further part"},
			3, true,
		},
		"a key, to the end": {
			func(c *debate.Config) {
				*c = crew(3)
				c.Unattended = &debate.Unattended{Authentication: flow.OptionEnd}
			},
			authentication(2),
			[]debate.Option{flow.OptionEnd},
			flow.EndHost, nil, 4, true,
		},
		"the budget, by default": {
			func(c *debate.Config) {
				c.Unattended = &debate.Unattended{}
				c.Budget = &debate.Budget{Warn: debate.USD / 1000, Confirm: true}
			},
			func(*scripted.Provider) {}, nil, flow.EndSoftLimit, nil, 2, true,
		},
		"the budget, going on": {
			func(c *debate.Config) {
				c.Unattended = &debate.Unattended{Budget: flow.OptionRetry}
				c.Budget = &debate.Budget{Warn: debate.USD / 1000, Confirm: true}
			},
			func(*scripted.Provider) {}, nil, flow.EndRounds, nil, 6, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := twoDebaters()
			tc.change(&config)
			engine, p := engineFor(config)
			store := &commits{Memory: &store.Memory{}}
			engine.Store = store
			abiding(p)
			tc.befalls(p)
			record := run(t, engine, config)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Equal(t, tc.reason, record.Reason)
			assert.NotEmpty(t, record.Evidence)
			assert.Len(t, record.Turns, tc.turns)
			assert.Equal(t, tc.verdict, view(record).Verdict != nil)
			for _, line := range tc.degraded {
				assert.Contains(t, view(record).Outcome().Degraded, line)
			}
			var options []debate.Option
			for _, a := range record.Answers {
				assert.True(t, a.Unattended)
				options = append(options, a.Option)
			}
			assert.Equal(t, tc.options, options)

			// After whatever commit another process takes it up, it chooses the same.
			events := logged(t, engine, record.ID)
			for _, n := range store.ends {
				other := twin(engine)
				other.Store = nil
				session, err := other.Restore(t.Context(), snapshot(t, record.ID, events[:n]))
				require.NoError(t, err)
				again, err := session.Wait(t.Context())
				require.NoError(t, err, "after %d events", n)
				assert.Equal(t, record.Reason, again.Reason)
				if config.Budget != nil {
					continue // what was lost in flight is charged, so the warning comes earlier
				}
				assert.Equal(t, canonical(t, record), canonical(t, again), "after %d events", n)
				assert.Len(t, again.Answers, len(record.Answers))
				for i := range again.Answers {
					assert.Equal(t, record.Answers[i].Option, again.Answers[i].Option)
				}
				require.NoError(t, session.Close())
			}
		})
	}
}

func TestUnattendedContexts(t *testing.T) {
	for name, tc := range map[string]struct {
		summarizer string
		unattended debate.Unattended
		judge      bool // it is the judge's window that is too small
		first      debate.Option
		reason     flow.EndReason
	}{
		"summarised if there is a model":  {"test/spare", debate.Unattended{}, false, flow.OptionSummarize, flow.EndRounds},
		"else left out":                   {"", debate.Unattended{}, false, flow.OptionTruncate, flow.EndRounds},
		"left out if that is wanted":      {"test/spare", debate.Unattended{Context: flow.OptionTruncate}, false, flow.OptionTruncate, flow.EndRounds},
		"no model to summarise as wanted": {"", debate.Unattended{Context: flow.OptionSummarize}, false, flow.OptionTruncate, flow.EndRounds},
		"the end":                         {"test/spare", debate.Unattended{Context: flow.OptionEnd}, false, flow.OptionEnd, flow.EndHost},
		"of the judge: summarised":        {"test/spare", debate.Unattended{}, true, flow.OptionSummarize, flow.EndRounds},
		"of the judge: left out":          {"", debate.Unattended{}, true, flow.OptionTruncate, flow.EndRounds},
		"of the judge: the end":           {"", debate.Unattended{Context: flow.OptionEnd}, true, flow.OptionEnd, flow.EndHost},
	} {
		t.Run(name, func(t *testing.T) {
			config, engine, p := windy(tc.summarizer)
			config.Unattended = &tc.unattended
			hits := large("debater", "Ben", 10_000)
			if tc.judge {
				hits = large("judge", "judge", 14_000)
			}
			befall(p, provider.KindContextOverflow, hits)
			record := run(t, engine, config)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Equal(t, tc.reason, record.Reason)
			require.NotEmpty(t, record.Answers)
			assert.Equal(t, tc.first, record.Answers[0].Option)
			assert.True(t, record.Answers[0].Unattended)
			if tc.first == flow.OptionSummarize {
				assert.NotEmpty(t, record.Summaries)
			}
			if tc.reason == flow.EndRounds {
				assert.Len(t, record.Turns, 12)
				assert.NotNil(t, view(record).Verdict)
				assert.Empty(t, view(record).Outcome().Degraded)
			}
			var kinds []flow.EventKind
			for _, event := range logged(t, engine, record.ID) {
				if event.Kind() == flow.EventInquiry || event.Kind() == flow.EventAnswer {
					kinds = append(kinds, event.Kind())
				}
			}
			assert.Equal(t, []flow.EventKind{flow.EventInquiry, flow.EventAnswer}, kinds[:2], "the choice is recorded with its question")
		})
	}
}

// A window that stays too small, whatever is left out, is given up in the end.
func TestAnUnattendedContextIsGivenUpInTheEnd(t *testing.T) {
	config, engine, p := windy("test/spare")
	config.Unattended = &debate.Unattended{}
	abiding(p)
	befall(p, provider.KindContextOverflow, said("Ben", 2))
	record := run(t, engine, config)
	assert.Equal(t, flow.EndTooFew, record.Reason)
	assert.Less(t, len(record.Answers), 30)
	assert.Equal(t, []string{"Ben has taken no further part"}, view(record).Outcome().Degraded)
}

func TestRunIsAlwaysUnattended(t *testing.T) {
	config := crew(3)
	engine, p := engineFor(config)
	engine.Store = &store.Memory{}
	abiding(p)
	befall(p, provider.KindAuthentication, func(req *provider.Request) bool { return req.Self == "Cyd" || strings.Contains(req.ID, "verdict") })
	var id string
	for event, err := range engine.Run(t.Context(), func() debate.Config { c := config; c.ID = "alone"; return c }()) {
		require.NoError(t, err)
		id = "alone"
		_ = event
	}
	record, err := engine.Record(t.Context(), id)
	require.NoError(t, err)
	assert.Equal(t, flow.StateCompleted, record.State)
	assert.Equal(t, []string{"Cyd has taken no further part", "judge has judged no further", "there is no verdict"}, view(record).Outcome().Degraded)
	require.Len(t, record.Answers, 1)
	assert.True(t, record.Answers[0].Unattended)
}

func TestOptionsThatUnattendedDoesNotTake(t *testing.T) {
	for field, u := range map[string]debate.Unattended{
		"unattended.judge":          {Judge: flow.OptionRetry},
		"unattended.context":        {Context: flow.OptionModel},
		"unattended.authentication": {Authentication: flow.OptionRetry},
		"unattended.budget":         {Budget: flow.OptionDrop},
	} {
		config := twoDebaters()
		config.Unattended = &u
		engine, p := engineFor(config)
		assert.Equal(t, field, requireKind(t, engine.Validate(t.Context(), config), provider.KindValidation).Field)
		assert.Zero(t, p.Calls())
	}
}

// An error is left by a retry to the state in which it happened, and nothing that has a result is asked again.
func TestRetryReturnsToTheStateOfTheError(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*debate.Config)
		call   string
		work   debate.State
	}{
		"positions": {func(c *debate.Config) {
			c.Participants[1].Position = ""
			c.Assign = &debate.Assign{}
		}, "assign", flow.StateInitializing},
		"first turn":   {func(*debate.Config) {}, "r1.opening.Ada", debate.StateAwaitingResponses},
		"second turn":  {func(*debate.Config) {}, "r1.opening.Ben", debate.StateAwaitingResponses},
		"simultaneous": {func(c *debate.Config) { c.Mode = debate.Simultaneous }, "r1.opening.Ada", debate.StateAwaitingResponses},
	} {
		for how, hand := range handovers() {
			t.Run(name+"/"+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					config := twoDebaters()
					tc.change(&config)
					engine, p := engineFor(config)
					engine.Store = &store.Memory{}
					p.Reply = planning(p.Reply)
					whole, entire := engineFor(config)
					entire.Reply = planning(entire.Reply)
					cut := befall(p, provider.KindQuota, func(req *provider.Request) bool { return strings.Contains(req.ID, "/"+tc.call) })
					session, err := engine.Start(t.Context(), config)
					require.NoError(t, err)
					t.Cleanup(func() { _ = session.Close() })
					_, err = session.Wait(t.Context())
					requireKind(t, err, provider.KindQuota)
					synctest.Wait() // who spoke at the same time has done
					engine, session = hand(t, engine, session)
					record, err := session.Wait(t.Context())
					failure := requireKind(t, err, provider.KindQuota)
					assert.Equal(t, tc.call, failure.Op)
					assert.Equal(t, flow.StateError, record.State)
					assert.Equal(t, tc.work, record.Working())
					assert.Contains(t, record.Failure.Hint(), "then retry")
					cut.over.Store(true)
					require.NoError(t, session.Retry(t.Context()))
					record, err = session.Wait(t.Context())
					require.NoError(t, err)
					assert.Equal(t, canonical(t, run(t, whole, config)), canonical(t, record))
					events := logged(t, engine, record.ID)
					asksOnce(t, events)
					assert.Equal(t, entire.Calls()+1, p.Calls())
					for i := range events {
						if change := as[flow.Transition](events[i]); change != nil && change.On == flow.TriggerRetry {
							assert.Equal(t, tc.work, change.To)
						}
					}
				})
			})
		}
	}
}

// planning answers also for whoever finds positions.
func planning(reply func(*provider.Request) scripted.Reply) func(*provider.Request) scripted.Reply {
	return func(req *provider.Request) scripted.Reply {
		if req.Schema != nil && req.Schema.Name == "assign" {
			return scripted.Reply{Text: toJSON(plan("Close every street at noon."))}
		}
		return reply(req)
	}
}

// plan is a well-formed plan of these positions.
func plan(positions ...string) debate.PositionPlan {
	p := debate.PositionPlan{Reasoning: "They collide."}
	for i, text := range positions {
		p.Positions = append(p.Positions, debate.PlannedPosition{
			Position: text, Persona: fmt.Sprintf("A planner of %d years", 30+i), KeyArguments: []string{fmt.Sprintf("reason %d", i+1), "air"},
		})
	}
	return p
}

// Logs that say what cannot have happened to an inquiry are refused, by name of the field.
func TestInquiriesThatDoNotFold(t *testing.T) {
	config := twoDebaters()
	engine, p := engineFor(config)
	befall(p, provider.KindAuthentication, said("Ben", 1))
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	record, err := session.Wait(t.Context())
	require.ErrorIs(t, err, debate.ErrAwaitingInput)
	require.NoError(t, session.Choose(t.Context(), record.Inquiries[0].ID, flow.OptionModel, "test/spare"))
	_, err = session.Wait(t.Context())
	require.NoError(t, err)
	l := logOf(t, engine, record.ID)
	inquiry, answer := l.index(t, flow.EventInquiry, 0), l.index(t, flow.EventAnswer, 0)
	for name, tc := range map[string]struct {
		at     int
		change func(e *debate.Event)
		field  string
	}{
		"about a call that is done":     {inquiry, func(e *debate.Event) { as[flow.Inquiry](*e).About = "r1.opening.Ada" }, "inquiry.about"},
		"about a call that nobody made": {inquiry, func(e *debate.Event) { as[flow.Inquiry](*e).About = "r9.song.Ada" }, "inquiry.about"},
		"about nothing":                 {inquiry, func(e *debate.Event) { as[flow.Inquiry](*e).About = "" }, "inquiry.id"},
		"without an option":             {inquiry, func(e *debate.Event) { as[flow.Inquiry](*e).Options = nil }, "inquiry.about"},
		"asked twice": {answer, func(e *debate.Event) {
			*e = debate.Event{Seq: e.Seq, Body: as[flow.Inquiry](l.events[inquiry])}
		}, "inquiry.about"},
		"about one of the same id": {answer, func(e *debate.Event) {
			again := *as[flow.Inquiry](l.events[inquiry])
			again.ID = "another"
			*e = debate.Event{Seq: e.Seq, Body: &again}
		}, "inquiry.about"},
		"an option that was not offered": {answer, func(e *debate.Event) { as[flow.Answer](*e).Option = flow.OptionDrop }, "answer.option"},
		"an option that nobody knows":    {answer, func(e *debate.Event) { as[flow.Answer](*e).Option = "dance" }, "answer.option"},
		"an unknown inquiry":             {answer, func(e *debate.Event) { as[flow.Answer](*e).Inquiry = "ask.nothing.1" }, "answer.option"},
		"a model that is not known":      {answer, func(e *debate.Event) { as[flow.Answer](*e).Row = nil }, "answer.model"},
	} {
		t.Run(name, func(t *testing.T) {
			events := l.copied(t)
			tc.change(&events[tc.at])
			_, err := l.engine.NewCore(l.id, events)
			assert.Equal(t, tc.field, requireKind(t, err, provider.KindValidation).Field)
		})
	}
	t.Run("answered twice", func(t *testing.T) {
		events := l.copied(t)[:answer+1]
		again := events[answer]
		again.Seq++
		_, err := l.engine.NewCore(l.id, append(events, again))
		assert.Equal(t, "answer.option", requireKind(t, err, provider.KindValidation).Field)
	})
}

// eventful is the log of a debate in which as much as possible has happened.
func eventful(t *testing.T) storedLog {
	t.Helper()
	config, engine, p := windy("test/spare")
	config.Format, config.Rounds = format.FreeForm, 4
	config.Participants[1].Position = ""
	config.Participants = append(config.Participants, debate.Participant{Name: "Cyd", Model: "test/debater"})
	config.Assign = &debate.Assign{}
	config.Unattended = &debate.Unattended{}
	config.Audience = &debate.Audience{Members: []debate.Member{{Model: "test/judge"}, {Model: "test/judge"}}}
	config.Judging.Judges = append(config.Judging.Judges, debate.JudgeConfig{Model: "test/judge"})
	config.Judging.Quorum = 2
	config.Judging.Anonymous = false
	config.Watch = []format.Detector{format.DetectRepetition, format.DetectDiminishing, format.DetectDrift}
	abiding(p)
	answer := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		switch {
		case req.Schema != nil && req.Schema.Name == "assign":
			return scripted.Reply{Text: toJSON(plan("Close every street at noon.", "Let each quarter vote for itself."))}
		case req.Schema != nil && req.Schema.Name == "ballot":
			return scripted.Reply{Text: `{"vote":"for","reasoning":"It is time."}`}
		default:
			return answer(req)
		}
	}
	befall(p, provider.KindContextOverflow, large("debater", "Ben", 8_000))
	befall(p, provider.KindAuthentication, said("Cyd", 3))
	befall(p, provider.KindRefusal, requested("judge", "verdict.judge-2"))
	record := run(t, engine, config)
	l := logOf(t, engine, record.ID)
	kinds := told(l.events)
	for _, kind := range []flow.EventKind{
		debate.EventAssigned, debate.EventBallot, flow.EventSummary, flow.EventInquiry, flow.EventAnswer, flow.EventDropped, flow.EventFailed,
		flow.EventWarning, debate.EventVerdict,
	} {
		require.Contains(t, kinds, kind)
	}
	return l
}

// A question about a call that has failed says why: its options depend on that.
func TestAQuestionAboutNoFailureDoesNotFold(t *testing.T) {
	l := eventful(t)
	events := l.copied(t)
	at := slices.IndexFunc(events, func(e debate.Event) bool { return as[flow.Inquiry](e) != nil && as[flow.Inquiry](e).About != "" })
	as[flow.Inquiry](events[at]).Failure = nil
	_, err := l.engine.NewCore(l.id, events)
	assert.Equal(t, "inquiry.failure", requireKind(t, err, provider.KindValidation).Field)
}

// Whatever is changed in a log, and whatever is done then, nothing panics.
func TestChangedLogsOfAnEventfulDebate(t *testing.T) {
	l := eventful(t)
	var tree []any
	require.NoError(t, json.Unmarshal([]byte(toJSON(l.events)), &tree))
	type leaf struct {
		event int
		path  string
		was   any
		set   func(any)
	}
	var all []leaf
	for i, event := range tree {
		leaves(fmt.Sprintf("[%d]", i), event, func(v any) { tree[i] = v }, func(path string, was any, set func(any)) {
			if !strings.Contains(path, "[0].body.texts.") && !strings.Contains(path, "[0].body.models.") {
				all = append(all, leaf{i, path, was, set})
			}
		})
	}
	slices.SortFunc(all, func(a, b leaf) int { return strings.Compare(a.path, b.path) })
	dice := rand.New(rand.NewPCG(7, 11))
	values := []any{nil, true, -1, 0, 3, 1 << 15, "", "x", "Ada", "judge", "end", "model", string(flow.StateError), []any{}, map[string]any{}, []any{"x"}}
	for range 600 / fewer {
		one, value := all[dice.IntN(len(all))], values[dice.IntN(len(values))]
		one.set(value)
		provoke(t, l, toJSON(tree[:one.event+1+dice.IntN(len(tree)-one.event)]), fmt.Sprintf("%s = %v", one.path, value))
		one.set(one.was)
	}
}

// provoke reads a log and does with the debate whatever a host can.
func provoke(t *testing.T, l storedLog, log, what string) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s: panic: %v\n%s", what, r, debug.Stack())
		}
	}()
	var events []debate.Event
	if json.Unmarshal([]byte(log), &events) != nil {
		return
	}
	core, err := l.engine.NewCore(l.id, events)
	if err != nil {
		requireKind(t, err, provider.KindValidation)
		return
	}
	r := core.Record()
	look := func() {
		_, _ = view(r).Canonical()
		_, _, _, _ = view(r).Outcome(), view(r).Swing(), view(r).Judges(), view(r).Recused()
		_, _, _ = view(r).Contestants(), r.Participants(), view(r).Findings(r.Round)
	}
	look()
	signals := []flow.Signal{flow.Tick{}}
	for _, lost := range core.InFlight() {
		signals = append(signals, lost)
	}
	for _, q := range r.Inquiries {
		signals = append(signals, flow.Answer{Inquiry: q.ID, Text: "{}"})
		for _, option := range append(slices.Clone(q.Options), "dance") {
			signals = append(signals, flow.Answer{Inquiry: q.ID, Option: option, Model: "test/spare", Row: &debate.Model{}})
		}
	}
	signals = append(signals, flow.Pause{}, flow.Resume{}, flow.Retry{}, flow.Stop{}, flow.Cancel{})
	for _, signal := range signals {
		out, err := core.Step(flow.Input{At: time.Now(), Signal: signal})
		if err != nil {
			continue
		}
		for _, call := range out.Start {
			_, _ = core.Command(call)
		}
		look()
	}
}
