package openai_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openai"
)

func Example() {
	// A stand-in for OpenAI.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(w, `data: {"type":"response.output_text.delta","output_index":0,"delta":"Price "}`+"\n\n"+
			`data: {"type":"response.output_text.delta","output_index":0,"delta":"them."}`+"\n\n"+
			`data: {"type":"response.completed","response":{"model":"gpt-5-2025-08-07","output":[],`+
			`"usage":{"input_tokens":36,"input_tokens_details":{"cached_tokens":16},"output_tokens":4}}}`+"\n\n")
	}))
	defer server.Close()

	p := openai.New("sk-key")
	p.BaseURL = server.URL + "/v1" // leave it as it is for OpenAI

	reply, err := p.Generate(context.Background(), &provider.Request{
		Model:  "gpt-5",
		System: "You are Ada.",
		Last:   provider.Message{Text: "What shall we do about cars in cities?"},
	}, func(c provider.Chunk) { fmt.Printf("%q ", c.Text) })
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.Text, reply.Model, reply.Usage.Input, reply.Usage.CachedInput, reply.Usage.Output)
	// Output: "Price " "them." Price them. gpt-5-2025-08-07 36 16 4
}

// A server that is known to have no Responses API need not be asked for it.
func ExampleProvider_chatCompletions() {
	p := openai.New("")
	p.BaseURL = "http://localhost:8000/v1"
	p.API = openai.ChatCompletions
	fmt.Println(p, p.API)
	// Output: openai chat_completions
}
