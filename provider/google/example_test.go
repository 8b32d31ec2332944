package google_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/google"
)

func ExampleNew() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(w, `data: {"candidates": [{"content": {"parts": [{"text": "Price "}]}}]}`, "\n\n")
		_, _ = fmt.Fprint(w, `data: {"candidates": [{"content": {"parts": [{"text": "the road."}]}, "finishReason": "STOP"}], `+
			`"usageMetadata": {"promptTokenCount": 12, "candidatesTokenCount": 4, "thoughtsTokenCount": 90}}`, "\n\n")
	}))
	defer server.Close()

	p := google.New("a-key")
	p.BaseURL = server.URL // left out, it is Google's
	p.Thinking = &google.Thinking{Level: "LOW"}
	p.Safety = []google.Safety{{Category: "HARM_CATEGORY_HARASSMENT", Threshold: "BLOCK_ONLY_HIGH"}} // debaters are blunt
	r, err := p.Generate(context.Background(), &provider.Request{
		Model: "gemini-3-flash-preview", System: "You are Ada.", Self: "Ada", Last: provider.Message{Text: "Open the debate."},
	}, func(c provider.Chunk) { fmt.Printf("%q\n", c.Text) })
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Text, r.Stop, r.Usage.Output, "tokens")
	// Output:
	// "Price "
	// "the road."
	// Price the road. end 94 tokens
}
