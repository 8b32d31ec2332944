package debate_test

import (
	flags "flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

var update = flags.Bool("update", false, "rewrite the golden files under testdata")

// golden compares with a file under testdata, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update to write it")
	assert.Equal(t, string(want), got, "run the test with -update if the change is meant")
}

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
		follow := func(l storedLog) {
			for i := 1; i <= len(l.events); i++ {
				core, err := l.engine.NewCore(l.id, l.events[:i])
				require.NoError(t, err)
				look(core.Record())
			}
		}
		play := func(config debate.Config, fails provider.Kind) {
			engine, source := engineFor(config)
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
			follow(logOf(t, engine, session.ID()))
			session.Close()
		}
		play(twoDebaters(), "")
		play(twoDebaters(), provider.KindNetwork)
		play(twoDebaters(), provider.KindAuthentication)
		engine, source := engineFor(attended())
		abiding(source)
		befall(source, provider.KindRefusal, said("Ben", 2))
		session, err := engine.Start(t.Context(), attended())
		require.NoError(t, err)
		defer session.Close()
		record, err := session.Wait(t.Context())
		require.NoError(t, session.Choose(t.Context(), question(t, record, err).ID, flow.OptionDrop))
		record, err = session.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, flow.EndTooFew, record.Reason)
		follow(logOf(t, engine, record.ID))
		for _, budget := range []debate.Budget{{Warn: 1, Confirm: true}, {SoftCalls: 5}, {HardCalls: 5}} {
			config := twoDebaters()
			config.Budget = &budget
			play(config, "")
		}
		core, err := engine.NewCore("new", nil)
		require.NoError(t, err)
		look(core.Record())
		nameless := twoDebaters()
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
	golden(t, "machine_debate.mmd", f.Mermaid())
	golden(t, "machine_debate.dot", f.DOT())
}

func requireKind(t *testing.T, err error, kind debate.Kind) *debate.Error {
	t.Helper()
	var failure *debate.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, kind, failure.Kind, "%v", err)
	return failure
}

func TestMalformedFlowsAreRefused(t *testing.T) {
	next := func(*debate.Record) (debate.Trigger, flow.Exit, bool) { return "go", flow.Exit{}, true }
	small := func() *debate.Flow {
		return &debate.Flow{
			Name: "small", Version: 1, Start: "only", Decode: flow.DecodeTo[debate.Config],
			Rules: []debate.Rule{{From: "only", On: "go", To: flow.StateCompleting}},
			Steps: map[debate.State]flow.Step{"only": {Next: next}},
		}
	}
	yes := func(*debate.Record) bool { return true }
	for name, c := range map[string]struct {
		flow *debate.Flow
		says string
	}{
		"nil":                     {nil, `under "small"`},
		"no reader of configs":    {change(small(), func(f *debate.Flow) { f.Decode = nil }), "a Decode"},
		"another name":            {change(small(), func(f *debate.Flow) { f.Name = "other" }), `under "small"`},
		"no start":                {change(small(), func(f *debate.Flow) { f.Start = "" }), "first state"},
		"start of lifecycle":      {change(small(), func(f *debate.Flow) { f.Start = flow.StateReady }), "first state"},
		"state without a step":    {change(small(), func(f *debate.Flow) { delete(f.Steps, "only") }), `"only"`},
		"step without a next":     {change(small(), func(f *debate.Flow) { f.Steps["only"] = flow.Step{} }), `"only"`},
		"typo in a target":        {change(small(), func(f *debate.Flow) { f.Rules[0].To = "complting" }), `"complting"`},
		"empty target":            {change(small(), func(f *debate.Flow) { f.Rules[0].To = "" }), `""`},
		"step for no state":       {change(small(), func(f *debate.Flow) { f.Steps["lost"] = flow.Step{Next: next} }), `"lost"`},
		"step when paused":        {change(small(), func(f *debate.Flow) { f.Steps[flow.StatePaused] = flow.Step{Next: next} }), "paused"},
		"guard without name":      {change(small(), func(f *debate.Flow) { f.Rules[0].When = debate.Guard{OK: yes} }), "guard"},
		"guard without test":      {change(small(), func(f *debate.Flow) { f.Rules[0].When = debate.Guard{Name: "sure"} }), "guard"},
		"no version":              {change(small(), func(f *debate.Flow) { f.Version = 0 }), "a version"},
		"accepts the future":      {change(small(), func(f *debate.Flow) { f.Accepts = 2 }), "a version"},
		"input of lifecycle":      {change(small(), func(f *debate.Flow) { f.Inputs = []debate.Trigger{flow.TriggerStop} }), `"stop"`},
		"time of no state":        {change(small(), func(f *debate.Flow) { f.Timed = []debate.State{"lost"} }), `"lost"`},
		"body without a spend":    {change(small(), func(f *debate.Flow) { f.Bodies = []flow.Body{&spendless{}} }), `"spendless"`},
		"two bodies of a kind":    {change(small(), func(f *debate.Flow) { f.Bodies = []flow.Body{&opinion{}, &opinion{}} }), `"opinion"`},
		"body of every flow":      {change(small(), func(f *debate.Flow) { f.Bodies = []flow.Body{&flow.Turn{}} }), "every flow has"},
		"nil schema":              {change(small(), func(f *debate.Flow) { f.Schemas = map[string]*flow.Schema{"mark": nil} }), `"mark"`},
		"input without a rule":    {change(small(), func(f *debate.Flow) { f.Inputs = []debate.Trigger{"hurry"} }), `the input "hurry" has no rule`},
		"unchanged, and no input": {change(small(), func(f *debate.Flow) { f.Rules[0].To = flow.StateUnchanged }), "Inputs does not list it"},
		"unchanged as a source":   {change(small(), func(f *debate.Flow) { f.Rules[0].From = flow.StateUnchanged }), "begins in a working state"},
		"rule out of a pause": {change(recording(small(), "hurry"), func(f *debate.Flow) {
			f.Rules = append(f.Rules, debate.Rule{From: flow.StatePaused, On: "hurry", To: "only"})
		}), "not in paused"},
		"input after an end": {change(recording(small(), "hurry"), func(f *debate.Flow) {
			f.Rules = append(f.Rules, debate.Rule{From: flow.StateCompleted, On: "hurry", To: flow.StateUnchanged})
		}), "not in completed"},
		"rule out of an end": {change(small(), func(f *debate.Flow) {
			f.Rules = append(f.Rules, debate.Rule{From: flow.StateCompleted, On: "again", To: "only"})
		}), "completed"},
	} {
		t.Run(name, func(t *testing.T) {
			engine, _ := engineFor(twoDebaters())
			engine.Flows = map[string]*debate.Flow{"small": c.flow}
			_, err := engine.New(twoDebaters())
			requireKind(t, err, provider.KindValidation)
			assert.ErrorContains(t, err, c.says)
		})
	}
	t.Run("well-formed", func(t *testing.T) {
		engine, _ := engineFor(twoDebaters())
		engine.Flows = map[string]*debate.Flow{"small": small()}
		assert.Equal(t, flow.StateCompleted, run(t, engine, flow.Named("small", twoDebaters())).State)
	})
}

