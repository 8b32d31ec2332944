package simulation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/cryptotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Bounds of what one Step may do with a log or a config that somebody has altered.
const (
	mostEvents = 1100            // that one Step may record; a circle of states without a call ends after 1000
	mostTime   = 5 * time.Minute // for all the steps of a conversation, which take milliseconds; a Step that loops takes longer
)

// hostile is a conversation that is stepped by hand, from a log or a config that somebody has altered.
type hostile struct {
	dice    *rand.Rand
	core    *flow.Core
	reply   func(*provider.Request) scripted.Reply
	now     time.Time
	wait    time.Time
	flights []*flow.Command
	log     []flow.Event
	most    int // events of one step
}

// step steps a signal. A refusal is no mistake.
func (h *hostile) step(signal flow.Signal) {
	out, err := h.core.Step(flow.Input{At: h.now, Bits: h.dice.Uint64(), Signal: signal})
	if err != nil {
		return
	}
	h.most, h.wait = max(h.most, len(out.Events)), out.Wait
	h.log = append(h.log, out.Events...)
	for _, id := range out.Start {
		if command, err := h.core.Command(id); err == nil {
			h.flights = append(h.flights, command)
		}
	}
}

// land brings the result of a call, or a failure.
func (h *hostile) land() {
	i := h.dice.IntN(len(h.flights))
	c := h.flights[i]
	h.flights = slices.Delete(h.flights, i, i+1)
	if c.Request == nil || h.dice.IntN(5) == 0 {
		failure := &flow.Error{Kind: oneOf(h.dice, faultKinds...), Err: errors.New("no"), RetryAfter: oneOf(h.dice, 0, time.Second, math.MaxInt64)}
		h.step(flow.Failed{Call: c.Call, Attempt: c.Attempt, Error: failure})
		return
	}
	h.step(flow.Result{Call: c.Call, Attempt: c.Attempt, Text: h.reply(c.Request).Text, Usage: provider.Usage{Input: 9, Output: 9}})
}

// play lets the conversation go on for some steps.
func (h *hostile) play(steps int) {
	for range steps {
		r := h.core.Record()
		h.now = h.now.Add(time.Second)
		switch {
		case h.core.Err() != nil || r.Final() && len(h.flights) == 0:
			return
		case h.dice.IntN(25) == 0:
			h.step(oneOf[flow.Signal](h.dice, flow.Pause{}, flow.Stop{}, flow.Retry{}, flow.Amendment{Retry: &flow.RetryPolicy{Base: 1}}))
		case len(h.flights) > 0:
			h.land()
		case len(r.Inquiries) > 0:
			q := r.Inquiries[h.dice.IntN(len(r.Inquiries))]
			h.step(flow.Answer{Inquiry: q.ID, Option: oneOf(h.dice, append(q.Options, "")...), Text: "{}"})
		case r.State == flow.StatePaused:
			h.step(flow.Resume{})
		case r.State == flow.StateError:
			h.step(flow.Retry{})
		default:
			if h.wait.After(h.now) {
				h.now = h.wait
			}
			h.step(flow.Tick{})
		}
	}
}

// resume continues a log as the process does that takes it over.
func (h *hostile) resume() {
	lost := h.core.InFlight()
	h.step(flow.Opened{})
	for _, l := range lost {
		h.step(l)
	}
	h.step(flow.Tick{})
}

