package stage

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
)

// raised ends the sentence of a limit that is no limit of time.
const raised = `: raise it to about \S+( tokens| calls)?`

// SoftLimit is the pattern of what a conversation says that a soft limit has cut short, after it has done so much.
func SoftLimit(done, limit string) string { return done + " by the soft limit of " + limit + raised }

// HardLimit is that of a hard limit.
func HardLimit(done, limit string) string { return done + " by the hard limit of " + limit + raised }

// KeptLimit is that of a hard limit whose rest is kept for the conclusion.
func KeptLimit(done, limit string) string {
	return done + " because the rest of the hard limit of " + limit + " is kept for the conclusion" + raised
}

// AssertCut asserts in what whole sentence a conversation says what has cut it short, that this is the first of what it lists as fallen
// short, and that its log alone says so. "": nothing was cut.
func AssertCut(t *testing.T, engine *debate.Engine, record *flow.Record, degraded []string, want string) {
	t.Helper()
	assert.Regexp(t, "^"+want+"$", record.CutShort())
	if want == "" {
		return
	}
	require.NotEmpty(t, degraded)
	assert.Equal(t, record.CutShort(), degraded[0])
	stored, err := engine.Record(t.Context(), record.ID)
	require.NoError(t, err)
	assert.Equal(t, record.CutShort(), stored.CutShort(), "the log alone says so")
}

// Limits returns budgets of one limit each, by a number of thousandths of a dollar, of thousands of tokens, or of calls.
func Limits() map[string]func(n int) flow.Budget {
	return map[string]func(n int) flow.Budget{
		"soft":        func(n int) flow.Budget { return flow.Budget{Soft: flow.USD * flow.Money(n) / 1000} },
		"soft tokens": func(n int) flow.Budget { return flow.Budget{SoftTokens: 1000 * n} },
		"soft calls":  func(n int) flow.Budget { return flow.Budget{SoftCalls: n} },
		"hard":        func(n int) flow.Budget { return flow.Budget{Hard: flow.USD * flow.Money(n) / 1000} },
		"hard calls":  func(n int) flow.Budget { return flow.Budget{HardCalls: n} },
	}
}

// AssertNamedLimitSuffices plays a conversation under the least limit that is accepted, which cuts it short, and then under the limit that
// it names. It asserts that the second run ends without an error and that nothing cuts it short, and returns its record.
func AssertNamedLimitSuffices(
	t *testing.T, engine *debate.Engine, limit func(n int) flow.Budget, config func(*flow.Budget) flow.Config,
) *flow.Record {
	t.Helper()
	var budget flow.Budget
	for n := 1; ; n += 1 + n/16 {
		require.Less(t, n, 1000, "a limit is accepted")
		budget = limit(n)
		if engine.Validate(t.Context(), config(&budget)) == nil {
			break
		}
	}
	run := func() (*flow.Record, error) {
		t.Helper()
		session := Started(t, engine, config(&budget))
		record, err := session.Wait(t.Context())
		require.NoError(t, session.Close())
		require.NotNil(t, record, "%v", err)
		return record, err
	}
	cut, _ := run() // a hard limit may end it with an error
	require.NotEmpty(t, cut.Warnings)
	w := cut.Warnings[len(cut.Warnings)-1]
	require.Contains(t, []flow.WarningKind{flow.WarnSoft, flow.WarnHard}, w.Kind)
	require.Contains(t, cut.CutShort(), ": raise it to about ")
	for _, field := range []*flow.Money{&budget.Soft, &budget.Hard} {
		if *field != 0 && *field < 10*flow.USD { // a wider one stands beside the limit
			*field = w.Needs
		}
	}
	for field, needs := range map[*int]int{
		&budget.SoftTokens: w.NeedsTokens, &budget.HardTokens: w.NeedsTokens, &budget.SoftCalls: w.NeedsCalls, &budget.HardCalls: w.NeedsCalls,
	} {
		if *field > 0 {
			*field = max(*field, needs)
		}
	}
	whole, err := run()
	require.NoError(t, err)
	assert.Empty(t, whole.CutShort(), "%s", cut.CutShort())
	return whole
}
