package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// play holds everybody's lines, by the ids of the calls.
//
//go:embed script.txt
var play string

// script plays everybody.
func script() *scripted.Provider {
	said := stage.Speeches(play)
	return &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		call := strings.Split(req.ID, "/")[1] // between the debate and the attempt
		text := said[call]
		switch {
		case text == "":
			return scripted.Reply{Err: fmt.Errorf("the script has nothing for %s", call)}
		case req.Schema == nil:
			return scripted.Reply{Text: text}
		default:
			return ballot(text)
		}
	}}
}

// ballot turns a line "vote: reasons" into a voter's answer.
func ballot(line string) scripted.Reply {
	vote, reasoning, _ := strings.Cut(line, ": ")
	paper, err := json.Marshal(debate.BallotAnswer{Vote: debate.Vote(vote), Reasoning: reasoning})
	return scripted.Reply{Text: string(paper), Err: err}
}
