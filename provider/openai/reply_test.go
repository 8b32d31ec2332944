package openai_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/openai"
)

// answering is a provider that gets a stream of these events.
func answering(t *testing.T, events ...string) *openai.Provider {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, _ *http.Request) { stream(w, events...) })
}

// last is a reply's end with an output.
func last(output ...string) string {
	return `{"type":"response.completed","response":{"status":"completed","model":"gpt-5-2025","output":[` + strings.Join(output, ",") +
		`],"usage":{"input_tokens":30,"output_tokens":7,"input_tokens_details":{"cached_tokens":16},"output_tokens_details":{"reasoning_tokens":3}}}}`
}

const (
	rs1    = `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hidden"}],"encrypted_content":"one"}`
	rs2    = `{"id":"rs_2","type":"reasoning","summary":[],"encrypted_content":"two"}`
	rsBare = `{"id":"rs_3","type":"reasoning","summary":[],"encrypted_content":null}`
	rsOpen = `{"id":"rs_4","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hidden"}]}`
	fcA    = `{"id":"fc_1","type":"function_call","status":"completed","call_id":"a","name":"lookup","arguments":"{\"w\":1}"}`
	fcB    = `{"id":"fc_2","type":"function_call","status":"completed","call_id":"b","name":"now","arguments":""}`
	msg    = `{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"Let me see."}]}`
)

func delta(place, text string) string {
	quoted, _ := json.Marshal(text)
	return `{"type":"response.output_text.delta","output_index":` + place + `,"content_index":0,"delta":` + string(quoted) + `}`
}

func done(place, item string) string {
	return `{"type":"response.output_item.done","output_index":` + place + `,"item":` + item + `}`
}

func TestThoughtsComeBackBeforeTheirCall(t *testing.T) {
	opaque := func(thoughts ...string) string {
		return `{"host":"example.com","model":"gpt-5","kept":{"reasoning":[` + strings.Join(thoughts, ",") + `]}}`
	}
	tests := map[string]struct {
		events []string
		want   []string // the Opaque of each call
	}{
		"one thought":        {[]string{last(rs1, fcA, fcB)}, []string{opaque(rs1), ""}},
		"with words":         {[]string{delta("1", "Let me see."), last(rs1, msg, fcA)}, []string{opaque(rs1)}},
		"two thoughts":       {[]string{last(rs1, rs2, fcA)}, []string{opaque(rs1, rs2)}},
		"a thought each":     {[]string{last(rs1, fcA, rs2, fcB)}, []string{opaque(rs1), opaque(rs2)}},
		"an open thought":    {[]string{last(rsOpen, fcA)}, []string{opaque(rsOpen)}},
		"a mere reference":   {[]string{last(rsBare, fcA)}, []string{""}},
		"sealed before":      {[]string{done("0", rs1), last(rsBare, fcA)}, []string{opaque(rs1)}},
		"no output at all":   {[]string{done("2", fcB), done("1", fcA), done("0", rs1), last()}, []string{opaque(rs1), ""}},
		"a thought too late": {[]string{last(fcA, rs1)}, []string{""}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			req := request()
			r := adaptertest.Answer(t, answering(t, tt.events...), req)
			assert.Equal(t, provider.StopTool, r.Stop)
			assert.NotContains(t, r.Text, "hidden")
			require.Len(t, r.Calls, len(tt.want))
			for i, c := range r.Calls {
				assert.Equal(t, tt.want[i], string(c.Opaque))
			}

			// And back: what OpenAI sent it gets, in the same order.
			var sent []string
			p := serve(t, func(w http.ResponseWriter, r *http.Request) {
				var body struct {
					Input []struct{ Type, ID, Role string }
				}
				assert.NoError(t, json.NewDecoder(r.Body).Decode(&body))
				for _, item := range body.Input {
					sent = append(sent, item.Type+item.ID+item.Role)
				}
				say(w)
			})
			req.Messages = []provider.Message{{Speaker: "Ada", Text: r.Text, ToolCalls: r.Calls}}
			adaptertest.Answer(t, p, req)
			want := []string{"user"} // before a conversation that begins with the model's own calls
			for i, c := range r.Calls {
				var s struct {
					Kept struct{ Reasoning []struct{ ID string } }
				}
				if len(c.Opaque) > 0 {
					require.NoError(t, json.Unmarshal(c.Opaque, &s))
				}
				for _, thought := range s.Kept.Reasoning {
					want = append(want, "reasoning"+thought.ID)
				}
				if i == 0 && r.Text != "" {
					want = append(want, "assistant")
				}
				want = append(want, "function_call")
			}
			for range r.Calls {
				want = append(want, "function_call_output")
			}
			assert.Equal(t, want, sent)

			// A server elsewhere, whose vendor may be another, gets the calls alone.
			sent, p.BaseURL = nil, "http://another.example.com/v1"
			adaptertest.Answer(t, p, req)
			want = slices.DeleteFunc(want, func(item string) bool { return strings.HasPrefix(item, "reasoning") })
			assert.Equal(t, want, sent)
		})
	}
}

