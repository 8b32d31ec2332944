package bus_test

import (
	"context"
	"fmt"
	"log"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/bus"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// Two engines share a store and a bus. One runs a debate, and the other one's reader follows it. In a program the two are in
// different processes, with sql.OpenBus or the module bus/nats in place of Local.
func Example() {
	ctx := context.Background()
	kept, chunks := &store.Memory{}, &bus.Local{}
	speaker := &debate.Engine{
		Store: kept, Bus: chunks, SkipModelCheck: true,
		Providers: map[string]debate.Provider{"test": &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
			return scripted.Reply{Text: "This is what " + req.Self + " says.", Chunks: 4}
		}}},
	}
	watcher := &debate.Engine{Store: kept, Bus: chunks}

	session, err := speaker.Start(ctx, debate.Config{
		Topic: "Is it heard?", Rounds: 1, Unattended: true,
		Participants: []debate.Participant{{Name: "Ada", Model: "test/model"}, {Name: "Ben", Model: "test/model"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	texts := make(map[string]string) // of the calls in flight
	for event, err := range watcher.Events(ctx, session.ID(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		switch body := event.Body.(type) {
		case *flow.Chunk:
			texts[body.Call] = texts[body.Call][:body.Offset] + body.Text // show it; with Missing set, there is a gap before it
		case *flow.Turn:
			fmt.Printf("%s: %s\n", body.Speaker, body.Text)
		}
	}
	_, _ = speaker.Shutdown(ctx), watcher.Shutdown(ctx)
	// Output:
	// Ada: This is what Ada says.
	// Ben: This is what Ben says.
}
