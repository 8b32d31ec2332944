package openaicompat_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/openaicompat"
)

// thinker is a vendor whose model thinks before it calls tools, and demands the thoughts back. The frames and the
// refusals have the vendors' fields and codes, as recorded; the thoughts and the words are not theirs.
type thinker struct {
	name   string
	preset func() *openaicompat.Provider
	stream []string                               // of the reply that calls tools
	demand func(messages []map[string]any) string // the answer with which the vendor refuses a request; "": none
	back   string                                 // what goes back with the calls, in the message's JSON
	secret string                                 // a part of it that no other vendor may see
}

// assistants yields the model's own messages, with their positions.
func assistants(messages []map[string]any, take func(at int, m map[string]any, calls []any)) {
	for at, m := range messages {
		if m["role"] == "assistant" {
			calls, _ := m["tool_calls"].([]any)
			take(at, m, calls)
		}
	}
}

// moonshot has the fields that the preset for api.moonshot.ai sets.
func moonshot() *openaicompat.Provider {
	return &openaicompat.Provider{VendorName: "moonshot", Thoughts: openaicompat.ThoughtsText}
}

// gemini has the fields that the preset for Gemini's compatible endpoint sets.
func gemini() *openaicompat.Provider {
	return &openaicompat.Provider{VendorName: "google", Thoughts: openaicompat.ThoughtsSignature}
}

func thinkers() []thinker {
	const (
		calls = `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_00","type":"function","function":{"name":"now","arguments":"{}"}},` +
			`{"index":1,"id":"call_01","type":"function","function":{"name":"now","arguments":"{\"at\":1}"}}]},"finish_reason":null}]}`
		end = `{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":5}}`
	)
	text := []string{
		`{"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":""},"finish_reason":null}]}`,
		`{"model":"m","choices":[{"index":0,"delta":{"content":null,"reasoning_content":"The clock <first>,"},"finish_reason":null}]}`,
		`{"model":"m","choices":[{"index":0,"delta":{"content":null,"reasoning_content":" then the \"text\"."},"finish_reason":null}]}`,
		calls, end,
	}
	refusal := func(message string) string {
		return fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, message)
	}
	return []thinker{
		{
			// api-docs.deepseek.com, guide to thinking mode (2026); openclaw#73417 and AiMaMi#8 for the refusal.
			name: "deepseek", preset: func() *openaicompat.Provider { return openaicompat.DeepSeek("k") }, stream: text,
			demand: func(messages []map[string]any) (answer string) {
				assistants(messages, func(_ int, m map[string]any, _ []any) {
					if _, ok := m["reasoning_content"].(string); !ok {
						answer = refusal("The `reasoning_content` in the thinking mode must be passed back to the API.")
					}
				})
				return answer
			},
			back: `"reasoning_content":"The clock <first>, then the \"text\"."`, secret: "then the",
		},
		{
			// platform.moonshot.ai, guide to Kimi's thinking models; llmgateway#2093: an empty text counts as missing.
			name: "moonshot", preset: moonshot, stream: text,
			demand: func(messages []map[string]any) (answer string) {
				assistants(messages, func(at int, m map[string]any, calls []any) {
					if text, _ := m["reasoning_content"].(string); len(calls) > 0 && text == "" {
						answer = refusal(fmt.Sprintf("thinking is enabled but reasoning_content is missing in assistant tool call message at index %d", at))
					}
				})
				return answer
			},
			back: `"reasoning_content":"The clock <first>, then the \"text\"."`, secret: "then the",
		},
		{
			// Recorded of openai/gpt-5 by charmbracelet/fantasy (September 2025).
			name: "openrouter", preset: func() *openaicompat.Provider { return openaicompat.OpenRouter("k") },
			stream: []string{
				`{"provider":"OpenAI","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":"**Reading","reasoning_details":[{"type":"reasoning.summary","summary":"**Reading","format":"openai-responses-v1","index":0}]},"finish_reason":null}]}`,
				`{"provider":"OpenAI","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":" <the> clock**","reasoning_details":[{"type":"reasoning.summary","summary":" <the> clock**","format":"openai-responses-v1","index":0}]},"finish_reason":null}]}`,
				`{"provider":"OpenAI","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":null,"reasoning_details":[{"type":"reasoning.encrypted","data":"gAAAAABo1sealed==","id":"rs_1","format":"openai-responses-v1","index":0}]},"finish_reason":null}]}`,
				calls, end,
			},
			demand: func([]map[string]any) string { return "" },
			back: `"reasoning_details":[{"type":"reasoning.summary","summary":"**Reading \u003cthe\u003e clock**","format":"openai-responses-v1","index":0},` +
				`{"type":"reasoning.encrypted","data":"gAAAAABo1sealed==","id":"rs_1","format":"openai-responses-v1","index":0}]`,
			secret: "gAAAAABo1sealed",
		},
		{
			// ai.google.dev, page on thought signatures, and securo#884: only the first of parallel calls is signed.
			name: "gemini", preset: gemini,
			stream: []string{
				`{"choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"call_00","type":"function","function":{"name":"now","arguments":"{}"},"extra_content":{"google":{"thought_signature":"EsealedQ=="}}},` +
					`{"index":1,"id":"call_01","type":"function","function":{"name":"now","arguments":"{\"at\":1}"}}]},"finish_reason":null}]}`,
				end,
			},
			demand: func(messages []map[string]any) (answer string) {
				assistants(messages, func(_ int, _ map[string]any, calls []any) {
					if len(calls) == 0 {
						return
					}
					call, _ := json.Marshal(calls[0])
					if !strings.Contains(string(call), `"extra_content":{"google":{"thought_signature":"`) {
						answer = `[{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts.","status":"INVALID_ARGUMENT"}}]`
					}
				})
				return answer
			},
			back: `"extra_content":{"google":{"thought_signature":"EsealedQ=="}}`, secret: "EsealedQ",
		},
	}
}

