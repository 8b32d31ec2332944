// Command human lets a person debate a model in the terminal.
//
//	go run ./examples/human
//	go run ./examples/human -me    # you debate
//
// The person has ten minutes for each speech. Then a model stands in for this one, and the person is asked again next time. While a person
// is asked the debate is only in its store: it may wait for days, and any process can answer by Engine.Control. A script plays the model,
// and the person unless you do. Somebody else says something in between, which all read.
//
// It prints:
//
//	The mayor: Whatever you decide, the market stays where it is.
//
//	It is your turn, Ada: opening, round 1 of 2.
//	…
//	> The centre is for people, and forty parking spaces are not people.
//
//	Ben: The plumber comes by car. So does whoever cannot walk.
//
//	It is your turn, Ada: argument, round 2 of 2.
//	…
//	> Then let those two in, and nobody else.
//
//	Ben: So we differ about everybody else, and agree on the market.
//
//	Ada has spoken 2 times, and nobody in her place.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider/scripted"
)

func main() {
	person := io.Reader(strings.NewReader(
		"The centre is for people, and forty parking spaces are not people.\nThen let those two in, and nobody else.\n"))
	me := slices.Contains(os.Args, "-me")
	if me {
		person = os.Stdin
	}
	if err := run(context.Background(), bufio.NewScanner(person), !me); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, person *bufio.Scanner, echo bool) error {
	const model = "script/any"
	engine := &debate.Engine{Providers: map[string]debate.Provider{"script": &scripted.Provider{Replies: map[string][]scripted.Reply{
		"Ben": {
			{Text: "The plumber comes by car. So does whoever cannot walk."},
			{Text: "So we differ about everybody else, and agree on the market."},
		},
	}}}}
	session, err := engine.Start(ctx, debate.Config{
		Topic: "Should our town centre be closed to cars?", Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Person: true, Term: flow.Term{Within: flow.Duration(10 * time.Minute), StandIn: model}},
			{Name: "Ben", Model: model},
		},
	})
	if err != nil {
		return err
	}
	defer session.Close()
	if _, err := session.Say(ctx, flow.Note{As: "The mayor", Text: "Whatever you decide, the market stays where it is."}); err != nil {
		return err
	}
	record, err := session.Wait(ctx)
	read := 0
	for ; errors.Is(err, debate.ErrAwaitingInput); record, err = session.Wait(ctx) {
		question, ok := record.Question(record.Inquiries[0].ID)
		if !ok { // what becomes of a call that has failed for good
			return err
		}
		for _, passage := range question.Reads[read:] {
			if !passage.Own {
				fmt.Printf("%s: %s\n\n", passage.Speaker, passage.Text)
			}
		}
		read = len(question.Reads)
		fmt.Printf("%s\n> ", question.Question)
		if !person.Scan() {
			return errors.Join(io.ErrUnexpectedEOF, person.Err())
		}
		if echo {
			fmt.Println(person.Text())
		}
		fmt.Println()
		if err := session.Answer(ctx, flow.Answer{Inquiry: question.ID, Text: person.Text()}); err != nil {
			fmt.Println(err) // it came too late, or is too long
		}
	}
	if err != nil {
		return err
	}
	last := record.Turns[len(record.Turns)-1]
	fmt.Printf("%s: %s\n\n", last.Speaker, last.Text)
	own, instead := 0, "nobody"
	for _, turn := range record.Turns {
		switch {
		case turn.Speaker != "Ada":
		case turn.Model != "":
			instead = turn.Model
		default:
			own++
		}
	}
	fmt.Printf("Ada has spoken %d times, and %s in her place.\n", own, instead)
	return nil
}