// spendless is a body that ends no attempt, so that no log can hold it.
type spendless struct{}

func (*spendless) EventKind() flow.EventKind { return "spendless" }

func change[T any](v *T, how func(*T)) *T {
	how(v)
	return v
}

// reflecting is the debate flow with one more state, in which a participant looks back on a round.
func reflecting() *debate.Flow {
	const (
		state debate.State   = "reflecting"
		done  debate.Trigger = "reflected"
	)
	id := func(r *debate.Record) string { return fmt.Sprintf("r%d.reflection.%s", r.Round, r.Active()[0]) }
	f := debate.DebateFlow()
	f.Name = "reflecting-debate"
	for i := range f.Rules {
		if f.Rules[i].To == debate.StateRoundComplete {
			f.Rules[i].To = state
		}
	}
	f.Rules = append(f.Rules, debate.Rule{From: state, On: done, To: debate.StateRoundComplete})
	f.Steps[state] = flow.Step{
		Calls: func(r *debate.Record) []flow.Call {
			if r.Done(id(r)) {
				return nil
			}
			name := r.Active()[0]
			return []flow.Call{{
				ID: id(r), Kind: "reflection", By: name, Model: modelOf(r, name), Round: r.Round, System: r.Text("system." + name),
				Last: func(*debate.Record) string { return "What have you learned in this round?" },
			}}
		},
		Next: func(*debate.Record) (debate.Trigger, flow.Exit, bool) { return done, flow.Exit{}, true },
	}
	return f
}

