package flow_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func TestCost(t *testing.T) {
	m := debate.Model{
		Priced: true, Input: 100, Output: 1000, CachedInput: 10, CacheWrite: 125, InputLong: 200, OutputLong: 1500,
	}
	for name, c := range map[string]struct {
		usage debate.Usage
		want  debate.Money
	}{
		"nothing":            {debate.Usage{}, 0},
		"plain":              {debate.Usage{Input: 3, Output: 2}, 2300},
		"read from a cache":  {debate.Usage{Input: 10, CachedInput: 6}, 4*100 + 6*10},
		"written to a cache": {debate.Usage{Input: 10, CacheWrite: 6}, 4*100 + 6*125},
		"thinking is output": {debate.Usage{Output: 5, Reasoning: 4}, 5000},
		"just not long":      {debate.Usage{Input: 200_000, Output: 1}, 200_000*100 + 1000},
		"long":               {debate.Usage{Input: 200_001, Output: 1}, 200_001*200 + 1500},
		"more than all":      {debate.Usage{Input: math.MaxInt, Output: math.MaxInt}, math.MaxInt64},
		"below nothing":      {debate.Usage{Input: -5, Output: -5}, 0},
	} {
		assert.Equal(t, c.want, m.Cost(c.usage), name)
	}
}

// What is reserved covers whatever a request within its bounds can cost.
func TestTheBoundIsNeverPassed(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	price := func() debate.Money { return debate.Money(random.Int64N(1 << (1 + random.IntN(30)))) }
	for range 20_000 {
		m := debate.Model{
			Priced: true, Input: price(), Output: price(), CachedInput: price(), CacheWrite: price(), InputLong: price(), OutputLong: price(),
		}
		input, output := random.IntN(400_000), random.IntN(100_000)
		used := debate.Usage{Input: random.IntN(input + 1), Output: random.IntN(output + 1)}
		used.CachedInput = random.IntN(used.Input + 1)
		used.CacheWrite = random.IntN(used.Input - used.CachedInput + 1)
		require.GreaterOrEqual(t, m.Bound(input, output), m.Cost(used), "%+v of %d and %d tokens at %+v", used, input, output, m)
	}
}

// The reservation of every call of a debate covers what it turned out to cost.
func TestEveryReservationCoversItsCall(t *testing.T) {
	config := stage.TwoDebaters()
	engine, source := stage.Engine(config)
	answer := source.Reply
	source.Reply = func(req *provider.Request) scripted.Reply { // a vocabulary of single bytes: the worst there is
		reply := answer(req)
		input := 0
		for _, text := range req.Chat() {
			input += len(text)
		}
		reply.Usage = provider.Usage{Input: input, Output: req.MaxTokens}
		return reply
	}
	record := stage.Run(t, engine, config)
	reserved := map[string]debate.Money{}
	for _, event := range stage.LogOf(t, engine, record.ID).Events {
		if body.As[flow.Intent](event) != nil {
			reserved[body.As[flow.Intent](event).Call] = body.As[flow.Intent](event).Reserve
		}
	}
	for _, turn := range record.Turns {
		assert.GreaterOrEqual(t, reserved[turn.Call], turn.Cost, turn.Call)
	}
	for _, assessment := range stage.View(record).Assessments {
		assert.GreaterOrEqual(t, reserved[assessment.Call], assessment.Cost, assessment.Call)
	}
	assert.GreaterOrEqual(t, reserved[stage.View(record).Verdict.Call], stage.View(record).Verdict.Cost)
	assert.Zero(t, record.Reserved())
}

type vendor struct{ *scripted.Provider }

func (vendor) Vendor() string { return "openai" }

// Prices come from the host's table, else from the embedded one by the vendor or the registered name.
func TestWherePricesComeFrom(t *testing.T) {
	config := stage.TwoDebaters()
	config.Participants[0].Model, config.Participants[1].Model = "openai/gpt-5-mini", "mine/gpt-5-mini"
	config.Judging.Judges[0].Model = "mine/unheard-of"
	engine, source := stage.Engine(config)
	engine.Providers = map[string]debate.Provider{"openai": source, "mine": vendor{source}}
	engine.Models = map[string]debate.Model{"mine/gpt-5-mini": {Priced: true, Input: 7}}
	record := stage.Run(t, engine, config)
	table, ok := record.Model("openai/gpt-5-mini")
	require.True(t, ok)
	assert.True(t, table.Priced)
	assert.Positive(t, table.Input)
	own, _ := record.Model("mine/gpt-5-mini")
	assert.Equal(t, debate.Model{Priced: true, Input: 7}, own)
	unknown, ok := record.Model("mine/unheard-of")
	assert.True(t, ok)
	assert.False(t, unknown.Priced, "an unknown price is not zero")
	_, ok = record.Model("openai/gpt-5")
	assert.False(t, ok, "the debate does not use it")
}

