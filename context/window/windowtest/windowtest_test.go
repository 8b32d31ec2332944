package windowtest_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/context/window/windowtest"
	"github.com/agonist-dev/debate/internal/longform"
)

// managerFunc changes what Summarize plans.
type managerFunc func(p window.Problem, plan window.Plan) window.Plan

func (f managerFunc) Plan(p window.Problem) window.Plan { return f(p, window.Summarize{}.Plan(p)) }

// truncateFunc changes what Truncate plans.
type truncateFunc func(p window.Problem, plan window.Plan) window.Plan

func (f truncateFunc) Plan(p window.Problem) window.Plan { return f(p, window.Truncate{}.Plan(p)) }

func TestRunPasses(t *testing.T) {
	windowtest.Run(t, window.Truncate{})
	windowtest.Run(t, window.Summarize{})
}

// Each manager breaks one sentence of the contract.
func TestCheckFinds(t *testing.T) {
	longform.Lone(t)
	var calls atomic.Int64
	for want, broken := range map[string]truncateFunc{
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
		"tokens are sent, Used is": func(p window.Problem, plan window.Plan) window.Plan {
			plan.Used = p.Fixed
			return plan
		},
		"panics: runtime error: index out of range": func(p window.Problem, plan window.Plan) window.Plan {
			p.Sums = p.Sums[:plan.From]
			plan.From -= min(p.Sums[plan.From], 0)
			return plan
		},
	} {
		err := windowtest.Check(broken)
		require.Error(t, err, want)
		assert.ErrorContains(t, err, want)
	}
}

// Each manager does one thing with summaries that it must not do.
func TestCheckFindsWhatIsWrongWithSummaries(t *testing.T) {
	longform.Lone(t)
	nothing := window.Range{}
	for want, broken := range map[string]managerFunc{
		"not everything is sent": func(p window.Problem, plan window.Plan) window.Plan {
			plan.Summary = plan.Summary || p.Window == 0
			return plan
		},
		"a summary of 0 messages is sent before message": func(p window.Problem, plan window.Plan) window.Plan {
			plan.Summary = plan.Summary || p.Covered == 0
			return plan
		},
		"messages is sent before message": func(p window.Problem, plan window.Plan) window.Plan {
			if plan.Summary {
				plan.Used += p.Size(plan.From-1, plan.From)
				plan.From--
			}
			return plan
		},
		"but there is no model to make it": func(p window.Problem, _ window.Plan) window.Plan {
			p.Summarizer = true
			return window.Summarize{}.Plan(p)
		},
		"but there is no plan to send without it": func(_ window.Problem, plan window.Plan) window.Plan {
			plan.Fits = plan.Fits && plan.Summarize == nothing
			return plan
		},
		"it has to begin at": func(_ window.Problem, plan window.Plan) window.Plan {
			if plan.Summarize != nothing {
				plan.Summarize.From = 0 // again what is covered already
			}
			return plan
		},
		"a summary is requested of nothing, or of the newest": func(p window.Problem, plan window.Plan) window.Plan {
			if plan.Summarize != nothing {
				plan.Summarize.To = p.Len()
			}
			return plan
		},
		"though nothing was summarised": func(p window.Problem, plan window.Plan) window.Plan {
			if plan.Summary && p.Len()%2 == 0 { // now the summary, now the newest
				return window.Sliding{}.Plan(p)
			}
			return plan
		},
		"the request does not fit": func(_ window.Problem, plan window.Plan) window.Plan {
			plan.Fits = plan.Fits && !plan.Summary
			return plan
		},
		"16 summaries one more is requested": func(p window.Problem, plan window.Plan) window.Plan {
			from := p.Covered
			if p.Summarizer && plan.Fits && from+1 < p.Len() && p.Len() > 40 { // one message at a time
				plan.Summarize = window.Range{From: from, To: from + 1}
			}
			return plan
		},
		"Summarize is out of bounds": func(p window.Problem, plan window.Plan) window.Plan {
			if plan.Summarize != nothing {
				plan.Summarize.To = p.Len() + 1
			}
			return plan
		},
		"of nothing": func(_ window.Problem, plan window.Plan) window.Plan {
			plan.Summarize.From = plan.Summarize.To
			return plan
		},
	} {
		err := windowtest.Check(broken)
		require.Error(t, err, want)
		assert.ErrorContains(t, err, want)
	}
}
