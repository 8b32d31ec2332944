package cassette_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"      //nolint:depguard // what is shown here is that a whole debate is replayed
	"github.com/agonist-dev/debate/flow" //nolint:depguard // see above
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cassette"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A fallback was asked without what its row says that it lacks. The debate can be replayed.
func TestADebateWhoseFallbackLacksOptionsIsReplayed(t *testing.T) {
	v := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		if req.Model == "big" {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindValidation, Status: 400, Message: "no"}}
		}
		return scripted.Reply{Text: "Speech of " + req.Self}
	}}
	file := t.TempDir() + "/tape.json"
	play := func(options cassette.Options, p provider.Provider) *flow.Record {
		tape := open(t, file, options)
		row := debate.Model{Window: 1 << 20, MaxOutput: 1 << 16}
		plain := row
		plain.Unsupported = []provider.Ability{provider.AbilityEffort, provider.AbilitySeed, provider.AbilityTemperature}
		e := &debate.Engine{
			Providers: map[string]debate.Provider{"own": tape.Wrap("own", p)}, Models: map[string]debate.Model{"own/big": row, "own/small": plain},
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
