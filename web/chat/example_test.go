package chat_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/web"
	"github.com/agonist-dev/debate/web/chat"
)

// A program that knows only the OpenAI chat API holds a debate: its base URL is http://localhost:8080/v1, and the model is a preset.
func ExampleNew() {
	engine := &debate.Engine{Store: &store.Memory{}, Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}}
	handler, err := web.New(engine, web.Options{Presets: []web.Preset{{Name: "quick", Config: json.RawMessage(`{
		"topic": "what the client asks", "rounds": 1,
		"participants": [{"name": "Ada", "side": "for", "model": "acme/talker"}, {"name": "Ben", "side": "against", "model": "acme/talker"}]
	}`)}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/", handler)
	mux.Handle("/v1/", chat.New(handler))

	request := httptest.NewRequest(http.MethodPost, "http://localhost:8080/v1/chat/completions",
		strings.NewReader(`{"model": "quick", "messages": [{"role": "user", "content": "Should cities ban private cars?"}]}`))
	request.Header.Set("Content-Type", "application/json")
	request.RemoteAddr = "127.0.0.1:40000" // a program on this machine
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, request)

	var out struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &out); err != nil || len(out.Choices) == 0 {
		fmt.Println(answer.Body)
		return
	}
	fmt.Println(strings.Count(out.Choices[0].Message.Content, "### "), "turns")
	// Output: 2 turns
}
