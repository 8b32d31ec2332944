package budget_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// Every account holds the same money and the same tokens, by whatever it is divided.
func TestAccountsAddUp(t *testing.T) {
	t.Parallel()
	sum := func(list []flow.Account) (total flow.Account) {
		for _, a := range list {
			total.Cost += a.Cost
			total.Unsettled = total.Plus(a.Unsettled)
			total.Usage = total.Usage.Add(a.Usage)
			total.Requests += a.Requests
		}
		return total
	}
	for seed := range longform.Sized[uint64](60, 60, 20) {
		s := newSpree(seed)
		s.crowded()
		s.faults = true
		out, ok := s.play(t)
		require.True(t, ok)
		if out.record == nil {
			require.NoError(t, out.err)
		}
		r := out.record
		var rounds []flow.Account
		for round := range r.Round + 1 {
			rounds = append(rounds, r.SpentInRound(round))
		}
		assert.Equal(t, r.Spent(), sum(r.SpentByModel()), "seed %d", seed)
		assert.Equal(t, r.Spent(), sum(r.SpentByParticipant()), "seed %d", seed)
		assert.Equal(t, r.Spent(), sum(rounds), "seed %d", seed)
		assert.Equal(t, r.Spent(), sum(flow.SpentByLabel("tenant", r)), "seed %d", seed)
		assert.Zero(t, r.Reserved(), "seed %d", seed)
	}
}

func TestAccountsByTenant(t *testing.T) {
	var records []*debate.Record
	for _, tenant := range []string{"acme", "", "bits", "acme"} {
		config := stage.TwoDebaters()
		if tenant != "" {
			config.Labels = map[string]string{"tenant": tenant, "other": "x"}
		}
		engine, p := stage.Engine(config)
		records = append(records, stage.Run(t, engine, config))
		assert.Equal(t, config.Labels, p.Requests()[0].Labels)
	}
	one := records[0].Spent()
	got := flow.SpentByLabel("tenant", records...)
	require.Len(t, got, 3)
	assert.Equal(t, []string{"acme", "", "bits"}, []string{got[0].Name, got[1].Name, got[2].Name})
	assert.Equal(t, 2*one.Cost, got[0].Cost)
	assert.Equal(t, 2*one.Requests, got[0].Requests)
	assert.Equal(t, one.Usage, got[1].Usage)
	assert.Empty(t, flow.SpentByLabel("tenant"))
	assert.Equal(t, []flow.Account{{}}, flow.SpentByLabel("tenant", &debate.Record{}))
}

// In USD for a million tokens: 3 in, 0.3 from the cache, 3.75 into it, 15 out, 20 of thoughts; 6 and 22.5
// of a long request.
func TestEveryTokenHasItsOwnRate(t *testing.T) {
	row := debate.Model{
		Priced: true, Input: 3_000_000, CachedInput: 300_000, CacheWrite: 3_750_000, Output: 15_000_000, Thinking: 20_000_000,
		InputLong: 6_000_000, OutputLong: 22_500_000,
	}
	for name, test := range map[string]struct {
		usage provider.Usage
		want  debate.Money // in pico-USD
	}{
		"plain":     {provider.Usage{Input: 1000, Output: 100}, 1000*3_000_000 + 100*15_000_000},
		"cached":    {provider.Usage{Input: 1000, CachedInput: 600, Output: 1}, 400*3_000_000 + 600*300_000 + 15_000_000},
		"written":   {provider.Usage{Input: 1000, CacheWrite: 999, Output: 1}, 3_000_000 + 999*3_750_000 + 15_000_000},
		"all three": {provider.Usage{Input: 1000, CachedInput: 600, CacheWrite: 100, Output: 500, Reasoning: 200}, 300*3_000_000 + 600*300_000 + 100*3_750_000 + 300*15_000_000 + 200*20_000_000},
		"thoughts":  {provider.Usage{Input: 1, Output: 500, Reasoning: 500}, 3_000_000 + 500*20_000_000},
		"long":      {provider.Usage{Input: 200_001, CachedInput: 1, Output: 2}, 200_000*6_000_000 + 300_000 + 2*22_500_000},
		"not long":  {provider.Usage{Input: 200_000, Output: 2}, 200_000*3_000_000 + 2*15_000_000},
		"one token": {provider.Usage{Input: 1, Output: 1}, 3_000_000 + 15_000_000},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.Brief()
			engine, p := stage.Engine(config)
			engine.Models["test/debater"] = row
			p.Reply = func(req *provider.Request) scripted.Reply {
				return scripted.Reply{Text: stage.Speech(req.Self, 1), Usage: test.usage}
			}
			record := stage.Run(t, engine, config)
			assert.Equal(t, test.want, record.Turns[0].Cost)
			assert.Equal(t, 2*test.want, record.Spent().Cost)
			assert.Equal(t, test.usage.Add(test.usage), record.SpentByModel()[0].Usage)
			assert.Zero(t, record.Spent().Unsettled)
		})
	}
}

func TestAnUnknownUsageIsToldApart(t *testing.T) {
	d := stage.NewTalk(2, 0)
	d.Engine.Store = &store.Memory{}
	record := stage.Run(t, d.Engine, d.Config)
	for event, err := range d.Engine.Store.Read(t.Context(), record.ID, 0) {
		require.NoError(t, err)
		if in := body.As[flow.Intent](event); in != nil && in.Call == stage.Oldest {
			assert.Zero(t, record.Turns[0].Cost)
			assert.Equal(t, in.Reserve, record.Turns[0].AtMost)
			assert.True(t, record.Turns[0].Unreported)
			assert.False(t, record.Turns[0].BrokenOff)
		}
	}
	spent := record.Spent()
	assert.Zero(t, spent.Cost)
	assert.Positive(t, spent.AtMost)
	assert.Equal(t, spent.Requests, spent.Unreported)
	assert.Equal(t, fmt.Sprintf("$0, and up to %s for %d calls without a reported usage", spent.AtMost.Rounded(), spent.Requests), spent.String())
}
