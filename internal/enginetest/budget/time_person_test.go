package budget_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation/evaluation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// judgedBy is a debate that people judge at its end. It may take an hour.
func judgedBy(names ...string) debate.Config {
	config := stage.TwoDebaters()
	config.ID, config.Budget = "d", &debate.Budget{HardTime: time.Hour}
	config.Judging = &debate.Judging{When: debate.AtEnd}
	for _, name := range names {
		config.Judging.Judges = append(config.Judging.Judges, debate.JudgeConfig{Name: name, Person: true})
	}
	return config
}

// given is the answer that a question gives as an example.
func given(q *flow.Inquiry) flow.Answer {
	_, example, _ := strings.Cut(q.Question, "looks like this: ")
	return flow.Answer{Inquiry: q.ID, Text: example}
}

// processes are the processes that share a store.
type processes struct {
	t      *testing.T
	store  *store.Memory
	config debate.Config
}

func (p processes) engine() *debate.Engine {
	engine, _ := stage.Engine(p.config)
	engine.Store = p.store
	return engine
}

func (p processes) open() *debate.Session {
	p.t.Helper()
	session, err := p.engine().Open(p.t.Context(), p.config.ID)
	require.NoError(p.t, err)
	return session
}

func (p processes) control(signal flow.Signal) error {
	return p.engine().Control(p.t.Context(), p.config.ID, signal)
}

func (p processes) record() *debate.Record {
	p.t.Helper()
	record, err := p.engine().Record(p.t.Context(), p.config.ID)
	require.NoError(p.t, err)
	return record
}

// A verdict that a person gives after the hard limit of time is the last thing that the debate lacks: it completes.
func TestAVerdictAfterTheHardLimitOfTimeCompletes(t *testing.T) {
	for name, answer := range map[string]func(p processes, s *debate.Session, a flow.Answer){
		"in the session": func(p processes, s *debate.Session, a flow.Answer) {
			stage.Pass(2 * time.Hour)
			require.Equal(p.t, flow.StateError, s.State())
			require.NoError(p.t, s.Answer(p.t.Context(), a))
		},
		"by another process": func(p processes, s *debate.Session, a flow.Answer) {
			stage.Pass(2 * time.Hour)
			require.NoError(p.t, p.control(a))
			stage.Pass(time.Minute)
			require.Equal(p.t, flow.StateCompleted, s.State(), "the session has heard of it")
		},
		"while nobody has it open": func(p processes, s *debate.Session, a flow.Answer) {
			require.NoError(p.t, s.Close())
			stage.Pass(2 * time.Hour)
			require.Equal(p.t, flow.StateAwaitingInput, p.record().State)
			require.NoError(p.t, p.control(a))
		},
		"by whoever opens it then": func(p processes, s *debate.Session, a flow.Answer) {
			require.NoError(p.t, s.Close())
			stage.Pass(2 * time.Hour)
			s = p.open()
			synctest.Wait()
			require.Equal(p.t, flow.StateError, s.State())
			require.NoError(p.t, s.Close())
			require.NoError(p.t, p.control(a))
		},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			p := processes{t, &store.Memory{}, judgedBy("Zoe")}
			session, err := p.engine().Start(t.Context(), p.config)
			require.NoError(t, err)
			answer(p, session, given(&stage.AwaitsInput(t, session).Inquiries[0]))
			require.NoError(t, session.Close())
			session = p.open()
			defer session.Close()
			record := stage.Ended(t, session)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Equal(t, flow.EndRounds, record.Reason)
			assert.NotNil(t, stage.View(record).Verdict)
			assert.Empty(t, record.CutShort())
			assert.Equal(t, 6, record.Spent().Requests)
		}))
	}
}