func TestCalls(t *testing.T) {
	r := adaptertest.Answer(t, answering(t, last(fcA, fcB)), request())
	assert.Equal(t, []provider.ToolCall{
		{ID: "a", Name: "lookup", Arguments: json.RawMessage(`{"w":1}`)},
		{ID: "b", Name: "now", Arguments: json.RawMessage(`{}`)},
	}, r.Calls)
	assert.Equal(t, provider.Usage{Input: 30, CachedInput: 16, Output: 7, Reasoning: 3}, r.Usage)
	assert.Equal(t, "gpt-5-2025", r.Model)

	r, err := ask(t, answering(t, done(`"one"`, strings.Replace(fcA, `"a"`, "7", 1)), done("null", fcB), last()), request())
	require.NoError(t, err, "what only names something may have any type: anomalyco/opencode#19947 (2026-03-29), zed#59403 (2026-06-16)")
	require.Len(t, r.Calls, 2)
	assert.Equal(t, "7", r.Calls[0].ID)

	cut := `{"type":"function_call","status":"incomplete","call_id":"b","name":"now","arguments":""}`
	r = adaptertest.Answer(t, answering(t, delta("0", "Let me see."),
		`{"type":"response.incomplete","response":{"output":[`+msg+`,`+fcA+`,`+cut+`]}}`), request())
	assert.Equal(t, provider.StopLength, r.Stop)
	assert.Empty(t, r.Calls, "a call that was cut is none, and nobody knows which it is")

	for name, output := range map[string]string{
		"no JSON":          `{"type":"function_call","call_id":"a","name":"lookup","arguments":"{"}`,
		"no name":          `{"type":"function_call","call_id":"a","arguments":"{}"}`,
		"arguments":        `{"type":"function_call","call_id":"a","name":"lookup","arguments":{}}`,
		"too many":         strings.TrimSuffix(strings.Repeat(fcA+",", 129), ","),
		"an item of none":  `7`,
		"words of no kind": `{"type":"message","content":"x"}`,
	} {
		_, err := ask(t, answering(t, last(output)), request())
		assert.Equal(t, "malformed", failure(t, err, provider.KindInvalidResponse).Code, name)
	}
}

