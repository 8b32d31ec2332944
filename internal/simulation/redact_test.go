package simulation_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// textIn draws a text that stands somewhere in a log: all of a string, or some words of it.
func textIn(dice *rand.Rand, log []flow.Event) string {
	var all []string
	var gather func(v any)
	gather = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, inner := range v {
				gather(inner)
			}
		case []any:
			for _, inner := range v {
				gather(inner)
			}
		case string:
			all = append(all, v)
		}
	}
	data, err := json.Marshal(log[dice.IntN(len(log))])
	var event struct {
		Body any `json:"body"`
	}
	if err != nil || json.Unmarshal(data, &event) != nil {
		return ""
	}
	gather(event.Body)
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
	for seed := range redactionRuns() {
		dice := rand.New(rand.NewPCG(seed, 17))
		config, reply := hostileConfig(dice)
		h, err := beginHostile(t.Context(), engine, dice, config, reply)
		require.NoError(t, err, "seed %d", seed)
		h.play(5 + dice.IntN(60))
		require.NoError(t, kept.Delete(t.Context(), "hostile"))
		require.NoError(t, kept.Append(t.Context(), "hostile", 0, "w", h.log), "seed %d", seed)
		text := textIn(dice, h.log)
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
			quoted, err := json.Marshal(text)
			require.NoError(t, err)
			left := strings.Contains(string(asJSON(t, log)), strings.Trim(string(quoted), `"`))
			assert.False(t, left, "seed %d: %q is left", seed, text)
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

func asJSON(t *testing.T, log []flow.Event) []byte {
	t.Helper()
	data, err := json.Marshal(log)
	require.NoError(t, err)
	return data
}
