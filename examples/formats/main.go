// Command formats shows the built-in formats, and holds an Oxford debate: two against two, a chair, and an audience of five that votes
// before and after. The side wins that gains more of the audience.
//
//	go run ./examples/formats
//
// The words of the debate are in script.txt.
//
// It prints:
//
//	free-form            opening, argument, argument
//	structured-rounds    opening, rebuttal, closing
//	…
//	oxford               opening, exchange, closing
//	…
//
//	== Public transport in our city should be free. ==
//
//	1. Ada (opening): A tram that runs half empty costs as much as a full one. …
//	…
//	2. Tom (question): I drive the 14. …
//	…
//	Tom: for before, against after. A second bus is what I need, and only one side offered it.
//	…
//	of 5 voters: for 60 % → 60 %, against 20 % → 40 %…
//	The side against wins.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"log"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

//go:embed script.txt
var lines string

func main() {
	for _, f := range format.Builtin() {
		var phases []string
		rounds := cmp.Or(f.Rounds, 3) // 0: as many as the config wishes
		for round := range rounds {
			phases = append(phases, f.Phase(round+1, rounds).Name)
		}
		fmt.Printf("%-20s %s\n", f.Name, strings.Join(phases, ", "))
	}

	const model = "script/any"
	engine := &debate.Engine{Providers: map[string]debate.Provider{"script": script()}}
	config := debate.Config{
		ID: "oxford", Topic: "Public transport in our city should be free.", Format: format.Oxford,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: model, Persona: "an economist who counts what a fare costs"},
			{Name: "Ravi", Side: debate.For, Model: model, Persona: "a teacher in a poor quarter"},
			{Name: "Ben", Side: debate.Against, Model: model, Persona: "a planner of tram lines"},
			{Name: "Mara", Side: debate.Against, Model: model, Persona: "a social worker who has seen what is spent on whom"},
			{Name: "Nora", Side: debate.Neutral, Model: model}, // the format makes the neutral side its chair
		},
		Audience: &debate.Audience{Members: []debate.Member{ // the first two put questions to the speakers
			{Name: "Tom", Model: model, Persona: "a bus driver"},
			{Name: "Lena", Model: model, Persona: "a student who cycles"},
			{Name: "Omar", Model: model, Persona: "a shopkeeper in the centre"},
			{Name: "Ines", Model: model, Persona: "a nurse on night shifts"},
			{Name: "Paul", Model: model, Persona: "a pensioner on the edge of the city"},
		}},
	}
	fmt.Printf("\n== %s ==\n", config.Topic)
	record, err := engine.Play(context.Background(), config)
	if err != nil {
		log.Fatal(err)
	}
	d, ok := debate.Of(record)
	if !ok {
		log.Fatal("the record is of no debate")
	}
	for _, turn := range d.Turns {
		to := ""
		if turn.Target != "" {
			to = " to " + turn.Target
		}
		fmt.Printf("\n%d. %s%s (%s): %s\n", turn.Round, turn.Speaker, to, turn.Kind, turn.Text)
	}
	fmt.Println()
	before, after := make(map[string]debate.Vote), make(map[string]*debate.Ballot)
	for _, ballot := range d.Ballots {
		if ballot.After {
			after[ballot.Voter] = ballot
		} else {
			before[ballot.Voter] = ballot.Vote
		}
	}
	for _, member := range config.Audience.Members { // the votes were sealed until now
		ballot := after[member.Name]
		fmt.Printf("%s: %s before, %s after. %s\n", member.Name, before[member.Name], ballot.Vote, ballot.Reasoning)
	}
	fmt.Printf("\n%s\nThe side %s wins.\n", d.Swing(), d.Outcome().Side)
}

// script reads everybody's lines by the ids of their calls: "# r1.opening.1.Ada" stands above those of a call.
func script() *scripted.Provider {
	said := make(map[string]string)
	for part := range strings.SplitSeq("\n"+lines, "\n# ") {
		call, text, _ := strings.Cut(part, "\n")
		said[call] = strings.Join(strings.Fields(text), " ")
	}
	return &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		text := said[strings.Split(req.ID, "/")[1]] // between the debate and the attempt
		if vote, reasons, ok := strings.Cut(text, ": "); ok && req.Schema != nil {
			text = fmt.Sprintf(`{"vote": %q, "reasoning": %q}`, vote, reasons)
		}
		return scripted.Reply{Text: text}
	}}
}