func TestTheLastEventDecides(t *testing.T) {
	yes := `{"type":"message","content":[{"type":"output_text","text":"Yes."}]}`
	no := `{"type":"message","content":[{"type":"output_text","text":"No."}]}`
	tests := map[string]struct {
		events []string
		text   string // "": it contradicts itself
	}{
		"the same":             {[]string{delta("0", "Yes."), last(yes)}, "Yes."},
		"nothing to compare":   {[]string{delta("0", "Yes."), last()}, "Yes."},
		"nothing streamed":     {[]string{last(yes, no)}, "Yes.\n\nNo."},
		"two messages":         {[]string{delta("0", "Yes."), delta("1", "N"), delta("1", "o."), last(yes, no)}, "Yes.\n\nNo."},
		"thoughts between":     {[]string{delta("0", "Yes."), delta("2", "No."), last(yes, rs1, no)}, "Yes.\n\nNo."},
		"an empty message":     {[]string{delta("1", "Yes."), last(`{"type":"message","content":[]}`, yes)}, "Yes."},
		"trimmed":              {[]string{delta("0", "\nYes. "), last(yes)}, "\nYes. "},
		"items for the output": {[]string{delta("0", "Yes."), done("0", yes), last()}, "Yes."},
		"only items":           {[]string{done("1", no), done("0", yes), last()}, "Yes.\n\nNo."},
		"another text":         {[]string{delta("0", "No."), last(yes)}, ""},
		"a piece lost":         {[]string{delta("0", "Ye"), last(yes)}, ""},
		"a message lost":       {[]string{delta("0", "Yes."), last(yes, no)}, ""},
		"a message too many":   {[]string{delta("0", "Yes."), delta("1", "No."), last(yes)}, ""},
		"the wrong order":      {[]string{delta("1", "No."), delta("0", "Yes."), last(yes, no)}, ""},
		"only calls":           {[]string{delta("0", "Yes."), last(fcA)}, ""},
		"items contradict":     {[]string{delta("0", "No."), done("0", yes), last()}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := ask(t, answering(t, tt.events...), request())
			if tt.text == "" {
				assert.Equal(t, "contradiction", failure(t, err, provider.KindInvalidResponse).Code)
				require.NotNil(t, r)
				assert.Equal(t, 30, r.Usage.Input, "what it cost is known")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.text, r.Text)
		})
	}
}

func TestOddEvents(t *testing.T) {
	for name, event := range map[string]string{
		"no JSON":        `{"type":"response.output_text.delta"`,
		"delta":          `{"type":"response.output_text.delta","delta":7}`,
		"refusal":        `{"type":"response.refusal.delta","delta":{}}`,
		"no response":    `{"type":"response.completed"}`,
		"null response":  `{"type":"response.completed","response":null}`,
		"response":       `{"type":"response.completed","response":7}`,
		"output":         `{"type":"response.completed","response":{"output":7}}`,
		"a list of none": `{"type":"response.failed","response":[]}`,
	} {
		_, err := ask(t, answering(t, delta("0", "Yes."), event, last()), request())
		assert.Equal(t, "malformed", failure(t, err, provider.KindInvalidResponse).Code, name)
	}
	for _, event := range []string{
		`{}`, `7`, `null`, `"x"`, `[]`, `{"error":null}`, `{"error":{}}`, `{"type":"response.queued"}`, `{"type":7}`, `{"type":"response.output_item.done","output_index":1e99}`, `{"type":"keepalive","error":null}`,
		`{"type":"response.reasoning_text.delta","delta":"hidden"}`, `{"type":"response.custom_tool_call_input.delta","delta":"hidden"}`,
		`{"type":"response.output_text.annotation.added","annotation":7}`, `[DONE]`, `{"type":"response.output_text.delta","delta":""}`,
	} {
		r, err := ask(t, answering(t, delta("0", "Ye"), event, delta("0", "s."), last()), request())
		if assert.NoError(t, err, event) {
			assert.Equal(t, "Yes.", r.Text)
		}
	}
}

func FuzzReply(f *testing.F) {
	adaptertest.Fuzzing{
		Head: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
		Connect: func(transport http.RoundTripper) provider.Provider {
			p := openai.New(canary)
			p.Client = &http.Client{Transport: transport}
			return p
		},
		Request: request,
		Also: func(t *testing.T, _ []byte, r *provider.Response, err error) {
			if err != nil {
				return
			}
			assert.LessOrEqual(t, r.Usage.CachedInput+r.Usage.CacheWrite, r.Usage.Input)
			assert.LessOrEqual(t, r.Usage.Reasoning, r.Usage.Output)
		},
	}.Run(f)
}

// A character whose two halves come in two events is one, and the streamed text is still that of the reply.
func TestHalvesOfACharacter(t *testing.T) {
	half := func(text string) string {
		return `{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"` + text + `"}`
	}
	r := adaptertest.Answer(t, answering(t, half(`Oaks \ud83c`), half(`\udf33 grow.`),
		last(`{"type":"message","content":[{"type":"output_text","text":"Oaks 🌳 grow."}]}`)), request())
	assert.Equal(t, "Oaks 🌳 grow.", r.Text)
}
