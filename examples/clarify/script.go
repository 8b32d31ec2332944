package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// play holds everybody's lines, by the ids of the calls, and the person's answers, by the ids of the
// inquiries.
//
//go:embed script.txt
var play string

// script plays the agents and the judge. Their lines depend on the answers in their prompts: they comment
// on the answers of the script, and repeat others. An agent fails if its prompt should have an answer and
// has none.
func script() *scripted.Provider {
	said := stage.Speeches(play)
	return &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		call := strings.Split(req.ID, "/")[1] // between the debate and the attempt
		reply := scripted.Reply{Delay: 80 * time.Millisecond}
		if req.Self == "ben" {
			reply.Delay += 50 * time.Millisecond
		}
		text, answers := said[call], given(req.System)
		if len(answers) > 0 && !slices.Contains(answers, said["question.1.ada.2"]) {
			text = yours(said, call, answers)
		}
		switch {
		case strings.HasPrefix(call, "clarify."):
			reply.Text, reply.Err = questions(text)
		case len(answers) == 0:
			reply.Err = errors.New("the answers are lost")
		case call == "synthesis":
			open := "For how long the hash of an address may be kept: nobody has answered."
			if text != said[call] {
				open = "Whether the assumptions hold."
			}
			reply.Text, reply.Err = solution(text, open)
		default:
			reply.Text = text
		}
		return reply
	}}
}

// given returns the answers that a prompt holds.
func given(prompt string) []string {
	var answers []string
	answered := false
	for line := range strings.Lines(prompt) {
		if line = strings.TrimSpace(line); answered || line == "(not answered)" {
			answers = append(answers, line)
		}
		answered = strings.HasSuffix(line, "answer of a person>>>")
	}
	return answers
}

// yours returns the reply to answers that are not the script's.
func yours(said map[string]string, call string, answers []string) string {
	if text, ok := said[call+" yours"]; ok || strings.HasPrefix(call, "clarify.") {
		return strings.ReplaceAll(text, "ANSWERS", strings.Join(answers, " / "))
	}
	what, _, _ := strings.Cut(strings.TrimPrefix(call, "r1."), ".")
	return strings.ReplaceAll(said[what+" yours"], "ANSWERS", strings.Join(answers, " / "))
}

func questions(line string) (string, error) {
	list := []string{}
	for question := range strings.SplitSeq(line, "|") {
		if question = strings.TrimSpace(question); question != "" {
			list = append(list, question)
		}
	}
	text, err := json.Marshal(map[string][]string{"questions": list})
	return string(text), err
}

func solution(text, open string) (string, error) {
	made, err := json.Marshal(deliberation.Solution{
		Description:     text,
		Implementation:  []string{"A table, a form, a page for those who read."},
		Tradeoffs:       []string{"A comment in the night appears in the morning."},
		Recommendations: []string{},
		Requirements: []deliberation.Requirement{
			{Text: "readers can comment", Major: true, Fulfilled: true, Note: "without an account"},
		},
		OpenQuestions: []string{open},
		Confidence:    78,
	})
	return string(made), err
}
