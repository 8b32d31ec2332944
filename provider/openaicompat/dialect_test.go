package openaicompat_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/openaicompat"
)

// seats are the presets with models of each family that takes options in its own way.
func seats() []struct {
	model string
	make  func(key string) *openaicompat.Provider
} {
	local := func(preset func(string, string) *openaicompat.Provider) func(string) *openaicompat.Provider {
		return func(key string) *openaicompat.Provider { return preset("", key) }
	}
	return []struct {
		model string
		make  func(key string) *openaicompat.Provider
	}{
		{"gpt-4.1", openaicompat.OpenAI},
		{"gpt-4o-search-preview", openaicompat.OpenAI},
		{"gpt-5-mini", openaicompat.OpenAI},
		{"gpt-5.2", openaicompat.OpenAI},
		{"anthropic/claude-sonnet-4.5", openaicompat.OpenRouter},
		{"mistral-small-latest", openaicompat.Mistral},
		{"openai/gpt-oss-120b", openaicompat.Groq},
		{"qwen/qwen3-32b", openaicompat.Groq},
		{"llama-3.3-70b-versatile", openaicompat.Groq},
		{"groq/compound", openaicompat.Groq},
		{"deepseek-chat", openaicompat.DeepSeek},
		{"grok-4.3", openaicompat.XAI},
		{"grok-3-mini", openaicompat.XAI},
		{"gpt-oss:20b", func(string) *openaicompat.Provider { return openaicompat.Ollama("") }},
		{"Qwen/Qwen3-8B", local(openaicompat.VLLM)},
		{"any", local(openaicompat.Compatible)},
	}
}

// wishes are one request for each option and value.
func wishes() []struct {
	name string
	o    provider.Options
} {
	list := []struct {
		name string
		o    provider.Options
	}{}
	add := func(name string, o provider.Options) {
		list = append(list, struct {
			name string
			o    provider.Options
		}{name, o})
	}
	for _, effort := range provider.Efforts() {
		add("effort "+string(effort), provider.Options{Effort: effort})
	}
	add("topP", provider.Options{TopP: new(0.9)})
	add("stop", provider.Options{Stop: []string{"<end>", "\n\n"}})
	add("seed", provider.Options{Seed: new(int64(7))})
	add("serviceTier", provider.Options{ServiceTier: "flex"})
	add("verbosity", provider.Options{Verbosity: provider.VerbosityLow})
	add("search", provider.Options{Search: true})
	add("reasoning ask", provider.Options{Reasoning: provider.ReasoningAsk})
	add("reasoning hide", provider.Options{Reasoning: provider.ReasoningHide})
	add("all", provider.Options{Effort: provider.EffortHigh, TopP: new(0.9), Reasoning: provider.ReasoningAsk})
	return list
}

// members returns the fields of a body.
func members(t *testing.T, body string) map[string]json.RawMessage {
	t.Helper()
	var fields map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(body), &fields))
	return fields
}

// TestOptions: what each option adds to the request of each vendor, or why it fails before anything is sent.
func TestOptions(t *testing.T) {
	var got strings.Builder
	for _, seat := range seats() {
		bare := request()
		bare.Model = seat.model
		base := members(t, asked(t, seat.make("k"), bare))
		fmt.Fprintf(&got, "# %s, %s\n", seat.make("k"), seat.model)
		for _, wish := range wishes() {
			req := request()
			req.Model, req.Options = seat.model, &wish.o
			body, _, err := posed(t, seat.make("k"), req)
			if err != nil {
				e := failure(t, err, provider.KindValidation)
				assert.True(t, e.NotSent)
				assert.Empty(t, body)
				fmt.Fprintf(&got, "%s: ✗ %s: %s\n", wish.name, e.Code, e.Message)
				continue
			}
			more := members(t, body)
			for name, value := range base {
				assert.JSONEq(t, string(value), string(more[name]), "%s changes %s", wish.name, name)
				delete(more, name)
			}
			fmt.Fprintf(&got, "%s:", wish.name)
			for _, name := range slices.Sorted(maps.Keys(more)) {
				fmt.Fprintf(&got, " %s=%s", name, more[name])
			}
			got.WriteByte('\n')
		}
	}
	golden(t, "request/options.golden", got.String())
}

