package providertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/agonist-dev/debate/provider"
)

// What a model or a tool wrote goes back with the next request, and with all that follow. If a vendor refuses a part of it, the
// conversation is lost. These cases send what models have been seen to write. Package wire makes it fit; see its Form.

// bodyCases look at the bodies that reach the server. If it reports none, all of them are skipped.
func bodyCases() []testCase {
	return []testCase{
		{"options", options},
		{"extra fields", extraFields},
		{"headers", headers},
		{"parts", parts},
		{"names of tools that are none", madeUpNames},
		{"arguments that are no objects", oddArguments},
		{"ids of tool calls", oddIDs},
		{"results follow their calls", resultsFollow},
		{"any history", anyHistory},
		{"blank texts", blankTexts},
		{"control characters", controls},
		{"what follows tool results", afterResults},
		{"schemas of tools", toolSchemas},
		{"no system role", noSystem},
		{"roles that alternate", alternating},
	}
}

// exchanged returns a request whose speaker has made these calls, each in a reply of its own, and has got an answer to each.
func (x *exam) exchanged(calls ...provider.ToolCall) *provider.Request {
	req := x.offering(request(), tool())
	req.Messages = []provider.Message{{Text: "The topic is cars in cities."}}
	for _, c := range calls {
		req.Messages = append(req.Messages,
			provider.Message{Speaker: ada, ToolCalls: []provider.ToolCall{c}},
			provider.Message{Speaker: ada, ToolResult: &provider.ToolResult{ID: c.ID, Text: found}},
		)
	}
	return req
}

// toolNamed is what all vendors take as the name of a tool.
var toolNamed = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)

// madeUpNames sends calls of tools that there are not. The names are of models in public reports: pydantic-ai#4585 (2026-03),
// docker-agent#3974 (2026-08), vllm#32587 (2026-05).
func madeUpNames(x *exam) {
	var calls []provider.ToolCall
	names := []string{
		"forest.leaves.open", "lookup<|channel|>commentary", `lookup" word="oak`, "look up", strings.Repeat("deep_", 20), "7z", "größe",
	}
	for i, name := range names {
		calls = append(calls, provider.ToolCall{ID: fmt.Sprintf("call_%d", i), Name: name, Arguments: json.RawMessage(`{}`)})
	}
	sent, ok := x.sent(Scenario{Name: "names"}, x.exchanged(calls...))
	if !ok {
		return
	}
	for _, c := range sent.Calls {
		if !toolNamed.MatchString(c.Name) {
			x.errorf("a call went back with the name %q, which vendors refuse in all further requests", c.Name)
		}
	}
	x.paired(sent, len(calls))
}

// paired requires a result for each call. It reports whether there are as many of both as there have to be.
func (x *exam) paired(sent Sent, want int) bool {
	if sent.Calls == nil && sent.Results == nil {
		return false // the server reads neither
	}
	if len(sent.Calls) != want || len(sent.Results) != want {
		x.errorf("%d calls and %d results went back, want %d of each", len(sent.Calls), len(sent.Results), want)
		return false
	}
	for i := range sent.Calls {
		if sent.Calls[i].ID != sent.Results[i].ID {
			x.errorf("result %d is for the call %q, want %q", i, sent.Results[i].ID, sent.Calls[i].ID)
		}
	}
	return true
}

// oddArguments sends arguments as in kimi-cli#1171 (2026-02) and OpenHands#2887: no object, cut, with half of a character.
func oddArguments(x *exam) {
	var calls []provider.ToolCall
	for i, arguments := range []string{
		`[]`, `null`, `"oak"`, `{"word":"ke`, ``, `7`, `{"word":"\u0000a\ud83d"}`,
		"{\"word\":\"a\x7f\u009b\"}",
	} {
		calls = append(calls, provider.ToolCall{ID: fmt.Sprintf("call_%d", i), Name: lookup, Arguments: json.RawMessage(arguments)})
	}
	sent, ok := x.sent(Scenario{Name: "arguments"}, x.exchanged(calls...))
	if !ok || !x.paired(sent, len(calls)) {
		return
	}
	for i, c := range sent.Calls {
		var object map[string]any
		if len(c.Arguments) == 0 {
			continue // a format may leave out an empty object
		}
		if json.Unmarshal(c.Arguments, &object) != nil || object == nil {
			x.errorf("arguments %s went back as %s, which is no object", calls[i].Arguments, c.Arguments)
		}
		if word, _ := object["word"].(string); strings.ContainsFunc(word, controlling) || strings.Contains(string(c.Arguments), `\ud83d"`) {
			x.errorf("arguments %s went back as %s", calls[i].Arguments, c.Arguments)
		}
	}
}

