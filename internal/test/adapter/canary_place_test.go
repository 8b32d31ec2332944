package adapter_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// said is a good reply, in the words of any vendor.
type said struct {
	pieces                    []string // of the text
	thought                   string
	id, name                  string   // of a tool call; none if name is ""
	arguments                 []string // pieces of them
	model, answer, stop, rest string   // rest: what ends the connection instead of the reply's end
}

// place is where a server can put the key. good: the reply is one that counts.
type place struct {
	name  string
	good  bool
	serve func(w http.ResponseWriter, vendor, key string)
}

// places are all of them. The server writes the key in the coding that a test is about.
func places() []place {
	var all []place
	fail := func(name string, status int, kind, format string, fill ...func(string) any) {
		all = append(all, place{name, false, func(w http.ResponseWriter, _, key string) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			var values []any
			for _, f := range fill {
				values = append(values, f(key))
			}
			_, _ = fmt.Fprintf(w, format, values...)
		}})
	}
	quoted := func(key string) any { return marshal(key) }
	raw := func(key string) any { return key }
	const kind = "application/json"
	fail("message", 400, kind, `{"error":{"message":%s,"type":"t","code":"c"}}`, quoted)
	fail("message beside", 401, kind, `{"message":%s,"type":"t"}`, quoted)
	fail("type", 402, kind, `{"error":{"message":"m","type":%s}}`, quoted)
	fail("status", 429, kind, `{"error":{"message":"m","status":%s,"details":[{"reason":%s}]}}`, quoted, quoted)
	fail("code", 403, kind, `{"error":{"message":"m","code":%s,"param":%s}}`, quoted, quoted)
	fail("detail", 422, kind, `{"detail":[{"loc":["header"],"input":%s}]}`, quoted)
	fail("behind a router", 502, kind, `{"error":{"message":"m","metadata":{"raw":%s}}}`, func(key string) any { return marshal(marshal(key)) })
	fail("text of an error", 500, kind, `{"error":%s}`, quoted)
	fail("plain", 503, "text/plain", `no: %s`, raw)
	fail("page", 502, "text/html", `<html>%s</html>`, raw)
	fail("under 200", 200, kind, `{"error":{"message":%s,"code":%s}}`, quoted, quoted)
	fail("malformed event", 200, "text/event-stream", "data: {%s\n\n", quoted)
	fail("error in a stream", 200, "text/event-stream", "event: error\ndata: {\"type\":\"error\",\"error\":{\"message\":%s,\"type\":%s}}\n\n", quoted, quoted)
	header := func(name string, status int, names ...string) {
		all = append(all, place{name, false, func(w http.ResponseWriter, _, key string) {
			connection, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			key = strings.NewReplacer("\r", "", "\n", " ").Replace(key)
			reason := "No"
			if len(names) == 0 {
				reason = key
			}
			var lines strings.Builder
			if name == "location" {
				key = "http://127.0.0.1:1/?key=" + key
			}
			for _, n := range names {
				fmt.Fprintf(&lines, "%s: %s\r\n", n, key)
			}
			_, _ = fmt.Fprintf(connection, "HTTP/1.1 %d %s\r\n%sConnection: close\r\nContent-Length: 0\r\n\r\n", status, reason, lines.String())
			_ = connection.Close()
		}})
	}
	header("status line", 418)
	header("request id", 500, "X-Request-Id", "Request-Id", "X-Generation-Id", "Cf-Ray")
	header("headers", 401, "Www-Authenticate", "X-Debug", "Set-Cookie", "Server")
	header("waits", 429, "Retry-After", "Retry-After-Ms", "X-Ratelimit-Reset")
	header("location", 307, "Location")
	reply := func(name string, good bool, say func(key string) said) {
		all = append(all, place{name, good, func(w http.ResponseWriter, vendor, key string) { write(w, vendor, say(key)) }})
	}
	const tool = `{"q":"x"}`
	reply("unknown stop", false, func(key string) said { return said{pieces: []string{"Yes."}, stop: key} })
	reply("cut", false, func(key string) said { return said{pieces: []string{"It is " + key}, rest: key} })
	reply("text", true, func(key string) said { return said{pieces: []string{"It is " + key + ", no less."}} })
	reply("text in pieces", true, func(key string) said { return said{pieces: pieces("It is "+key+".", 3)} })
	reply("text by the byte", true, func(key string) said { return said{pieces: pieces(key, 1)} })
	reply("text in halves", true, func(key string) said { return said{pieces: pieces(key+", it is.", len(key)/2)} })
	reply("model", true, func(key string) said { return said{pieces: []string{"Yes."}, model: key} })
	reply("answer's id", true, func(key string) said {
		return said{pieces: []string{"Yes."}, answer: key, name: "look", arguments: []string{tool}}
	})
	reply("call's id", true, func(key string) said { return said{id: key, name: "look", arguments: []string{tool}} })
	reply("call's name", true, func(key string) said { return said{id: "1", name: key, arguments: []string{tool}} })
	reply("arguments", true, func(key string) said {
		return said{id: "1", name: "look", arguments: []string{`{"q":` + marshal(key) + `,` + marshal(key) + `:[1]}`}}
	})
	reply("arguments in pieces", true, func(key string) said {
		return said{pieces: []string{"I look."}, id: "1", name: "look", arguments: pieces(`{"q":`+marshal("of "+key)+`}`, 5)}
	})
	reply("thought", true, func(key string) said {
		return said{thought: "Hm: " + key, pieces: []string{"Yes."}, id: "1", name: "look", arguments: []string{tool}}
	})
	return all
}

