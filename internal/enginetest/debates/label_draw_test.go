package debates_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// labelOf yields which label each of a debate's participants bears, as "Ada=Speaker B …".
func labelOf(r *debate.Record, names ...string) string {
	labels := labelsOf(r, names...)
	for i := range labels {
		labels[i] = names[i] + "=" + labels[i]
	}
	return strings.Join(labels, " ")
}

func TestLabelsAreDrawn(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	config, engine, _ := masked("Well.", "Ada", "Ben", "Cyd")
	config.Judging.When = debate.AtEnd
	drawn, seen := 0, map[string]int{}
	engine.Seed = func() string { drawn++; return fmt.Sprint("seed ", drawn) }
	for range 200 {
		seen[labelOf(stage.Run(t, engine, config), "Ada", "Ben", "Cyd")]++
	}
	assert.Len(t, seen, 6, "each assignment comes up: %v", seen)
	for labels, n := range seen {
		assert.Greater(t, n, 10, "%s: about 33 of 200 are expected", labels)
	}
}

// The same seed gives the same labels and orders, in any process and whoever answers.
func TestLabelsAndOrdersOutliveTheProcess(t *testing.T) {
	t.Parallel()
	names := []string{"Ada", "Ben", "Cyd"}
	for range 10 {
		config, engine, source := masked("Well.", names...)
		config.Rounds = 2
		config.Judging.Judges = []debate.JudgeConfig{{Model: "test/judge"}, {Model: "test/judge"}}
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		stage.Ended(t, session)
		whole := judged(source)

		var cut []byte // up to the end of the first round
		var all struct {
			Version int               `json:"version"`
			ID      string            `json:"id"`
			Events  []json.RawMessage `json:"events"`
		}
		data, err := session.Snapshot(t.Context())
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &all))
		for i, event := range all.Events {
			var head debate.Event
			require.NoError(t, json.Unmarshal(event, &head))
			if head.Kind() == debate.EventAssessment {
				all.Events = all.Events[:i+1]
				break
			}
		}
		cut, err = json.Marshal(all)
		require.NoError(t, err)

		_, other, again := masked("Well.", names...)
		restored, err := stage.Restore(t.Context(), other, cut)
		require.NoError(t, err)
		stage.Ended(t, restored)
		requests := judged(again)
		require.NotEmpty(t, requests)
		assert.Less(t, len(requests), len(whole))
		for _, req := range requests {
			at := slices.IndexFunc(whole, func(w provider.Request) bool { return stage.CallOf(&w) == stage.CallOf(&req) })
			require.GreaterOrEqual(t, at, 0, req.ID)
			assert.Equal(t, stage.ReadBy(&whole[at]), stage.ReadBy(&req), "%s is asked as before, word for word", req.ID)
		}
		require.NoError(t, restored.Close())
		require.NoError(t, session.Close())
	}
}
