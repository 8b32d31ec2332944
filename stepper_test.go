package debate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

const bensOpening = "r1.opening.Ben"

// little is what a short reply uses.
var little = provider.Usage{Input: 10, Output: 10}

// stepper steps a core by hand, on a clock of its own and without jitter unless a test says so.
type stepper struct {
	*flow.Core
	t    *testing.T
	at   time.Time
	bits uint64
}

// begun is the core of a debate that has just started.
func begun(t *testing.T, config debate.Config) *stepper {
	t.Helper()
	engine, _ := engineFor(config)
	return begunBy(t, engine, config)
}

func begunBy(t *testing.T, engine *debate.Engine, config flow.Config) *stepper {
	t.Helper()
	start, err := engine.Freeze(config)
	require.NoError(t, err)
	core, err := engine.NewCore("stepped", nil)
	require.NoError(t, err)
	s := &stepper{Core: core, t: t, at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	for _, signal := range []flow.Signal{flow.Edit{Config: config}, flow.Validate{}, flow.Validated{OK: true}, start} {
		s.step(signal)
	}
	return s
}

func (s *stepper) step(signal flow.Signal) flow.Output {
	s.t.Helper()
	out, err := s.Step(flow.Input{At: s.at, Bits: s.bits, Signal: signal})
	require.NoError(s.t, err)
	return out
}

// says brings a short reply to a call's attempt.
func (s *stepper) says(call string, attempt int) flow.Output {
	s.t.Helper()
	return s.step(flow.Result{Call: call, Attempt: attempt, Text: "A word.", Usage: little})
}

// fails brings the failure of a call's attempt, for which nothing was paid.
func (s *stepper) fails(call string, attempt int, failure debate.Error) flow.Output {
	s.t.Helper()
	return s.step(flow.Failed{Call: call, Attempt: attempt, Error: &failure, Free: true})
}

// brief is a debate of one round in which everybody speaks at once, and nobody judges.
func brief() debate.Config {
	config := twoDebaters()
	config.Mode, config.Rounds, config.MaxTokens, config.Judging = debate.Simultaneous, 1, 300, nil
	return config
}

// worstCases is the most that the calls of a debate's first step can cost.
func worstCases(t *testing.T, config debate.Config) debate.Money {
	t.Helper()
	return begun(t, config).Record().Reserved()
}
