package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

func TestStateRests(t *testing.T) {
	for state, want := range map[debate.State]bool{
		"":                     true,
		flow.StateConfiguring:  true,
		flow.StateValidating:   true,
		flow.StateReady:        true,
		flow.StateInitializing: false,
		flow.StateRunning:      false,

		debate.StateAwaitingResponses: false,
		debate.StateJudging:           false,
		debate.StateRoundComplete:     false,
		"of a flow's own":             false,

		flow.StateCompleting:    false,
		flow.StatePaused:        true,
		flow.StateAwaitingInput: true,
		flow.StateCompleted:     true,
		flow.StateCanceled:      true,
		flow.StateError:         true,
	} {
		assert.Equal(t, want, state.Idle(), "%q", state)
	}
}

func TestInfoNote(t *testing.T) {
	at := func(n int64) time.Time { return time.Unix(n, 7).UTC() }
	config := debate.Config{Topic: "topic", Labels: map[string]string{"tenant": "blue"}}
	labels := map[string]string{"tenant": "blue"}
	info := debate.Info{ID: "a", Owner: "me"}
	for _, step := range []struct {
		event debate.Event
		want  debate.Info
	}{
		{
			debate.Event{Body: &flow.Start{Config: flow.Value{Go: &config}, Settings: config.Settings()}},
			debate.Info{ID: "a", Owner: "me", Topic: "topic", Labels: labels, StartedAt: at(1), Seq: 1, LastAt: at(1)},
		},
		{
			debate.Event{Body: &flow.Transition{From: flow.StateReady, To: flow.StateInitializing}},
			debate.Info{ID: "a", Owner: "me", State: flow.StateInitializing, Topic: "topic", Labels: labels, StartedAt: at(1), Seq: 2, LastAt: at(2), Since: at(2)},
		},
		{
			debate.Event{Body: &flow.Round{N: 3, Of: 5}},
			debate.Info{ID: "a", Owner: "me", State: flow.StateInitializing, Topic: "topic", Labels: labels, Round: 3, StartedAt: at(1), Seq: 3, LastAt: at(3), Since: at(2)},
		},
		{
			debate.Event{Body: &debate.Turn{Round: 4, Text: "text"}},
			debate.Info{ID: "a", Owner: "me", State: flow.StateInitializing, Topic: "topic", Labels: labels, Round: 3, StartedAt: at(1), Seq: 4, LastAt: at(4), Since: at(2)},
		},
	} {
		step.event.Seq, step.event.At = step.want.Seq, step.want.LastAt
		info.Add(&step.event)
		assert.Equal(t, step.want, info)
	}
	info.Labels["tenant"] = "spoiled"
	assert.Equal(t, labels, config.Labels, "an Info shares nothing with the debate")
	info.Add(&debate.Event{Seq: 5, At: at(5), Body: &flow.Start{}}) // of no config
	assert.Equal(t, debate.Info{ID: "a", Owner: "me", State: flow.StateInitializing, Round: 3, StartedAt: at(5), Seq: 5, LastAt: at(5), Since: at(2)}, info)
}

func TestCheckID(t *testing.T) {
	for _, id := range []string{
		"a", "A", "0", "-", "_", "a.b", "a..b", "-rf", "__proto__", "019a1b2c-3d4e-7f60-8a9b-0c1d2e3f4a5b", strings.Repeat("n", 128),
		"console", "com", "com10", "comx", "lpt", "a.con", "aux-", "null", "nulls.txt",
	} {
		assert.NoError(t, store.CheckID(id), "%q", id)
	}
	for _, id := range []string{
		"", ".", "..", ".a", "a.", "../x", "x/y", "/x", "a\\b", "C:x", "a b", " a", "a\x00", "a\n", "a*", "a?", "a%b", "a'b", "a\"b", "~", "$a", "é", "Ａ",
		"🙂", "\xff", strings.Repeat("n", 129),
		"con", "CON", "Con.txt", "prn", "aux.a.b", "nul", "com0", "com1", "COM9.log", "lpt1", "LPT9",
	} {
		err := store.CheckID(id)
		invalid, ok := errors.AsType[*debate.Error](err)
		if assert.True(t, ok, "%q: %v", id, err) {
			assert.Equal(t, provider.KindValidation, invalid.Kind)
			assert.Equal(t, "id", invalid.Field)
			assert.NotContains(t, err.Error(), "\n")
		}
	}
}
