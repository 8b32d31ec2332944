// Command quickstart shows a whole debate as it runs: two debaters, a judge, and all that happens between them.
//
//	go run ./examples/quickstart
//	OPENAI_API_KEY=… go run ./examples/quickstart "Is chess a sport?"
//	OPENAI_BASE_URL=http://localhost:11434/v1 OPENAI_MODEL=llama3.2 go run ./examples/quickstart "Is chess a sport?"
//
// With OPENAI_API_KEY, or with OPENAI_BASE_URL for a server of your own, models debate. Without them, a script speaks.
//
// It prints:
//
//	Should cities ban private cars from their centres?
//
//	== Round 1 of 2: opening ==
//
//	Ada: A city centre is the one place where room is dearer than speed, …
//
//	Ben: Ada has the right aim and the wrong tool. …
//
//	== Round 2 of 2: closing ==
//
//	Ada: …
//
//	Ben: …
//
//	== Verdict: Ben wins ==
//
//	Both sides want the room back; they differ on the tool. …
//
//	5 requests, … tokens in, … tokens out: …
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/scripted"
)

func main() {
	topic, model := "Should cities ban private cars from their centres?", "openai/"+cmp.Or(os.Getenv("OPENAI_MODEL"), "gpt-4.1-mini")
	var models debate.Provider = script()
	key, server := os.Getenv("OPENAI_API_KEY"), os.Getenv("OPENAI_BASE_URL")
	switch {
	case server != "":
		models = openaicompat.Compatible(server, key)
	case key != "":
		models = openaicompat.OpenAI(key)
	}
	if (key != "" || server != "") && len(os.Args) > 1 { // the script knows only its own topic
		topic = os.Args[1]
	}
	engine := &debate.Engine{Providers: map[string]debate.Provider{"openai": models}}
	config := debate.Config{
		ID: "quickstart", Topic: topic, Format: format.StructuredRounds, Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: model},
			{Name: "Ben", Side: debate.Against, Model: model},
		},
		Judging: &debate.Judging{Judges: []debate.JudgeConfig{{Model: model}}, When: debate.AtEnd},
	}
	fmt.Println(topic)
	for event, err := range engine.Run(context.Background(), config) {
		if err != nil {
			log.Fatal(err)
		}
		show(&event)
	}
	record, err := engine.Record(context.Background(), config.ID)
	if err != nil {
		log.Fatal(err)
	}
	spent := record.Spent()
	fmt.Printf("\n%d requests, %d tokens in, %d tokens out: %s\n", spent.Requests, spent.Usage.Input, spent.Usage.Output, spent)
}

// show prints what happens. A debate that is silent waits, and says so by a failure or a warning.
func show(event *debate.Event) {
	switch body := event.Body.(type) {
	case *flow.Round:
		fmt.Printf("\n== Round %d of %d: %s ==\n", body.N, body.Of, body.Phase)
	case *flow.Chunk: // a piece of a turn, as it is spoken
		if body.Schema != "" || body.Reasoning {
			return // a judge's JSON, or thoughts
		}
		if body.Offset == 0 {
			fmt.Printf("\n%s: ", body.By)
		}
		fmt.Print(printable(body.Text))
	case *debate.Turn:
		fmt.Println()
	case *flow.Failure:
		fmt.Printf("\n[no answer from %s: %s]\n", body.By, printable(body.Error.Error()))
		if !body.RetryAt.IsZero() {
			fmt.Printf("[the next attempt is in %s]\n", body.RetryAt.Sub(event.At).Round(time.Second))
		}
	case *flow.Warning:
		fmt.Printf("\n[%s]\n", printable(body.Evidence))
	case *debate.Verdict:
		winner := "nobody"
		if body.Winner != nil {
			winner = body.Winner.Participant
		}
		fmt.Printf("\n== Verdict: %s wins ==\n\n%s\n", winner, printable(body.Summary))
	}
}

// printable removes what could control the terminal from the words of a model.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}

// script speaks in place of models, at the pace of a fast one.
func script() *scripted.Provider {
	say := func(text string) scripted.Reply {
		return scripted.Reply{Text: text, ChunkSize: 6, Interval: 15 * time.Millisecond}
	}
	return &scripted.Provider{Replies: map[string][]scripted.Reply{
		"Ada": {
			say("A city centre is the one place where room is dearer than speed, and we hand most of it to machines that stand still " +
				"for twenty-three hours of the day. Ghent changed that over one weekend, and its shops are still there."),
			say("A price clears the street of those who can least afford it. A square where a child can run comes only with the last car."),
		},
		"Ben": {
			say("Ada has the right aim and the wrong tool. A ban treats the night nurse and the man who drives three streets out of " +
				"laziness as one person. A price tells them apart, and pays for the bus that the nurse would rather take."),
			say("Close the squares, then, and charge for the rest: what one number can mend needs no office that weighs our errands."),
		},
		"judge": {{Delay: 300 * time.Millisecond, Text: `{
			"summary": "Both sides want the room back; they differ on the tool. Ben took up what was best in Ada's case and kept his own.",
			"winner": {"participant": "Ben", "reasoning": "He answered what was said."}, "scores": {"Ada": 76, "Ben": 81}, "qualityScore": 78,
			"keyPoints": [{"participant": "Ada", "mainArguments": ["room"]}, {"participant": "Ben", "mainArguments": ["a price"]}],
			"areasOfAgreement": ["some squares should be closed"], "areasOfDisagreement": ["ban or price"], "criteria": {}, "insights": []}`}},
	}}
}
