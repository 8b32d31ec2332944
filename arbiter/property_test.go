package arbiter_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// chaos is work in which everybody answers at random: legal and illegal, with failures, inputs and restarts between. All
// of it follows from the seed and the ids of the requests.
type chaos struct {
	seed  uint64
	store debate.Store
}

func (c *chaos) dice(of string) *rand.Rand {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(of))
	return rand.New(rand.NewPCG(c.seed, hash.Sum64()))
}

func (c *chaos) engine() *debate.Engine {
	return &debate.Engine{
		Store: c.store, Providers: map[string]debate.Provider{"test": &scripted.Provider{Reply: c.reply}},
		Flows: map[string]*debate.Flow{arbiter.FlowName: arbiter.Flow()},
	}
}

func (c *chaos) reply(req *provider.Request) scripted.Reply {
	dice := c.dice(req.ID)
	delay := time.Duration(dice.IntN(3)) * time.Second
	switch dice.IntN(16) {
	case 0:
		kinds := []provider.Kind{provider.KindRateLimit, provider.KindNetwork, provider.KindAPI, provider.KindTimeout, provider.KindRefusal}
		return scripted.Reply{Err: &provider.Error{Kind: kinds[dice.IntN(len(kinds))], Message: "at random"}, Delay: delay}
	case 1:
		return scripted.Reply{Text: `{"move":"select","agents":["Eve"],"output":7`, Delay: delay}
	case 2:
		return scripted.Reply{Text: " ", Delay: delay}
	}
	if req.Schema.Name == "result" {
		return scripted.Reply{Text: toJSON(c.result(dice)), Delay: delay}
	}
	return scripted.Reply{Text: toJSON(c.ruling(dice)), Delay: delay}
}

func (c *chaos) ruling(dice *rand.Rand) arbiter.Ruling {
	moves := []arbiter.Move{arbiter.MoveSelect, arbiter.MoveSelect, arbiter.MoveSelect, arbiter.MoveContinue, arbiter.MoveRetry, arbiter.MoveComplete}
	r := arbiter.Ruling{Move: moves[dice.IntN(len(moves))], Agents: []string{}, Reason: "at random"}
	if r.Move == arbiter.MoveSelect || dice.IntN(10) == 0 {
		names := []string{"Ada", "Ben", "Cem", "Eve"}
		dice.Shuffle(3, func(i, k int) { names[i], names[k] = names[k], names[i] })
		r.Agents = names[:1+dice.IntN(2)]
		if dice.IntN(12) == 0 {
			r.Agents = names
		}
	}
	if r.Move == arbiter.MoveComplete || dice.IntN(20) == 0 {
		r.Summary = "It is done."
	}
	return r
}

func (c *chaos) result(dice *rand.Rand) arbiter.Result {
	out := arbiter.Result{Success: dice.IntN(3) > 0, Output: fmt.Sprintf("Output %d.", dice.IntN(1000))}
	if dice.IntN(2) == 0 {
		u := &arbiter.PlanUpdate{}
		for i := range dice.IntN(4) {
			u.Steps = append(u.Steps, arbiter.StepUpdate{
				Index: i + dice.IntN(2), Description: "a step", Status: []arbiter.Status{"", arbiter.Complete, arbiter.Pending, arbiter.Skipped}[dice.IntN(4)],
			})
		}
		if dice.IntN(4) == 0 {
			at := dice.IntN(6) - 1
			u.CurrentStepIndex = &at
		}
		out.PlanUpdates = u
	}
	return out
}

// run plays the work, with restarts and inputs between its events, to an end or to an error that nobody retries.
func (c *chaos) run(t *testing.T) *arbiter.Work {
	dice := c.dice("run")
	config := config()
	config.Agents = append(config.Agents, arbiter.Agent{Name: "Cem", Model: "test/m"})
	config.Parallel, config.MaxIterations, config.MaxFailures = 1+dice.IntN(3), 1+dice.IntN(12), 1+dice.IntN(4)
	config.Retry, config.Patience = &flow.RetryPolicy{Base: 1}, time.Nanosecond
	if dice.IntN(2) == 0 {
		config.OnFailure = []flow.FailureRule{{Calls: []flow.CallKind{arbiter.KindExecution}, Do: flow.OptionSkip}}
	}
	session := stage.Started(t, c.engine(), config)
	seen, retries := int64(0), 3
	for {
		again := c.read(t, session, dice, &seen)
		record := stage.SessionRecord(t, session)
		if !again && record.State == flow.StateError && retries > 0 {
			retries--
			require.NoError(t, session.Retry(t.Context()))
			continue
		}
		require.NoError(t, session.Close())
		if !again {
			w, ok := arbiter.Of(record)
			require.True(t, ok)
			return w
		}
		session = stage.Reopen(t, c.engine(), config.ID)
	}
}

