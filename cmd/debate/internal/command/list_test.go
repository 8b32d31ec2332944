package command_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store/file"
)

// TestTheListKnowsWhatWasSpentUntilNow: the store knows only what had been spent when the state changed last.
func TestTheListKnowsWhatWasSpentUntilNow(t *testing.T) {
	place := filepath.Join(t.TempDir(), "kept") + "/"
	kept, err := file.Open(place)
	require.NoError(t, err)
	engine := &debate.Engine{
		Store: kept, Models: map[string]debate.Model{"demo/script": {Window: 1_000_000, Priced: true, Output: debate.USD / 100}},
		Providers: map[string]debate.Provider{"demo": &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
			if req.Self == "Ben" {
				return scripted.Reply{Text: "No.", Delay: time.Hour}
			}
			return scripted.Reply{Text: "Yes."}
		}}},
	}
	session, err := engine.Start(t.Context(), debate.Config{Topic: "Tabs", Rounds: 1, Participants: []debate.Participant{
		{Name: "Ada", Model: "demo/script"}, {Name: "Ben", Model: "demo/script"},
	}})
	require.NoError(t, err)
	for event, err := range session.Events(t.Context(), 0) {
		require.NoError(t, err)
		if event.Kind() == flow.EventTurn {
			break
		}
	}
	require.NoError(t, session.Close())
	record, err := engine.Record(t.Context(), session.ID())
	require.NoError(t, err)
	spent := record.Spent().Cost
	require.Positive(t, spent)
	require.NoError(t, kept.Close())

	got := run(t, place, "list", "--json")
	require.Zero(t, got.code, got.err)
	var listed []struct {
		Spent flow.Money `json:"spent"`
	}
	require.NoError(t, json.Unmarshal([]byte(got.out), &listed))
	require.Len(t, listed, 1)
	assert.Equal(t, spent, listed[0].Spent)
	assert.Contains(t, run(t, place, "list").out, " "+strings.TrimSpace(spent.String())+" ")
}
