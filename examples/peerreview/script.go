package main

import (
	_ "embed"
	"strings"
	"time"

	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

//go:embed script.txt
var play string

// script plays everybody, by the ids of the calls. Ruth reads more slowly than Rolf, so their reviews come in one order.
func script() *scripted.Provider {
	said := stage.Speeches(play)
	return &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		reply := scripted.Reply{Text: said[strings.Split(req.ID, "/")[1]]} // between the conversation and the attempt
		if req.Self == "Ruth" {
			reply.Delay = 200 * time.Millisecond
		}
		return reply
	}}
}
