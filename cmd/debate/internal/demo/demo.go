// Package demo plays a conversation without any model: for whoever looks at the program before having a key.
package demo

import (
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Name is the provider of the demonstration, as it stands before the slash of a model.
const Name = "demo"

// Play makes the demonstration the only provider of an engine.
func Play(engine *debate.Engine) {
	engine.Providers = map[string]debate.Provider{Name: &scripted.Provider{Reply: reply}}
	engine.Models = map[string]debate.Model{Name + "/script": {Context: 1_000_000, Priced: true}}
}

func reply(req *provider.Request) scripted.Reply {
	call := strings.Split(req.ID, "/")[1]
	said := scripted.Reply{Text: "This is a demonstration: " + call + " would stand here.", Delay: 200 * time.Millisecond}
	if req.Schema != nil {
		said.Text, said.Err = instance(req.Schema)
	}
	return said
}
