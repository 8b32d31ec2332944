// Command ollama holds a debate between models of an Ollama server on this machine. It needs no key, and nothing leaves the machine.
//
//	ollama pull llama3.2
//	go run ./examples/ollama llama3.2
//
// OLLAMA_HOST names a server elsewhere. The native API is used, because the compatible one cuts a conversation that no longer fits
// without a word. If no server answers, a script speaks.
//
// It prints:
//
//	No server answers, so a script speaks.
//
//	Ada: A small model at home answers to nobody, and keeps what I tell it to itself.
//
//	Ben: It also keeps to itself what it does not know. I would rather ask one that can look it up.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/ollama"
	"github.com/agonist-dev/debate/provider/scripted"
)

func main() {
	const window = 8192 // tokens of a conversation and its reply: Ollama's own choice is smaller on many machines, and costs memory
	model := "llama3.2"
	if len(os.Args) > 1 {
		model = os.Args[1]
	}
	server := ollama.New(cmp.Or(os.Getenv("OLLAMA_HOST"), "http://127.0.0.1:11434"))
	server.NumCtx = window
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{"ollama": server},
		// No table knows how a local model was loaded: say its window, and that it costs nothing.
		Models: map[string]debate.Model{"ollama/" + model: {Window: window, MaxOutput: window / 4, Priced: true}},
	}
	ctx := context.Background()
	soon, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	if err := server.Check(soon, model); err != nil { // a model that was never pulled is refused when the debate starts
		if failure, ok := errors.AsType[*provider.Error](err); !ok || failure.Status == 0 {
			fmt.Println("No server answers, so a script speaks.")
			engine.Providers["ollama"] = script()
		}
	}
	config := debate.Config{
		Topic: "Is a small model of one's own better than a large one of others?", Rounds: 1,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "ollama/" + model}, {Name: "Ben", Side: debate.Against, Model: "ollama/" + model},
		},
		TurnTimeout: 10 * time.Minute, // a machine without a graphics card is slow
	}
	for event, err := range engine.Run(ctx, config) {
		if err != nil {
			log.Fatal(err)
		}
		if turn, ok := event.Body.(*debate.Turn); ok {
			fmt.Printf("\n%s: %s\n", turn.Speaker, turn.Text)
		}
	}
}

func script() *scripted.Provider {
	return &scripted.Provider{Replies: map[string][]scripted.Reply{
		"Ada": {{Text: "A small model at home answers to nobody, and keeps what I tell it to itself."}},
		"Ben": {{Text: "It also keeps to itself what it does not know. I would rather ask one that can look it up."}},
	}}
}
