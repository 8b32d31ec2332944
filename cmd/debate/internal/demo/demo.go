// Package demo plays a conversation without any model: for a person who looks at the program before having a key.
package demo

import (
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Name is the provider of the demonstration, as it stands before the slash of a model.
const Name = "demo"

// Model is the model of the demonstration.
const Model = Name + "/script"

// Label marks a conversation that a script plays: a config may name real models, and none of them is asked to continue it.
const Label = "demo"

// Notice says what a person is shown. The program writes it to the standard error.
const Notice = "This is a demonstration: a script speaks in place of models, whatever the problem is. It costs nothing."

// Play makes the demonstration the only provider of an engine. It answers for the vendors of all models that are named, at
// no cost.
func Play(engine *debate.Engine, models ...string) {
	engine.Providers = make(map[string]debate.Provider)
	engine.Models = make(map[string]debate.Model)
	for _, model := range append([]string{Model}, models...) {
		vendor, _, ok := flow.SplitModel(model)
		if !ok {
			continue
		}
		StandIn(engine, vendor)
		engine.Models[model] = debate.Model{Window: 1_000_000, Priced: true}
	}
}

// StandIn makes the script the provider of a vendor, where no model is asked or the script may answer.
func StandIn(engine *debate.Engine, vendor string) *scripted.Provider {
	p := &scripted.Provider{Reply: read().reply}
	engine.Providers[vendor] = p
	return p
}

// Pace is how a script speaks: so that a person sees how a live view grows, and waits for nothing.
const (
	thinking = 150 * time.Millisecond // before the first word
	word     = 12                     // bytes that come at once
	pause    = 6 * time.Millisecond   // between them
)

// reply answers a request.
func (s *script) reply(request *provider.Request) scripted.Reply {
	call := sceneOf(s, request)
	said := scripted.Reply{Delay: thinking, ChunkSize: word, Interval: pause}
	if request.Schema == nil {
		said.Text = call.speech()
		return said
	}
	said.Text, said.Err = call.answer(request.Schema)
	return said
}
