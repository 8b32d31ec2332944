package debate_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

var _ = flag.Bool("update", false, "rewrite the golden files under testdata")

// Every guard is seen to hold and not to hold, at some event of some log.
func TestEveryGuardBothWays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guards := make(map[string]debate.Guard)
		for _, rule := range slices.Concat(debate.DebateFlow().Rules, flow.Lifecycle()) {
			if rule.When.Name != "" {
				guards[rule.When.Name] = rule.When
			}
		}
		seen := make(map[string]bool)
		look := func(r *debate.Record) {
			for name, guard := range guards {
				seen[fmt.Sprintf("%s=%t", name, guard.OK(r))] = true
			}
		}
		follow := func(l stage.StoredLog) {
			own := kernel.Of(t, l.Engine)
			for i := 1; i <= len(l.Events); i++ {
				core, err := own.NewCore(l.ID, l.Events[:i])
				require.NoError(t, err)
				look(core.Record())
			}
		}
		play := func(config debate.Config, fails provider.Kind) {
			engine, source := stage.Engine(config)
			answer := source.Reply
			source.Reply = func(req *provider.Request) scripted.Reply {
				if req.Self == "Ben" && fails != "" {
					return scripted.Reply{Err: &provider.Error{Kind: fails}}
				}
				return answer(req)
			}
			session, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			_, _ = session.Wait(t.Context()) // its error is the one that is meant
			follow(stage.LogOf(t, engine, session.ID()))
			session.Close()
		}
		play(stage.TwoDebaters(), "")
		play(stage.TwoDebaters(), provider.KindNetwork)
		play(stage.TwoDebaters(), provider.KindAuthentication)
		engine, source := stage.Engine(stage.Attended())
		stage.Abiding(source)
		stage.Befall(source, provider.KindRefusal, stage.Said("Ben", 2))
		session, err := engine.Start(t.Context(), stage.Attended())
		require.NoError(t, err)
		defer session.Close()
		record, err := session.Wait(t.Context())
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: stage.Question(t, record, err).ID, Option: flow.OptionDrop}))
		record = stage.Ended(t, session)
		assert.Equal(t, flow.EndTooFew, record.Reason)
		follow(stage.LogOf(t, engine, record.ID))
		for _, budget := range []debate.Budget{{Warn: 1, Confirm: true}, {SoftCalls: 5}, {HardCalls: 5}} {
			config := stage.TwoDebaters()
			config.Budget = &budget
			play(config, "")
		}
		judged := stage.TwoDebaters()
		judged.Budget = &debate.Budget{HardTime: time.Hour}
		judged.Judging = &debate.Judging{When: debate.AtEnd, Judges: []debate.JudgeConfig{{Name: "Zoe", Person: true}}}
		engine, _ = stage.Engine(judged)
		late, err := engine.Start(t.Context(), judged)
		require.NoError(t, err)
		defer late.Close()
		asked := stage.AwaitsInput(t, late).Inquiries[0]
		stage.Pass(2 * time.Hour)
		_, example, _ := strings.Cut(asked.Question, "looks like this: ")
		require.NoError(t, late.Answer(t.Context(), flow.Answer{Inquiry: asked.ID, Text: example}))
		stage.Ended(t, late)
		follow(stage.LogOf(t, engine, late.ID()))
		core := stage.CoreOf(t, engine, "new", nil)
		look(core.Record())
		nameless := stage.TwoDebaters()
		nameless.Participants[1].Name = ""
		_, err = core.Step(flow.Input{At: time.Now(), Signal: flow.Edit{Config: nameless}})
		require.NoError(t, err)
		look(core.Record())
		for name := range guards {
			assert.True(t, seen[name+"=true"], "%s holds", name)
			assert.True(t, seen[name+"=false"], "%s does not hold", name)
		}
	})
}

func TestDiagramsAreDrawnFromTheTable(t *testing.T) {
	f := debate.DebateFlow()
	stage.Golden(t, "machine_debate.mmd", f.Mermaid())
	stage.Golden(t, "machine_debate.dot", f.DOT())
}

func TestAFlowIsComposedFromTheDebateFlow(t *testing.T) {
	before := debate.DebateFlow().Mermaid()
	config := stage.TwoDebaters()
	engine, provider := stage.Engine(config)
	engine.Flows = map[string]*debate.Flow{"reflecting-debate": stage.Reflecting()}
	record := stage.Run(t, engine, flow.Named("reflecting-debate", config))

	assert.Equal(t, flow.StateCompleted, record.State)
	assert.NotNil(t, stage.View(record).Verdict)
	assert.Equal(t, []string{"r1 Ada", "r1 Ben", "r1 Ada", "r2 Ada", "r2 Ben", "r2 Ada", "r3 Ada", "r3 Ben"}, stage.Speakers(record))
	assert.EqualValues(t, "reflection", record.Turns[2].Kind)
	var last []string
	for _, request := range provider.Requests() {
		if strings.Contains(request.ID, ".reflection.") {
			last = append(last, request.Last.Text)
		}
	}
	assert.Equal(t, []string{"What have you learned in this round?", "What have you learned in this round?"}, last)
	assertRows(t, engine, stage.Reflecting(), record.ID)

	assert.Equal(t, before, debate.DebateFlow().Mermaid(), "the flow that it is made of is as it was")
	plain := stage.TwoDebaters()
	assert.NotContains(t, stage.Speakers(stage.Run(t, engine, plain))[2], "r1", "and the engine's own too")
}

