package anthropic_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

// What message_start says of the output is not the price: only message_delta counts it.
func TestUsageOfWhatIsCut(t *testing.T) {
	whole := ok + stream(text(0, "Half ", "of it."), "end_turn")
	before, _, _ := strings.Cut(whole, "event: content_block_start")
	r, _, err := ask(t, played(before), request())
	failure(t, err, provider.KindNetwork)
	require.NotNil(t, r)
	assert.True(t, r.Partial, "the server may write on")
	assert.Equal(t, provider.Usage{Input: 30, CachedInput: 7, CacheWrite: 3, Output: 1}, r.Usage)

	amid, _, _ := strings.Cut(whole, "event: message_delta")
	r, chunks, err := ask(t, played(amid), request())
	failure(t, err, provider.KindNetwork)
	assert.Equal(t, []string{"Half ", "of it."}, chunks)
	require.NotNil(t, r)
	assert.True(t, r.Partial, "how much was written is not known")

	after, _, _ := strings.Cut(whole, "event: message_stop")
	r, _, err = ask(t, played(after), request())
	require.NoError(t, err, "the reason has come, and no block is open")
	assert.Equal(t, "Half of it.", r.Text)
	assert.Equal(t, provider.Usage{Input: 30, CachedInput: 7, CacheWrite: 3, Output: 9}, r.Usage)

	late, _, _ := strings.Cut(whole, "event: content_block_stop")
	_, end, _ := strings.Cut(after, "event: message_delta")
	_, _, err = ask(t, played(late+"event: message_delta"+end), request())
	failure(t, err, provider.KindNetwork) // a block is open
	_, more, _ := strings.Cut(amid, "event: content_block_start")
	_, _, err = ask(t, played(after+"event: content_block_start"+more), request())
	failure(t, err, provider.KindNetwork) // the reply went on
}

