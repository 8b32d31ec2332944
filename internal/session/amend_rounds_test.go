package session_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// extended plays a debate whose number of rounds is amended in its first round, and returns its requests by call.
func extended(t *testing.T, from, to int) (*debate.Record, map[string]provider.Request) {
	t.Helper()
	config := stage.TwoDebaters()
	config.Format, config.Rounds = format.StructuredRounds, from
	engine, p := stage.Engine(config)
	p.Record = true
	stage.Abiding(p)
	stage.Slowly(p)
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	stage.Pass(500 * time.Millisecond) // Ada is speaking
	require.NoError(t, session.Control(t.Context(), flow.Amendment{Rounds: &to}))
	record := stage.Ended(t, session)
	requests := make(map[string]provider.Request)
	for _, req := range p.Requests() {
		_, id, _ := strings.Cut(req.ID, "/")
		id, _, _ = strings.Cut(id, "/")
		requests[id] = req
	}
	return record, requests
}

// The line of a prompt that names the round, and the phases, follow the number of rounds in force. No system prompt names a number.
func TestPromptsTellTheNumberOfRoundsInForce(t *testing.T) {
	for name, tc := range map[string]struct {
		from, to int
		says     map[string]string // by call
	}{
		"more": {3, 5, map[string]string{
			"r1.opening.Ben": "Round 1 of 5.", "r3.rebuttal.Ada": "Round 3 of 5.",
			"r5.closing.Ben": "Round 5 of 5.\n\nClose: ", "r3.assessment.judge": "Assess round 3 of 5",
			"verdict.judge": "The discussion is over after round 5 of 5.",
		}},
		"fewer": {5, 2, map[string]string{
			"r2.closing.Ada": "Round 2 of 2.\n\nClose: ", "verdict.judge": "The discussion is over after round 2 of 2.",
		}},
		"more than one": {1, 3, map[string]string{
			"r1.opening.Ben": "Round 1 of 3.\n\nOpen: ", "r3.closing.Ada": "Round 3 of 3.\n\nClose: ",
		}},
		"one": {3, 1, map[string]string{"verdict.judge": "The discussion is over after round 1 of 1."}},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			record, requests := extended(t, tc.from, tc.to)
			assert.Equal(t, tc.to, record.Round)
			for call, line := range tc.says {
				require.Contains(t, requests, call)
				assert.Contains(t, requests[call].Last.Text, line, call)
			}
			for call, req := range requests {
				assert.NotContains(t, req.Last.Text, "has been changed", call) // no system prompt tells another number
				if tc.to > 1 && call != "r1.opening.Ada" {                     // asked before
					assert.NotContains(t, req.Last.Text, "This is your only turn", call)
				}
			}
		}))
	}
}

// The JSON of a record has the settings in force.
func TestTheJSONOfARecordHasTheSettingsInForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		record, _ := extended(t, 3, 5)
		data, err := json.Marshal(stage.View(record))
		require.NoError(t, err)
		var read struct{ Settings flow.Settings }
		require.NoError(t, json.Unmarshal(data, &read))
		assert.Equal(t, 5, read.Settings.Rounds)
		assert.Equal(t, record.Settings(), &read.Settings)
	})
}

// A round keeps the phase in which it began. Those to come follow the number of rounds in force.
func TestRoundsKeepTheirPhases(t *testing.T) {
	config := stage.TwoDebaters()
	config.Format, config.Rounds = format.StructuredRounds, 2
	gone := &stage.Outage{}
	engine, session, _ := stage.Stranded(t, config, func(p *scripted.Provider) {
		gone = stage.Befall(p, provider.KindRefusal, func(req *provider.Request) bool { return strings.Contains(req.ID, "/r2.") })
	})
	require.NoError(t, session.Control(t.Context(), flow.Amendment{Rounds: new(4)}))
	gone.Over.Store(true)
	require.NoError(t, session.Retry(t.Context()))
	d := stage.View(resumed(t, engine, session))
	var phases []string
	for round := 1; round <= 4; round++ {
		phases = append(phases, d.Phase(round))
		assert.Equal(t, flow.CallKind(d.Phase(round)), d.RoundTurns(round)[0].Kind)
	}
	assert.Equal(t, []string{"opening", "closing", "rebuttal", "closing"}, phases, "the second was the last when it began")
}
