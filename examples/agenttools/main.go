// Command agenttools gives the agents of a deliberation a tool: a Go function that computes what models are bad at.
//
//	go run ./examples/agenttools
//
// Each use is recorded, with its answer or the reason why it was refused. A script plays everybody.
//
// It prints:
//
//	ada uses downtime {"percent":99.95,"days":30}
//	  99.95 % of 30 days allow 21.6 minutes of downtime.
//	ada, proposal: The provider's slow days cost 34 minutes and 41: each alone breaks the promise. Queue what waits for a payment.
//	ben uses downtime {"percent":999.5,"days":30}
//	  the arguments are wrong: …
//	ben, proposal: Set the timeout to 4 seconds, and make one retry.
//	ada, critique of ben: 4 seconds turn slow answers into refusals. What becomes of a payment that comes later?
//	…
//
//	The solution: one retry after 4 seconds; orders without an answer stay open. The tool was used 2 times, 1 of them in vain.
package main

import (
	"context"
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

// target holds the arguments of the tool. The schema that the model reads is made from this struct, and arguments that do not match it
// never reach the function.
type target struct {
	Percent float64 `json:"percent" jsonschema:"minimum=0,maximum=100,description=how much of the time it has to work"`
	Days    int     `json:"days"    jsonschema:"minimum=1,maximum=366,description=of how many days"`
}

func main() {
	const model = "script/any"
	downtime, err := flow.NewTool(
		flow.ToolInfo{Description: "How many minutes of downtime an availability allows.", ReadOnly: true},
		func(_ context.Context, _ flow.ToolUse, t target) (string, error) {
			minutes := float64(t.Days) * 24 * 60 * (100 - t.Percent) / 100
			return fmt.Sprintf("%g %% of %d days allow %.1f minutes of downtime.", t.Percent, t.Days, minutes), nil
		},
	)
	if err != nil {
		log.Fatal(err)
	}
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{"script": &scripted.Provider{Reply: reply}},
		Flows:     map[string]*debate.Flow{deliberation.FlowName: deliberation.Flow()},
		Tools:     map[string]debate.Tool{"downtime": downtime},
	}
	config := deliberation.Config{
		ID: "checkout", Problem: "Our checkout has broken its promise of 99.95 % twice this year. What do we change first?", Rounds: 1,
		Agents: []deliberation.Agent{
			{ID: "ada", Role: deliberation.RoleArchitect, Model: model}, {ID: "ben", Role: deliberation.RolePerformance, Model: model},
		},
		Judge:     deliberation.Judge{Model: model},
		Tools:     []string{"downtime"}, // a single agent can get fewer; package tool has tools for files and programs
		ToolCalls: 6,                    // by each agent in each phase
	}
	for event, err := range engine.Run(context.Background(), config) {
		if err != nil {
			log.Fatal(err)
		}
		switch body := event.Body.(type) {
		case *flow.ToolCalls:
			for _, use := range body.Uses {
				fmt.Printf("%s uses %s %s\n", body.By, use.Name, use.Arguments)
				if use.Denied != "" {
					fmt.Println("  refused:", use.Denied)
				}
			}
		case *flow.ToolResult: // as hostile as any other text
			fmt.Println(" ", strings.Join(strings.Fields(body.Text), " "))
		case *debate.Turn:
			if body.Kind != deliberation.KindSynthesis {
				fmt.Println(strings.TrimSuffix(fmt.Sprintf("%s, %s of %s", body.Speaker, body.Kind, body.Target), " of ") + ": " + body.Text)
			}
		}
	}
	record, err := engine.Record(context.Background(), config.ID)
	if err != nil {
		log.Fatal(err)
	}
	failed := 0
	for _, use := range record.ToolUses {
		if use.Failed {
			failed++
		}
	}
	if d, ok := deliberation.Of(record); ok {
		made, _, _ := d.Solution()
		fmt.Printf("\nThe solution: %s The tool was used %d times, %d of them in vain.\n", made.Description, len(record.ToolUses), failed)
	}
}

// reply plays everybody, by the ids of the calls. An agent asks for its tool first, and speaks when it has read the answer.
func reply(req *provider.Request) scripted.Reply {
	uses := map[string]provider.ToolCall{
		"r1.propose.ada": {ID: "1", Name: "downtime", Arguments: json.RawMessage(`{"percent":99.95,"days":30}`)},
		"r1.propose.ben": {ID: "1", Name: "downtime", Arguments: json.RawMessage(`{"percent":999.5,"days":30}`)},
	}
	texts := map[string]string{
		"r1.propose.ada":      "The provider's slow days cost 34 minutes and 41: each alone breaks the promise. Queue what waits for a payment.",
		"r1.propose.ben":      "Set the timeout to 4 seconds, and make one retry.",
		"r1.critique.ada.ben": "4 seconds turn slow answers into refusals. What becomes of a payment that comes later?",
		"r1.critique.ben.ada": "A queue is a new part to run. Begin with what is one line.",
		"r1.refine.ada":       "First the timeout, then a queue for those orders alone that have no answer.",
		"r1.refine.ben":       "As before, and orders without an answer stay open.",
	}
	call := strings.Split(req.ID, "/")[1] // between the deliberation and the attempt
	answered := false
	for _, message := range append(req.Messages, req.Last) {
		answered = answered || len(message.ToolCalls) > 0
	}
	delay := map[string]time.Duration{"ben": 50 * time.Millisecond}[req.Self] // so that the order is always the same
	switch use, wants := uses[call]; {
	case wants && !answered:
		return scripted.Reply{Calls: []provider.ToolCall{use}, Delay: 3 * delay}
	case req.Schema == nil:
		return scripted.Reply{Text: texts[call], Delay: delay}
	}
	return scripted.Reply{Text: `{
		"solution": "one retry after 4 seconds; orders without an answer stay open.", "confidence": 82, "implementation": [],
		"tradeoffs": [], "recommendations": [], "openQuestions": [],
		"requirements": [{"text": "the promise is kept", "major": true, "fulfilled": true, "note": ""}]}`}
}
