// Command customformat holds a debate in a format of its own, a design review: an author presents, two reviewers speak at once and never
// read each other, and the author answers each of them. Nobody wins. The format is data, in format.json.
//
//	go run ./examples/customformat
//
// A script speaks. Who speaks when follows from the format and the config alone, before any model is called.
//
// It prints:
//
//	Round 1, review: Author (design, about 280 words)
//	Round 1, review: Operations (review, about 140 words), at once with others
//	…
//	Round 3, closing: Author (closing, about 140 words)
//
//	1. Author: A worker locks the next row, does the job, and deletes the row in the same transaction.
//	1. Operations: On the first of the month it is nine hundred jobs a second. Who notices that the table swells?
//	1. Security: A job carries the customer's address, and a table is in every backup for a year.
//	1. Author to Operations: The table is split by day, and a day is dropped at once.
//	1. Author to Security: The address goes. A job holds the number of its order.
//	…
//	3. Author: A table split by day, jobs that hold a number, leases of thirty seconds. The broker goes last.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// source may as well come from a database, or from the users of a program: reading it is strict.
//
//go:embed format.json
var source []byte

func main() {
	review, err := format.Parse(source)
	if err != nil {
		log.Fatal(err)
	}
	config := debate.Config{
		Topic:        "Background jobs move from the broker into a table of our database.",
		CustomFormat: &review,
		Participants: []debate.Participant{ // the format's edges know them by these names
			{Name: "Author", Side: debate.For, Model: "script/any", Persona: "a developer of an online shop"},
			{Name: "Operations", Side: debate.Neutral, Model: "script/any", Persona: "runs the databases, and is called at night"},
			{Name: "Security", Side: debate.Neutral, Model: "script/any", Persona: "answers for customers' data"},
		},
	}
	for round := 1; round <= review.Rounds; round++ {
		phase := review.Phase(round, review.Rounds)
		for _, speech := range review.Schedule(config.Cast(), round) {
			fmt.Printf("Round %d, %s: %s (%s, about %d words)", round, phase.Name, speech.Speaker, speech.Kind, speech.Words)
			if speech.Group > 0 {
				fmt.Print(", at once with others")
			}
			fmt.Println()
		}
	}
	fmt.Println()
	engine := &debate.Engine{Providers: map[string]debate.Provider{"script": &scripted.Provider{Reply: reply}}}
	for event, err := range engine.Run(context.Background(), config) {
		if err != nil {
			log.Fatal(err)
		}
		if turn, ok := event.Body.(*debate.Turn); ok {
			to := ""
			if turn.Target != "" {
				to = " to " + turn.Target
			}
			fmt.Printf("%d. %s%s: %s\n", turn.Round, turn.Speaker, to, turn.Text)
		}
	}
}

// reply plays everybody, by the ids of the calls: the round, the phase, the place in its order, the speaker.
func reply(req *provider.Request) scripted.Reply {
	var delay time.Duration
	if req.Self == "Security" { // who speaks at once with Operations, and here ends after it
		delay = 50 * time.Millisecond
	}
	return scripted.Reply{Delay: delay, Text: map[string]string{
		"r1.review.1.Author":          "A worker locks the next row, does the job, and deletes the row in the same transaction.",
		"r1.review.2.Operations":      "On the first of the month it is nine hundred jobs a second. Who notices that the table swells?",
		"r1.review.3.Security":        "A job carries the customer's address, and a table is in every backup for a year.",
		"r1.review.4.Author":          "The table is split by day, and a day is dropped at once.",
		"r1.review.5.Author":          "The address goes. A job holds the number of its order.",
		"r2.second-look.1.Operations": "That settles the swelling. But a worker dies in the middle of its fifty rows: who does the rest?",
		"r2.second-look.2.Security":   "That settles the backups. But who reads the rest needs more rights than you name.",
		"r2.second-look.3.Author":     "A lease of thirty seconds in the row, in place of a lock: who finds it run out takes the job.",
		"r2.second-look.4.Author":     "One role for each kind of worker, and no other without your review.",
		"r3.closing.1.Operations":     "Go ahead, if the broker stays for two firsts of the month.",
		"r3.closing.2.Security":       "Go ahead if the addresses are gone before the first job moves.",
		"r3.closing.3.Author":         "A table split by day, jobs that hold a number, leases of thirty seconds. The broker goes last.",
	}[strings.Split(req.ID, "/")[1]]} // between the debate and the attempt
}