// oddIDs sends ids that are long, that have other characters, and that come twice.
func oddIDs(x *exam) {
	var calls []provider.ToolCall
	for _, id := range []string{"call_1", "functions.lookup:0", strings.Repeat("x", 300), strings.Repeat("x", 301), "call_1", "a b/ü", ""} {
		calls = append(calls, provider.ToolCall{ID: id, Name: lookup, Arguments: json.RawMessage(`{}`)})
	}
	sent, ok := x.sent(Scenario{Name: "ids"}, x.exchanged(calls...))
	if !ok || !x.paired(sent, len(calls)) {
		return
	}
	seen := map[string]bool{}
	for i, c := range sent.Calls {
		switch {
		case c.ID == "": // the vendor has none
		case seen[c.ID]:
			x.errorf("two calls went back with the id %q", c.ID)
		case len(c.ID) > 64 || strings.Trim(c.ID, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:") != "":
			x.errorf("the call %.40q went back with the id %q, which vendors refuse", calls[i].ID, c.ID)
		}
		seen[c.ID] = true
	}
}

// blankTexts sends texts of white space: before a call, as a result, and as turns. The sources are home-assistant#175637 (2026-07) and
// opencode#31259 (2026-07).
func blankTexts(x *exam) {
	req := x.exchanged(twoCalls()...)
	req.Messages[1].Text = "\n\n"
	req.Messages[2].ToolResult.Text = ""
	req.Messages[4].ToolResult.Text = " \n"
	req.Messages = append(req.Messages, provider.Message{Speaker: ben, Text: " "}, provider.Message{Speaker: ada, Text: "\t"})
	sent, ok := x.sent(Scenario{Name: "blank texts"}, req)
	if !ok {
		return
	}
	x.walk(sent, func(at string, v any) {
		thoughts := strings.Contains(at, "reasoning") // Moonshot wants some with each call, and takes a space
		if s, is := v.(string); is && s != "" && strings.TrimSpace(s) == "" && !thoughts {
			x.errorf("%s is the blank text %q, which vendors refuse", at, s)
		}
	})
	x.paired(sent, 2)
}

// controlling reports whether a character controls something: a terminal, a database.
func controlling(r rune) bool { return unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' }

func controls(x *exam) {
	req := x.exchanged(twoCalls()...)
	req.Messages[1].Text = "Let me\x00 see."
	req.Messages[2].ToolResult.Text = "\x1b[31mA kerb\x00\x07"
	req.Messages = append(req.Messages, provider.Message{Speaker: ben, Text: "Ban\x00 them.\x7f\u009b"})
	sent, ok := x.sent(Scenario{Name: "control characters"}, req)
	if !ok {
		return
	}
	x.walk(sent, func(at string, v any) {
		if s, is := v.(string); is && strings.ContainsFunc(s, controlling) {
			x.errorf("%s has control characters: %q", at, s)
		}
	})
}

// afterResults sends results with a message and the instruction behind them. Chat templates of Mistral's models and of others refuse a
// user's message after a result: autogen#3597 (2024-10), vllm#6862, mistral-vibe#1006 (2026-08), onyx#6458.
func afterResults(x *exam) {
	req := x.exchanged(twoCalls()...)
	req.Messages = append(req.Messages, provider.Message{Speaker: ben, Fence: "f7Qx", Text: "Ban them."})
	sent, ok := x.sent(Scenario{Name: "what follows tool results"}, req)
	if !ok {
		return
	}
	for _, want := range []string{"Ban them.", req.Last.Text} {
		if !strings.Contains(string(sent.Body), want) {
			x.errorf("%q did not reach the vendor", want)
		}
	}
	x.walk(sent, func(at string, v any) {
		list, _ := v.([]any)
		for i := 1; i < len(list); i++ {
			before, _ := list[i-1].(map[string]any)
			after, _ := list[i].(map[string]any)
			if (before["role"] == "tool" || before["type"] == "function_call_output") && after["role"] == "user" {
				x.errorf("%s[%d] is a message of the user right after the result of a tool, which chat templates refuse", at, i)
			}
		}
	})
}

// noSystem asks a model without a system role, twice. The prompt goes before the first message after the first refusal, and from then on.
func noSystem(x *exam) {
	var mu sync.Mutex
	var got []Sent
	p := x.open(Scenario{Name: "no system role", NoSystem: true, Reply: []string{yes}, Sent: func(s Sent) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, s)
	}})
	req := request()
	for range 2 {
		if x.succeed(p, req) == nil {
			return
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.ContainsFunc(got, func(s Sent) bool { return s.System == "" }) {
		x.t.Skip("not checked: the server refuses no system prompt")
	}
	if len(got) != 3 {
		x.errorf("two questions took %d requests, want 3: a refusal of the system role is remembered", len(got))
		return
	}
	for _, s := range got[1:] {
		switch {
		case s.System != "":
			x.errorf("the system prompt was sent again to a model that has refused it")
		case len(s.Turns) == 0 || s.Turns[0].Role != provider.RoleUser || !strings.HasPrefix(s.Turns[0].Text, req.System):
			x.errorf("the system prompt does not stand before the first message: %v", s.Turns)
		}
	}
}

// alternating asks a model that takes only a user and an assistant in turns: first with neighbouring messages of the user, then with the
// speaker's own words at the beginning.
func alternating(x *exam) {
	var mu sync.Mutex
	var got []Sent
	p := x.open(Scenario{Name: "roles that alternate", Alternate: true, Reply: []string{yes}, Sent: func(s Sent) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, s)
	}})
	own := request()
	own.Messages = own.Messages[2:]
	if x.succeed(p, request()) == nil || x.succeed(p, own) == nil {
		return
	}
	mu.Lock()
	defer mu.Unlock()
	refused := 0
	for i := range got {
		if !got[i].Alternates() {
			refused++
		}
	}
	switch {
	case refused == 0 && len(got) == 2: // messages are always joined
	case len(got) == 2:
		x.t.Skip("not checked: the server takes roles in any order")
	case len(got) != 3 || refused != 1:
		x.errorf("two questions took %d requests, and %d of them were refused; want one refusal, which is remembered", len(got), refused)
	}
}

