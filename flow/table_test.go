package flow_test

import (
	flags "flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

var update = flags.Bool("update", false, "rewrite the golden file under testdata")

// keys yields every state of the lifecycle and of the flow, and every trigger that a rule names.
func keys(f *flow.Flow) (states []flow.State, triggers []flow.Trigger) {
	add := func(rules []flow.Rule) {
		for _, rule := range rules {
			for _, state := range []flow.State{rule.From, rule.To} {
				if !slices.Contains(states, state) {
					states = append(states, state)
				}
			}
			if !slices.Contains(triggers, rule.On) {
				triggers = append(triggers, rule.On)
			}
		}
	}
	add(flow.Lifecycle())
	add(f.Rules)
	return states, append(triggers, "nonsense")
}

// came is the one condition of a guard that is not a yes or no: which working state was left.
const came = "from "

// assignment is what a test says of guards: "T" or "F", and for came a state.
type assignment map[string]string

// holds evaluates the name of a guard; it yields the first condition that nothing is said of.
func (a assignment) holds(guard string) (ok bool, missing string) {
	for atom := range strings.SplitSeq(guard, " and ") {
		key, want := atom, "T"
		if state, is := strings.CutPrefix(atom, came); is {
			key, want = came, state
		}
		switch got, said := a[key]; {
		case !said:
			return false, key
		case got != want:
			return false, ""
		}
	}
	return true, ""
}

// explore calls visit with each assignment that makes a difference to what fire does.
func explore(working []flow.State, fire func(holds func(string) bool), visit func(assignment)) {
	var descend func(a assignment)
	descend = func(a assignment) {
		missing := ""
		fire(func(guard string) bool {
			ok, unsaid := a.holds(guard)
			if missing == "" {
				missing = unsaid
			}
			return ok
		})
		values := []string{"T", "F"}
		switch missing {
		case "":
			visit(a)
			return
		case came:
			values = nil
			for _, state := range working {
				values = append(values, string(state))
			}
		}
		for _, value := range values {
			b := maps.Clone(a)
			b[missing] = value
			descend(b)
		}
	}
	descend(assignment{})
}

func (a assignment) String() string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(a)) {
		if key == came {
			parts = append(parts, key+a[key])
			continue
		}
		parts = append(parts, key+"="+a[key])
	}
	if len(parts) == 0 {
		return ""
	}
	return " [" + strings.Join(parts, " ") + "]"
}

// lookup says by the rules as they are written down, without the machine, where a trigger leads:
// every rule that holds, in order.
func lookup(f *flow.Flow, working []flow.State, from flow.State, on flow.Trigger, a assignment) (targets []flow.State) {
	inner := working[2:] // behind initializing and completing come the flow's own
	for _, rule := range slices.Concat(f.Rules, flow.Lifecycle()) {
		applies := rule.From == from && from != flow.StateRunning || rule.From == flow.StateRunning && slices.Contains(inner, from)
		if !applies || rule.On != on {
			continue
		}
		if ok, _ := a.holds(rule.When.Name); rule.When.Name != "" && !ok {
			continue
		}
		switch rule.To {
		case flow.StateRunning:
			targets = append(targets, f.Start)
		case flow.StatePrevious:
			targets = append(targets, flow.State(a[came]))
		default:
			targets = append(targets, rule.To)
		}
	}
	return targets
}

func TestEveryTriggerInEveryState(t *testing.T) {
	f := debate.DebateFlow()
	table, err := flow.CompileTable(f)
	require.NoError(t, err)
	states, triggers := keys(f)
	var b strings.Builder
	for _, state := range states {
		for _, on := range triggers {
			explore(table.Working(), func(holds func(string) bool) {
				require.NotPanics(t, func() { _, _ = table.Fire(state, on, holds) }, "more than one rule matches: %s in %s", on, state)
			}, func(a assignment) {
				to, err := table.Fire(state, on, func(guard string) bool { ok, _ := a.holds(guard); return ok })
				want := lookup(f, table.Working(), state, on, a)
				if err != nil {
					assert.Empty(t, want, "%s in %s%s is refused", on, state, a)
					var failure *flow.Error
					require.ErrorAs(t, err, &failure)
					require.Equal(t, provider.KindState, failure.Kind)
					fmt.Fprintf(&b, "%s %s%s: %v\n", state, on, a, err)
					return
				}
				if assert.NotEmpty(t, want, "%s in %s%s", on, state, a) {
					assert.Equal(t, want[0], to, "%s in %s%s: the first rule that matches wins", on, state, a)
				}
				fmt.Fprintf(&b, "%s %s%s -> %s\n", state, on, a, to)
			})
		}
	}
	path := filepath.Join("testdata", "table.golden")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), b.String(), "run the test with -update if the change is meant")
}

// Only the table leads out of a final state, and it does not.
func TestNothingLeavesAFinalState(t *testing.T) {
	f := debate.DebateFlow()
	table, err := flow.CompileTable(f)
	require.NoError(t, err)
	_, triggers := keys(f)
	for _, state := range []flow.State{flow.StateCompleted, flow.StateCanceled} {
		for _, on := range triggers {
			_, err := table.Fire(state, on, func(string) bool { return true })
			assert.Error(t, err, "%s in %s", on, state)
		}
	}
}
