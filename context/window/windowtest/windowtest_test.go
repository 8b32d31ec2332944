package windowtest_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/context/window/windowtest"
)

// managerFunc changes what Truncate plans.
type managerFunc func(p window.Problem, plan window.Plan) window.Plan

func (f managerFunc) Plan(p window.Problem) window.Plan { return f(p, window.Truncate{}.Plan(p)) }

func TestRunPasses(t *testing.T) { windowtest.Run(t, window.Truncate{}) }

// Each manager breaks one sentence of the contract.
func TestCheckFinds(t *testing.T) {
	var calls atomic.Int64
	for want, broken := range map[string]managerFunc{
		"not everything is sent": func(_ window.Problem, plan window.Plan) window.Plan {
			plan.Fits = false
			return plan
		},
		"tokens are sent, the limit is": func(p window.Problem, _ window.Plan) window.Plan {
			return window.Plan{Fits: true, TooBig: -1, Used: p.Fixed}
		},
		"the newest message is not sent": func(p window.Problem, plan window.Plan) window.Plan {
			plan.From = p.Len()
			return plan
		},
		"From went back": func(p window.Problem, plan window.Plan) window.Plan {
			if p.Window > 0 && p.Len()%3 == 0 {
				plan.From = max(plan.From-1, 0)
			}
			return plan
		},
		"out of bounds": func(_ window.Problem, plan window.Plan) window.Plan {
			plan.From++
			return plan
		},
		"Summarize is out of bounds": func(_ window.Problem, plan window.Plan) window.Plan {
			plan.Summarize = window.Range{From: 2, To: 1}
			return plan
		},
		"TooBig is wrong": func(_ window.Problem, plan window.Plan) window.Plan {
			plan.TooBig = 0
			return plan
		},
		", then ": func(_ window.Problem, plan window.Plan) window.Plan {
			plan.Used = int(calls.Add(1))
			return plan
		},
		"Sums was modified": func(p window.Problem, plan window.Plan) window.Plan {
			if p.Len() > 1 && p.Window > 0 {
				p.Sums[1]++
			}
			return plan
		},
	} {
		err := windowtest.Check(broken)
		require.Error(t, err, want)
		assert.ErrorContains(t, err, want)
	}
}
