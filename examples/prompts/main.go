// Command prompts holds a debate with prompts of its own: in German, with another stance, and with a sentence that ends each request.
// It shows what a speaker is told with and without them.
//
//	go run ./examples/prompts
//
// A script speaks, and the program prints what it was asked. "debate check --prompts" lists all texts that can be replaced, and package
// prompt says what stands in them.
//
// It prints:
//
//	Ada is no longer told:
//	  - What you argue was assigned to you; nobody takes it for your own opinion. …
//	  - - Write in the language of the topic, whatever these rules are written in.
//
//	Ada is told instead:
//	  + Say what you really hold, and change it for a good reason.
//	  + - Write in German, whatever these rules are written in.
//	  + Further instructions, which hold where they differ from the rules above:
//	  + Speak as to a friend.
//	  + End with one word: how sure you are.
package main

import (
	"context"
	"fmt"
	"log"
	"slices"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider/scripted"
)

func main() {
	config := debate.Config{
		Topic: "Should the library lend tools?", Rounds: 1,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "script/any"}, {Name: "Ben", Side: debate.Against, Model: "script/any"},
		},
	}
	before := told(config)

	turn, ok := prompt.Default("turn") // the text of a template: what a speaker reads last
	if !ok {
		log.Fatal("there is no template turn")
	}
	config.Language = "German"
	config.Prompts = map[string]string{
		// A part of a template can be replaced alone. This one says how a speaker stands to what it argues.
		"stance": "Say what you really hold, and change it for a good reason.",
		// Questions and answers are asked for by this template too.
		"turn": turn + "\n{{if not (or .Question .Answer .Chair)}}End with one word: how sure you are.{{end}}",
	}
	// A speaker's own instructions need no template. They are trusted: no user's words belong there.
	config.Participants[0].Instructions = "Speak as to a friend."
	after := told(config)

	fmt.Println("Ada is no longer told:")
	show("-", before, after)
	fmt.Println("\nAda is told instead:")
	show("+", after, before)
}

// told holds the debate, and returns the lines that Ada was sent.
func told(config debate.Config) []string {
	script := &scripted.Provider{Record: true}
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{"script": script},
		Seed:      func() string { return "the same marks around quotations each time" }, // for a test, and never where people are not trusted
	}
	if _, err := engine.Play(context.Background(), config); err != nil {
		log.Fatal(err) // a replacement that cannot be read, or leaves out what is needed, is refused here
	}
	for _, request := range script.Requests() {
		if request.Self == "Ada" {
			return strings.Split(request.System+"\n"+request.Last.Text, "\n")
		}
	}
	return nil
}

// show prints the lines that others lack.
func show(sign string, lines, others []string) {
	for _, line := range lines {
		if !slices.Contains(others, line) {
			fmt.Printf("  %s %s\n", sign, line)
		}
	}
}
