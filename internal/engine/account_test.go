package engine_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Two registered names of one vendor and account share quota: a fallback under the other name is passed over. With an
// account of its own it takes over.
func TestNamesOfOneAccountShareItsQuota(t *testing.T) {
	for name, tc := range map[string]struct {
		account, vendor string
		next            string
		shared          map[string]string
	}{
		"one account":     {"a", "acme", "other/third", map[string]string{"twin": "test"}},
		"two accounts":    {"b", "acme", "twin/second", nil},
		"not known":       {"", "acme", "twin/second", nil},
		"no vendor known": {"a", "", "other/third", map[string]string{"twin": "test"}},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Judging, config.Rounds = nil, 1
			ada := &config.Participants[0]
			ada.Fallbacks = []string{"twin/second", "other/third"}
			var source *scripted.Provider
			events, err := stage.OnClock(t, config, func(e *debate.Engine, p *scripted.Provider) {
				source = p
				row := e.Models[ada.Model]
				e.Models["twin/second"], e.Models["other/third"] = row, row
				p.VendorName, p.OnAccount = "acme", func(context.Context) string { return "a" }
				twin := &scripted.Provider{
					Reply: p.Reply, VendorName: tc.vendor, OnAccount: func(context.Context) string { return tc.account },
				}
				e.Providers["twin"], e.Providers["other"] = twin, &scripted.Provider{Reply: p.Reply, VendorName: "other"}
				reply := p.Reply
				p.Reply = func(req *provider.Request) scripted.Reply {
					r := reply(req)
					if req.Self == ada.Name {
						r.Err = &provider.Error{Kind: provider.KindQuota, Status: 429}
					}
					return r
				}
			})
			require.NoError(t, err)
			require.NotNil(t, source)
			assert.Equal(t, tc.next, stage.TurnsOf(events, "Ada")[0].Model)
			assert.Equal(t, tc.shared, body.As[flow.Start](events[0]).Accounts)
		})
	}
}

// The account of an adapter is that of its host and its key, and shows nothing of the key.
func TestTheAccountOfAnAdapter(t *testing.T) {
	const key, other = "sk-proj-0123456789abcdef", "sk-proj-fedcba9876543210"
	account := func(p *openaicompat.Provider) string { return p.Account(t.Context()) }
	one := account(openaicompat.OpenAI(key))
	assert.NotEmpty(t, one)
	assert.NotContains(t, one, key[8:16])
	assert.Equal(t, one, account(openaicompat.OpenAI(key+"\n")))
	assert.NotEqual(t, one, account(openaicompat.OpenAI(other)))
	assert.NotEqual(t, one, account(openaicompat.Mistral(key)))
	const gateway = "https://gateway.example/v1"
	again := account(openaicompat.Compatible(gateway, key))
	assert.Equal(t, account(openaicompat.Compatible(gateway, key)), again)
	assert.Empty(t, account(openaicompat.VLLM("", "")))
	assert.Empty(t, account(openaicompat.VLLM("", "short")))
}

// A registered name that an amendment or an answer brings in shares the quota of the account that it has.
func TestANameThatComesLaterSharesItsAccount(t *testing.T) {
	config := stage.TwoDebaters()
	config.Judging, config.Rounds, config.Unattended, config.Patience = nil, 2, true, 1
	var took []string
	engine, p := stage.Engine(config)
	named := func(name string) *scripted.Provider {
		return &scripted.Provider{
			OnAccount: func(context.Context) string { return "a" },
			Reply: func(req *provider.Request) scripted.Reply {
				took = append(took, name)
				if len(took) > 2 {
					return scripted.Reply{Err: &provider.Error{Kind: provider.KindQuota, Status: 429}}
				}
				return p.Reply(req)
			},
		}
	}
	engine.Providers = map[string]debate.Provider{"test": named("test"), "twin": named("twin"), "last": named("last")}
	row := engine.Models["test/debater"]
	engine.Models["twin/second"], engine.Models["last/third"] = row, row
	s, err := engine.New(config)
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.Validate(t.Context()))
	require.NoError(t, s.Start(t.Context()))
	ada := config.Participants[0].Name
	require.NoError(t, s.Control(t.Context(), flow.Amendment{
		Models:   map[string]flow.ModelChoice{ada: {Model: "test/debater", Fallbacks: []string{"twin/second"}}},
		Accounts: map[string]string{"test": "elsewhere"}, // the engine sets it
	}))
	r, err := s.Wait(t.Context())
	require.ErrorIs(t, err, &flow.Error{Kind: provider.KindQuota})
	assert.Equal(t, []string{"test", "test", "test"}, took, "the fallback has the same account")
	var amended *flow.Amendment
	for event, err := range engine.Events(t.Context(), r.ID, 0) {
		require.NoError(t, err)
		if a := body.As[flow.Amendment](event); a != nil {
			amended = a
			break // the debate is not over
		}
	}
	require.NotNil(t, amended)
	assert.Equal(t, map[string]string{"twin": "test"}, amended.Accounts)
}
