package debate_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
)

// The short names of this package for what nearly each of its tests needs.
var (
	twoDebaters, engineFor, inFlow           = stage.TwoDebaters, stage.Engine, stage.InFlow
	script, speech, judgement, verdict       = stage.Script, stage.Speech, stage.Judgement, stage.Verdict
	slowly, pass, toJSON, lastCut, callRound = stage.Slowly, stage.Pass, stage.JSON, stage.CutAttempt, stage.CallRound
	view, canonical, undisturbed             = stage.View, stage.Canonical, stage.Undisturbed
	readBodies, shownEvent, throughJSON      = stage.ReadBodies, stage.Shown, stage.ThroughJSON
	placed                                   = stage.Placed
	startConfig, startFormat, projected      = stage.StartConfig, stage.StartFormat, stage.Project
	fewer                                    = longform.Fewer()
)

type providerFunc = stage.ProviderFunc

// as returns the body of an event if it is a T, else nil.
func as[T any](e debate.Event) *T { return body.As[T](e) }

// run plays a debate to its end.
func run(t *testing.T, engine *debate.Engine, config flow.Config) *debate.Record {
	t.Helper()
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	record, err := session.Wait(t.Context())
	require.NoError(t, err)
	return record
}

// speakers yields who spoke, in order, as "r1 Ada".
func speakers(r *debate.Record) []string {
	var out []string
	for _, turn := range r.Turns {
		out = append(out, fmt.Sprintf("r%d %s", turn.Round, turn.Speaker))
	}
	return slices.Clip(out)
}