// hostileConfig draws a valid config, and what models reply.
func hostileConfig(dice *rand.Rand) (flow.Config, func(*provider.Request) scripted.Reply) {
	rule := func() []flow.FailureRule {
		do := oneOf(dice, flow.OptionWait, flow.OptionModel, flow.OptionSkip, flow.OptionDrop, flow.OptionAsk, flow.OptionFail)
		out := []flow.FailureRule{{Do: do}}
		if do == flow.OptionModel {
			out[0].Model = "test/spare"
		}
		return out
	}
	if dice.IntN(2) == 0 {
		c := plays()["deliberation"].config(dice.IntN(2) == 0).(deliberation.Config)
		c.Rounds, c.OnFailure, c.RoundTimeout = 1+dice.IntN(3), rule(), oneOf(dice, 0, time.Minute)
		return c, deliberate
	}
	c := stage.TwoDebaters()
	c.Format = oneOf(dice, "free-form", "structured-rounds", "convergence-seeking")
	c.Rounds, c.OnFailure, c.RoundTimeout, c.Unattended = 1+dice.IntN(4), rule(), oneOf(dice, 0, time.Minute), dice.IntN(2) == 0
	c.Watch = []format.Detector{format.DetectRepetition, format.DetectDiminishing, format.DetectDrift}
	c.Budget = oneOf(dice, nil, &flow.Budget{Warn: 1, Confirm: true, Hard: 100 * debate.USD}, &flow.Budget{HardCalls: 20, SoftTime: time.Hour})
	return c, stage.Script([]string{"Ada", "Ben"})
}

// mutate alters one thing in JSON that was read into an any.
func mutate(dice *rand.Rand, v any) any {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return nil
		}
		key := oneOf(dice, slices.Sorted(maps.Keys(v))...)
		if dice.IntN(10) == 0 {
			delete(v, key)
			return v
		}
		v[key] = mutate(dice, v[key])
		return v
	case []any:
		if len(v) == 0 {
			return []any{nil}
		}
		switch i := dice.IntN(len(v)); dice.IntN(6) {
		case 0:
			return slices.Delete(v, i, i+1)
		case 1:
			return append(v, v[i])
		default:
			v[i] = mutate(dice, v[i])
			return v
		}
	case string:
		return oneOf[any](dice, "", "x", v+v, "Ada", "ada", "skip", "end", "retry", "error", "completing", "paused", "completed", "test/large",
			"none", "r1.opening.Ada", "-1s", "2540400h", nil, 1.0, true, "network", "cost_limit", "2400-01-01T00:00:00Z", "0001-01-01T00:00:00Z")
	case float64:
		return oneOf[any](dice, 0, -1, 1, v+1, v-1, 4096, 1e9, math.MaxInt64, math.MinInt64, 9e18, nil, "x")
	case bool:
		return !v
	default:
		return oneOf[any](dice, 0, "", map[string]any{}, []any{}, 1e9)
	}
}

// mutateLog alters a log: its events, their order, and the settings of its start.
func mutateLog(dice *rand.Rand, log []flow.Event) []flow.Event {
	data, err := json.Marshal(log[:1+dice.IntN(len(log))])
	var events []any
	if err != nil || json.Unmarshal(data, &events) != nil {
		return nil
	}
	for range 1 + dice.IntN(2) {
		i, j := dice.IntN(len(events)), dice.IntN(len(events))
		if dice.IntN(3) == 0 {
			i = 0
		}
		event, _ := events[i].(map[string]any)
		body, _ := event["body"].(map[string]any)
		settings, _ := body["settings"].(map[string]any)
		switch dice.IntN(10) {
		case 0:
			events = slices.Delete(events, i, i+1)
		case 1:
			events = slices.Insert(events, i, events[j])
		case 2:
			events[i], events[j] = events[j], events[i]
		case 3:
			key := oneOf(dice, "rounds", "roundTimeout", "turnTimeout", "patience", "maxTokens", "reserve")
			if settings != nil {
				settings[key] = oneOf[any](dice, -1, 0, 1, math.MaxInt64, math.MinInt64)
			}
		case 4:
			retry := map[string]any{
				"max":  map[string]any{"network": oneOf(dice, 3, math.MaxInt64), "timeout": math.MaxInt64, "api_error": math.MaxInt64},
				"base": oneOf(dice, "-4611686018427387904ns", "1ns"), "cap": oneOf(dice, "-1s", "1ns", "2540400h"),
			}
			if settings != nil {
				settings["retry"] = retry
			}
		default:
			if body != nil {
				event["body"] = mutate(dice, body)
			}
		}
		if len(events) == 0 {
			return nil
		}
	}
	for i := range events {
		if event, ok := events[i].(map[string]any); ok {
			event = maps.Clone(event)
			event["seq"], events[i] = i+1, event
		}
	}
	var out []flow.Event
	if data, err = json.Marshal(events); err != nil || json.Unmarshal(data, &out) != nil {
		return nil
	}
	return out
}

