package main

import (
	_ "embed"
	"encoding/json"
	"strings"
	"time"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// play holds everybody's lines, by the ids of the calls.
//
//go:embed script.txt
var play string

// script plays everybody. An agent that reads a finding refines differently, so the judge, who reads the
// refinements, makes another solution of them.
func script() *scripted.Provider {
	said := stage.Speeches(play)
	return &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		call := strings.Split(req.ID, "/")[1] // between the debate and the attempt
		text := said[call]
		for _, news := range []string{"r1.check.ada", "r1.check.ben", "r1.refine.ada checked"} {
			if other := said[call+" checked"]; other != "" && strings.Contains(req.Last.Text, said[news]) {
				text = other
			}
		}
		reply := scripted.Reply{Text: text, Delay: 150 * time.Millisecond}
		if call == "synthesis" {
			reply.Text, reply.Err = solution(text)
		}
		return reply
	}}
}

func solution(text string) (string, error) {
	made, err := json.Marshal(deliberation.Solution{
		Description: text, Implementation: []string{}, Tradeoffs: []string{}, Recommendations: []string{},
		Requirements: []deliberation.Requirement{
			{Text: "uploads stop for at most an hour", Major: true, Fulfilled: true, Note: "for ten minutes"},
		},
		OpenQuestions: []string{}, Confidence: 80,
	})
	return string(made), err
}
