package flow_test

import (
	"math"
	"math/rand/v2"
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