// assertRows finds a row of the table for every change of state of a debate, and yields the triggers.
func assertRows(t *testing.T, engine *debate.Engine, f *debate.Flow, id string) []debate.Trigger {
	t.Helper()
	var fired []debate.Trigger
	state := flow.StateReady
	for event, err := range engine.Events(t.Context(), id, 0) {
		require.NoError(t, err)
		change := body.As[flow.Transition](event)
		if change == nil {
			continue
		}
		assert.Equal(t, state, change.From, "event %d goes on where the one before ended", event.Seq)
		state = change.To
		fired = append(fired, change.On)
		row := slices.ContainsFunc(slices.Concat(f.Rules, flow.Lifecycle()), func(rule debate.Rule) bool {
			from := rule.From == change.From || rule.From == flow.StateRunning && f.Steps[change.From].Next != nil
			to := rule.To == change.To || rule.To == flow.StatePrevious || rule.To == flow.StateRunning && change.To == f.Start
			return rule.On == change.On && from && to
		})
		assert.True(t, row, "%s -> %s on %s is no row of the table", change.From, change.To, change.On)
	}
	return fired
}

// asking is the debate flow with a question to a person before the first round.
func asking() *debate.Flow {
	f := debate.DebateFlow()
	f.Name = "asking-debate"
	begin := f.Steps[flow.StateInitializing].Next
	f.Steps[flow.StateInitializing] = flow.Step{
		Calls: func(r *debate.Record) []*flow.Call {
			if r.Done("r0.question.host") {
				return nil
			}
			return []*flow.Call{{
				ID: "r0.question.host", Kind: "question", By: "host", Performer: flow.ByPerson,
				Last: func(*debate.Record) string { return "Which city?" },
			}}
		},
		Next: begin,
	}
	return f
}

// Whatever is done to a debate, its state changes by rows of the table alone.
func TestOnlyTheTableChangesAState(t *testing.T) {
	type held struct {
		*debate.Session
		engine *debate.Engine
		speak  func() // lets the first speaker, who is held in mid-stream, end
	}
	var fired []debate.Trigger
	play := func(name string, config debate.Config, f func() *debate.Flow, act func(t *testing.T, s held)) {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			engine, source := stage.Engine(config)
			hold := make(chan struct{})
			stage.Altered(source, func(req *provider.Request, reply *scripted.Reply) {
				if req.Self == "Ada" {
					reply.Hold = hold
				}
			})
			if name := f().Name; name != debate.FlowName {
				engine.Flows = map[string]*debate.Flow{name: f()}
			}
			session, err := engine.Start(t.Context(), stage.InFlow(engine, config))
			require.NoError(t, err)
			synctest.Wait()
			act(t, held{session, engine, func() { close(hold) }})
			record := stage.Ended(t, session)
			require.True(t, record.Final())
			fired = append(fired, assertRows(t, engine, f(), session.ID())...)
			session.Close()
		}))
	}
	plain := func() *debate.Flow { return debate.DebateFlow() }
	play("to its verdict", stage.TwoDebaters(), func() *debate.Flow { return func() *debate.Flow { return plain() }() }, func(_ *testing.T, s held) { s.speak() })
	play("canceled", stage.TwoDebaters(), plain, func(t *testing.T, s held) { require.NoError(t, s.Cancel(t.Context())) })
	play("stopped without a turn", stage.TwoDebaters(), plain, func(t *testing.T, s held) { require.NoError(t, s.Stop(t.Context())) })
	play("paused", stage.TwoDebaters(), plain, func(t *testing.T, s held) {
		require.NoError(t, s.Control(t.Context(), flow.Pause{Drain: true}))
		s.speak()
		synctest.Wait()
		assert.Equal(t, flow.StatePaused, s.State())
		require.NoError(t, s.Resume(t.Context()))
	})
	play("paused, then stopped with a turn", stage.TwoDebaters(), plain, func(t *testing.T, s held) {
		require.NoError(t, s.Control(t.Context(), flow.Pause{Drain: true}))
		s.speak()
		synctest.Wait()
		require.NoError(t, s.Stop(t.Context()))
	})
	soft := stage.TwoDebaters()
	soft.Budget = &debate.Budget{SoftCalls: 4} // one round with its verdict, or the beginning of another
	play("a soft limit", soft, plain, func(_ *testing.T, s held) { s.speak() })
	warned := stage.Attended()
	warned.Budget = &debate.Budget{Warn: debate.USD / 10_000, Confirm: true}
	play("a warning to be acknowledged", warned, plain, func(t *testing.T, s held) {
		s.speak()
		synctest.Wait()
		require.Equal(t, flow.StateAwaitingInput, s.State())
		require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}))
	})
	play("a question", stage.TwoDebaters(), asking, func(t *testing.T, s held) {
		require.Equal(t, flow.StateAwaitingInput, s.State())
		require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: "r0.question.host", Text: "Oslo"}))
		s.speak()
	})
	play("one more state", stage.TwoDebaters(), stage.Reflecting, func(_ *testing.T, s held) { s.speak() })
	for _, on := range []debate.Trigger{
		flow.TriggerStart, flow.TriggerInitialized, flow.TriggerPause, flow.TriggerResume, flow.TriggerStop, flow.TriggerCancel,
		flow.TriggerLimit, flow.TriggerWarn, flow.TriggerAsk, flow.TriggerAnswered, flow.TriggerCompleted,
		debate.TriggerResponded, debate.TriggerJudged, debate.TriggerProceed, "reflected",
	} {
		assert.Contains(t, fired, on, "these debates fire every trigger but those of an error")
	}
}
