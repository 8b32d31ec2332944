package openaicompat_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

// deltas is an answer whose chunks have these deltas. The last part of it is the end of the chunk that ends the reply.
func deltas(end string, pieces ...string) []byte {
	var b strings.Builder
	b.WriteString("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
	for _, d := range pieces {
		fmt.Fprintf(&b, "data: {\"id\":\"gen-1\",\"choices\":[{\"index\":0,\"delta\":%s}]}\n\n", d)
	}
	fmt.Fprintf(&b, "data: {\"id\":\"gen-2\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]%s}\n\ndata: [DONE]\n\n", end)
	return []byte(b.String())
}

// TestThoughts: each server's form of thoughts is streamed as thoughts, and is no part of the text. The fields' names are
// those that recorded answers of the servers have.
func TestThoughts(t *testing.T) {
	for name, tt := range map[string]struct {
		deltas []string
		want   string
	}{
		"deepseek":        {[]string{`{"role":"assistant","content":null,"reasoning_content":"One, "}`, `{"content":null,"reasoning_content":"two."}`, `{"content":"Yes.","reasoning_content":null}`}, "One, two."},
		"groq":            {[]string{`{"reasoning":"One, ","channel":"analysis"}`, `{"reasoning":"two."}`, `{"content":"Yes."}`}, "One, two."},
		"openrouter":      {[]string{`{"content":"","reasoning":"One","reasoning_details":[{"type":"reasoning.text","text":"One","format":"anthropic-claude-v1","index":0}]}`, `{"content":"","reasoning_details":[{"type":"reasoning.text","signature":"c2ln","index":0}]}`, `{"content":"Yes."}`}, "One"},
		"a summary":       {[]string{`{"reasoning_details":[{"type":"reasoning.summary","summary":"In short."},{"type":"reasoning.encrypted","data":"b3BhcXVl"}]}`, `{"content":"Yes."}`}, "In short."},
		"both names":      {[]string{`{"reasoning":"One","reasoning_content":"One"}`, `{"content":"Yes."}`}, "One"},
		"mistral":         {[]string{`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"One, "}]}]}`, `{"content":[{"type":"thinking","thinking":"two."},{"type":"text","text":"Yes."}]}`}, "One, two."},
		"tags":            {[]string{`{"content":"<think>One"}`, `{"content":", two.</think>\n\nYes."}`}, "One, two."},
		"tags in a field": {[]string{`{"reasoning":"<th"}`, `{"reasoning":"ink>\nOne, "}`, `{"reasoning":"two.\n</think>\n"}`, `{"content":"Yes."}`}, "One, two."},
		"half a tag":      {[]string{`{"reasoning":"<th"}`, `{"content":"Yes."}`}, "<th"},
		"other forms":     {[]string{`{"reasoning":{"text":"no"},"reasoning_content":5,"reasoning_details":"no"}`, `{"content":"Yes.","reasoning_details":[1]}`}, ""},
		"after the text":  {[]string{`{"content":"Yes."}`, `{"reasoning":"One"}`}, "One"},
		"key in thoughts": {[]string{`{"reasoning":"It is ` + canary + `."}`, `{"content":"Yes."}`}, "It is [redacted]."},
	} {
		t.Run(name, func(t *testing.T) {
			for _, way := range []provider.ReasoningText{provider.ReasoningShow, provider.ReasoningHide} {
				req := request()
				req.Options = &provider.Options{Reasoning: way}
				r := adaptertest.Answer(t, played(deltas("", tt.deltas...)), req)
				assert.Equal(t, "Yes.", r.Text)
				assert.Equal(t, "gen-1", r.ID)
				if way == provider.ReasoningHide {
					assert.Empty(t, r.Reasoning)
				} else {
					assert.Equal(t, tt.want, r.Reasoning)
				}
			}
		})
	}
}

// TestCosts: what a server says that a request costs, in USD, whatever its unit. Nonsense is no cost.
func TestCosts(t *testing.T) {
	for usage, want := range map[string]float64{
		`"cost":0.00014,"is_byok":false,"cost_details":{"upstream_inference_cost":0.00014}`: 0.00014,
		`"cost":0.001,"cost_details":{"upstream_inference_cost":null}`:                      0.001,
		`"cost":0.001,"is_byok":true,"cost_details":{"upstream_inference_cost":0.02}`:       0.021,
		`"cost":0.001,"is_byok":true`:  -1,
		`"cost":0`:                     0,
		`"cost_in_usd_ticks":37756000`: 0.0037756,
		`"cost":{"input_tokens_cost":0.00001,"output_tokens_cost":0.00014,"request_cost":0.005,"total_cost":0.00515}`: 0.00515, // Perplexity: vercel/ai#13705 (2026-03-20)
		`"cost":{}`:              -1,
		`"cost":-1`:              -1,
		`"cost":1e300`:           -1,
		`"cost":"0.5"`:           -1,
		`"cost":null`:            -1,
		`"cost_in_usd_ticks":0`:  -1,
		`"cost_in_usd_ticks":-5`: -1,
		`"total_tokens":3`:       -1,
	} {
		r := adaptertest.Answer(t, played(deltas(`,"usage":{"prompt_tokens":2,"completion_tokens":1,`+usage+`}`, `{"content":"Yes."}`)), request())
		if want < 0 {
			assert.Nil(t, r.Cost, usage)
			continue
		}
		if assert.NotNil(t, r.Cost, usage) {
			assert.InDelta(t, want, *r.Cost, 1e-12, usage)
		}
	}
}
