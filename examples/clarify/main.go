// Command clarify lets the agents of a deliberation ask questions before they begin. A person answers, and leaves one question open.
//
//	go run ./examples/clarify
//	go run ./examples/clarify -me    # you answer; an empty line leaves a question open
//
// While questions are open the deliberation is only in its store, and costs nothing: it may wait for days, and any process can answer
// by Engine.Control. A script plays the agents, and answers unless you do.
//
// It prints:
//
//	ada asks: How many comments come in a day?
//	  > Some 300, and 2,000 in an hour when something happens in town.
//	ada asks: Do your readers have accounts?
//	  > No, and nobody here wants to look after passwords.
//	ben asks: For how long may a reader's address be kept?
//	  > NA
//
//	ada, proposal: One table of comments, and a queue that editors work off. 2,000 in an hour need nothing bought.
//	…
//
//	The solution: a table, a form without an account, a page for the editors. Open: how long an address may be kept.
//	Questions: 3, left open: 1
package main

import (
	"bufio"
	"cmp"
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
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func main() {
	person := io.Reader(strings.NewReader(
		"Some 300, and 2,000 in an hour when something happens in town.\nNo, and nobody here wants to look after passwords.\n\n"))
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
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{"script": &scripted.Provider{Reply: reply}},
		Flows:     map[string]*debate.Flow{deliberation.FlowName: deliberation.Flow()},
	}
	session, err := engine.Start(ctx, deliberation.Config{
		Problem: "Give the readers of our local paper a way to comment on articles.", Rounds: 1,
		Agents: []deliberation.Agent{
			{ID: "ada", Role: deliberation.RoleArchitect, Model: model}, {ID: "ben", Role: deliberation.RoleSecurity, Model: model},
		},
		Judge:         deliberation.Judge{Model: model},
		Clarification: deliberation.Clarification{On: true, Questions: 2}, // by each agent
	})
	if err != nil {
		return err
	}
	defer session.Close()
	record, err := session.Wait(ctx)
	for ; errors.Is(err, debate.ErrAwaitingInput); record, err = session.Wait(ctx) {
		for _, inquiry := range record.Inquiries {
			if len(inquiry.Options) > 0 { // what becomes of a call that has failed for good
				return err
			}
			fmt.Printf("%s\n  > ", inquiry.Question)
			if !person.Scan() {
				return errors.Join(io.ErrUnexpectedEOF, person.Err())
			}
			text := cmp.Or(strings.TrimSpace(person.Text()), deliberation.NotAnswered)
			if echo {
				fmt.Println(text)
			}
			if err := session.Answer(ctx, flow.Answer{Inquiry: inquiry.ID, Text: text}); err != nil {
				return err
			}
		}
	}
	if err != nil {
		return err
	}
	d, ok := deliberation.Of(record)
	if !ok {
		return errors.New("the record is of no deliberation")
	}
	fmt.Println()
	for _, c := range d.Contributions() {
		fmt.Println(strings.TrimSuffix(fmt.Sprintf("%s, %s of %s", c.Agent, c.Kind, c.Target), " of ") + ": " + c.Text)
	}
	made, _, ok := d.Solution()
	if !ok {
		return errors.New("there is no solution")
	}
	fmt.Printf("\nThe solution: %s Open: %s\n", made.Description, strings.Join(made.OpenQuestions, " "))
	open := 0
	for _, asked := range d.Clarifications() {
		if asked.Skipped {
			open++
		}
	}
	fmt.Printf("Questions: %d, left open: %d\n", len(d.Clarifications()), open)
	return nil
}

// reply plays the agents and the judge, by the ids of the calls.
func reply(req *provider.Request) scripted.Reply {
	call := strings.Split(req.ID, "/")[1] // between the deliberation and the attempt
	text, ok := map[string]string{
		"clarify.1.ada":       `{"questions": ["How many comments come in a day?", "Do your readers have accounts?"]}`,
		"clarify.1.ben":       `{"questions": ["For how long may a reader's address be kept?"]}`,
		"r1.propose.ada":      "One table of comments, and a queue that editors work off. 2,000 in an hour need nothing bought.",
		"r1.propose.ben":      "No address is kept: how long one may be kept is open.",
		"r1.critique.ada.ben": "Without an address you cannot know that somebody has written before.",
		"r1.critique.ben.ada": "At night the queue only grows. Say on the page when somebody reads again.",
		"r1.refine.ada":       "As before; the form says when editors read.",
		"r1.refine.ben":       "As before; a hash stands in for the address.",
		"synthesis": `{"solution": "a table, a form without an account, a page for the editors.", "implementation": [], "tradeoffs": [],
			"recommendations": [], "openQuestions": ["how long an address may be kept."], "confidence": 78,
			"requirements": [{"text": "readers can comment", "major": true, "fulfilled": true, "note": "without an account"}]}`,
	}[call]
	if !ok { // nobody asks twice
		text = `{"questions": []}`
	}
	return scripted.Reply{Text: text, Delay: map[string]time.Duration{"ben": 50 * time.Millisecond}[req.Self]}
}