func TestAVendorsModelsUnderAnotherName(t *testing.T) {
	config := stage.TwoDebaters()
	for i := range config.Participants {
		config.Participants[i].Model = "mine/gpt-5-mini"
	}
	config.Judging.Judges[0].Model = "mine/gpt-5-mini"
	config.Budget = &debate.Budget{Hard: 100 * debate.USD}
	engine, source := stage.Engine(config)
	engine.Models, engine.Providers = nil, map[string]debate.Provider{"mine": source}
	assert.Error(t, engine.Validate(t.Context(), config), "nobody knows what \"mine\" costs")
	engine = &debate.Engine{Providers: map[string]debate.Provider{"mine": vendor{source}}}
	assert.NoError(t, engine.Validate(t.Context(), config))
}

// TestOwnTemperature: models that refuse a temperature are sent none, by whatever name they go.
func TestOwnTemperature(t *testing.T) {
	for name, own := range map[string]bool{
		"openai/gpt-4.1": false, "openai/gpt-4o": false, "openai/gpt-5": true, "openai/gpt-5-mini": true, "openai/gpt-5.2-chat": true,
		"openai/gpt-5-chat-latest": false, "openai/gpt-5.1-chat-latest": true, "openai/gpt-5.2-chat-latest": true,
		"openai/gpt-5.3-chat-latest": true, "openai/gpt-5.1": true, "openai/gpt-5.5-instant": false, "openai/gpt-6-astra": true,
		"openai/ft:o4-mini-2025-04-16:acme::abc": true, "openai/ft:gpt-5-mini:acme::abc": true, "openai/ft:gpt-4.1-mini:acme::abc": false,
		"openai/codex-mini-latest": true, "openai/O3": true, "ollama/olmo-3": false, "ollama/o": false,
		"moonshot/kimi-k2.5": true, "moonshot/kimi-k2.6": true, "moonshot/kimi-k2.7-code": true, "openrouter/moonshotai/kimi-k2.6": true,
		"moonshot/kimi-k2-thinking": false, "moonshot/kimi-k2-0905-preview": false, "moonshot/kimi-latest": false,
		"bedrock/anthropic.claude-opus-4-7-v1:0": true, "bedrock/us.anthropic.claude-opus-4-8": true,
		"bedrock/global.anthropic.claude-sonnet-5-v1:0": true, "bedrock/eu.anthropic.claude-opus-4-6-v1": false,
		"bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0": false, "bedrock/moonshotai.kimi-k2.5": false,
		"vertex/claude-opus-4-7@20260416": true, "vertex/claude-opus-4-5@20251101": false, "google/claude-opus-4@default": false,
		"openai/gpt-6-oss": false, "openai/gpt-oss-20b": false, "openai/o1": true, "openai/o3-mini": true, "openai/o4-mini": true,
		"anthropic/claude-3-7-sonnet-20250219": false, "anthropic/claude-4-opus-20250514": false, "anthropic/claude-opus-4-20250514": false,
		"anthropic/claude-opus-4-6": false, "anthropic/claude-opus-4-6-20260205": false, "anthropic/claude-opus-4-7": true,
		"anthropic/claude-opus-4-7-20260416": true, "anthropic/claude-opus-4-8": true, "anthropic/claude-sonnet-4-6": false,
		"anthropic/claude-haiku-4-5-20251001": false, "anthropic/claude-opus-5": true, "anthropic/claude-sonnet-5": true,
		"anthropic/claude-fable-5": true, "anthropic/claude-new-7-1-20290101": true, "anthropic/claude-opus": false, "anthropic/claude-x-y": false,
		"openrouter/anthropic/claude-opus-4.7": true, "openrouter/anthropic/claude-opus-4.5": false, "openrouter/anthropic/claude-sonnet-5.5": true,
		"openrouter/openai/gpt-5": true, "mistral/mistral-small-latest": false, "google/gemini-2.5-flash": false,
	} {
		host, _, _ := strings.Cut(name, "/")
		engine := &debate.Engine{Providers: map[string]debate.Provider{host: &scripted.Provider{}}}
		config := debate.Config{Topic: "Is it warm?", Participants: []debate.Participant{{Name: "Ada", Model: name}, {Name: "Ben", Model: name}}}
		start, err := engine.Freeze(config)
		require.NoError(t, err)
		assert.Equal(t, own, start.Models[name].OwnTemperature, name)
	}
}
