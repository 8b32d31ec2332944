package simulation_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// textsOf returns the strings in the body of an event, in the order of their keys.
func textsOf(t *testing.T, event *flow.Event) (all []string) {
	t.Helper()
	var gather func(v any)
	gather = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				gather(v[key])
			}
		case []any:
			for _, inner := range v {
				gather(inner)
			}
		case string:
			all = append(all, v)
		}
	}
	data, err := json.Marshal(event)
	require.NoError(t, err)
	var read struct {
		Body any `json:"body"`
	}
	require.NoError(t, json.Unmarshal(data, &read))
	gather(read.Body)
	return all
}

// textIn draws a text that stands somewhere in a log: all of a string, or some words of it.
func textIn(t *testing.T, dice *rand.Rand, log []flow.Event) string {
	t.Helper()
	all := textsOf(t, &log[dice.IntN(len(log))])
	if len(all) == 0 {
		return ""
	}
	text := all[dice.IntN(len(all))]
	if words := strings.Fields(text); len(words) > 2 && dice.IntN(2) == 0 {
		from := dice.IntN(len(words) - 1)
		text = strings.Join(words[from:from+1+dice.IntN(len(words)-from-1)], " ")
	}
	return text
}

// TestRedactions removes random texts, names among them, from the logs of random debates and deliberations that failures have
// disturbed. What is removed stands there no more, and the conversation goes on; what is refused has changed nothing.
func TestRedactions(t *testing.T) {
	engine := hostileEngine()
	kept := &store.Memory{}
	engine.Store = kept
	removed, names, refused, places := 0, 0, 0, 0
	for seed := range longform.Sized[uint64](1_000, 80, 60) {
		dice := rand.New(rand.NewPCG(seed, 17))
		cryptotest.SetGlobalRandom(t, seed) // the seed of the conversation
		config, reply := hostileConfig(dice)
		h, err := beginHostile(t.Context(), engine, dice, config, reply)
		require.NoError(t, err, "seed %d", seed)
		h.play(5 + dice.IntN(60))
		require.NoError(t, kept.Delete(t.Context(), "hostile"))
		require.NoError(t, kept.Append(t.Context(), "hostile", 0, "w", h.log), "seed %d", seed)
		text := textIn(t, dice, h.log)
		if text == "" {
			continue
		}
		fact, err := engine.Redact(t.Context(), "hostile", flow.Redaction{Texts: []string{text}, With: "(removed)"})
		var log []flow.Event
		for event, err := range kept.Read(t.Context(), "hostile", 0) {
			require.NoError(t, err)
			log = append(log, event)
		}
		if err != nil {
			refused++
			var failure *flow.Error
			require.ErrorAs(t, err, &failure, "seed %d: %q", seed, text)
			require.Equal(t, provider.KindValidation, failure.Kind, "seed %d: %q: %v", seed, text, err)
			require.True(t, bytes.Equal(asJSON(t, h.log), asJSON(t, log)), "seed %d: a refusal has changed the log", seed)
			if strings.Contains(err.Error(), "names") {
				names++
			}
			continue
		}
		removed++
		require.Len(t, log, len(h.log)+1)
		for _, one := range fact.Texts {
			places += one.Count
		}
		if len(fact.Kept) == 0 {
			checkRemoved(t, seed, log[:len(h.log)], text)
		}
		again := &hostile{dice: dice, reply: reply, now: h.now}
		again.core, err = engine.NewCore("hostile", log)
		require.NoError(t, err, "seed %d: %q", seed, text)
		require.Equal(t, h.core.Record().Spent(), again.core.Record().Spent())
		again.resume()
		again.play(60)
		require.NoError(t, again.core.Err(), "seed %d: %q", seed, text)
	}
	t.Logf("removed %d texts at %d places; refused %d, of these %d that stand only as names", removed, places, refused, names)
	assert.Greater(t, removed, refused/2)
}

// checkRemoved checks that a text stands in no body, neither as it is nor as it is written in JSON. The times at which the events
// were recorded stay, though digits of a text may stand there.
func checkRemoved(t *testing.T, seed uint64, log []flow.Event, text string) {
	t.Helper()
	quoted, err := json.Marshal(text)
	require.NoError(t, err)
	for i := range log {
		for _, value := range textsOf(t, &log[i]) {
			assert.NotContains(t, value, text, "seed %d: event %d", seed, log[i].Seq)
			assert.NotContains(t, value, string(quoted[1:len(quoted)-1]), "seed %d: event %d", seed, log[i].Seq)
		}
	}
}

func asJSON(t *testing.T, log []flow.Event) []byte {
	t.Helper()
	data, err := json.Marshal(log)
	require.NoError(t, err)
	return data
}
