package openaicompat_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
)

func illustrated() *provider.Request {
	picture := provider.Part{Type: "image/png", Hash: "h1", Data: []byte("png")}
	paper := provider.Part{Type: "application/pdf", Name: "paper.pdf", Hash: "h2", Data: []byte("pdf")}
	nameless := provider.Part{Type: "application/PDF; x=y", Hash: "h3", Data: []byte("p")}
	return &provider.Request{
		Model: "model-1", System: "You are Ada.", Self: "Ada",
		Messages: []provider.Message{
			{Text: "Topic.", Parts: []provider.Part{picture, paper}},
			{Speaker: "Ben", Fence: "f7", Text: "Look.", Parts: []provider.Part{picture}},
			{Speaker: "Ada", Text: "Seen.", Parts: []provider.Part{nameless}},
			{Speaker: "Cy", Parts: []provider.Part{picture}},
			{Speaker: "Cy", Text: "And?"},
		},
		Last: provider.Message{Text: "Go.", Parts: []provider.Part{nameless}},
	}
}

// TestParts: parts come before the text of their message, as data, and neighbours that are joined keep their order.
func TestParts(t *testing.T) {
	var got strings.Builder
	for _, seat := range []struct {
		name string
		p    *openaicompat.Provider
	}{{"openai", openaicompat.OpenAI("k")}, {"mistral", openaicompat.Mistral("k")}, {"compatible", openaicompat.Compatible("", "k")}} {
		body := members(t, asked(t, seat.p, illustrated()))
		fmt.Fprintf(&got, "# %s\n%s\n", seat.name, strings.ReplaceAll(string(body["messages"]), "},{\"role", "},\n{\"role"))
	}
	golden(t, "request/parts.golden", got.String())
}

// TestUntakenParts: what the protocol or the model has no form for is a failure before anything is paid.
func TestUntakenParts(t *testing.T) {
	for _, tt := range []struct {
		media string
		p     *openaicompat.Provider
		ok    bool
	}{
		{"image/webp", openaicompat.OpenAI("k"), true},
		{"image/svg+xml", openaicompat.OpenAI("k"), false},
		{"text/plain", openaicompat.OpenAI("k"), false},
		{"", openaicompat.Compatible("", ""), false},
		{"application/pdf", openaicompat.OpenRouter("k"), true},
		{"application/pdf", openaicompat.Groq("k"), false},
		{"application/pdf", openaicompat.Ollama(""), false},
		{"image/png", openaicompat.DeepSeek("k"), false},
		{"image/png", openaicompat.Ollama(""), true},
	} {
		req := request()
		req.Last.Parts = []provider.Part{{Type: tt.media, Data: []byte("x")}}
		if tt.ok {
			asked(t, tt.p, req)
			continue
		}
		unsent(t, tt.p, req)
	}
}
