package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/detect"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// everything is a config that needs a provider for each role, a registered judge, and a context manager and a detector of the host
// program.
func everything() debate.Config {
	config := stage.TwoDebaters()
	config.ID = "needs"
	config.Context = "own"
	config.Summarizer = "summaries/small"
	config.Watch = []format.Detector{"calm"}
	config.Participants[0].Fallbacks = []string{"test/spare", "spare/debater"}
	config.Judging.Judges = append(config.Judging.Judges, debate.JudgeConfig{Name: "Cato", Judge: "cato"})
	return config
}

// equip gives an engine all that everything needs.
func equip(m *stage.Member) {
	m.Providers["spare"], m.Providers["summaries"] = m, m
	m.Contexts = map[string]debate.ContextManager{"own": window.Sliding{}}
	m.Detectors = map[string]debate.Detector{"calm": debate.DetectorFunc(func(*debate.Debate, int) detect.Finding { return detect.Finding{} })}
	m.Judges = map[string]debate.Judge{"cato": debate.JudgeFunc(func(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
		if task.Kind == debate.KindVerdict {
			return json.RawMessage(stage.Verdict([]string{"Ada", "Ben"})), nil
		}
		return json.RawMessage(stage.Judgement([]string{"Ada", "Ben"}, true)), nil
	})}
}

// An engine that lacks something does not touch the debate, says what it lacks, and reads and controls the debate all the
// same. An engine that has everything ends it.
func TestAnEngineThatLacksSomethingTouchesNothing(t *testing.T) {
	for name, test := range map[string]struct {
		lose func(m *stage.Member)
		says string
	}{
		"the speakers' provider":    {func(m *stage.Member) { delete(m.Providers, "test") }, `no provider "test" is registered`},
		"a fallback's provider":     {func(m *stage.Member) { delete(m.Providers, "spare") }, `no provider "spare" is registered`},
		"the summarizer's provider": {func(m *stage.Member) { delete(m.Providers, "summaries") }, `no provider "summaries" is registered`},
		"a judge":                   {func(m *stage.Member) { m.Judges = nil }, `no judge or function "cato" is registered`},
		"the context manager":       {func(m *stage.Member) { m.Contexts = nil }, `no context manager "own" is registered`},
		"a detector":                {func(m *stage.Member) { m.Detectors = nil }, `no detector "calm" is registered`},
	} {
		t.Run(name, func(t *testing.T) {
			stage.InCompany(t, everything(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
				first, right, wrong := join(), join(), join()
				for _, m := range []*stage.Member{first, right, wrong} {
					equip(m)
				}
				test.lose(wrong)
				s := first.Begun()
				stage.Pass(1500 * time.Millisecond)
				require.NoError(t, s.Close())
				before := c.Log(s.ID())
				wrong.Goes(func(_ context.Context, op string, do func() error) error {
					assert.Equal(t, "read", op, "of the store")
					return do()
				})
				_, err := wrong.Open(t.Context(), s.ID())
				require.ErrorIs(t, err, debate.ErrMissing)
				assert.ErrorContains(t, err, test.says)
				assert.Len(t, c.Log(s.ID()), len(before))

				record := stage.StoredRecord(t, wrong, s.ID())
				assert.Equal(t, debate.StateAwaitingResponses, record.State)
				require.NoError(t, wrong.Export(t.Context(), s.ID(), io.Discard))
				wrong.Goes(func(_ context.Context, _ string, do func() error) error { return do() })
				require.NoError(t, wrong.Control(t.Context(), s.ID(), flow.Pause{Drain: true}))
				_, err = wrong.Open(t.Context(), s.ID())
				require.ErrorIs(t, err, debate.ErrMissing, "paused too")
				require.NoError(t, wrong.Control(t.Context(), s.ID(), flow.Resume{}))
				assert.Empty(t, c.Owner(s.ID()))

				record = stage.Ended(t, right.Opened(s.ID()))
				assert.Equal(t, flow.StateCompleted, record.State)
				assert.Len(t, record.Turns, 6)
				assert.Empty(t, c.Repeated())
				again, err := wrong.Open(t.Context(), s.ID())
				require.NoError(t, err, "what is over is only read")
				require.NoError(t, again.Close())
			})
		})
	}
}

