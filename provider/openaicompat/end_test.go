package openaicompat_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

const (
	streamed = "HTTP/1.1 200 OK\nContent-Type: text/event-stream\nConnection: close\n\n"
	counted  = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1000,\"completion_tokens\":2}}\n\n"
	finished = "data: [DONE]\n\n"
)

// finish is the event that ends a reply for a reason.
func finish(reason string) string {
	return "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" + reason + "\"}]}\n\n"
}

// A reply that has come to its end stays whole, and stays cut if it was.
func TestWhatFollowsTheEnd(t *testing.T) {
	for _, tt := range []struct {
		name, after string
		want        provider.StopReason
	}{
		{"an event that is too long", finish("stop") + "data: " + strings.Repeat("x", 4<<10) + "\n\n", provider.StopEnd},
		{"a body that is too long", finish("stop") + strings.Repeat(": still here\n\n", 4<<10), provider.StopEnd},
		{"a limit, then an end", finish("length") + finish("stop") + finished, provider.StopLength},
		{"a filter, then an end", finish("content_filter") + finish("STOP") + finished, provider.StopFilter},
		{"an end, then a limit", finish("end_turn") + finish("length") + finished, provider.StopLength},
		{"half an event", finish("stop") + "data: {\"choices\":\n\n" + finished, provider.StopEnd},
		{"an event of another shape", finish("stop") + "data: {\"choices\":\"x\"}\n\n" + finished, provider.StopEnd},
		{"an event that is an error", finish("stop") + "event: error\ndata: {\"message\":\"late\"}\n\n", provider.StopEnd},
		{"an error", finish("stop") + "data: {\"error\":{\"message\":\"late\"}}\n\n", provider.StopEnd},
		{"an end, twice", finish("stop") + finish("stop") + finished, provider.StopEnd},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := played([]byte(streamed + piece("Cars are loud.") + tt.after))
			p.MaxLine, p.MaxBody = 1<<10, 16<<10
			r := adaptertest.Answer(t, p, request())
			assert.Equal(t, "Cars are loud.", r.Text)
			assert.Equal(t, tt.want, r.Stop)
		})
	}
}

// Gemini's endpoint names its own reason behind that of the protocol, before any text or after some.
func TestReasonsOfTwoParts(t *testing.T) {
	for _, text := range []string{"", piece("Half a")} {
		for _, reason := range []string{"content_filter: PROHIBITED_CONTENT", "content_filter: RECITATION", "content_filter"} {
			r, _, err := ask(t, played([]byte(streamed+text+finish(reason)+counted+finished)), request())
			require.NoError(t, err, reason)
			assert.Equal(t, provider.StopFilter, r.Stop, reason)
			assert.Equal(t, 1000, r.Usage.Input)
		}
		r, _, err := ask(t, played([]byte(streamed+text+finish("function_call_filter: MALFORMED_FUNCTION_CALL")+counted+finished)), request())
		assert.Equal(t, "malformed_function_call", failure(t, err, provider.KindInvalidResponse).Code)
		assert.Equal(t, 1000, r.Usage.Input, "the reply is charged")
		_, _, err = ask(t, played([]byte(streamed+text+finish("function_call_filter")+finished)), request())
		assert.Equal(t, "function_call_filter", failure(t, err, provider.KindInvalidResponse).Code)
	}
	_, _, err := ask(t, played([]byte(streamed+piece("Half a")+finish("new_reason: WORDS")+finished)), request())
	assert.Contains(t, failure(t, err, provider.KindInvalidResponse).Message, "new_reason")
}

// Events that nobody knows are passed over, whatever value they hold; what is no JSON is no event.
func TestEventsWithoutAnObject(t *testing.T) {
	for _, value := range []string{"3", "null", "true", `"words"`, "[]", "[1]"} {
		for _, kind := range []string{"", "event: message\n", "event: news\n"} {
			r, _, err := ask(t, played([]byte(streamed+piece("Yes")+kind+"data: "+value+"\n\n"+piece(".")+finish("stop"))), request())
			require.NoError(t, err, "%s%s", kind, value)
			assert.Equal(t, "Yes.", r.Text)
		}
	}
	for _, value := range []string{"3x", "[", "words"} {
		_, _, err := ask(t, played([]byte(streamed+piece("Yes.")+"data: "+value+"\n\n"+finish("stop"))), request())
		assert.Equal(t, "malformed", failure(t, err, provider.KindInvalidResponse).Code, value)
	}
}

// Usage stands beside a failure where it is the price of the attempt, or, as a partial one, a part of it.
func TestUsageBesideAFailure(t *testing.T) {
	price := provider.Usage{Input: 1000, Output: 2}
	const inError = `data: {"error":{"message":"Busy"},"usage":{"prompt_tokens":1000,"completion_tokens":2}}`
	for _, tt := range []struct {
		name, stream, code string
		kind               provider.Kind
		partial            bool
	}{
		{"cut", piece("Half") + counted, "truncated", provider.KindNetwork, true},
		{"cut by an end of the stream", piece("Half") + counted + finished, "truncated", provider.KindNetwork, true},
		{"an error afterwards", piece("Half") + counted + "data: {\"error\":{\"message\":\"Busy\"}}\n\n", "", provider.KindAPI, true},
		{"no reply", counted + finished, "no_choices", provider.KindInvalidResponse, true},
		{"in the error", piece("Half") + inError + "\n\n", "", provider.KindAPI, false},
		{"an end that nobody knows", piece("Half") + finish("odd") + counted + finished, "finish_reason", provider.KindInvalidResponse, false},
		{"blank", finish("stop") + counted + finished, "blank", provider.KindInvalidResponse, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, _, err := ask(t, played([]byte(streamed+tt.stream)), request())
			assert.Equal(t, tt.code, failure(t, err, tt.kind).Code)
			require.NotNil(t, r)
			assert.Equal(t, tt.partial, r.Partial)
			assert.Equal(t, price, r.Usage)
		})
	}
}
