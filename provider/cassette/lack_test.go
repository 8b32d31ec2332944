package cassette_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"      //nolint:depguard // what is shown here is that a whole debate is replayed
	"github.com/agonist-dev/debate/flow" //nolint:depguard // see above
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cassette"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A fallback was asked without what it lacks, as its provider has said, and without what the adapter could not write. The debate
// can be replayed.
func TestADebateWhoseFallbackLacksOptionsIsReplayed(t *testing.T) {
	v := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		if req.Model == "big" {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindValidation, Status: 400, Message: "no"}}
		}
		return scripted.Reply{Text: "Speech of " + req.Self}
	}}
	v.OnAbilities = func(_ context.Context, model string) (provider.Abilities, error) {
		return provider.Abilities{provider.AbilityEffort: model == "big", provider.AbilityTemperature: model == "big"}, nil
	}
	v.OnVet = func(req *provider.Request) error {
		if req.Model == "small" && req.Options != nil && req.Options.Seed != nil {
			return &provider.Error{Kind: provider.KindValidation, Code: "seed", NotSent: true, Message: "there is no seed"}
		}
		return nil
	}
	file := t.TempDir() + "/tape.json"
	play := func(options cassette.Options, p provider.Provider) *flow.Record {
		tape := open(t, file, options)
		row := debate.Model{Window: 1 << 20, MaxOutput: 1 << 16}
		e := &debate.Engine{
			Providers: map[string]debate.Provider{"own": tape.Wrap("own", p)}, Models: map[string]debate.Model{"own/big": row, "own/small": row},
			Seed: func() string { return "of this test alone" },
		}
		s, err := e.Start(t.Context(), debate.Config{
			ID: "d", Topic: "t", Rounds: 1, Format: "structured-rounds", Unattended: true, Participants: []debate.Participant{
				{
					Name: "Ada", Model: "own/big", Fallbacks: []string{"own/small"}, Temperature: new(0.3),
					Options: &provider.Options{Effort: provider.EffortHigh, Seed: new(int64(7)), Verbosity: provider.VerbosityLow},
				},
				{Name: "Ben", Model: "own/small"},
			},
		})
		require.NoError(t, err)
		r, err := s.Wait(t.Context())
		require.NoError(t, err)
		require.NoError(t, tape.Close())
		return r
	}
	recorded := play(cassette.Options{Mode: cassette.Record}, v)
	assert.Equal(t, []flow.LeftOut{{Model: "own/small", What: []string{"effort", "seed", "temperature"}}}, recorded.LeftOut())
	replayed := play(cassette.Options{}, nil)
	assert.Equal(t, recorded.State, replayed.State)
	assert.Equal(t, recorded.LeftOut(), replayed.LeftOut())
}

// What was recorded of a model counts in a replay. A file with other values is refused.
func TestAbilitiesAreRecorded(t *testing.T) {
	v := &scripted.Provider{OnAbilities: func(_ context.Context, model string) (provider.Abilities, error) {
		if model == "down" {
			return nil, &provider.Error{Kind: provider.KindNetwork}
		}
		return provider.Abilities{provider.AbilityImage: false, provider.AbilityTools: true}, nil
	}}
	tape, file := recording(t, cassette.Options{})
	p := tape.Wrap("v", v)
	for range 2 {
		has, err := p.(provider.Able).Abilities(t.Context(), "m")
		require.NoError(t, err)
		assert.Equal(t, provider.Abilities{provider.AbilityImage: false, provider.AbilityTools: true}, has)
	}
	_, err := p.(provider.Able).Abilities(t.Context(), "down")
	require.Error(t, err)
	require.NoError(t, tape.Close())

	p = open(t, file, cassette.Options{}).Wrap("v", nil)
	has, err := p.(provider.Able).Abilities(t.Context(), "m")
	require.NoError(t, err)
	assert.Equal(t, provider.Abilities{provider.AbilityImage: false, provider.AbilityTools: true}, has)
	for _, model := range []string{"down", "other"} {
		has, err = p.(provider.Able).Abilities(t.Context(), model)
		require.NoError(t, err)
		assert.Empty(t, has, "nothing is known")
	}
	for from, to := range map[string]string{`"image": false`: `"image": 1`, `"abilities"`: `"able"`, `"tools": true`: `"tools": null`} {
		spoiled := strings.Replace(contents(t, file), from, to, 1)
		require.NotEqual(t, contents(t, file), spoiled)
		other := t.TempDir() + "/tape.json"
		require.NoError(t, os.WriteFile(other, []byte(spoiled), 0o600))
		_, err := cassette.Open(other, cassette.Options{})
		require.Error(t, err, to)
	}
}