// Servers of other vendors count cached tokens inside the input, as OpenAI does, and then have its fields. DashScope: rust-genai#258
// (2026-07-09), read 2026-11-29. The others are inferred.
func TestUsageWithTheFieldsOfOpenAI(t *testing.T) {
	for usage, want := range map[string]provider.Usage{
		`"cache_creation_input_tokens":0,"cache_read_input_tokens":3604,"prompt_tokens_details":{"cached_tokens":3604},"output_tokens":878`: {Input: 3602, CachedInput: 3602, Output: 878},
		`"cache_creation_input_tokens":610,"cache_read_input_tokens":3000,"prompt_tokens":3602,"output_tokens":878`:                         {Input: 3602, CachedInput: 3000, CacheWrite: 602, Output: 878},
		`"cache_read_input_tokens":3000,"total_tokens":4480,"output_tokens":878`:                                                            {Input: 3602, CachedInput: 3000, Output: 878},
		`"cache_read_input_tokens":3000,"total_tokens":7480,"prompt_tokens_details":{"cached_tokens":3000},"output_tokens":878`:             {Input: 6602, CachedInput: 3000, Output: 878},
		`"input_tokens":0,"cache_read_input_tokens":3000,"prompt_tokens_details":{"cached_tokens":3000},"output_tokens":878`:                {Input: 3000, CachedInput: 3000, Output: 878},
		// A total without the cache beside the vendor's own counts: a fixture of a router, and vllm#40912; read 2026-11-29.
		`"input_tokens":10,"cache_creation_input_tokens":1234,"cache_read_input_tokens":0,"total_tokens":52,"output_tokens":42`: {Input: 1244, CacheWrite: 1234, Output: 42},
		`"input_tokens":10,"cache_read_input_tokens":5000,"prompt_tokens_details":{"cached_tokens":5000},"output_tokens":42`:    {Input: 5010, CachedInput: 5000, Output: 42},
		`"cache_read_input_tokens":3604,"prompt_tokens_details":null,"output_tokens":878`:                                       {Input: 7206, CachedInput: 3604, Output: 878},
		// The total of the first event knows nothing of the output in the last.
		`"output_tokens":1,"cache_read_input_tokens":30,"total_tokens":3633}|{"output_tokens":878`: {Input: 3632, CachedInput: 30, Output: 878},
	} {
		first, last, two := strings.Cut(usage, "}|{")
		if !two {
			first, last = `"output_tokens":0`, usage
		}
		answer := ok + event("message_start", `{"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":3602,`+first+`}}}`) +
			text(0, "Yes.") +
			event("message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{`+last+`}}`) +
			event("message_stop", `{"type":"message_stop"}`)
		r := adaptertest.Answer(t, played(answer), request())
		assert.Equal(t, want, r.Usage, usage)
	}
}

// A character whose two halves come in two pieces is one: in text, in thoughts and in arguments.
func TestHalvesOfACharacter(t *testing.T) {
	half := func(kind, field, text string) string { return `{"type":"` + kind + `","` + field + `":"` + text + `"}` }
	r, chunks, err := ask(t, played(ok+stream(
		block(0, `{"type":"thinking","thinking":""}`, half("thinking_delta", "thinking", `a\ud83c`), half("thinking_delta", "thinking", `\udf33`))+
			block(1, `{"type":"text","text":""}`, half("text_delta", "text", `Oaks \ud83c`), half("text_delta", "text", `\udf33 and \udf33`))+
			block(2, `{"type":"tool_use","id":"t","name":"x","input":{}}`,
				half("input_json_delta", "partial_json", `{\"a\":\"\ud83c`), half("input_json_delta", "partial_json", `\udf33\"}`)),
		"tool_use")), request())
	require.NoError(t, err)
	assert.Equal(t, "Oaks 🌳 and \uFFFD", r.Text)
	assert.Equal(t, []string{"Oaks ", "🌳 and \uFFFD"}, chunks)
	assert.Equal(t, "a🌳", r.Reasoning)
	require.Len(t, r.Calls, 1)
	assert.JSONEq(t, `{"a":"🌳"}`, string(r.Calls[0].Arguments))
}

// The first piece of a block may repeat its beginning, as cline/cline#9215 (2026-02-10) has it, or go on with it, as in
// can1357/oh-my-pi#8319 (2026-08-12).
func TestABeginningThatIsRepeated(t *testing.T) {
	piece := func(kind, field, text string) string { return `{"type":"` + kind + `","` + field + `":"` + text + `"}` }
	for first, want := range map[string]string{"Good catch!": "Good catch! Yes.", "Good catch! A": "Good catch! A Yes.", " So": "Good catch! So Yes."} {
		r := adaptertest.Answer(t, played(ok+stream(
			block(0, `{"type":"thinking","thinking":"Good catch!"}`, piece("thinking_delta", "thinking", first), piece("thinking_delta", "thinking", " Yes."))+
				block(1, `{"type":"text","text":"Good catch!"}`, piece("text_delta", "text", first), piece("text_delta", "text", " Yes.")),
			"end_turn")), request())
		assert.Equal(t, want, r.Text)
		assert.Equal(t, want, r.Reasoning)
	}
}

// What only names something may have any type: anomalyco/opencode#19947 (2026-03-29), zed#59403 (2026-06-16).
func TestNamesOfAnyType(t *testing.T) {
	whole := stream(block(0, `{"type":"tool_use","id":7,"name":"x"}`, `{"type":"input_json_delta","partial_json":"{\"a\":1}"}`), "tool_use")
	begun := strings.Index(whole, `"content_block_delta"`)
	require.Positive(t, begun)
	for _, index := range []string{`"index":null`, `"index":"0"`, `"index":-1`, `"index":{}`, `"of":0`} {
		_, _, err := ask(t, played(ok+whole[:begun]+strings.ReplaceAll(whole[begun:], `"index":0`, index)), request())
		require.NoError(t, err, index)
		r, _, err := ask(t, played(ok+strings.ReplaceAll(whole, `"index":0`, index)), request())
		require.NoError(t, err, index)
		require.Len(t, r.Calls, 1)
		assert.Equal(t, "7", r.Calls[0].ID)
		assert.JSONEq(t, `{"a":1}`, string(r.Calls[0].Arguments))
	}
}

// An event of an unknown kind is none of the reply, whatever it holds.
func TestEventsOfAnUnknownKind(t *testing.T) {
	whole := stream(text(0, "Yes."), "end_turn")
	r := adaptertest.Answer(t, played(ok+"event: status\ndata: {\"detail\":\"queued\"}\n\n"+whole), request())
	assert.Equal(t, "Yes.", r.Text)
}

// A proxy that asks again when its connection breaks may join two replies: the first is half of one.
func TestASecondBeginning(t *testing.T) {
	whole := stream(text(0, "Half ", "of it."), "end_turn")
	start, rest, _ := strings.Cut(whole, "event: content_block_start")
	rest = "event: content_block_start" + rest
	amid, _, _ := strings.Cut(rest, "event: message_delta")

	r, chunks, err := ask(t, played(ok+start+start+rest), request())
	require.NoError(t, err, "nothing has begun yet")
	assert.Equal(t, "Half of it.", r.Text)
	assert.Equal(t, []string{"Half ", "of it."}, chunks)

	_, _, err = ask(t, played(ok+start+amid+whole), request())
	e := failure(t, err, provider.KindInvalidResponse)
	assert.Equal(t, "malformed", e.Code)
}

func TestTooManyCalls(t *testing.T) {
	var b strings.Builder
	for i := range 129 {
		b.WriteString(block(i, `{"type":"tool_use","id":"t`+strconv.Itoa(i)+`","name":"x","input":{}}`))
	}
	_, _, err := ask(t, played(ok+stream(b.String(), "tool_use")), request())
	failure(t, err, provider.KindInvalidResponse)
}

func FuzzStream(f *testing.F) {
	adaptertest.Fuzzing{
		Head: ok,
		Connect: func(transport http.RoundTripper) provider.Provider {
			p := played("")
			p.MaxLine, p.MaxBody, p.Client.Transport = 1<<11, 1<<15, transport
			return p
		},
		Request: request,
		Seeds:   []string{stream(block(0, `{"type":"tool_use","id":5,"name":[],"input":"x"}`, `{"type":"text_delta","partial_json":7}`), "tool_use")},
		Also: func(t *testing.T, body []byte, r *provider.Response, err error) {
			if err == nil {
				require.Contains(t, string(body), "stop_reason")
			}
			if r == nil {
				return
			}
			u := r.Usage
			require.True(t, u.Input >= u.CachedInput+u.CacheWrite && u.CachedInput >= 0 && u.CacheWrite >= 0 && u.Output >= u.Reasoning && u.Reasoning >= 0, u)
			// What the model asked for can be sent back to it, whatever it is.
			back, bodies := recording(t)
			req := request()
			req.Messages = []provider.Message{{Speaker: "Ada", Text: r.Text, ToolCalls: r.Calls}}
			adaptertest.Answer(t, back, req)
			require.True(t, json.Valid((*bodies)[0]))
		},
	}.Run(f)
}

func FuzzOpaque(f *testing.F) {
	for _, s := range []string{"", "null", "{}", `{"host":"example.com","kept":{"blocks":[{"thinking":"a","signature":"b"},{"redacted":"c"}]}}`, `{"host":"example.com","kept":{"blocks":{}}}`, `{"host":"example.com","kept":{"blocks":[null,{"thinking":5}]}}`, "[["} {
		f.Add([]byte(s), []byte(`{"w":1}`), "toolu_1")
	}
	f.Fuzz(func(t *testing.T, opaque, arguments []byte, id string) {
		p, bodies := recording(t)
		req := request()
		req.Messages = []provider.Message{{Speaker: "Ada", ToolCalls: []provider.ToolCall{{ID: id, Name: "x", Arguments: arguments, Opaque: opaque}}}}
		adaptertest.Answer(t, p, req)
		require.True(t, json.Valid((*bodies)[0]))
	})
}
