// Command sources holds a debate between models that think and search the web before they speak. It prints their thoughts as they
// stream, and each turn with the pages that it cites.
//
//	go run ./examples/sources
//	OPENROUTER_API_KEY=… go run ./examples/sources
//
// Without a key, a script speaks, and its pages do not exist. Vendors bill searches in addition to tokens.
//
// It prints:
//
//	Ada thinks: What is the strongest ground? Cost is small since the lamps are LEDs. Insects are better documented.
//	Ada: Moths under lamps visit fewer flowers [1]. And where lamps were switched off, crime did not rise [2].
//	  [1] Moths at lit sites, https://meadow.example/moths: "Visits to flowers fell by about a half."
//	  [2] Part-night lighting in eleven districts, https://county.example/report.pdf
//
//	Ben thinks: Her report is an average. Are there places inside it where it was worse?
//	Ben: An average hides the places that matter: thefts from cars moved to the streets that were dark [1].
//	  [1] Where thieves go when it is dark, https://streets.example/theft: "They followed the dark."
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/scripted"
)

func main() {
	const model = "openrouter/openai/gpt-5-mini" // few models both think and search
	engine := &debate.Engine{Providers: map[string]debate.Provider{"openrouter": script()}}
	if key := os.Getenv("OPENROUTER_API_KEY"); key != "" {
		engine.Providers["openrouter"] = openaicompat.OpenRouter(key)
	}
	// What a vendor or a model surely cannot do is refused before anything is paid.
	options := &provider.Options{Effort: provider.EffortHigh, Search: true}
	config := debate.Config{
		Topic: "Should the street lights go out at midnight?", Rounds: 1, TurnTimeout: 10 * time.Minute,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: model, Options: options},
			{Name: "Ben", Side: debate.Against, Model: model, Options: options},
		},
	}
	for event, err := range engine.Run(context.Background(), config) {
		if err != nil {
			log.Fatal(err)
		}
		switch body := event.Body.(type) {
		case *flow.Intent:
			if body.Slot > 0 {
				fmt.Println()
			}
		case *flow.Chunk: // the reply comes in chunks too; here the whole turn is printed
			if !body.Reasoning {
				continue
			}
			if body.Offset == 0 {
				fmt.Printf("%s thinks: ", body.By)
			}
			fmt.Print(body.Text)
		case *debate.Turn: // its thoughts are recorded, and no other speaker reads them
			fmt.Printf("\n%s: %s\n", body.Speaker, numbered(body))
			for i, c := range body.Citations {
				fmt.Printf("  [%d] %s, %s", i+1, cmp.Or(c.Title, "a page"), c.URL)
				if c.Quote != "" {
					fmt.Printf(": %q", c.Quote)
				}
				fmt.Println()
			}
		}
	}
}

// numbered returns the text of a turn with the numbers of its sources behind the passages that rest on them.
func numbered(turn *debate.Turn) string {
	text, from := "", 0
	order := make([]int, len(turn.Citations))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(turn.Citations[a].End, turn.Citations[b].End) })
	for _, i := range order {
		if end := turn.Citations[i].End; end > 0 && end <= len(turn.Text) { // in bytes; 0: the vendor names no passage
			text += fmt.Sprintf("%s [%d]", turn.Text[from:end], i+1)
			from = end
		}
	}
	return text + turn.Text[from:]
}

// script speaks in place of models.
func script() *scripted.Provider {
	return &scripted.Provider{Replies: map[string][]scripted.Reply{
		"Ada": {reply("What is the strongest ground? Cost is small since the lamps are LEDs. Insects are better documented.",
			"Moths under lamps visit fewer flowers. And where lamps were switched off, crime did not rise.",
			page{"fewer flowers", "Moths at lit sites", "https://meadow.example/moths", "Visits to flowers fell by about a half."},
			page{"did not rise", "Part-night lighting in eleven districts", "https://county.example/report.pdf", ""})},
		"Ben": {reply("Her report is an average. Are there places inside it where it was worse?",
			"An average hides the places that matter: thefts from cars moved to the streets that were dark.",
			page{"were dark", "Where thieves go when it is dark", "https://streets.example/theft", "They followed the dark."})},
	}}
}

// page is a page on the web on which a passage rests.
type page struct{ passage, title, url, quote string }

// reply is a reply with its thoughts and its sources, as an adapter returns it.
func reply(thoughts, text string, pages ...page) scripted.Reply {
	r := scripted.Reply{Text: text, Reasoning: thoughts}
	for _, p := range pages {
		start := strings.Index(text, p.passage)
		end := start + len(p.passage)
		r.Citations = append(r.Citations, provider.Citation{Title: p.title, URL: p.url, Quote: p.quote, Start: start, End: end})
	}
	return r
}