// strict starts the vendor's server for a provider. It calls tools until it is sent their results.
func (v thinker) strict(t *testing.T, p *openaicompat.Provider) *[]string {
	t.Helper()
	var bodies []string
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		var sent struct{ Messages []map[string]any }
		_ = json.Unmarshal(body, &sent)
		if refusal := v.demand(sent.Messages); refusal != "" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, refusal)
			return
		}
		if strings.Contains(string(body), `"role":"tool"`) {
			say(w)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range v.stream {
			flush(w, "data: "+event+"\n\n")
		}
		flush(w, "data: [DONE]\n\n")
	})
	p.BaseURL = at.BaseURL
	return &bodies
}

// loop is a request with earlier turns, and with calls and their results.
func loop(model string, calls []provider.ToolCall) *provider.Request {
	req := &provider.Request{
		Model: model, System: "You are Ada.", Self: "Ada", Tools: []provider.Tool{{Name: "now"}},
		Messages: []provider.Message{{Text: "Topic."}, {Speaker: "Ada", Text: "An earlier turn."}, {Speaker: "Ben", Text: "And?"}},
		Last:     provider.Message{Text: "Rebut."},
	}
	if len(calls) == 0 {
		return req
	}
	req.Messages = append(req.Messages, provider.Message{Text: "Rebut."}, provider.Message{Speaker: "Ada", ToolCalls: calls})
	for _, c := range calls {
		req.Messages = append(req.Messages, provider.Message{Speaker: "Ada", ToolResult: &provider.ToolResult{ID: c.ID, Text: "noon"}})
	}
	return req
}