// read reads events, with inputs between, until the process is to be restarted; false: nothing more comes.
func (c *chaos) read(t *testing.T, s *debate.Session, dice *rand.Rand, seen *int64) (again bool) {
	for event, err := range s.Events(t.Context(), *seen) {
		require.NoError(t, err)
		if event.Seq == 0 {
			continue
		}
		*seen = event.Seq
		if event.Err() != nil {
			return false
		}
		switch dice.IntN(14) {
		case 0:
			return true
		case 1:
			c.send(t, s, arbiter.TriggerForceAgent, arbiter.ForceAgent{Agent: []string{"Ada", "Cem", "Eve"}[dice.IntN(3)]})
		case 2:
			c.send(t, s, arbiter.TriggerSkipStep, arbiter.SkipStep{})
		case 3:
			c.send(t, s, arbiter.TriggerRerunStep, arbiter.RerunStep{Step: dice.IntN(3)})
		}
	}
	return false
}

// send sends an input, which may be refused.
func (c *chaos) send(t *testing.T, s *debate.Session, on flow.Trigger, payload any) {
	if err := send(t, s, on, payload); err != nil {
		var failure *flow.Error
		require.ErrorAs(t, err, &failure)
		require.Contains(t, []flow.Kind{provider.KindState, provider.KindValidation}, failure.Kind)
	}
}

// Whatever is decided, fails, is sent or restarted: no move is made that is not legal, no execution exceeds the limits, and
// the end has a label.
func TestNoIllegalMoveAndAlwaysALabelledEnd(t *testing.T) {
	t.Parallel()
	ends := map[string]int{}
	for seed := range uint64(400 / longform.Fewer()) {
		c := &chaos{seed: seed, store: &store.Memory{}}
		synctest.Test(t, func(t *testing.T) {
			w := c.run(t)
			ends[string(w.State)+" "+string(w.Reason)]++
			c.check(t, w)
		})
	}
	for _, end := range []string{"completed complete", "completed iterations", "error failure"} {
		assert.Positive(t, ends[end], "%v", ends)
	}
}

func (c *chaos) check(t *testing.T, w *arbiter.Work) {
	label := fmt.Sprintf("seed %d", c.seed)
	_, complete := w.Summary()
	switch w.State {
	case flow.StateCompleted:
		assert.Equal(t, complete, w.EndedEarlyBy == "", label)
	case flow.StateError:
		require.NotNil(t, w.Failure, label)
		assert.NotEmpty(t, w.Failure.Error(), label)
	default:
		assert.Fail(t, label+": ends in state "+string(w.State))
	}
	assert.NotEmpty(t, w.Reason, label)
	config := w.Config()
	assert.LessOrEqual(t, w.Iterations(), config.MaxIterations, label)
	rounds := map[int]int{}
	for i, e := range w.Executions() {
		assert.Equal(t, i+1, e.Iteration, label)
		assert.True(t, slices.ContainsFunc(config.Agents, func(a arbiter.Agent) bool { return a.Name == e.Agent }), label)
		if rounds[e.Round]++; w.State == flow.StateCompleted {
			assert.NotEqual(t, arbiter.Running, e.Result, label)
		}
	}
	for _, n := range rounds {
		assert.LessOrEqual(t, n, config.Parallel, label)
	}
	c.checkLog(t, label, w)
}

// checkLog looks at every event: each decision was legal where it was asked for, and counts; nobody acts while somebody decides;
// each transition is in the table, and the log says the same when it is read again.
func (c *chaos) checkLog(t *testing.T, label string, w *arbiter.Work) {
	table := slices.Concat(arbiter.Flow().Rules, flow.Lifecycle())
	asked, pending, decisions := map[string]*flow.Intent{}, map[string]bool{}, 0
	for event, err := range c.store.Read(t.Context(), w.ID, 0) {
		require.NoError(t, err)
		if spend := flow.SpendOf(event.Body); spend != nil {
			delete(pending, spend.Call)
		}
		switch body := event.Body.(type) {
		case *flow.Intent:
			asked[body.Call] = body
			if body.Kind == arbiter.KindExecution {
				assert.Empty(t, pending, "%s: %s begins while somebody decides", label, body.Call)
			} else {
				pending[body.Call] = true
			}
		case *arbiter.Decision:
			assert.Contains(t, strings.Split(asked[body.Call].Schema, "-")[1:], string(body.Move), label)
			decisions++
		case *flow.Transition:
			assert.True(t, slices.ContainsFunc(table, func(r flow.Rule) bool {
				from := r.From == body.From || r.From == flow.StateRunning
				return from && r.On == body.On && (r.To == body.To || r.To == flow.StatePrevious || r.To == flow.StateRunning)
			}), "%s: %s", label, toJSON(body))
		}
	}
	assert.Len(t, w.Decisions(), decisions, "%s: a decision was paid for and did not count", label)
	record, err := c.engine().Record(t.Context(), w.ID)
	if errors.Is(err, flow.ErrClosed) {
		return
	}
	require.NoError(t, err)
	again, _ := arbiter.Of(record)
	one, err := json.Marshal(w)
	require.NoError(t, err)
	two, err := json.Marshal(again)
	require.NoError(t, err)
	assert.JSONEq(t, string(one), string(two), label)
}