// hostileTally counts what became of what was altered.
type hostileTally struct{ refused, broken, played, most int }

func (n *hostileTally) add(t *testing.T, h *hostile) {
	t.Helper()
	n.played++
	n.most = max(n.most, h.most)
	if h.core.Err() != nil {
		n.broken++
	}
	assert.LessOrEqual(t, h.most, mostEvents, "events of one step")
}

// hostileEngine runs debates and deliberations, of models with a price.
func hostileEngine() *debate.Engine {
	engine := simEngine()
	engine.Flows = map[string]*debate.Flow{deliberation.FlowName: deliberation.Flow()}
	for _, name := range []string{"test/debater", "test/judge", "test/agent", "test/spare"} {
		engine.Models[name] = debate.Model{Priced: true, Input: 1, Output: 2}
	}
	return engine
}

// beginHostile begins a conversation that is stepped by hand.
func beginHostile(
	ctx context.Context, engine *kernel.Engine, dice *rand.Rand, config flow.Config, reply func(*provider.Request) scripted.Reply,
) (*hostile, error) {
	h := &hostile{dice: dice, reply: reply, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if err := engine.Validate(ctx, config); err != nil {
		return nil, err
	}
	core, signals, err := kernel.Begin(engine, "hostile", config)
	if err != nil {
		return nil, err
	}
	h.core = core
	for _, signal := range signals {
		h.step(signal)
	}
	return h, nil
}

// TestHostileLogsAndConfigs alters logs and configs of debates and of deliberations. They are refused, or the conversation
// goes on in steps of which each does a bounded work.
func TestHostileLogsAndConfigs(t *testing.T) {
	engine := kernel.Of(t, hostileEngine())
	begin := func(dice *rand.Rand, config flow.Config, reply func(*provider.Request) scripted.Reply) (*hostile, error) {
		return beginHostile(t.Context(), engine, dice, config, reply)
	}
	var logs, configs hostileTally
	for seed := range longform.Sized[uint64](5_000, 120, 40) {
		loops := time.AfterFunc(mostTime, func() { panic(fmt.Sprintf("seed %d: a step does not end", seed)) }) //nolint:forbidigo // nothing else ends a loop
		dice := rand.New(rand.NewPCG(seed, 13))
		cryptotest.SetGlobalRandom(t, seed)
		config, reply := hostileConfig(dice)
		h, err := begin(dice, config, reply)
		require.NoError(t, err, "seed %d", seed)
		h.play(5 + dice.IntN(60))
		events := mutateLog(dice, h.log)
		h = &hostile{dice: dice, reply: reply, now: h.now}
		if h.core, err = engine.NewCore("hostile", events); err != nil || len(events) == 0 {
			logs.refused++
		} else {
			h.resume()
			h.play(60)
			logs.add(t, h)
		}
		if altered := mutateConfig(engine, dice, config); altered == nil {
			configs.refused++
		} else if h, err = begin(dice, altered, reply); err != nil {
			configs.refused++
		} else {
			h.play(60)
			configs.add(t, h)
		}
		loops.Stop()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("logs: refused %d, played %d, of these stopped as damaged %d, at most %d events in a step", logs.refused, logs.played, logs.broken, logs.most)
	t.Logf("configs: refused %d, played %d, at most %d events in a step", configs.refused, configs.played, configs.most)
	assert.Zero(t, configs.broken, "a config that passes its checks damages nothing")
}

// mutateConfig alters a config. nil: it cannot be read any more.
func mutateConfig(engine *kernel.Engine, dice *rand.Rand, config flow.Config) flow.Config {
	data, err := flow.EncodeConfig(config)
	var read any
	if err != nil || json.Unmarshal(data, &read) != nil {
		return nil
	}
	if data, err = json.Marshal(mutate(dice, read)); err != nil {
		return nil
	}
	altered, err := engine.DecodeConfig(data)
	if err != nil {
		return nil
	}
	return altered
}
