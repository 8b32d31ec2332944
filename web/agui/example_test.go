package agui_test

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
	"github.com/agonist-dev/debate/web/agui"
)

// A user interface that speaks AG-UI starts a debate, and shows it.
func ExampleNew() {
	engine := &debate.Engine{Store: &store.Memory{}, Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}}
	handler, err := web.New(engine, web.Options{Presets: []web.Preset{{Name: "quick", Config: json.RawMessage(`{
		"topic": "what the user asks", "rounds": 1,
		"participants": [{"name": "Ada", "side": "for", "model": "acme/talker"}, {"name": "Ben", "side": "against", "model": "acme/talker"}]
	}`)}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/", handler)
	mux.Handle("/agui", agui.New(handler))

	request := httptest.NewRequest(http.MethodPost, "http://localhost:8080/agui", strings.NewReader(`{
		"threadId": "cars", "runId": "1", "tools": [], "context": [],
		"messages": [{"id": "1", "role": "user", "content": "Should cities ban private cars?"}]
	}`))
	request.Header.Set("Content-Type", "application/json")
	request.RemoteAddr = "127.0.0.1:40000" // a program on this machine
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, request)

	got := answer.Body.String()
	fmt.Println(strings.Count(got, `"type":"TEXT_MESSAGE_END"`), "messages,", strings.Contains(got, `"outcome":{"type":"success"}`))
	// Output: 2 messages, true
}
