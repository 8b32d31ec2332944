package log_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
)

// The edit decides whether a fork asks people, unless no config has said that nobody is asked: then it was Engine.Run.
func TestAnEditLetsAForkAskPeople(t *testing.T) {
	attended := debate.Editing(func(c *debate.Config) { c.Unattended = false })
	for name, tc := range map[string]struct {
		config, run bool
		edit        func(flow.Config) flow.Config
		want        bool
	}{
		"of an unattended one":               {config: true, want: true},
		"of an unattended one, with an edit": {config: true, edit: attended},
		"of an attended one":                 {},
		"of one of Run":                      {run: true, want: true},
		"of one of Run, with an edit":        {run: true, edit: attended, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.ID, config.Unattended = "original", tc.config
			engine, _ := stage.Engine(config)
			if tc.run {
				for _, err := range engine.Run(t.Context(), config) {
					require.NoError(t, err)
				}
			} else {
				session, err := engine.Start(t.Context(), config)
				require.NoError(t, err)
				stage.Ended(t, session)
			}
			for _, seq := range []int64{0, 3} {
				fork, err := engine.Fork(t.Context(), "original", seq, tc.edit)
				require.NoError(t, err)
				record := stage.Ended(t, fork)
				assert.Equal(t, tc.want, record.Settings().Unattended, "at %d", seq)
			}
		})
	}
}