// After the hard limit of time nothing is begun: what is answered is recorded, and the debate stays in the error state until it has all
// that it lacks, or until its limit is raised.
func TestAfterTheHardLimitOfTimeOnlyAnswersAreRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes{t, &store.Memory{}, judgedBy("Zoe", "Yan")}
		session := stage.Started(t, p.engine(), p.config)
		asked := stage.AwaitsInput(t, session).Inquiries
		require.Len(t, asked, 2)
		stage.Pass(2 * time.Hour)
		for i := range asked {
			assert.Equal(t, flow.StateError, session.State())
			a := given(&asked[i])
			require.NoError(t, session.Answer(t.Context(), a))
		}
		assert.Len(t, stage.View(stage.Ended(t, session)).Verdicts, 2)
	})
	synctest.Test(t, func(t *testing.T) {
		p := processes{t, &store.Memory{}, judgedBy("Zoe")}
		p.config.Judging.When = debate.EveryRound
		session := stage.Started(t, p.engine(), p.config)
		first := given(&stage.AwaitsInput(t, session).Inquiries[0])
		stage.Pass(2 * time.Hour)
		require.NoError(t, session.Answer(t.Context(), first))
		stage.Pass(time.Hour)
		record, err := session.Wait(t.Context())
		stage.RequireKind(t, err, provider.KindCostLimit)
		assert.Len(t, stage.View(record).Assessments, 1)
		assert.Equal(t, 2, record.Spent().Requests)
		require.ErrorContains(t, session.Retry(t.Context()), "canRetry")
		require.NoError(t, session.Control(t.Context(), flow.Amendment{Budget: &debate.Budget{}}))
		require.NoError(t, session.Retry(t.Context()))
		assert.Equal(t, 2, stage.AwaitsInput(t, session).Round)
	})
}

// asks are conversations in which a person is asked in the rounds, by what is asked.
func asks() map[string]func(*flow.Budget) (*debate.Engine, flow.Config) {
	engineOf := func(before flows.Before) *debate.Engine {
		engine := flows.Engine(&store.Memory{}, before)
		engine.Providers["curious"] = stage.ProviderFunc(
			func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
				if req.Schema == nil || !strings.HasPrefix(req.Schema.Name, "questions") {
					return flows.Provider(nil).Generate(ctx, req, emit)
				}
				return &provider.Response{Text: `{"questions":["How many users?"]}`, Stop: provider.StopEnd}, nil
			})
		return engine
	}
	refusing := func(part string) flows.Before {
		return func(_ context.Context, req *provider.Request) error {
			if strings.Contains(req.ID, part) {
				return &provider.Error{Kind: provider.KindRefusal, Message: "no"}
			}
			return nil
		}
	}
	return map[string]func(*flow.Budget) (*debate.Engine, flow.Config){
		"an assessment": func(b *flow.Budget) (*debate.Engine, flow.Config) {
			c := judgedBy("Zoe")
			c.Judging.When, c.Budget = debate.EveryRound, b
			return engineOf(nil), c
		},
		"what to do about a failure": func(b *flow.Budget) (*debate.Engine, flow.Config) {
			c := flows.Debate("d")
			c.Unattended, c.Budget = false, b
			return engineOf(refusing("/r1.opening.Ben")), c
		},
		"whether a cost is all right": func(b *flow.Budget) (*debate.Engine, flow.Config) {
			b.Warn, b.Confirm = debate.USD/1000, true
			c := stage.Attended()
			c.Budget = b
			engine, _ := stage.Engine(c)
			return engine, c
		},
		"what a flow of one's own asks": func(b *flow.Budget) (*debate.Engine, flow.Config) {
			engine, _, c := stage.WithFlow(stage.Interview())
			c.Budget = b
			return engine, flow.Named("interview", c)
		},
		"what a deliberation is about": func(b *flow.Budget) (*debate.Engine, flow.Config) {
			c := flows.Deliberation("d")
			c.Clarification.On, c.Unattended, c.Budget, c.Agents[1].Model = true, false, b, "curious/agent"
			return engineOf(nil), c
		},
		"what to do about a proposal": func(b *flow.Budget) (*debate.Engine, flow.Config) {
			c := flows.Deliberation("d")
			c.Unattended, c.Budget = false, b
			return engineOf(refusing("propose.ben")), c
		},
		"what to do about evaluators": func(b *flow.Budget) (*debate.Engine, flow.Config) {
			engine := engineOf(refusing(""))
			engine.Flows[evaluation.FlowName] = evaluation.Flow()
			return engine, evaluation.Config{
				ID: "d", Problem: "Store short links.", Solution: "A table.", Budget: b,
				Evaluators: []evaluation.Evaluator{{ID: "eva", Model: "test/judge"}, {ID: "leo", Model: "test/judge"}},
			}
		},
		"who works next": func(b *flow.Budget) (*debate.Engine, flow.Config) {
			c := flows.Arbitration("d")
			c.Unattended, c.Budget, c.Arbiter = false, b, arbiter.Arbiter{Person: true}
			return engineOf(nil), c
		},
	}
}

