package otel_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
)

// Latest has the newest names in place of the old ones, and nothing else changes.
func TestTheNewestNames(t *testing.T) {
	events := play(t, nil)
	for i := range events {
		if v := body.As[debate.Verdict](events[i]); v != nil {
			v.Usage.CacheWrite = 5
		}
	}
	old, r := newRecorder(), newRecorder()
	r.Latest, r.Content, old.Content = true, true, true
	read(t, old, events)
	read(t, r, events)
	assert.Len(t, r.ended(t), len(old.ended(t)))
	judge := r.find(t, "chat judge")
	verdict := judge[len(judge)-1]
	assert.Equal(t, "5", get(verdict, "gen_ai.usage.cache_write.input_tokens"))
	assert.Empty(t, get(verdict, "gen_ai.usage.cache_creation.input_tokens"))
	assert.NotContains(t, get(verdict, "gen_ai.output.messages"), "finish_reason")
	assert.Equal(t, `["stop"]`, get(verdict, "gen_ai.response.finish_reasons"))
	assert.Equal(t, "openai", get(verdict, "gen_ai.provider.name"))
	assert.Empty(t, get(r.find(t, "invoke_agent Ada")[0], "gen_ai.provider.name"))
	assert.Equal(t, "openai", get(old.find(t, "invoke_agent Ada")[0], "gen_ai.provider.name"))
	for _, s := range r.ended(t) {
		assert.Empty(t, s.InstrumentationScope().SchemaURL, "no version of them is published")
	}
	measured := r.measured(t)
	judged := "gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=judge"
	for _, want := range []string{
		"gen_ai.client.inference.duration [s] {" + judged + "} 4 of 8 in all\n",
		"gen_ai.client.inference.operation.input_tokens [{token}] {" + judged + "} 4 of 1200 in all\n",
		"gen_ai.client.inference.operation.output_tokens [{token}] {" + judged + "} 4 of 350 in all\n",
		"gen_ai.client.inference.operation.output_tokens [{token}] {error.type=authentication ",
		"gen_ai.client.inference.usage.input_tokens [{token}] {" + judged + " gen_ai.token.modality=unknown} 1200\n",
		"gen_ai.client.inference.usage.output_tokens [{token}] {" + judged + " gen_ai.token.modality=unknown} 350\n",
		"gen_ai.client.inference.usage.cache_read.input_tokens [{token}] {" + judged + " gen_ai.token.modality=unknown} 600\n",
		"gen_ai.client.inference.usage.cache_write.input_tokens [{token}] {" + judged + " gen_ai.token.modality=unknown} 5\n",
		"gen_ai.client.inference.usage.reasoning.output_tokens [{token}] {" + judged + " gen_ai.token.modality=unknown} 80\n",
	} {
		assert.Contains(t, measured, want)
	}
	assert.NotContains(t, measured, "gen_ai.client.operation")
	assert.NotContains(t, measured, "gen_ai.client.token.usage")
	assert.NotContains(t, measured, "gen_ai.token.type")
	assert.NotContains(t, old.measured(t), "inference")
}

// A log may hold what no vendor reports: counters only rise.
func TestTheNewestNamesOfAHostileLog(t *testing.T) {
	spend := flow.Spend{Call: "c", Attempt: 1, Model: "acme/liar", Usage: debate.Usage{Input: -5, Output: -1, CacheWrite: -1, Reasoning: -1}}
	r := newRecorder()
	r.Latest = true
	read(t, r, []flow.Event{{Body: &flow.Intent{Call: "c", Attempt: 1, Model: "acme/liar"}}, {Body: &flow.Turn{Spend: spend}}})
	assert.NotContains(t, r.measured(t), "-")
}