// A worker without the provider works beside a right one. It appends nothing, and the right one ends each debate.
func TestAWorkerWithoutTheProviderBesideARightOne(t *testing.T) {
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		wrong, right := join(), join()
		delete(wrong.Providers, "test")
		c.Saved = func(m *stage.Member, _ []debate.Event) { assert.NotSame(t, wrong, m) }
		for _, id := range []string{"a", "b", "c"} {
			c.Config.ID = id
			s := join().Begun()
			stage.Pass(500 * time.Millisecond)
			require.NoError(t, s.Close())
		}
		var group sync.WaitGroup
		refused := 0
		for _, m := range []*stage.Member{wrong, right} {
			group.Go(func() {
				for range 200 {
					for info, err := range m.List(t.Context(), debate.Filter{Working: true, Idle: true}) {
						require.NoError(t, err)
						s, err := m.Open(t.Context(), info.ID)
						switch {
						case errors.Is(err, debate.ErrMissing):
							refused++
						case errors.Is(err, debate.ErrLeased):
						default:
							require.NoError(t, err)
							stage.Ended(t, s)
						}
					}
					stage.Pass(100 * time.Millisecond)
				}
			})
		}
		group.Wait()
		assert.GreaterOrEqual(t, refused, 3)
		for _, id := range []string{"a", "b", "c"} {
			c.Config.ID = id
			c.Finished(id)
		}
	})
}

// Ben's model is refused. A person chooses another by an engine that has its provider, while one that lacks it holds
// the debate: that one leaves the debate, and no call of the missing provider fails.
func TestAModelThatOnlyAnotherEngineHas(t *testing.T) {
	config := stage.Simultaneous()
	config.Unattended = false
	stage.InCompany(t, config, func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		mend := c.Failing("r1.opening.Ben", &provider.Error{Kind: provider.KindAuthentication, Status: 401})
		defer mend()
		hurry := c.Slow("Ada", 20*time.Second)
		defer hurry()
		wrong, right := join(), join()
		right.Providers["other"] = stage.ProviderFunc(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
			p := scripted.Provider{Reply: stage.Script([]string{"Ada", "Ben"})}
			return p.Generate(ctx, req, emit)
		})
		held := wrong.Begun()
		stage.Pass(5 * time.Second) // Ada still speaks
		record := c.Record(held.ID())
		require.Len(t, record.Inquiries, 1)
		choice := flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionModel, Model: "other/debater"}
		require.NoError(t, right.Control(t.Context(), held.ID(), choice))
		_, err := held.Wait(t.Context())
		require.ErrorIs(t, err, debate.ErrMissing)
		assert.ErrorContains(t, err, `no provider "other" is registered`)
		stage.Pass(time.Second)
		record = c.Record(held.ID())
		require.Len(t, record.Turns, 1, "what Ada said meanwhile is recorded")
		_, err = wrong.Open(t.Context(), held.ID())
		require.ErrorIs(t, err, debate.ErrMissing)

		stage.Ended(t, right.Opened(held.ID()))
		failures := 0
		for _, e := range c.Log(held.ID()) {
			if body.As[flow.Failure](e) != nil {
				failures++
			}
		}
		assert.Equal(t, 1, failures, "the one that was refused")
		c.Finished(held.ID())
	})
}

// A session comes to lack something while its debate is paused: it does not resume the debate. Engine.Control still records
// what is decided, once, for an engine that has everything.
func TestASessionThatLacksSomethingDoesNotResume(t *testing.T) {
	stage.InCompany(t, stage.Attended(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		mend := c.Failing("r1.opening.Ada", &provider.Error{Kind: provider.KindAuthentication, Status: 401})
		wrong, right := join(), join()
		right.Providers["other"] = right
		s := wrong.Begun()
		record := stage.AwaitsInput(t, s)
		require.NoError(t, s.Pause(t.Context()))
		choice := flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionModel, Model: "other/debater"}
		require.NoError(t, right.Control(t.Context(), s.ID(), choice))
		stage.Pass(stage.LeaseTime + time.Second) // the session has seen it
		require.ErrorIs(t, s.Resume(t.Context()), debate.ErrMissing)
		assert.Equal(t, flow.StatePaused, c.Record(s.ID()).State)
		require.NoError(t, wrong.Control(t.Context(), s.ID(), flow.Resume{}))
		_, err := s.Wait(t.Context())
		require.ErrorIs(t, err, debate.ErrMissing)
		resumed := 0
		for _, e := range c.Log(s.ID()) {
			if change := body.As[flow.Transition](e); change != nil && change.On == flow.TriggerResume {
				resumed++
			}
		}
		assert.Equal(t, 1, resumed)
		mend()
		stage.Ended(t, right.Opened(s.ID()))
		c.Finished(s.ID())
	})
}