func TestAFlowIsComposedFromTheDebateFlow(t *testing.T) {
	before := debate.DebateFlow().Mermaid()
	config := twoDebaters()
	engine, provider := engineFor(config)
	engine.Flows = map[string]*debate.Flow{"reflecting-debate": reflecting()}
	record := run(t, engine, flow.Named("reflecting-debate", config))

	assert.Equal(t, flow.StateCompleted, record.State)
	assert.NotNil(t, view(record).Verdict)
	assert.Equal(t, []string{"r1 Ada", "r1 Ben", "r1 Ada", "r2 Ada", "r2 Ben", "r2 Ada", "r3 Ada", "r3 Ben"}, speakers(record))
	assert.EqualValues(t, "reflection", record.Turns[2].Kind)
	var last []string
	for _, request := range provider.Requests() {
		if strings.Contains(request.ID, ".reflection.") {
			last = append(last, request.Last.Text)
		}
	}
	assert.Equal(t, []string{"What have you learned in this round?", "What have you learned in this round?"}, last)
	assertRows(t, engine, reflecting(), record.ID)

	assert.Equal(t, before, debate.DebateFlow().Mermaid(), "the flow that it is made of is as it was")
	plain := twoDebaters()
	assert.NotContains(t, speakers(run(t, engine, plain))[2], "r1", "and the engine's own too")
}

// assertRows finds a row of the table for every change of state of a debate, and yields the triggers.
func assertRows(t *testing.T, engine *debate.Engine, f *debate.Flow, id string) []debate.Trigger {
	t.Helper()
	var fired []debate.Trigger
	state := flow.StateReady
	for event, err := range engine.Events(t.Context(), id, 0) {
		require.NoError(t, err)
		change := as[flow.Transition](event)
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
		Calls: func(r *debate.Record) []flow.Call {
			if r.Done("r0.question.host") {
				return nil
			}
			return []flow.Call{{
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
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				engine, source := engineFor(config)
				hold := make(chan struct{})
				answer := source.Reply
				source.Reply = func(req *provider.Request) scripted.Reply {
					reply := answer(req)
					if req.Self == "Ada" {
						reply.Hold = hold
					}
					return reply
				}
				if name := f().Name; name != debate.FlowName {
					engine.Flows = map[string]*debate.Flow{name: f()}
				}
				session, err := engine.Start(t.Context(), inFlow(engine, config))
				require.NoError(t, err)
				synctest.Wait()
				act(t, held{session, engine, func() { close(hold) }})
				record, err := session.Wait(t.Context())
				require.NoError(t, err)
				require.True(t, record.Final())
				fired = append(fired, assertRows(t, engine, f(), session.ID())...)
				session.Close()
			})
		})
	}
	plain := func() *debate.Flow { return debate.DebateFlow() }
	play("to its verdict", twoDebaters(), func() *debate.Flow { return func() *debate.Flow { return plain() }() }, func(_ *testing.T, s held) { s.speak() })
	play("canceled", twoDebaters(), plain, func(t *testing.T, s held) { require.NoError(t, s.Cancel(t.Context())) })
	play("stopped without a turn", twoDebaters(), plain, func(t *testing.T, s held) { require.NoError(t, s.Stop(t.Context())) })
	play("paused", twoDebaters(), plain, func(t *testing.T, s held) {
		require.NoError(t, s.Pause(t.Context(), debate.Drain))
		s.speak()
		synctest.Wait()
		assert.Equal(t, flow.StatePaused, s.State())
		require.NoError(t, s.Resume(t.Context()))
	})
	play("paused, then stopped with a turn", twoDebaters(), plain, func(t *testing.T, s held) {
		require.NoError(t, s.Pause(t.Context(), debate.Drain))
		s.speak()
		synctest.Wait()
		require.NoError(t, s.Stop(t.Context()))
	})
	soft := twoDebaters()
	soft.Budget = &debate.Budget{SoftCalls: 4} // one round with its verdict, or the beginning of another
	play("a soft limit", soft, plain, func(_ *testing.T, s held) { s.speak() })
	warned := attended()
	warned.Budget = &debate.Budget{Warn: debate.USD / 10_000, Confirm: true}
	play("a warning to be acknowledged", warned, plain, func(t *testing.T, s held) {
		s.speak()
		synctest.Wait()
		require.Equal(t, flow.StateAwaitingInput, s.State())
		require.NoError(t, s.Acknowledge(t.Context()))
	})
	play("a question", twoDebaters(), asking, func(t *testing.T, s held) {
		require.Equal(t, flow.StateAwaitingInput, s.State())
		require.NoError(t, s.Answer(t.Context(), "r0.question.host", "Oslo"))
		s.speak()
	})
	play("one more state", twoDebaters(), reflecting, func(_ *testing.T, s held) { s.speak() })
	for _, on := range []debate.Trigger{
		flow.TriggerStart, flow.TriggerInitialized, flow.TriggerPause, flow.TriggerResume, flow.TriggerStop, flow.TriggerCancel,
		flow.TriggerLimit, flow.TriggerWarn, flow.TriggerAsk, flow.TriggerAnswered, flow.TriggerCompleted,
		debate.TriggerResponded, debate.TriggerJudged, debate.TriggerProceed, "reflected",
	} {
		assert.Contains(t, fired, on, "these debates fire every trigger but those of an error")
	}
}