// walk calls look with each value of a request, and says where it is.
func (x *exam) walk(sent Sent, look func(at string, v any)) {
	var body any
	if json.Unmarshal(sent.Body, &body) != nil {
		x.errorf("the body is no JSON")
		return
	}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		look(at, v)
		switch v := v.(type) {
		case map[string]any:
			for name, one := range v {
				walk(at+"."+name, one)
			}
		case []any:
			for i, one := range v {
				walk(fmt.Sprintf("%s[%d]", at, i), one)
			}
		}
	}
	walk("body", body)
}

// schemas are what MCP servers list for their tools. Each was refused by a vendor: openai-agents-python#449, langchain#39271,
// cloudflare/mcp#224, opencode#46628, claude-code#40075.
func schemas() []provider.Tool {
	list := []string{
		`{"type":"object"}`,
		`{"additionalProperties":false,"type":"object"}`,
		`{"type":"object","anyOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},
			{"properties":{"b":{"type":"string"}},"required":["b"]}]}`,
		`{"oneOf":[{"type":"object","properties":{"kind":{"const":"a"}}},{"type":"object","properties":{"kind":{"const":"b"}}}]}`,
		`{"allOf":[{"$ref":"#/$defs/one"}],"$defs":{"one":{"type":"object","properties":{"a":{"$ref":"#/$defs/two"}}},"two":{"type":"string"}}}`,
		`{"type":"object","properties":{"list":{"type":"array"},"pair":{"type":"array","items":[{"type":"string"},{"type":"integer"}]}}}`,
		`{"type":"object","properties":{"$top":{"type":"integer"},"page[size]":{"type":"integer"},"word":{"type":"string"}},"required":["word"]}`,
		`{"type":"object","properties":{"when":{"type":"string","format":"iso-week"},"where":{"type":"string","format":"uri-reference"},
			"n":{"type":"integer","format":"uint8"}}}`,
		`{"type":"object","properties":{"more":{"type":"object"},"node":{"type":"object","properties":{"next":{"$ref":"#/properties/node"}}}},
			"required":["gone"],"not":{}}`,
	}
	tools := make([]provider.Tool, len(list))
	for i, s := range list {
		tools[i] = provider.Tool{Name: fmt.Sprintf("tool_%d", i), Description: "Does something.", Parameters: json.RawMessage(s)}
	}
	return tools
}