func marshal(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

func pieces(text string, n int) []string {
	var all []string
	for at := 0; at < len(text); at += n {
		all = append(all, text[at:min(at+n, len(text))])
	}
	return all
}

type object = map[string]any

// write writes a reply in the protocol of a vendor.
func write(w http.ResponseWriter, vendor string, s said) {
	if s.model == "" {
		s.model = "model"
	}
	if s.answer == "" {
		s.answer = "answer"
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(v any) {
		if vendor == "ollama" {
			_, _ = fmt.Fprintf(w, "%s\n", marshal(v))
		} else {
			_, _ = fmt.Fprintf(w, "data: %s\n\n", marshal(v))
		}
	}
	map[string]func(said, func(any)){
		"openaicompat": writeCompat, "openai": writeResponses, "anthropic": writeMessages, "google": writeGemini, "ollama": writeOllama,
	}[vendor](s, send)
	if s.rest != "" {
		_, _ = fmt.Fprint(w, "data: {", s.rest)
	}
}

// ends returns the reason for which a reply ends, "" if it is cut.
func (s *said) ends(end, call string) string {
	switch {
	case s.stop != "":
		return s.stop
	case s.rest != "":
		return ""
	case s.name != "":
		return call
	default:
		return end
	}
}

func writeCompat(s said, send func(any)) {
	delta := func(d object, reason any) {
		send(object{"id": s.answer, "model": s.model, "object": "chat.completion.chunk", "choices": []any{object{"index": 0, "delta": d, "finish_reason": reason}}})
	}
	if s.thought != "" {
		delta(object{"reasoning_content": s.thought, "reasoning": s.thought}, nil)
	}
	for _, piece := range s.pieces {
		delta(object{"content": piece}, nil)
	}
	for i, piece := range s.arguments {
		call := object{"index": 0, "function": object{"arguments": piece}}
		if i == 0 {
			call = object{"index": 0, "id": s.id, "type": "function", "function": object{"name": s.name, "arguments": piece}}
		}
		delta(object{"tool_calls": []any{call}}, nil)
	}
	if reason := s.ends("stop", "tool_calls"); reason != "" {
		delta(object{}, reason)
	}
}

func writeResponses(s said, send func(any)) {
	var output []any
	item := func(v any) {
		send(object{"type": "response.output_item.done", "output_index": len(output), "item": v})
		output = append(output, v)
	}
	if s.thought != "" {
		item(object{"type": "reasoning", "id": "rs_1", "encrypted_content": "x", "summary": []any{object{"type": "summary_text", "text": s.thought}}})
	}
	if len(s.pieces) > 0 {
		for _, piece := range s.pieces {
			send(object{"type": "response.output_text.delta", "output_index": len(output), "delta": piece})
		}
		text := object{"type": "output_text", "text": strings.Join(s.pieces, "")}
		item(object{"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": []any{text}})
	}
	if s.name != "" {
		item(object{
			"type": "function_call", "id": "fc_1", "status": "completed", "call_id": s.id, "name": s.name, "arguments": strings.Join(s.arguments, ""),
		})
	}
	response := object{"id": s.answer, "status": "completed", "model": s.model, "output": output}
	switch reason := s.ends("completed", "completed"); reason {
	case "completed":
		send(object{"type": "response.completed", "response": response})
	case "":
	default:
		response["status"], response["incomplete_details"] = "incomplete", object{"reason": reason}
		send(object{"type": "response.incomplete", "response": response})
	}
}

func writeMessages(s said, send func(any)) {
	at := 0
	block := func(begin object, deltas ...object) {
		send(object{"type": "content_block_start", "index": at, "content_block": begin})
		for _, d := range deltas {
			send(object{"type": "content_block_delta", "index": at, "delta": d})
		}
		send(object{"type": "content_block_stop", "index": at})
		at++
	}
	send(object{"type": "message_start", "message": object{"id": s.answer, "model": s.model, "usage": object{"input_tokens": 1, "output_tokens": 1}}})
	if s.thought != "" {
		block(object{"type": "thinking", "thinking": ""}, object{"type": "thinking_delta", "thinking": s.thought}, object{"type": "signature_delta", "signature": "s"})
	}
	var deltas []object
	for _, piece := range s.pieces {
		deltas = append(deltas, object{"type": "text_delta", "text": piece})
	}
	if len(deltas) > 0 {
		block(object{"type": "text", "text": ""}, deltas...)
	}
	deltas = nil
	for _, piece := range s.arguments {
		deltas = append(deltas, object{"type": "input_json_delta", "partial_json": piece})
	}
	if s.name != "" {
		block(object{"type": "tool_use", "id": s.id, "name": s.name, "input": object{}}, deltas...)
	}
	if reason := s.ends("end_turn", "tool_use"); reason != "" {
		send(object{"type": "message_delta", "delta": object{"stop_reason": reason}, "usage": object{"output_tokens": 2}})
		send(object{"type": "message_stop"})
	}
}

func writeGemini(s said, send func(any)) {
	part := func(p object, reason string) {
		c := object{"index": 0, "content": object{"role": "model", "parts": []any{p}}}
		if reason != "" {
			c = object{"index": 0, "finishReason": reason}
		}
		send(object{"candidates": []any{c}, "modelVersion": s.model, "responseId": s.answer, "usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1}})
	}
	if s.thought != "" {
		part(object{"text": s.thought, "thought": true}, "")
	}
	for _, piece := range s.pieces {
		part(object{"text": piece}, "")
	}
	if s.name != "" {
		part(object{"functionCall": object{"id": s.id, "name": s.name, "args": json.RawMessage(strings.Join(s.arguments, ""))}}, "")
	}
	if reason := s.ends("STOP", "STOP"); reason != "" {
		part(nil, reason)
	}
}

func writeOllama(s said, send func(any)) {
	line := func(message object, reason string) {
		send(object{"model": s.model, "message": message, "done": reason != "", "done_reason": reason, "prompt_eval_count": 1, "eval_count": 1})
	}
	if s.thought != "" {
		line(object{"role": "assistant", "thinking": s.thought}, "")
	}
	for _, piece := range s.pieces {
		line(object{"role": "assistant", "content": piece}, "")
	}
	if s.name != "" {
		call := object{"id": s.id, "function": object{"name": s.name, "arguments": json.RawMessage(strings.Join(s.arguments, ""))}}
		line(object{"role": "assistant", "tool_calls": []any{call}}, "")
	}
	if reason := s.ends("stop", "stop"); reason != "" {
		line(object{"role": "assistant"}, reason)
	}
}
