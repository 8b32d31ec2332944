package log_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// Of how long something may take nothing is removed, whether the start or a later event says so. The error names the setting.
func TestATextThatStandsInASettingIsNotRemoved(t *testing.T) {
	config := stage.TwoDebaters()
	config.TurnTimeout = 77 * time.Second
	stage.InCompany(t, config, func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		s := join().Begun()
		engine := &debate.Engine{Store: c.Store} // another process, whose store can rewrite logs
		require.NoError(t, s.Control(t.Context(), flow.Amendment{RoundTimeout: new(flow.Duration(99 * time.Minute))}))
		stage.Ended(t, s)
		before := c.Log(s.ID())
		for part, setting := range map[string]string{"1m17s": "turnTimeout", "1h39": "roundTimeout"} {
			_, err := engine.Redact(t.Context(), s.ID(), flow.Redaction{Texts: []string{part}})
			stage.RequireKind(t, err, provider.KindValidation)
			require.ErrorContains(t, err, "debate: validation: redact: texts: stand only where the log needs them, as numbers or as names: event ")
			require.ErrorContains(t, err, setting)
			assert.NotContains(t, err.Error(), part)
		}
		assert.Equal(t, before, c.Log(s.ID()))
	})
}

// Of a flow of a host program's own, a text without which the config cannot be read is not removed.
func TestATextWithoutWhichAConfigCannotBeReadStays(t *testing.T) {
	f := stage.Interview()
	decode := f.Decode
	f.Decode = func(data []byte) (flow.Config, error) {
		if string(data) != "{}" && !bytes.Contains(data, []byte("a high one")) {
			return nil, errors.New("it names no level")
		}
		return decode(data)
	}
	engine, _, config := stage.WithFlow(f)
	engine.Store, config.ID, config.Participants[0].Persona = &store.Memory{}, "d", "a high one"
	session, err := engine.Start(t.Context(), flow.Named("interview", config))
	require.NoError(t, err)
	_, err = session.WaitIdle(t.Context())
	require.ErrorIs(t, err, debate.ErrAwaitingInput)
	require.NoError(t, session.Close())
	before := stage.Logged(t, engine, "d")
	_, err = engine.Redact(t.Context(), "d", flow.Redaction{Texts: []string{"high"}})
	stage.RequireKind(t, err, provider.KindValidation)
	require.ErrorContains(t, err, "cannot be removed, since one of them stands in a setting, too: ")
	require.ErrorContains(t, err, "it names no level. Name a longer text")
	assert.Equal(t, before, stage.Logged(t, engine, "d"))
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
	after := stage.StoredRecord(t, engine, "v")
	was, _ := deliberation.Of(before)
	is, _ := deliberation.Of(after)
	_, want := was.Votes()
	_, got := is.Votes()
	require.NotEmpty(t, want)
	assert.Equal(t, want, got)
}

// A label is compared as it stands in the log: once its value is redacted, the replacement selects the debate.
func TestARedactedLabelSelectsNoMore(t *testing.T) {
	config := stage.TwoDebaters()
	config.Labels = map[string]string{"tenant": "Zora Quill"}
	engine, _ := stage.Engine(config)
	engine.Store = &store.Memory{}
	id, err := engine.Submit(t.Context(), config)
	require.NoError(t, err)
	selected := func(tenant string) (ids []string) {
		for gone, err := range engine.Prune(t.Context(), store.Retention{
			Before: time.Now().Add(time.Hour), Unfinished: true, DryRun: true, Labels: map[string]string{"tenant": tenant},
		}) {
			require.NoError(t, err)
			ids = append(ids, gone.ID)
		}
		return ids
	}
	assert.Equal(t, []string{id}, selected("Zora Quill"))
	_, err = engine.Redact(t.Context(), id, flow.Redaction{Texts: []string{"Zora Quill"}})
	require.NoError(t, err)
	assert.Empty(t, selected("Zora Quill"))
	assert.Equal(t, []string{id}, selected("[redacted]"))
}
