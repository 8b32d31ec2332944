package otel_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// What a request asks for, and what the vendor says of its reply, is on the span of each attempt.
func TestWhatAVendorReports(t *testing.T) {
	r := newRecorder()
	play(t, &r.Observer)
	calls := r.find(t, "chat talker")
	for key, want := range map[string]string{
		"gen_ai.request.top_p": "0.9", "gen_ai.request.stop_sequences": `["\\n\\n","END"]`, "gen_ai.request.seed": "7",
		"debate.call.effort": "low", "debate.call.verbosity": "low", "debate.call.service_tier": "flex",
		"gen_ai.response.id": "resp-r1.opening.Ben/1", "gen_ai.response.model": "talker-2026-09-01", "gen_ai.request.model": "talker",
	} {
		assert.Equal(t, want, get(calls[2], key), key)
	}
	assert.Empty(t, get(calls[0], "gen_ai.response.model"), "no reply came")
	assert.Empty(t, get(calls[0], "gen_ai.response.id"))
	assert.Equal(t, "talker", get(calls[1], "gen_ai.response.model"), "the vendor names no other model")
	assert.Empty(t, get(calls[1], "gen_ai.response.id"))
	assert.Empty(t, get(calls[1], "gen_ai.request.top_p"))
	assert.Empty(t, get(calls[1], "debate.cost_told"))
	judge := r.find(t, "chat judge")
	verdict := judge[len(judge)-1]
	assert.Equal(t, "judge", get(judge[0], "gen_ai.response.model"), "an answer that was not accepted is a reply")
	assert.Equal(t, "resp-verdict", get(verdict, "gen_ai.response.id"))
	assert.Equal(t, "0.0125", get(verdict, "debate.cost_usd"), "what the vendor has told")
	assert.Equal(t, "true", get(verdict, "debate.cost_told"))
	assert.Equal(t, "0.0045", get(verdict, "debate.cost_table_usd"))
	assert.NotContains(t, r.tree(t), canary)
	assert.NotContains(t, r.tree(t), quiet, "fields and headers of the vendor's own are in no span")
}

// A reply that broke off, or that could not be used, is one; of a request without a reply nothing is said.
func TestWhichAttemptsHaveAReply(t *testing.T) {
	spend := flow.Spend{Call: "r1.Ada", Attempt: 1, Model: "acme/talker"}
	reported := spend
	reported.Vendor = &flow.VendorMetadata{ID: "resp-1", Left: []string{"top_p"}}
	for name, test := range map[string]struct {
		body      flow.Body
		id, model string
	}{
		"no reply":        {&flow.Failure{Spend: spend, Error: &flow.Error{Kind: provider.KindNetwork}}, "", ""},
		"never sent":      {&flow.Failure{Spend: spend, Unsent: true}, "", ""},
		"late, unknown":   {&flow.Charge{Spend: spend}, "", ""},
		"a refusal":       {&flow.Failure{Spend: spend, Text: canary}, "", "talker"},
		"broke off":       {&flow.Failure{Spend: reported, Error: &flow.Error{Kind: provider.KindNetwork}}, "resp-1", "talker"},
		"late":            {&flow.Charge{Spend: reported}, "resp-1", "talker"},
		"asked for tools": {&flow.ToolCalls{Spend: reported}, "resp-1", "talker"},
		"a turn":          {&flow.Turn{Spend: spend}, "", "talker"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecorder()
			read(t, r, []flow.Event{
				{Body: &flow.Intent{Call: "r1.Ada", Attempt: 1, Model: "acme/talker", Left: []provider.Ability{provider.AbilityEffort}}},
				{Body: test.body},
			})
			call := r.one(t, "chat talker")
			assert.Equal(t, test.id, get(call, "gen_ai.response.id"))
			assert.Equal(t, test.model, get(call, "gen_ai.response.model"))
			left := `["effort"]`
			if test.id != "" {
				left = `["effort","top_p"]`
			}
			assert.Equal(t, left, get(call, "debate.call.left_out"))
		})
	}
}

// A vendor can name anything, and so can a log.
func TestAHostileReply(t *testing.T) {
	long := strings.Repeat("\x00\u202e\n\x1b[2J\xff", 1<<12)
	r := newRecorder()
	synctest.Test(t, func(t *testing.T) {
		engine := engineOf(func(req *provider.Request) scripted.Reply {
			reply := script(req)
			reply.ID, reply.Model, reply.Left = long, long, []string{long, long}
			return reply
		})
		for _, err := range r.Watch(t.Context(), engine.Run(t.Context(), cars())) {
			require.NoError(t, err)
		}
	})
	many := strings.Split(strings.Repeat(long+"|", 1000), "|")
	spend := flow.Spend{Call: "c", Attempt: 1, Model: "acme/liar", Vendor: &flow.VendorMetadata{ID: long, Model: long, Told: true, Table: -1, Left: many}}
	read(t, r, []flow.Event{
		{Body: &flow.Intent{Call: "c", Attempt: 1, Model: "acme/liar", Options: &provider.Options{
			Effort: provider.Effort(long), Stop: many, ServiceTier: long, Verbosity: provider.Verbosity(long),
		}}},
		{Body: &flow.Turn{Spend: spend}},
	})
	for _, s := range r.ended(t) {
		for _, kv := range s.Attributes() {
			text := value(kv.Value)
			require.LessOrEqual(t, len(text), 32*2*140, kv.Key)
			require.NotContains(t, text, "\x00")
			require.NotContains(t, text, "\u202e")
			require.NotContains(t, text, "\n")
			require.NotContains(t, text, "\x1b")
		}
	}
	assert.NotEmpty(t, get(r.one(t, "chat liar"), "gen_ai.response.id"))
}
