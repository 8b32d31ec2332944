package log_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/store"
)

// The context of a deliberation is the user's, and no name of a context manager as in a debate.
func TestTheContextOfADeliberationIsRemoved(t *testing.T) {
	kept := &store.Memory{}
	engine := flows.Engine(kept, nil)
	config := flows.Deliberation("d")
	config.Context, config.Agents[0].Name = "It was asked for by "+whom+".", whom
	_, err := engine.Submit(t.Context(), config)
	require.NoError(t, err)
	fact, err := engine.Redact(t.Context(), "d", flow.Redaction{Texts: []string{whom}})
	require.NoError(t, err)
	assert.Empty(t, fact.Kept)
	for event, err := range kept.Read(t.Context(), "d", 0) {
		require.NoError(t, err)
		assert.NotContains(t, stage.JSON(event), sign)
	}
	session, err := engine.Open(t.Context(), "d")
	require.NoError(t, err)
	defer session.Close()
	record, err := session.Wait(t.Context())
	require.NoError(t, err, "it goes on")
	d, ok := deliberation.Of(record)
	require.True(t, ok)
	assert.Equal(t, "It was asked for by [redacted].", d.Config().Context)
}

// The result of an arbiter's work is what the arbiter has written, and no participant's name as in a debate.
func TestTheResultOfAnArbitersWorkIsRemoved(t *testing.T) {
	engine := flows.Engine(&store.Memory{}, nil)
	engine.Functions = map[string]flow.Function{"decide": arbiter.Func(func(_ context.Context, s arbiter.Situation) (arbiter.Ruling, error) {
		if len(s.Executions) == 0 {
			return arbiter.Ruling{Move: arbiter.MoveSelect, Agents: []string{"Ada"}, Reason: "it is first"}, nil
		}
		return arbiter.Ruling{Move: arbiter.MoveComplete, Reason: "done", Summary: "The letter to " + whom + " is written."}, nil
	})}
	config := flows.Arbitration("w")
	config.Arbiter = arbiter.Arbiter{Function: "decide"}
	stage.Run(t, engine, config)
	fact, err := engine.Redact(t.Context(), "w", flow.Redaction{Texts: []string{whom}})
	require.NoError(t, err)
	assert.Empty(t, fact.Kept)
	for info, err := range engine.List(t.Context(), store.Filter{}) {
		require.NoError(t, err)
		assert.Equal(t, "The letter to [redacted] is written.", info.Result)
	}
	for event, err := range engine.Store.Read(t.Context(), "w", 0) {
		require.NoError(t, err)
		assert.NotContains(t, stage.JSON(event), sign)
	}
}

// Who has won a vote stays, although the ranking of it stands in a turn.
func TestWhoHasWonAVoteStays(t *testing.T) {
	engine := flows.Engine(&store.Memory{}, nil)
	config := flows.Deliberation("v")
	config.Synthesis = deliberation.SynthesisVoting
	config.Agents = append(config.Agents, deliberation.Agent{ID: "zora", Model: "test/agent"})
	before := stage.Run(t, engine, config)
	fact, err := engine.Redact(t.Context(), "v", flow.Redaction{Texts: []string{"zora"}})
	require.NoError(t, err)
	assert.NotEmpty(t, fact.Kept)
	after, err := engine.Record(t.Context(), "v")
	require.NoError(t, err)
	was, _ := deliberation.Of(before)
	is, _ := deliberation.Of(after)
	_, want := was.Votes()
	_, got := is.Votes()
	require.NotEmpty(t, want)
	assert.Equal(t, want, got)
}
