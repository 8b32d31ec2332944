// Command deliberation has three agents design the sale of concert tickets: an architect, a performance expert, and one who looks for
// the simplest design. Each proposes, critiques the two others and refines its proposal. A judge makes the solution from them.
//
//	go run ./examples/deliberation
//
// What everybody says is in script.txt.
//
// It prints:
//
//	Design the sale of concert tickets.
//
//	== round 1 of 1 ==
//	architect, proposal: Three parts, each with one owner of its data. …
//	performance, proposal: The minute after the opening decides. …
//	simplicity, proposal: There are 2,000 seats. …
//	…
//	architect, critique of performance: …
//	…
//	simplicity, refinement: …
//
//	== the solution, by judge, with a confidence of 84 of 100 ==
//	…
//
//	- Begin with this statement and a load test; add a part only when a number says so.
//	- Two tables, seat and orders. A repeated callback of the provider changes no row.
//
//	[x] no seat is sold twice
//	[x] a page answers within a second
//	[ ] a late payment is never lost: if the refund is declined, a person has to act
//
//	13 requests, … tokens in, … tokens out
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

//go:embed script.txt
var lines string

func main() {
	const model = "script/any"
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{"script": script()},
		Flows:     map[string]*debate.Flow{deliberation.FlowName: deliberation.Flow()}, // the flow of debates is always there
	}
	config := deliberation.Config{
		ID: "tickets",
		Problem: "Design the sale of concert tickets.\n\nWhen a sale opens, 40,000 people want 2,000 numbered seats within a minute. No seat " +
			"is sold twice. A seat is held for eight minutes while somebody pays. A page answers within a second.",
		Context: "Three developers run it, with PostgreSQL and four small servers. The payment provider may call back twice.",
		Rounds:  1, // more rounds critique and refine again; Termination can end them early
		Agents: []deliberation.Agent{
			{ID: "architect", Role: deliberation.RoleArchitect, Model: model},
			{ID: "performance", Role: deliberation.RolePerformance, Model: model},
			{ID: "simplicity", Role: deliberation.RoleSimplicity, Model: model},
		},
		Judge: deliberation.Judge{Model: model},
	}
	fmt.Println("Design the sale of concert tickets.")
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
	d, ok := deliberation.Of(record)
	if !ok {
		log.Fatal("the record is of no deliberation")
	}
	made, by, ok := d.Solution()
	if !ok {
		log.Fatal("there is no solution")
	}
	fmt.Printf("\n== the solution, by %s, with a confidence of %g of 100 ==\n%s\n\n", by, made.Confidence, made.Description)
	for _, step := range made.Implementation {
		fmt.Println("-", step)
	}
	fmt.Println()
	for _, r := range made.Requirements {
		box := map[bool]string{true: "[x]", false: "[ ]"}[r.Fulfilled]
		fmt.Println(box, strings.TrimSuffix(r.Text+": "+r.Note, ": "))
	}
	spent := record.Spent()
	fmt.Printf("\n%d requests, %d tokens in, %d tokens out\n", spent.Requests, spent.Usage.Input, spent.Usage.Output)
}

// show prints what happens. The calls of one phase run at the same time.
func show(event *debate.Event) {
	switch body := event.Body.(type) {
	case *flow.Round:
		fmt.Printf("\n== round %d of %d ==\n", body.N, body.Of)
	case *debate.Turn:
		of := ""
		if body.Target != "" {
			of = " of " + body.Target
		}
		if body.Kind != deliberation.KindSynthesis {
			fmt.Printf("%s, %s%s: %s\n", body.Speaker, body.Kind, of, body.Text)
		}
	case *flow.Failure:
		fmt.Printf("[no answer from %s: %v]\n", body.By, body.Error)
	}
}

// script reads everybody's lines by the ids of their calls: "# r1.propose.architect" stands above those of a call.
func script() *scripted.Provider {
	said := make(map[string]string)
	for part := range strings.SplitSeq("\n"+lines, "\n# ") {
		call, text, _ := strings.Cut(part, "\n")
		said[call] = strings.Join(strings.Fields(text), " ")
	}
	_, solution, _ := strings.Cut(lines, "\n# solution\n")
	pace := map[string]time.Duration{"performance": 60 * time.Millisecond, "simplicity": 120 * time.Millisecond}
	return &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		if req.Schema == nil {
			return scripted.Reply{Text: said[strings.Split(req.ID, "/")[1]], Delay: pace[req.Self]}
		}
		text, err := json.Marshal(deliberation.Solution{
			Description: strings.TrimSpace(solution), Confidence: 84, Tradeoffs: []string{}, Recommendations: []string{}, OpenQuestions: []string{},
			Implementation: []string{
				"Begin with this statement and a load test; add a part only when a number says so.",
				"Two tables, seat and orders. A repeated callback of the provider changes no row.",
			},
			Requirements: []deliberation.Requirement{
				{Text: "no seat is sold twice", Major: true, Fulfilled: true},
				{Text: "a page answers within a second", Major: true, Fulfilled: true},
				{Text: "a late payment is never lost", Note: "if the refund is declined, a person has to act"},
			},
		})
		return scripted.Reply{Text: string(text), Err: err}
	}}
}
