package deliberation_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
)

// filed is a config whose first agent and judge have prompts in files.
func filed(t *testing.T) (config deliberation.Config, files []string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"ada.md": "You are a cook.\n", "judge.md": "You judge pies."} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	config = three()
	config.Agents[0].PromptFile, config.Judge.PromptFile = filepath.Join(dir, "ada.md"), filepath.Join(dir, "judge.md")
	return config, []string{config.Agents[0].PromptFile, config.Judge.PromptFile}
}

// TestANormalizedConfigDependsOnNoFile: what was read at the start stays, in the log and wherever it is started again.
func TestANormalizedConfigDependsOnNoFile(t *testing.T) {
	config, files := filed(t)
	config.ID = "filed"
	engine, _ := engineFor(nil)
	engine.Store = &store.Memory{}
	play(t, engine, config)
	for _, file := range files {
		require.NoError(t, os.Remove(file))
	}
	_, err := engine.Start(t.Context(), config)
	assert.Equal(t, []string{"agents[0].promptFile", "judge.promptFile"}, fields(t, err))

	other, _ := engineFor(nil) // another process
	other.Store = engine.Store
	r := stage.StoredRecord(t, other, "filed")
	stored := view(r).Config()
	assert.Empty(t, stored.Agents[0].PromptFile)
	assert.Equal(t, "You are a cook.", stored.Agents[0].Prompt)
	again := view(play(t, other, *stored))
	assert.NotEqual(t, "filed", again.ID)
	assert.Equal(t, view(r).Prompts(), again.Prompts())
	assert.Equal(t, files[0], again.Prompts()[0].Source)
	assert.Equal(t, files[1], again.Prompts()[3].Source)
}

// TestAFork may change what agents are told, and the record says that it is no file's text any more. Who takes part it
// may not change.
func TestAFork(t *testing.T) {
	config, files := filed(t)
	engine, p := engineFor(nil)
	r := play(t, engine, config)
	seq := int64(0)
	for _, e := range events(t, engine, r.ID) {
		if to := body.As[flow.Transition](e); to != nil && to.To == deliberation.StatePlanningRound && seq == 0 {
			seq = e.Seq
		}
	}
	session, err := engine.Fork(t.Context(), r.ID, seq, debate.Editing(func(c *deliberation.Config) {
		c.Agents[0].Prompt, c.Agents[1].Role, c.Agents[2].Model = "You are a poet.", deliberation.RoleSecurity, "test/second"
	}))
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	forked := stage.Ended(t, session)
	got := view(forked).Prompts()
	assert.Equal(t, []string{"You are a poet.", deliberation.SourceConfig}, []string{got[0].Text, got[0].Source})
	assert.Equal(t, []string{deliberation.RoleSecurity, deliberation.SourceBuiltIn}, []string{got[1].Role, got[1].Source})
	assert.Equal(t, files[1], got[3].Source, "the judge's is what it was")
	requests := p.Requests()
	assert.Contains(t, requests[len(requests)-1].System, "You judge pies.")

	for field, edit := range map[string]func(*deliberation.Config){
		"agents[1].id": func(c *deliberation.Config) { c.Agents[1].ID = "eve" },
		"agents":       func(c *deliberation.Config) { c.Agents[1].Disabled = true },
		"proposals":    func(c *deliberation.Config) { c.Proposals = deliberation.ProposalsFresh },
	} {
		_, err := engine.Fork(t.Context(), r.ID, seq, debate.Editing(edit))
		assert.Equal(t, []string{field}, fields(t, err))
	}
}

// TestAFlowOfAnotherName: a host may have the flow twice, with a node and without.
func TestAFlowOfAnotherName(t *testing.T) {
	checked := deliberation.Flow()
	checked.Name = "checked"
	require.NoError(t, deliberation.Insert(checked, deliberation.StateCritiquing, checking()))
	engine, _ := engineFor(nil)
	engine.Flows["checked"] = checked
	plain := play(t, engine, three())
	assert.Equal(t, deliberation.FlowName, plain.Flow())
	session := stage.Started(t, engine, flow.Named("checked", three()))
	r := stage.Ended(t, session)
	assert.Equal(t, "checked", r.Flow())
	assert.Len(t, view(r).Contributions(), len(view(plain).Contributions())+2*3)
}
