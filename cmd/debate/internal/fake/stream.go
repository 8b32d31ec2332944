package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// pieces is how many pieces a text is streamed in, at most.
const pieces = 4

// stream writes an answer as server-sent events. What is written is JSON.
type stream struct{ w http.ResponseWriter }

// eventf writes one event. An empty kind is left out.
func (s stream) eventf(kind, format string, args ...any) {
	if kind != "" {
		_, _ = fmt.Fprintf(s.w, "event: %s\n", kind)
	}
	_, _ = fmt.Fprintf(s.w, "data: "+format+"\n\n", args...)
	_ = http.NewResponseController(s.w).Flush()
}

// text streams the text of an answer, each piece by a call of send. It reports whether the answer goes on.
func (s stream) text(said *reply, send func(piece string)) bool {
	runes := []rune(said.text)
	size := max((len(runes)+pieces-1)/pieces, 1)
	for at := 0; at < len(runes); at += size {
		if at > 0 && said.fault == FaultCut {
			if conn, _, err := http.NewResponseController(s.w).Hijack(); err == nil {
				_ = conn.Close()
			}
			return false
		}
		send(quote(string(runes[at:min(at+size, len(runes))])))
	}
	return true
}

// begin writes what precedes the text.
func (s stream) begin(call *Call, chat bool) {
	if chat {
		s.eventf("", `{"id":"chat_0","model":%s,"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`, quote(call.Model))
		return
	}
	s.eventf("response.created",
		`{"type":"response.created","response":{"id":"resp_0","status":"in_progress","model":%s,"output":[]}}`, quote(call.Model))
}

// responses writes the rest of an answer of the Responses API.
func (s stream) responses(call *Call, said *reply) {
	model := quote(call.Model)
	kind, part := "response.output_text.delta", `{"type":"output_text","text":`+quote(said.text)+`}`
	if said.fault == FaultRefusal {
		kind, part = "response.refusal.delta", `{"type":"refusal","refusal":`+quote(said.text)+`}`
	}
	whole := s.text(said, func(piece string) {
		s.eventf(kind, `{"type":"%s","output_index":0,"content_index":0,"item_id":"msg_0","delta":%s}`, kind, piece)
	})
	if !whole {
		return
	}
	output := `{"type":"message","id":"msg_0","role":"assistant","status":"completed","content":[` + part + `]}`
	if said.tool != "" {
		output = fmt.Sprintf(`{"type":"function_call","id":"fc_0","call_id":"call_0","name":%s,"arguments":%s,"status":"completed"}`,
			quote(said.tool), quote(said.with))
	}
	end, why := "completed", "null"
	if said.fault == FaultLength {
		end, why = "incomplete", `{"reason":"max_output_tokens"}`
	}
	s.eventf("response."+end, `{"type":"response.%s","response":{"id":"resp_0","status":"%s","incomplete_details":%s,"model":%s,`+
		`"output":[%s],"usage":{"input_tokens":%d,"output_tokens":%d}}}`, end, end, why, model, output, said.input, said.output)
}

// chat writes the rest of an answer of the chat completions.
func (s stream) chat(call *Call, said *reply) {
	send := func(delta, finish string) {
		s.eventf("", `{"id":"chat_0","model":%s,"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`, quote(call.Model), delta, finish)
	}
	field := "content"
	if said.fault == FaultRefusal {
		field = "refusal"
	}
	if !s.text(said, func(piece string) { send(`{"`+field+`":`+piece+`}`, "null") }) {
		return
	}
	finish := `"stop"`
	switch {
	case said.tool != "":
		finish = `"tool_calls"`
		send(fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"call_0","type":"function","function":{"name":%s,"arguments":%s}}]}`,
			quote(said.tool), quote(said.with)), "null")
	case said.fault == FaultLength:
		finish = `"length"`
	}
	send(`{}`, finish)
	s.eventf("", `{"id":"chat_0","model":%s,"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`,
		quote(call.Model), said.input, said.output)
	s.eventf("", "[DONE]")
}

// quote returns a text as JSON.
func quote(text string) string {
	encoded, _ := json.Marshal(text) //nolint:errchkjson // every text is JSON
	return string(encoded)
}

// tokens is about how many tokens a text has.
func tokens(text string) int { return len(text)/4 + 1 }