// TestEffortsOfOpenAI: each model is asked for the nearest step that it has.
func TestEffortsOfOpenAI(t *testing.T) {
	for model, want := range map[string]string{
		"gpt-4.1": "", "gpt-3.5-turbo": "", "chatgpt-4o-latest": "", "o1-mini": "", "gpt-5-chat-latest": "",
		"o3": "low medium high", "o4-mini-2025-04-16": "low medium high", "ft:o4-mini:acme": "low medium high", "gpt-oss-20b": "low medium high",
		"gpt-5": "minimal low medium high", "openai/gpt-5-nano": "minimal low medium high", "gpt-5-pro": "high",
		"gpt-5.1": "none low medium high", "gpt-5.2": "none low medium high xhigh", "gpt-5.2-pro": "medium high xhigh",
		"gpt-5.2-chat-latest": "medium", "gpt-5.1-codex": "low medium high", "gpt-5.1-codex-max": "low medium high xhigh",
		"gpt-5.3-codex": "low medium high xhigh", "gpt-5.6": "none low medium high xhigh max", "gpt-6": "none low medium high xhigh max",
	} {
		steps, known := openaicompat.OpenAIEfforts(model)
		assert.True(t, known, model)
		assert.Equal(t, want, strings.Join(steps, " "), model)
	}
	for _, model := range []string{"my-deployment", "gemini-2.5-pro", "gpt-", "o", "omni", ""} {
		_, known := openaicompat.OpenAIEfforts(model)
		assert.False(t, known, model)
	}
}

// TestDialectOfAHost: a host program can teach the adapter a server's own names, and mistakes are failures.
func TestDialectOfAHost(t *testing.T) {
	p := openaicompat.Compatible("", "k")
	p.Dialect = func(model string) openaicompat.Dialect {
		return openaicompat.Dialect{
			Names:   map[provider.Ability]string{provider.AbilityEffort: "chat.think.level", provider.AbilityStop: "chat.until"},
			Efforts: []string{}, Think: `{"chat":{"think":{"on":true}}}`, Search: "no object " + model,
		}
	}
	req := request()
	req.Options = &provider.Options{Effort: provider.EffortMax, Stop: []string{"a"}}
	got := members(t, asked(t, p, req))
	assert.JSONEq(t, `{"think":{"on":true},"until":["a"]}`, string(got["chat"]))
	for _, o := range []provider.Options{{Effort: provider.EffortNone}, {Search: true}} {
		req.Options = &o
		unsent(t, p, req)
	}
}

// TestRefusedOptions: what a model refuses is left out, and named by the server's own name.
func TestRefusedOptions(t *testing.T) {
	p := openaicompat.OpenRouter("k")
	bodies := refusing(
		t, p,
		[2]string{`"effort"`, `{"error":{"message":"Unsupported parameter: 'reasoning.effort' is not supported with this model.","param":"reasoning.effort","code":"unsupported_parameter"}}`},
		[2]string{`"seed"`, `{"error":{"message":"Argument not supported on this model: seed"}}`},
	)
	req := request()
	req.Options = &provider.Options{
		Effort: provider.EffortLow, Seed: new(int64(1)), TopP: new(0.5),
		Extra: map[string]json.RawMessage{"reasoning": json.RawMessage(`{"exclude":true}`)},
	}
	r := adaptertest.Answer(t, p, req)
	assert.Equal(t, []string{"reasoning.effort", "seed"}, slices.Sorted(slices.Values(r.Left)))
	assert.Len(t, *bodies, 3)
	assert.Contains(t, (*bodies)[2], `"reasoning":{"exclude":true}`)
	assert.Contains(t, (*bodies)[2], `"top_p":0.5`)
}

// TestRefusedEfforts has the words with which vendors refuse an effort.
func TestRefusedEfforts(t *testing.T) {
	for name, tt := range map[string]struct {
		p      *openaicompat.Provider
		answer string
	}{
		"groq": {openaicompat.Groq("k"), `{"error":{"message":"` + "`reasoning_effort` must be one of `none` or `default`" + `","type":"invalid_request_error"}}`},
		"xai":  {openaicompat.XAI("k"), `{"code":"invalid-argument","error":"Invalid reasoning effort."}`},
		"gemini": {
			openaicompat.Gemini("k"),
			`[{"error":{"code":400,"message":"This cannot be sent because thinking_level LOW is not supported by this model.","status":"INVALID_ARGUMENT"}}]`,
		},
		"gemini without thinking": {
			openaicompat.Gemini("k"), `[{"error":{"code":400,"message":"Thinking is not enabled for models/new","status":"INVALID_ARGUMENT"}}]`,
		},
	} {
		bodies := refusing(t, tt.p, [2]string{`"reasoning_effort"`, tt.answer})
		req := request()
		req.Options = &provider.Options{Effort: provider.EffortLow}
		r, _, err := ask(t, tt.p, req)
		require.NoError(t, err, name)
		assert.Equal(t, []string{"reasoning_effort"}, r.Left, name)
		assert.Len(t, *bodies, 2, name)
	}
}
