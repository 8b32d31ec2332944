package main

import (
	_ "embed"
	"fmt"
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

// script plays everybody. Security takes longer than Operations, which does not wait for it.
func script() *scripted.Provider {
	said := stage.Speeches(play)
	return &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		call := strings.Split(req.ID, "/")[1] // between the debate and the attempt
		reply := scripted.Reply{Text: said[call]}
		if reply.Text == "" {
			reply.Err = fmt.Errorf("the script has nothing for %s", call)
		}
		if req.Self == "Security" {
			reply.Delay = 300 * time.Millisecond
		}
		return reply
	}}
}
