package simulation_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/deliberation/evaluation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// placed is a string in the body of an event, or a key, with the keys that lead to it.
type placed struct {
	path, text string
	key        bool
}

// textsOf returns the strings and the keys in the body of an event, in the order of their keys.
func textsOf(t *testing.T, event *flow.Event) (all []placed) {
	t.Helper()
	var gather func(path []string, v any)
	gather = func(path []string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				at := append(slices.Clone(path), key)
				all = append(all, placed{strings.Join(at, "."), key, true})
				gather(at, v[key])
			}
		case []any:
			for _, inner := range v {
				gather(path, inner)
			}
		case string:
			all = append(all, placed{strings.Join(path, "."), v, false})
		}
	}
	data, err := json.Marshal(event)
	require.NoError(t, err)
	var read struct {
		Body any `json:"body"`
	}
	require.NoError(t, json.Unmarshal(data, &read))
	gather(nil, read.Body)
	return all
}

// textIn draws a text that stands somewhere in a log: all of a string, or some words of it.
func textIn(t *testing.T, dice *rand.Rand, log []flow.Event) string {
	t.Helper()
	all := slices.DeleteFunc(textsOf(t, &log[dice.IntN(len(log))]), func(at placed) bool { return at.key })
	if len(all) == 0 {
		return ""
	}
	drawn := all[dice.IntN(len(all))].text
	if words := strings.Fields(drawn); len(words) > 2 && dice.IntN(2) == 0 {
		from := dice.IntN(len(words) - 1)
		drawn = strings.Join(words[from:from+1+dice.IntN(len(words)-from-1)], " ")
	}
	return drawn
}

// redactedConfig draws a conversation of any flow, and what models reply. In all of them there are texts of a user's.
func redactedConfig(dice *rand.Rand) (flow.Config, func(*provider.Request) scripted.Reply) {
	labels := map[string]string{"tenant": "the bank of the valley"}
	switch dice.IntN(4) {
	case 0:
		c := flows.Arbitration("hostile")
		c.Labels, c.Arbiter.Prompt, c.Agents[0].Prompt, c.Parallel = labels, "Be fair to the bank.", "You write for the bank.", 1+dice.IntN(2)
		return c, replyOf(flows.Provider(nil))
	case 1:
		c := evaluation.Config{
			Evaluators: []evaluation.Evaluator{{ID: "eva", Model: "test/judge", Prompt: "You audit banks."}, {ID: "leo", Model: "test/judge"}},
			Problem:    "Store short links.", Context: "The bank of the valley asks.", Solution: "A table.", Unattended: dice.IntN(2) == 0, Labels: labels,
		}
		return c, func(*provider.Request) scripted.Reply {
			mark := evaluation.Mark{Reasoning: "The bank gets a table.", Score: 5}
			return scripted.Reply{Text: stage.JSON(evaluation.Marks{
				FunctionalCompleteness: mark, PerformanceScalability: mark, Security: mark, MaintainabilityEvolvability: mark,
				RegulatoryCompliance: mark, Testability: mark, RequirementsFulfilment: mark, Overall: mark,
			})}
		}
	}
	config, reply := hostileConfig(dice)
	switch c := config.(type) {
	case deliberation.Config:
		c.Context, c.Labels, c.Agents[0].Name, c.Agents[0].Prompt = "The bank of the valley asks.", labels, "Ada of the bank", "You work for the bank."
		c.Judge.Prompt = "You decide for the bank."
		config = c
	case debate.Config:
		c.Participants[0].Persona, c.Participants[0].Metadata, c.Labels = "a clerk of the bank", labels, labels
		config = c
	}
	return config, reply
}

// replyOf returns what a provider replies.
func replyOf(p provider.Provider) func(*provider.Request) scripted.Reply {
	return func(req *provider.Request) scripted.Reply {
		response, err := p.Generate(context.Background(), req, func(provider.Chunk) {})
		if err != nil {
			return scripted.Reply{Err: err}
		}
		return scripted.Reply{Text: response.Text}
	}
}