// toolSchemas offers tools with all of these schemas.
func toolSchemas(x *exam) {
	req := request()
	req.Tools = schemas()
	if x.toolless() {
		return
	}
	sent, ok := x.sent(Scenario{Name: "schemas of tools"}, req)
	if !ok {
		return
	}
	for i, t := range req.Tools {
		if len(sent.Tools) > 0 && (i >= len(sent.Tools) || sent.Tools[i] != t.Name) || !bytes.Contains(sent.Body, []byte(t.Name)) {
			x.errorf("the tool %s was dropped", t.Name)
		}
	}
	x.walk(sent, func(at string, v any) {
		name := at[strings.LastIndexByte(at, '.')+1:]
		schema, is := v.(map[string]any)
		if is && schema["type"] != nil && slices.Contains([]string{"parameters", "parametersJsonSchema", "input_schema", "json"}, name) {
			for _, problem := range unloved(schema) {
				x.errorf("%s: %s", at, problem)
			}
		}
	})
}

// propertyNamed is what all vendors take as the name of an argument.
var propertyNamed = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// unloved returns what some vendor refuses of the schema of a tool.
func unloved(root map[string]any) []string {
	var l complaints
	if root["type"] != "object" {
		l.addf("the type is not object")
	}
	if _, ok := root["properties"].(map[string]any); !ok {
		l.addf("there are no properties")
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf", "enum", "not"} {
		if root[keyword] != nil {
			l.addf("%s stands at the root", keyword)
		}
	}
	l.schema("the schema", root)
	return l
}

// complaints are what vendors refuse of a schema.
type complaints []string

func (l *complaints) addf(format string, args ...any) { *l = append(*l, fmt.Sprintf(format, args...)) }

// schema looks at a schema within the whole, and at those within it.
func (l *complaints) schema(at string, v any) {
	s, ok := v.(map[string]any)
	if !ok {
		return
	}
	l.object(at, s)
	if _, ok := s["items"].(map[string]any); s["type"] == "array" && !ok {
		l.addf("%s is a list without items", at)
	}
	if format, ok := s["format"].(string); ok && !slices.Contains([]string{"date-time", "date", "time"}, format) {
		l.addf("%s has the format %s", at, format)
	}
	if ref, ok := s["$ref"].(string); ok && !strings.HasPrefix(ref, "#/$defs/") {
		l.addf("%s refers to %s", at, ref)
	}
	l.schema(at+"[items]", s["items"])
	either, _ := s["anyOf"].([]any)
	for i, one := range either {
		l.schema(fmt.Sprintf("%s.anyOf[%d]", at, i), one)
	}
}

// object looks at the properties of a schema.
func (l *complaints) object(at string, s map[string]any) {
	properties, _ := s["properties"].(map[string]any)
	for name, one := range properties {
		if !propertyNamed.MatchString(name) {
			l.addf("%s has a property %q", at, name)
		}
		l.schema(at+"."+name, one)
	}
	needed, _ := s["required"].([]any)
	for _, name := range needed {
		if one, _ := name.(string); properties[one] == nil {
			l.addf("%s requires %q, which it does not describe", at, one)
		}
	}
}