// A provider that nobody needs any more is not missed: its participant has got another model.
func TestAReplacedModelIsNotNeeded(t *testing.T) {
	config := stage.TwoDebaters()
	config.Participants[1].Model, config.Unattended = "old/debater", false
	stage.InCompany(t, config, func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		mend := c.Failing("r1.opening.Ben", &provider.Error{Kind: provider.KindAuthentication, Status: 401})
		first, second := join(), join()
		first.Providers["old"] = first
		s := first.Begun()
		record := stage.AwaitsInput(t, s)
		require.NoError(t, s.Close())
		_, err := second.Open(t.Context(), s.ID())
		require.ErrorIs(t, err, debate.ErrMissing)
		choice := flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionModel, Model: "test/judge"}
		require.NoError(t, second.Control(t.Context(), s.ID(), choice))
		mend()
		record = stage.Ended(t, second.Opened(s.ID()))
		assert.Len(t, record.Turns, 6)
	})
}

// Tools are needed as providers are.
func TestAToolThatIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.ToolUsers()
		config.ID = "sums"
		c, source := &stage.Tally{}, stage.ToolAsker()
		stage.Slowly(source) // the pause comes before the end
		first := stage.WorkshopEngine(source, 5, map[string]debate.Tool{"add": c.Tool(t, true)})
		first.Store = &store.Memory{}
		s, err := first.New(stage.InFlow(first, config))
		require.NoError(t, err)
		require.NoError(t, s.Validate(t.Context()))
		require.NoError(t, s.Start(t.Context()))
		require.NoError(t, s.Pause(t.Context()))
		require.NoError(t, s.Close())
		second := stage.WorkshopEngine(stage.ToolAsker(), 5, nil)
		second.Store = first.Store
		_, err = second.Open(t.Context(), "sums")
		require.ErrorIs(t, err, debate.ErrMissing)
		assert.ErrorContains(t, err, `no tool "add" is registered`)
	})
}

// A flow that does not say whom it asks names a function that this engine lacks. The lack is found before the call
// is begun.
func TestALackThatIsOnlySeenAtTheCall(t *testing.T) {
	needs := stage.OneState(stage.CallsOf(func(call *flow.Call) {
		if call.By == "Ben" {
			call.Performer, call.Function = flow.ByFunction, "own"
			call.Task = func(*debate.Record, flow.Asked) any { return &debate.JudgeTask{} }
		}
	}))
	needs.Asks = nil
	config := stage.TwoDebaters()
	config.Judging = nil
	stage.InCompany(t, config, func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		wrong, right := join(), join()
		wrong.Flows = map[string]*debate.Flow{needs.Name: needs}
		right.Flows = wrong.Flows
		right.Judges = map[string]debate.Judge{"own": debate.JudgeFunc(func(context.Context, debate.JudgeTask) (json.RawMessage, error) {
			return json.RawMessage("It is so."), nil
		})}
		c.Reader.Flows = wrong.Flows
		config := c.Config
		config.ID = "seen"
		_, err := wrong.Start(t.Context(), stage.InFlow(wrong.Engine, config))
		require.ErrorIs(t, err, debate.ErrMissing)
		assert.ErrorContains(t, err, `no judge or function "own" is registered`)
		for _, e := range c.Log("seen") {
			assert.Nil(t, body.As[flow.Intent](e))
		}
		record := stage.Ended(t, right.Opened("seen"))
		assert.Len(t, record.Turns, 2)
	})
}