// TestRedactions removes random texts, names among them, from the logs of random conversations of all flows that failures have
// disturbed. What is removed stands there no more, except where the fact says that it is an identifier, and the conversation goes on;
// what is refused has changed nothing.
func TestRedactions(t *testing.T) {
	host := hostileEngine()
	host.Flows[evaluation.FlowName], host.Flows[arbiter.FlowName] = evaluation.Flow(), arbiter.Flow()
	host.Models["test/m"] = host.Models["test/agent"]
	kept := &store.Memory{}
	host.Store = kept
	engine := kernel.Of(t, host)
	gone, left := make(map[string]bool), make(map[string]bool)
	removed, names, refused, places, full := 0, 0, 0, 0, 0
	for seed := range longform.Sized[uint64](1_000, 80, 60) {
		dice := rand.New(rand.NewPCG(seed, 17))
		cryptotest.SetGlobalRandom(t, seed) // the seed of the conversation
		config, reply := redactedConfig(dice)
		h, err := beginHostile(t.Context(), engine, dice, config, reply)
		require.NoError(t, err, "seed %d", seed)
		h.play(5 + dice.IntN(60))
		require.NoError(t, kept.Delete(t.Context(), "hostile"))
		require.NoError(t, kept.Append(t.Context(), "hostile", 0, "w", h.log), "seed %d", seed)
		part := textIn(t, dice, h.log)
		if part == "" {
			continue
		}
		fact, err := engine.Redact(t.Context(), "hostile", flow.Redaction{Texts: []string{part}, With: "(removed)"})
		var log []flow.Event
		for event, err := range kept.Read(t.Context(), "hostile", 0) {
			require.NoError(t, err)
			log = append(log, event)
		}
		if err != nil {
			refused++
			var failure *flow.Error
			require.ErrorAs(t, err, &failure, "seed %d: %q", seed, part)
			require.Equal(t, provider.KindValidation, failure.Kind, "seed %d: %q: %v", seed, part, err)
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
		if len(fact.Kept) == mostKept {
			full++ // it does not tell all places
		} else {
			checkRemoved(t, seed, log[:len(h.log)], part, fact)
		}
		for i := range h.log {
			was, is := placesOf(t, config.Flow(), &h.log[i], part), placesOf(t, config.Flow(), &log[i], part)
			maps.Copy(left, is)
			maps.DeleteFunc(was, func(place string, _ bool) bool { return is[place] })
			maps.Copy(gone, was)
		}
		again := &hostile{dice: dice, reply: reply, now: h.now}
		again.core, err = engine.NewCore("hostile", log)
		require.NoError(t, err, "seed %d: %q", seed, part)
		require.Equal(t, h.core.Record().Spent(), again.core.Record().Spent())
		again.resume()
		again.play(60)
		require.NoError(t, again.core.Err(), "seed %d: %q", seed, part)
	}
	t.Logf("removed %d texts at %d places, %d of which leave too many to tell; refused %d, of these %d that stand only as names",
		removed, places, full, refused, names)
	assert.Greater(t, removed, refused/2)
	for place := range left {
		assert.False(t, gone[place], "%s: a text was removed there, and another one was left", place)
	}
}

// placesOf returns the places in an event of a flow at which a text stands, each as the kind of the event and the keys that lead there.
// Hints are computed from the other fields of an error.
func placesOf(t *testing.T, of string, event *flow.Event, part string) map[string]bool {
	t.Helper()
	places := make(map[string]bool)
	for _, at := range textsOf(t, event) {
		if !at.key && !strings.HasSuffix(at.path, "failure.hint") && strings.Contains(at.text, part) {
			places[fmt.Sprintf("%s: %s: %s", of, event.Kind(), at.path)] = true
		}
	}
	return places
}

// mostKept is how many places a fact tells.
const mostKept = 20

// checkRemoved checks that a text stands in no string and no key of a body, neither as it is nor as it is written in JSON, except
// where the fact says so.
func checkRemoved(t *testing.T, seed uint64, log []flow.Event, removed string, fact *flow.Redacted) {
	t.Helper()
	quoted, err := json.Marshal(removed)
	require.NoError(t, err)
	for i := range log {
		for _, at := range textsOf(t, &log[i]) {
			left := strings.Contains(at.text, removed) || strings.Contains(at.text, string(quoted[1:len(quoted)-1]))
			if !left {
				continue
			}
			place := text.OneLine(strings.ReplaceAll(at.path, removed, fact.With), 80)
			kept := slices.Contains(fact.Kept, fmt.Sprintf("event %d: %s", log[i].Seq, place)) || slices.Contains(fact.Kept, fmt.Sprintf("event %d", log[i].Seq))
			assert.True(t, kept, "seed %d: event %d, %s: %q is left in %q", seed, log[i].Seq, at.path, removed, at.text)
		}
	}
}

func asJSON(t *testing.T, log []flow.Event) []byte {
	t.Helper()
	data, err := json.Marshal(log)
	require.NoError(t, err)
	return data
}
