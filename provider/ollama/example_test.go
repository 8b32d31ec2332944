package ollama_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/ollama"
)

// A model with a window of 16,384 tokens that does not think first. The server is made up.
func ExampleNew() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintln(w, `{"model":"qwen3:8b","message":{"role":"assistant","content":"Trams "},"done":false}`)
		_, _ = fmt.Fprintln(w, `{"model":"qwen3:8b","message":{"role":"assistant","content":"first."},"done":false}`)
		_, _ = fmt.Fprintln(w, `{"model":"qwen3:8b","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop",`+
			`"prompt_eval_count":21,"eval_count":4}`)
	}))
	defer server.Close()

	p := ollama.New(server.URL) // "" is http://localhost:11434
	p.NumCtx, p.Think = 16_384, false
	reply, err := p.Generate(context.Background(), &provider.Request{
		Model: "qwen3:8b", Last: provider.Message{Text: "Cars or trams?"}, MaxTokens: 200,
	}, func(c provider.Chunk) { fmt.Printf("%q ", c.Text) })
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.Stop, reply.Usage.Input, reply.Usage.Output)
	// Output: "Trams " "first." end 21 4
}

func ExampleProvider_String() {
	p := ollama.New("")
	p.Key = provider.StaticKey("secret")
	fmt.Printf("%v %#v %s %s\n", p, p, p.Vendor(), p.BaseURL)
	// Output: ollama ollama ollama http://localhost:11434
}