// TestThoughtsGoBack: each vendor gets back what it demands with tool calls, also after the record kept it.
func TestThoughtsGoBack(t *testing.T) {
	for _, v := range thinkers() {
		t.Run(v.name, func(t *testing.T) {
			p := v.preset()
			bodies := v.strict(t, p)
			r := adaptertest.Answer(t, p, loop("m", nil))
			require.Len(t, r.Calls, 2)
			assert.Empty(t, r.Text, "thoughts are no text")
			assert.Equal(t, provider.StopTool, r.Stop)
			kept, err := json.Marshal(r.Calls)
			require.NoError(t, err)
			var calls []provider.ToolCall
			require.NoError(t, json.Unmarshal(kept, &calls))

			r = adaptertest.Answer(t, p, loop("m", calls))
			assert.Equal(t, "Yes.", r.Text)
			body := (*bodies)[1]
			assert.Contains(t, body, v.back)
			assert.Equal(t, 1, strings.Count(body, v.secret), "it is sent once")

			// Calls of another model, without thoughts or with another vendor's.
			for _, opaque := range []string{"", `{"host":"another","kept":{"reasoning_content":"alien","extra_content":{"alien":1}}}`, `{`, `[1]`, `"alien"`, `{"host":[]}`} {
				_, _, err = ask(t, p, loop("m", []provider.ToolCall{{ID: "x", Name: "now", Opaque: json.RawMessage(opaque)}}))
				require.NoError(t, err, "%s", opaque)
				assert.NotContains(t, (*bodies)[len(*bodies)-1], "alien")
			}
		})
	}
}

// TestThoughtsStayWithTheirVendor: a fallback of another vendor in the same loop is sent none of them.
func TestThoughtsStayWithTheirVendor(t *testing.T) {
	presets := map[string]*openaicompat.Provider{
		"openai": openaicompat.OpenAI("k"), "mistral": openaicompat.Mistral("k"), "groq": openaicompat.Groq("k"), "xai": openaicompat.XAI("k"),
		"vllm": openaicompat.VLLM("", ""), "ollama": openaicompat.Ollama(""), "compatible": openaicompat.Compatible("", ""),
	}
	others := thinkers()
	for _, v := range others {
		presets[v.name] = v.preset()
	}
	sent := map[string]*[]string{}
	for name, p := range presets {
		quiet := thinker{demand: func([]map[string]any) string { return "" }}
		for _, v := range others {
			if v.name == name {
				quiet = v
			}
		}
		sent[name] = quiet.strict(t, p)
	}
	for _, v := range others {
		r := adaptertest.Answer(t, presets[v.name], loop("m", nil))
		for name, p := range presets {
			_, _, err := ask(t, p, loop("m", r.Calls))
			require.NoError(t, err, "%s after %s", name, v.name)
			bodies := *sent[name]
			assert.Equal(t, name == v.name, strings.Contains(bodies[len(bodies)-1], v.secret), "%s after %s", name, v.name)
		}
	}
	for _, v := range others[2:] { // what is signed or encrypted is for its model alone
		r := adaptertest.Answer(t, presets[v.name], loop("m", nil))
		adaptertest.Answer(t, presets[v.name], loop("m-2", r.Calls))
		bodies := *sent[v.name]
		assert.NotContains(t, bodies[len(bodies)-1], v.secret)
	}
}

// TestGatewaysKeepThoughtsApart: servers without a vendor's name are told apart by their host.
func TestGatewaysKeepThoughtsApart(t *testing.T) {
	one, other := openaicompat.Compatible("", ""), openaicompat.Compatible("", "")
	one.Thoughts, other.Thoughts = openaicompat.ThoughtsText, openaicompat.ThoughtsText
	v := thinkers()[1]
	mine, theirs := v.strict(t, one), v.strict(t, other)
	r := adaptertest.Answer(t, one, loop("m", nil))
	for _, p := range []*openaicompat.Provider{one, other} {
		adaptertest.Answer(t, p, loop("m", r.Calls))
	}
	assert.Contains(t, (*mine)[1], v.secret)
	assert.NotContains(t, (*theirs)[0], v.secret)
}

