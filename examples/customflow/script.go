package main

import (
	_ "embed"
	"strings"
	"time"

	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// play holds everybody's lines, by the ids of the calls.
//
//go:embed script.txt
var play string

// script plays everybody. The grader's first answer contradicts itself, so it is asked again.
func script() *scripted.Provider {
	said := stage.Speeches(play)
	return &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		call := strings.Split(req.ID, "/")[1] // between the interview and the attempt
		if strings.Contains(req.Last.Text, ", was refused") {
			call += ", asked again"
		}
		return scripted.Reply{Text: said[call], Delay: 150 * time.Millisecond}
	}}
}