// Time goes on while a person is awaited, in every flow. At the hard limit the conversation goes to the error state, and its questions
// stay open. At the soft one its rounds end, and the questions are over.
func TestTimeIsWatchedWhileAPersonIsAwaited(t *testing.T) {
	for name, ask := range asks() {
		for limit, budget := range map[string]flow.Budget{
			"hard": {HardTime: time.Hour}, "soft": {SoftTime: time.Hour}, "both": {SoftTime: time.Hour, HardTime: 2 * time.Hour},
		} {
			t.Run(name+", "+limit, stage.Bubbled(func(t *testing.T) {
				engine, config := ask(&budget)
				session, err := engine.Start(t.Context(), config)
				require.NoError(t, err)
				defer session.Close()
				record := stage.AwaitsInput(t, session)
				asked := record.Inquiries
				stage.Pass(time.Until(record.StartedAt.Add(time.Hour)) - time.Millisecond)
				synctest.Wait()
				assert.Equal(t, flow.StateAwaitingInput, session.State())
				stage.Pass(time.Millisecond)
				synctest.Wait()
				if limit == "hard" {
					record, err = session.Wait(t.Context())
					stage.RequireKind(t, err, provider.KindCostLimit)
					assert.Equal(t, flow.StateError, record.State)
					assert.Equal(t, flow.EndHardLimit, record.Reason)
					assert.Equal(t, asked, record.Inquiries)
					assert.Contains(t, record.CutShort(), "raise hardTime (1h0m0s of 1h0m0s)")
					return
				}
				record, err = session.Wait(t.Context())
				if errors.Is(err, debate.ErrAwaitingInput) { // the verdict is a person's too
					verdict := given(&record.Inquiries[0])
					require.NoError(t, session.Answer(t.Context(), verdict))
				}
				record = stage.Ended(t, session)
				assert.Equal(t, flow.EndSoftLimit, record.Reason)
				assert.Empty(t, record.Inquiries)
				assert.Contains(t, record.CutShort(), "raise softTime (1h0m0s of 1h0m0s)")
				stage.RequireKind(t, engine.Control(t.Context(), record.ID, flow.Answer{Inquiry: asked[0].ID, Text: "x"}), provider.KindState)
			}))
		}
	}
}

// Of several processes that have a debate open, one ends it.
func TestEveryProcessWatchesTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes{t, &store.Memory{}, judgedBy("Zoe")}
		first, err := p.engine().Start(t.Context(), p.config)
		require.NoError(t, err)
		stage.AwaitsInput(t, first)
		second, third := p.open(), p.open()
		require.NoError(t, first.Close())
		stage.Pass(time.Hour + time.Minute)
		for _, session := range []*debate.Session{second, third} {
			assert.Equal(t, flow.StateError, session.State())
			require.NoError(t, session.Close())
		}
		limits := 0
		for event, err := range p.store.Read(t.Context(), "d", 0) {
			require.NoError(t, err)
			if change := body.As[flow.Transition](event); change != nil && change.On == flow.TriggerLimit {
				limits++
				assert.Equal(t, time.Hour, event.At.Sub(p.record().StartedAt))
			}
		}
		assert.Equal(t, 1, limits)
	})
}

// A runtime without sessions is told when the time is over, beside that nothing needs a process until then.
func TestARuntimeIsToldWhenTheTimeOfAPersonIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &stage.Nomad{T: t, Config: judgedBy("Zoe"), Store: &store.Memory{}}
		n.Begin()
		next := n.Advance(flow.Opened{})
		for len(next.Calls) > 0 {
			var err error
			next, err = n.Engine().Call(t.Context(), "d", "nomad", next.Calls[0], nil)
			require.NoError(t, err)
		}
		assert.True(t, next.Idle)
		assert.Equal(t, flow.StateAwaitingInput, next.State)
		assert.Equal(t, time.Hour, next.Wait)
		stage.Pass(next.Wait)
		next = n.Advance(flow.Tick{Seq: next.Seq})
		assert.Equal(t, flow.StateError, next.State)
		assert.True(t, next.Idle)
		assert.Zero(t, next.Wait)
	})
}