// TestReasoningDetailsAreMerged: pieces become elements again, in order, whatever a server sends.
func TestReasoningDetailsAreMerged(t *testing.T) {
	for _, tt := range []struct {
		name   string
		pieces []string
		want   string // "": nothing is kept
	}{
		{"none", nil, ""},
		{"an empty list", []string{`[]`}, `[]`},
		{"a signature at the end", []string{
			`[{"type":"reasoning.text","text":"a","format":"anthropic-claude-v1","index":0}]`,
			`[{"type":"reasoning.text","text":"b","signature":null,"format":"anthropic-claude-v1","index":0}]`,
			`[{"type":"reasoning.text","signature":"sig","format":"anthropic-claude-v1","index":0}]`,
		}, `[{"type":"reasoning.text","text":"ab","format":"anthropic-claude-v1","index":0,"signature":"sig"}]`},
		{"two thoughts, woven", []string{
			`[{"type":"reasoning.summary","summary":"a","index":0},{"type":"reasoning.summary","summary":"1","index":1}]`,
			`[{"type":"reasoning.summary","summary":"b","index":0},{"type":"reasoning.summary","summary":"2","index":1}]`,
		}, `[{"type":"reasoning.summary","summary":"ab","index":0},{"type":"reasoning.summary","summary":"12","index":1}]`},
		{"without an index", []string{
			`[{"type":"reasoning.text","text":"a","format":"unknown"}]`, `[{"type":"reasoning.text","text":"b","format":"unknown"}]`,
			`[{"type":"reasoning.encrypted","data":"x"}]`, `[{"type":"reasoning.text","text":"c","format":"unknown"}]`,
		}, `[{"type":"reasoning.text","text":"ab","format":"unknown"},{"type":"reasoning.encrypted","data":"x"},{"type":"reasoning.text","text":"c","format":"unknown"}]`},
		{"encrypted elements are whole", []string{
			`[{"type":"reasoning.encrypted","data":"x","id":"call_00","index":0}]`, `[{"type":"reasoning.encrypted","data":"y","id":"call_01","index":0}]`,
		}, `[{"type":"reasoning.encrypted","data":"x","id":"call_00","index":0},{"type":"reasoning.encrypted","data":"y","id":"call_01","index":0}]`},
		{"unsigned texts of vendors who sign", []string{
			`[{"type":"reasoning.text","text":"a","index":0},{"type":"reasoning.text","text":"b","format":"google-gemini-v1","index":1},{"type":"reasoning.encrypted","data":"x","format":"google-gemini-v1","index":2}]`,
		}, `[{"type":"reasoning.encrypted","data":"x","format":"google-gemini-v1","index":2}]`},
		{"no list", []string{`"text"`, `{"type":"reasoning.text"}`, `null`, `7`}, ""},
		{"no objects", []string{`[1,"x",null,[],{"type":"a","type":"b"}]`}, `[]`},
		{"odd fields", []string{`[{"type":7,"index":"x","text":{"a":1}}]`}, `[{"type":7,"index":"x","text":"{\"a\":1}"}]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := thinkers()[2]
			calls := v.stream[3:]
			v.stream = nil
			for _, piece := range tt.pieces {
				v.stream = append(v.stream, `{"choices":[{"index":0,"delta":{"content":"","reasoning_details":`+piece+`}}]}`)
			}
			v.stream = append(v.stream, calls...)
			p := v.preset()
			bodies := v.strict(t, p)
			r := adaptertest.Answer(t, p, loop("m", nil))
			assert.Equal(t, tt.want == "", len(r.Calls[0].Opaque) == 0)
			assert.Empty(t, r.Calls[1].Opaque)
			adaptertest.Answer(t, p, loop("m", r.Calls))
			if tt.want == "" {
				tt.want = `[]`
			}
			assert.Contains(t, (*bodies)[1], `"reasoning_details":`+tt.want+`}`)
		})
	}
}

// TestThoughtsAreBounded: a server may send any amount of them.
func TestThoughtsAreBounded(t *testing.T) {
	longform.Lone(t)
	many := make([]string, 0, 4000)
	for i := range cap(many) {
		many = append(many, fmt.Sprintf(`{"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.summary","summary":"a","index":%d}]}}]}`, i))
	}
	long := make([]string, 0, 40)
	for range cap(long) {
		long = append(long, `{"choices":[{"index":0,"delta":{"reasoning_content":"`+strings.Repeat("x", 50_000)+`"}}]}`)
	}
	for at, pieces := range map[int][]string{2: many, 1: long} {
		v := thinkers()[at]
		v.stream = slices.Concat(pieces, thinkers()[2].stream[3:])
		p := v.preset()
		v.strict(t, p)
		r := adaptertest.Answer(t, p, loop("m", nil))
		assert.Empty(t, r.Calls[0].Opaque, "too much is dropped")
		_, _, err := ask(t, p, loop("m", r.Calls))
		require.NoError(t, err, "and its vendor accepts the calls without it")
	}
}
