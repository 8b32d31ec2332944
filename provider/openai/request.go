package openai

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/wire"
)

// Options that the adapter itself writes differently: a strict schema without bounds, a schema that is not
// strict, the schema in words.
const (
	optionBounds = "text.format.schema.properties"
	optionStrict = "text.format.strict"
	optionFormat = "text.format"
)

// options returns the parts of a request that models refuse. Some compatible servers refuse what only helps.
func options(req *provider.Request) []wire.Option {
	list := []wire.Option{
		{Name: "temperature"},
		{Name: "top_p"},
		{Name: "reasoning.summary", Words: []string{"reasoning summar"}},
		{Name: "reasoning.effort", Words: []string{"invalid reasoning effort"}},
		{Name: "text.verbosity"},
		{Name: "service_tier"},
		{Name: "stream", Quiet: true},
		{Name: "include", Quiet: true, Words: []string{"encrypted content"}},
		{Name: "prompt_cache_key", Quiet: true},
		{Name: "store", Quiet: true},
		{Name: optionBounds, Own: true, Quiet: true, Words: wire.BoundWords()},
		{Name: optionStrict, Own: true, Words: []string{"invalid schema", "json schema", "grammar"}},
		{Name: optionFormat, Own: true, Words: []string{"structured output", "grammar", "invalid schema", "json schema"}},
	}
	if req.System != "" {
		list = append(list, wire.SystemOption("instructions"))
	}
	return list
}

// newRequest writes the body of a request for a reply, from one in the form of the API.
func newRequest(req *provider.Request, owner wire.Owner, t *wire.Terms) *request {
	w := &request{
		MaxOutputTokens: max(req.MaxTokens, 0),
		Temperature:     req.Temperature,
		Input:           input(req, owner),
		Model:           req.Model,
		Text:            textual{Format: format(req, t)},
		Tools:           append(tools(req.Tools), search(req)...),
		Stream:          true,
	}
	if req.System != "" {
		w.Instructions, w.PromptCacheKey = req.System, cacheKey(req)
	}
	if len(req.Tools) > 0 && reasons(req.Model) {
		w.Include = []string{"reasoning.encrypted_content"}
	}
	return w
}

// cacheKey returns a key that requests with the same beginning share: those of one conversation, whose judges share a system prompt and
// all that was said. A request whose ID names no conversation shares it with those of the same system prompt.
func cacheKey(req *provider.Request) string {
	shared := req.System
	if conversation, _, ok := strings.Cut(req.ID, "/"); ok && conversation != "" {
		shared = conversation
	}
	sum := sha256.Sum256([]byte(shared))
	return hex.EncodeToString(sum[:16])
}

// reasons reports whether a model's name says that it thinks before it replies. The names of a fine-tuned
// model ("ft:o4-mini:…") and of one behind a router ("openai/gpt-5") contain the original name.
func reasons(model string) bool {
	name := ownName(model)
	if strings.HasPrefix(name, "codex") || strings.HasPrefix(name, "gpt-oss") {
		return true
	}
	if after, ok := strings.CutPrefix(name, "gpt-"); ok {
		return leading(after) >= 5 && !strings.Contains(name, "-chat")
	}
	after, ok := strings.CutPrefix(name, "o")
	return ok && leading(after) >= 1
}

// leading returns the number that a text begins with, 0 if there is none.
func leading(s string) int {
	end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(s)
	}
	n, err := strconv.Atoi(s[:end])
	if err != nil {
		return 0
	}
	return n
}

// format writes the format of the reply, nil if it is free.
func format(req *provider.Request, t *wire.Terms) *schemaFormat {
	s := req.Schema
	if s == nil {
		return nil
	}
	keep := openaicompat.OpenAIBounds
	if strings.HasPrefix(req.Model, "ft:") || t.Leaves(optionBounds) {
		keep = nil
	}
	schema, strict := openaicompat.StrictSchema(s.JSON, keep)
	if !strict || t.Leaves(optionStrict) {
		schema, strict = s.JSON, false
	}
	return &schemaFormat{Name: cmp.Or(s.Name, "reply"), Strict: strict, Type: "json_schema", Schema: schema}
}

// form returns a request in the form of the API. Its schema stands in its words if that is left out.
func form(req *provider.Request, t *wire.Terms) (*provider.Request, error) {
	if req.Schema != nil && t.Leaves(optionFormat) {
		inWords := *req
		inWords.Last.Text, inWords.Schema = openaicompat.SchemaInWords(req.Last.Text, req.Schema), nil
		req = &inWords
	}
	return wire.Form{ID: wire.PlainID(callID, ""), NoSystem: t.Leaves(wire.OptionSystem)}.Request(req)
}

// input writes the conversation of a request that is in its form.
func input(req *provider.Request, owner wire.Owner) []any {
	list := make([]any, 0, len(req.Messages)+1)
	for i := range req.Messages {
		switch m := &req.Messages[i]; {
		case m.ToolResult != nil:
			list = append(list, result(m.ToolResult))
		case len(m.ToolCalls) > 0:
			list = appendCalls(list, m, owner)
		default:
			list = said(list, m, req.Own(m))
		}
	}
	return said(list, &req.Last, false)
}

// said writes a message.
func said(list []any, m *provider.Message, own bool) []any {
	switch {
	case len(m.Parts) > 0:
		return withParts(list, m, own)
	case m.Text == "":
		return list
	case own:
		return append(list, message{m.Text, assistant})
	default:
		return append(list, message{m.Enclosed(), user})
	}
}
