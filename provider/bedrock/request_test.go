package bedrock_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/bedrock"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

// talk is a conversation in which Ada has called a tool twice, once in vain.
func talk(model, opaque string) *provider.Request {
	zero := 0.0
	req := request(model)
	req.Temperature = &zero
	call := func(id, word string) provider.ToolCall {
		return provider.ToolCall{ID: id, Name: "lookup", Arguments: json.RawMessage(`{"word":"` + word + `"}`)}
	}
	first := call("functions.lookup:0", "kerb")
	first.Opaque = json.RawMessage(opaque)
	req.Messages = []provider.Message{
		{Speaker: "Ada", Text: "Price them."},
		{Speaker: "Ben", Fence: "f7Qx", Text: "Ban <them>."},
		{Speaker: "Ada", Text: "Let me see.", ToolCalls: []provider.ToolCall{first, call("b", "toll")}},
		{Speaker: "Ada", ToolResult: &provider.ToolResult{ID: "functions.lookup:0", Text: "An edge."}},
		{Speaker: "Ada", ToolResult: &provider.ToolResult{ID: "b", Text: "Closed.", Error: true}},
		{Speaker: "Ben", Text: " "},
	}
	req.Tools = []provider.Tool{{Name: "lookup", Description: "Looks a word up."}}
	return req
}

// TestRequestBody: what is sent to each family of models, byte for byte.
func TestRequestBody(t *testing.T) {
	const kimi, nova, llama, writer = "moonshot.kimi-k2-thinking", "eu.amazon.nova-lite-v1:0", "us.meta.llama4-maverick-17b-instruct-v1:0", "writer.palmyra-x5-v1:0"
	thoughts := func(model string) string {
		return `{"host":"example.com","model":"` + model + `","kept":{"thoughts":[{"text":"Hm.","signature":"Eu0C"},{"redacted":"RXRr"}]}}`
	}
	withSchema := func(req *provider.Request) *provider.Request {
		req.Schema = schema()
		return req
	}
	withoutTools := func(req *provider.Request) *provider.Request {
		req.Tools = nil
		return req
	}
	thinks := func(p *bedrock.Provider) { p.ModelFields = json.RawMessage(`{"thinking":{"type":"adaptive"}}`) }
	for name, tt := range map[string]struct {
		req *provider.Request
		set func(p *bedrock.Provider)
	}{
		"bare":             {&provider.Request{Model: "mistral.mistral-7b", Last: provider.Message{Text: "Open."}}, nil},
		"claude":           {talk(claude, thoughts(claude)), nil},
		"thoughts_region":  {talk("us."+claude, thoughts(claude)), nil},
		"thoughts_foreign": {talk(claude, thoughts("anthropic.claude-opus-4-6-v1:0")), nil},
		"kimi":             {talk(kimi, ""), nil},
		"llama":            {talk(llama, ""), nil},
		"writer":           {talk(writer, ""), nil},
		"tools_gone":       {withoutTools(talk(nova, "")), nil},
		"schema":           {withSchema(request(claude)), nil},
		"schema_by_tool":   {withSchema(request(nova)), nil},
		"schema_thinking":  {withSchema(request("anthropic.claude-sonnet-4-20250514-v1:0")), thinks},
		"schema_unknown":   {withSchema(request(llama)), nil},
		"schema_said": {withSchema(request("arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/x1y2")), func(p *bedrock.Provider) {
			p.Schemas = func(string) bool { return true }
			p.Guardrail = &bedrock.Guardrail{ID: "gr1", Version: "DRAFT"}
			p.ServiceTier = "flex"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p, bodies, _ := recording(t)
			if tt.set != nil {
				tt.set(p)
			}
			adaptertest.Answer(t, p, tt.req)
			golden(t, "request/"+name+".json", readable(t, (*bodies)[0]))
			p.CachePoints = func(string) bool { return false }
			adaptertest.Answer(t, p, tt.req)
			assert.NotContains(t, (*bodies)[1], "cachePoint")
		})
	}
}

// TestCachePointsFindThemselvesAgain: the next request of a long conversation has a mark at most twenty blocks behind one
// of this request's, and no request has more than four.
func TestCachePointsFindThemselvesAgain(t *testing.T) {
	p, bodies, _ := recording(t)
	req := request(claude)
	for i := range 60 {
		req.Messages = append(req.Messages, provider.Message{Speaker: []string{"Ben", "Ada"}[i%2], Text: "Turn " + strconv.Itoa(i)})
	}
	adaptertest.Answer(t, p, req)
	assert.Equal(t, 4, strings.Count((*bodies)[0], "cachePoint"))
	before, _, _ := strings.Cut((*bodies)[0], `,"system"`)
	marked := before[:strings.LastIndex(before, `,{"cachePoint"`)]
	req.Messages = append(req.Messages, provider.Message{Speaker: "Ada", Text: "More."}, provider.Message{Speaker: "Ben", Text: "Less."})
	adaptertest.Answer(t, p, req)
	plain := func(s string) string { return strings.ReplaceAll(s, `,{"cachePoint":{"type":"default"}}`, "") }
	assert.True(t, strings.HasPrefix(plain((*bodies)[1]), strings.TrimRight(plain(marked), "]}")), "the prefix is the same")
}

// TestPathsOfModels: names and ARNs are one segment of the path, escaped as AWS does it.
func TestPathsOfModels(t *testing.T) {
	p, _, requests := recording(t)
	for _, model := range []string{claude, "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us." + claude, "a b+c~d"} {
		adaptertest.Answer(t, p, request(model))
	}
	var paths []string
	for _, r := range *requests {
		paths = append(paths, r.URL.EscapedPath())
	}
	assert.Equal(t, []string{
		"/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream",
		"/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream",
		"/model/a%20b%2Bc~d/converse-stream",
	}, paths)
	for _, model := range []string{"", ".", ".."} {
		_, err := ask(t, p, request(model))
		assert.True(t, failure(t, err, provider.KindValidation).NotSent, model)
	}
	p.ModelFields = json.RawMessage(`[]`)
	_, err := ask(t, p, request(claude))
	assert.Equal(t, "model_fields", failure(t, err, provider.KindValidation).Code)
}
