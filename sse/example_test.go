package sse_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/sse"
	"github.com/agonist-dev/debate/store"
)

// A service streams a debate to whoever watches.
func ExampleStream() {
	ctx := context.Background()
	engine := &debate.Engine{Store: &store.Memory{}, Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}}
	id, err := engine.Submit(ctx, debate.Config{
		Topic: "Should cities ban private cars from their centres?", Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"}, {Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	go func() { // a worker, which may be in another process
		if session, err := engine.Open(ctx, id); err == nil {
			_, _ = session.Wait(ctx)
		}
	}()

	mux := http.NewServeMux()
	mux.HandleFunc("GET /debates/{id}/events", func(w http.ResponseWriter, r *http.Request) {
		_ = sse.Stream{}.Serve(w, r, engine, r.PathValue("id")) // the reader has left, or comes again
	})
	request, page := httptest.NewRequest(http.MethodGet, "/debates/"+id+"/events", http.NoBody), httptest.NewRecorder()
	mux.ServeHTTP(page, request)
	got := page.Body.String()
	fmt.Println(strings.Count(got, "event: turn\n"), "turns, then the end:", strings.HasSuffix(got, "event: end\ndata:\n\n"))
	// Output: 4 turns, then the end: true
}
