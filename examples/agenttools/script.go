package main

import (
	_ "embed"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// play holds everybody's lines, by the ids of the calls, and the tools that they use before that.
//
//go:embed script.txt
var play string

// script plays everybody. An agent asks for its tools one after the other; each request shows the answers
// so far.
func script() *scripted.Provider {
	said, uses := stage.Speeches(play), asked()
	return &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		call := strings.Split(req.ID, "/")[1] // between the debate and the attempt
		reply := scripted.Reply{Delay: 200 * time.Millisecond}
		if req.Self == "ben" { // never done when ada is, so that the order is always the same
			reply.Delay = 330 * time.Millisecond
		}
		answered := 0
		for _, message := range req.Messages {
			answered += len(message.ToolCalls)
		}
		switch {
		case answered < len(uses[call]):
			reply.Calls = uses[call][answered : answered+1]
		case call == "synthesis":
			reply.Text, reply.Err = solution(said[call])
		default:
			reply.Text = said[call]
		}
		return reply
	}}
}

// asked reads from the script which tools each call asks for: lines with a name and its arguments.
func asked() map[string][]provider.ToolCall {
	uses := make(map[string][]provider.ToolCall)
	for part := range strings.SplitSeq("\n"+play, "\n# ") {
		heading, lines, _ := strings.Cut(part, "\n")
		call, ok := strings.CutSuffix(heading, " tools")
		if !ok {
			continue
		}
		for line := range strings.Lines(lines + "\n") {
			name, arguments, ok := strings.Cut(strings.TrimSpace(line), " ")
			if ok {
				id := strconv.Itoa(len(uses[call]) + 1)
				uses[call] = append(uses[call], provider.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(arguments)})
			}
		}
	}
	return uses
}

func solution(text string) (string, error) {
	made, err := json.Marshal(deliberation.Solution{
		Description: text, Implementation: []string{}, Tradeoffs: []string{}, Recommendations: []string{},
		Requirements: []deliberation.Requirement{
			{Text: "the promise is kept", Major: true, Fulfilled: true, Note: "by the figures of this year"},
		},
		OpenQuestions: []string{}, Confidence: 82,
	})
	return string(made), err
}
