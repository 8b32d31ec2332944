// Command prompts holds a debate in a format of its own and with prompts of its own, from public packages alone. It is built in a folder
// outside the repository.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

const (
	stance      = "You may change your mind when a reason moves you: then say which."
	instruction = "Give your answer in a sentence, and say how sure you are."
)

func main() {
	turn, ok := prompt.Default("turn")
	if !ok {
		fmt.Println("there is no template turn")
		os.Exit(1)
	}
	model := &scripted.Provider{Record: true, Reply: func(req *provider.Request) scripted.Reply {
		return scripted.Reply{Text: req.Self + " answers."}
	}}
	engine := &debate.Engine{Providers: map[string]provider.Provider{"test": model}}
	config := debate.Config{
		Topic: "How many people live in Lagos?", Rounds: 2, Unattended: true, Language: "Yoruba",
		Participants: []debate.Participant{{Name: "Ada", Model: "test/any"}, {Name: "Ben", Model: "test/any"}},
		CustomFormat: &format.Format{
			Name: "answers", Guidance: "Everybody answers, reads the others, and answers again.", Stance: format.Open,
			Phases: []format.Phase{{Name: "answer", First: 1, Last: -1, Instruction: instruction}},
			End:    format.EndByRounds, Decide: format.NoWinner,
		},
		Prompts: map[string]string{"stance": stance, "turn": turn + "\nNo more than three sentences."},
	}
	session, err := engine.Start(context.Background(), config)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	record, err := session.Wait(context.Background())
	_ = session.Close()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	own := 0
	requests := model.Requests()
	for i := range requests {
		text := requests[i].System + "\n" + requests[i].Last.Text
		if strings.Contains(text, stance) && strings.Contains(text, instruction) && strings.Contains(text, "three sentences.") &&
			strings.Contains(text, "Write in Yoruba") {
			own++
		}
	}
	fmt.Printf("%s: %d requests, %d in our own words\n", record.State, len(requests), own)
}
