package debate_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// full is a config with every field set.
func full() debate.Config {
	return debate.Config{
		ID: "a.b-c_1", Topic: "Ünïcode \"quoted\" <b>?", Format: "own", Language: "Français", Prompts: map[string]string{"turn": "{{.Round}}"},
		CustomFormat: &debate.Format{
			Name: "own", Guidance: "g", Stance: format.Open, Aim: format.ByTruth, MinParticipants: 2, MaxParticipants: 3, End: format.EndByRounds,
			Phases: []format.Phase{{Name: "p", First: 1, Last: -1, Instruction: "i"}},
		},
		Mode: debate.Simultaneous, Stance: format.Shared, Rounds: 7,
		Participants: []debate.Participant{{
			Name: "Ada", Side: debate.For, Stance: format.Critic, Position: "p", Persona: "q", Instructions: "r", Model: "a/b", Fallbacks: []string{"c/d"},
			Temperature: new(0.0), MaxTokens: 9, Options: &provider.Options{
				Effort: provider.EffortLow, TopP: new(0.5), Stop: []string{"END"}, Seed: new(int64(0)), ServiceTier: "flex",
				Verbosity: provider.VerbosityLow, Search: true, Reasoning: provider.ReasoningAsk, Header: map[string]string{"X-Team": "a"},
			},
		}},
		Judging: &debate.Judging{
			Judges: []debate.JudgeConfig{{
				Name: "J", Model: "a/j", Judge: "k", Fallbacks: []string{"e/f"}, Temperature: new(0.0), MaxTokens: 8,
				Options:      &provider.Options{Effort: provider.EffortHigh, Extra: map[string]json.RawMessage{"top_k": json.RawMessage("1")}},
				Instructions: "s",
			}},
			When: debate.AtEnd, Criteria: []string{"wit"}, Aim: format.ByTruth, Instructions: "t",
		},
		Audience: &debate.Audience{Members: []debate.Member{{Name: "V", Model: "a/v", Persona: "u", Instructions: "v"}}, Instructions: "w"},
		Budget:   &debate.Budget{Warn: 1, Confirm: true, Soft: debate.USD/4 + 1, Hard: math.MaxInt64},
		Context:  "truncate", Reserve: 1, MaxTokens: 2, Temperature: new(0.0),
		RoundTimeout: 90 * time.Second, TurnTimeout: time.Millisecond + 1, JudgeTimeout: math.MaxInt64,
		Retry: &debate.RetryPolicy{
			Max: map[debate.Kind]int{provider.KindNetwork: 0}, Base: time.Second, Cap: time.Minute, Jitter: 1, RateLimit: 2,
		},
		Labels: map[string]string{"tenant": "blue"},
	}
}

func TestAConfigReadsWhatItWrites(t *testing.T) {
	for name, config := range map[string]debate.Config{"full": full(), "two debaters": stage.TwoDebaters(), "zero": {}} {
		t.Run(name, func(t *testing.T) {
			data, err := json.Marshal(config)
			require.NoError(t, err)
			var read debate.Config
			require.NoError(t, json.Unmarshal(data, &read))
			assert.Equal(t, config, read)
		})
	}
	data, err := json.Marshal(full())
	require.NoError(t, err)
	for _, part := range []string{
		`"roundTimeout":"1m30s"`, `"soft":0.250000000001`, `"warn":0.000000000001`, `"hard":9223372.036854775807`, `"temperature":0`,
	} {
		assert.Contains(t, string(data), part)
	}
}

func TestConfigsThatDoNotRead(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"not JSON":                 {`topic: cars`, ""},
		"nothing":                  {``, ""},
		"a list":                   {`[]`, ""},
		"a misspelt key":           {`{"topic":"x","rouds":3}`, "rouds"},
		"a flow":                   {`{"topic":"x","flow":"debate"}`, "flow: is not a known key"},
		"a config for a flow":      {`{"topic":"x","flowConfig":{}}`, "flowConfig: is not a known key"},
		"a participant's":          {`{"participants":[{"name":"Ada","mdl":"a/b"}]}`, "mdl"},
		"a judge's":                {`{"judging":{"judges":[{"mdl":"a/b"}]}}`, "mdl"},
		"judging's":                {`{"judging":{"judge":[]}}`, "judge"},
		"a budget's":               {`{"budget":{"harsh":1}}`, "harsh"},
		"a format's":               {`{"customFormat":{"fases":[]}}`, "fases"},
		"a phase's":                {`{"customFormat":{"phases":[{"frist":1}]}}`, "frist"},
		"a retry policy's":         {`{"retry":{"bass":1}}`, "bass"},
		"more behind it":           {`{"topic":"x"} {}`, ""},
		"a duration as a number":   {`{"roundTimeout":90}`, ""},
		"no duration":              {`{"roundTimeout":"soon"}`, "soon"},
		"a duration without units": {`{"turnTimeout":"90"}`, "90"},
		"money with 13 decimals":   {`{"budget":{"hard":0.0000000000001}}`, ""},
		"money in words":           {`{"budget":{"hard":"ten"}}`, ""},
		"rounds as text":           {`{"rounds":"3"}`, "rounds"},
	} {
		t.Run(name, func(t *testing.T) {
			var config debate.Config
			err := config.UnmarshalJSON([]byte(c.text))
			stage.RequireKind(t, err, provider.KindValidation)
			assert.ErrorContains(t, err, c.says)
			assert.Equal(t, debate.Config{}, config, "nothing of it is taken")
			assert.Error(t, json.Unmarshal([]byte(c.text), &config))
		})
	}
}

// FuzzConfig: a config is read without panic, and what is read is written as it was. What is not read is refused by
// its fields, or as no JSON.
func FuzzConfig(f *testing.F) {
	for _, config := range []debate.Config{full(), stage.TwoDebaters(), {}} {
		data, err := json.Marshal(config)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, seed := range []string{
		`null`, `{"topic":1}`, `{"roundTimeout":"1h"}`, `{"budget":{"hard":1e-12}}`, `{"temperature":-0}`, `{"x":1}`, `{} {}`,
		`{"budget":{"hrad":1}}`, `{"retry":{"max":{"network":"x"}}}`, `{"participants":[{"name":1},null]}`, `[]`, `{"":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var config debate.Config
		if err := config.UnmarshalJSON(data); err != nil {
			stage.NamesNoTypes(t, errors.New(strings.ReplaceAll(err.Error(), string(data), ""))) // but for what it was given
			all := stage.FieldsOf(t, err)
			if slices.Contains(all, "") && !strings.Contains(err.Error(), "JSON") || len(all) > 50 {
				t.Fatalf("no field is named, or too many: %v", err)
			}
			return
		}
		written, err := json.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		var again debate.Config
		if err := json.Unmarshal(written, &again); err != nil {
			t.Fatalf("%v: %s", err, written)
		}
		twice, err := json.Marshal(again)
		if err != nil || string(written) != string(twice) {
			t.Fatalf("%v\n%s\n%s", err, written, twice)
		}
		var engine debate.Engine
		_ = engine.Validate(t.Context(), config) // never panics
	})
}
