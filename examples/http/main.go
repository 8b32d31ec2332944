// Command http is a service that holds debates for tenants, streams them to browsers as server-sent events, and pauses or stops them.
// The name of the user says who asks: a check of your own belongs there.
//
//	go run ./examples/http                  # visits itself, and ends
//	go run ./examples/http localhost:8080   # serves: curl -u acme: -d "Is chess a sport?" localhost:8080/debates
//
// It prints:
//
//	acme: POST /debates: 200 OK
//	acme: GET /debates/…/events: 200 OK
//	  id …: Ada says "It is fought with nothing but attention, for five hours."
//	  the last event was turn
//	acme: POST /debates/…/pause: 200 OK
//	globex: GET /debates/…/events: 404 Not Found
//	acme: POST /debates/…/resume: 200 OK
//	acme: GET /debates/…/events: 200 OK
//	  id …: Ben says "So is an exam."
//	  id …: Ada says "Then tell the archers."
//	  id …: Ben says "They miss when an arm shakes."
//	  the last event was end
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/sse"
)

type service struct{ engine *debate.Engine }

func (s *service) start(w http.ResponseWriter, r *http.Request) {
	tenant, _, _ := r.BasicAuth()
	topic, _ := io.ReadAll(io.LimitReader(r.Body, 50_000))     // the engine refuses what is too long
	session, err := s.engine.Start(r.Context(), debate.Config{ // it goes on when the request is over
		Topic: string(topic), Rounds: 2, Labels: map[string]string{"tenant": tenant},
		Participants: []debate.Participant{{Name: "Ada", Model: "script/any"}, {Name: "Ben", Model: "script/any"}},
		Budget:       &debate.Budget{HardCalls: 10}, Unattended: true, // nobody is asked what becomes of a failure
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest) // it names the field, and holds no key
		return
	}
	fmt.Fprint(w, session.ID())
}

// mine returns a debate's id if it belongs to the tenant who asks.
func (s *service) mine(w http.ResponseWriter, r *http.Request) (id string, ok bool) {
	tenant, _, _ := r.BasicAuth()
	record, err := s.engine.Record(r.Context(), r.PathValue("id"))
	if err != nil || record.Settings().Labels["tenant"] != tenant {
		http.Error(w, "there is no such debate", http.StatusNotFound)
		return "", false
	}
	return record.ID, true
}

// events streams a debate. A browser whose connection breaks asks again, for what came after its Last-Event-ID.
func (s *service) events(w http.ResponseWriter, r *http.Request) {
	if id, ok := s.mine(w, r); ok {
		_ = sse.Stream{}.Serve(w, r, s.engine, id) // an error: the reader is gone, or has been told
	}
}

func (s *service) control(w http.ResponseWriter, r *http.Request) {
	control := map[string]flow.Signal{"pause": flow.Pause{}, "resume": flow.Resume{}, "stop": flow.Stop{}}[r.PathValue("control")]
	if id, ok := s.mine(w, r); ok {
		if err := s.engine.Control(r.Context(), id, control); err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
		}
	}
}

func main() {
	script := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		return scripted.Reply{Chunks: 10, Interval: 20 * time.Millisecond, Text: []string{
			"It is fought with nothing but attention, for five hours.", "So is an exam.", "Then tell the archers.", "They miss when an arm shakes.",
		}[min(len(req.Messages), 3)]}
	}}
	listener, err := net.Listen("tcp", append(os.Args[1:], "127.0.0.1:0")[0]) // without an argument: a port that is free
	if err != nil {
		log.Fatal(err)
	}
	s := &service{&debate.Engine{Providers: map[string]debate.Provider{"script": script}}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /debates", s.start)
	mux.HandleFunc("GET /debates/{id}/events", s.events)
	mux.HandleFunc("POST /debates/{id}/{control}", s.control)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	if len(os.Args) > 1 {
		log.Fatal(server.Serve(listener))
	}
	go func() { _ = server.Serve(listener) }() // until the program ends
	visit("http://" + listener.Addr().String())
}

// visit is a client that loses its connection, and watches on from where it was.
func visit(url string) {
	ask := func(tenant, method, path, body, last string) io.ReadCloser {
		r, _ := http.NewRequest(method, url+path, strings.NewReader(body))
		r.SetBasicAuth(tenant, "")
		r.Header.Set("Last-Event-ID", last) // a browser does it by itself
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %s %s: %s\n", tenant, method, path, answer.Status)
		return answer.Body
	}
	id, _ := io.ReadAll(ask("acme", "POST", "/debates", "Is chess a sport?", ""))
	path := "/debates/" + string(id)
	last := read(ask("acme", "GET", path+"/events", "", ""), 1)
	ask("acme", "POST", path+"/pause", "", "")
	ask("globex", "GET", path+"/events", "", "")
	ask("acme", "POST", path+"/resume", "", "")
	read(ask("acme", "GET", path+"/events", "", last), 10)
}

// read prints the turns of a stream, at most so many, and returns the id of the last one.
func read(stream io.ReadCloser, turns int) (id string) {
	event := ""
	defer stream.Close()
	for lines := bufio.NewScanner(stream); turns > 0 && lines.Scan(); {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		var turn struct{ Body debate.Turn }
		switch {
		case field == "id":
			id = value
		case field == "event":
			event = value
		case event == "turn" && json.Unmarshal([]byte(value), &turn) == nil:
			fmt.Printf("  id %s: %s says %q\n", id, turn.Body.Speaker, turn.Body.Text)
			turns--
		}
	}
	fmt.Println("  the last event was", event)
	return id
}
