package deliberation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// An agent that cannot say what it wants to ask is left out of the questions only if a rule of the config says so.
func TestQuestionsAreLeftOutByARuleOnly(t *testing.T) {
	for name, rules := range map[string][]flow.FailureRule{
		"no rule": nil,
		"a rule":  {{Calls: []flow.CallKind{deliberation.KindQuestion}, Do: flow.OptionSkip}},
	} {
		t.Run(name, func(t *testing.T) {
			config := three()
			config.Unattended, config.Clarification.On, config.OnFailure = true, true, rules
			engine, _ := engineFor(func(call string, _ *provider.Request) (scripted.Reply, bool) {
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindAuthentication, Status: 401}}, strings.HasPrefix(call, "clarify.1.ada")
			})
			session := stage.Started(t, engine, config)
			r, err := session.Wait(t.Context())
			if rules == nil {
				require.ErrorIs(t, err, &debate.Error{Kind: provider.KindAuthentication})
				assert.Equal(t, flow.StateError, r.State)
				assert.Empty(t, r.SkippedCalls)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, flow.StateCompleted, r.State)
			assert.Len(t, r.SkippedCalls, 1)
		})
	}
}
