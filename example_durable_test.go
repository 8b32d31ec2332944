package debate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/provider/wire"
	"github.com/agonist-dev/debate/store"
)

// A debate is told again from its second turn on, with one round more. The old one stays as it is.
func ExampleEngine_Fork() {
	ctx := context.Background()
	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}}
	config := debate.Config{
		ID:    "cars",
		Topic: "Should cities ban private cars from their centres?", Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"}, {Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
	}
	var second int64 // the number of the second turn
	for event, err := range engine.Run(ctx, config) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if turn, ok := event.Body.(*debate.Turn); ok && turn.Speaker == "Ben" && turn.Round == 1 {
			second = event.Seq
		}
	}
	session, err := engine.Fork(ctx, "cars", second, debate.Editing(func(c *debate.Config) { c.ID, c.Rounds = "cars-long", 3 }))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	record, err := session.Wait(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(record.ID, "goes on from", record.Parent().ID, "and has", len(record.Turns), "turns")
	// Output: cars-long goes on from cars and has 6 turns
}

// An export can be given away: the secret seed is not in it. Whoever imports it has the whole debate.
func ExampleEngine_Export() {
	ctx := context.Background()
	here := &debate.Engine{Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}}
	config := debate.Config{
		ID:    "cars",
		Topic: "Should cities ban private cars from their centres?", Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"}, {Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
		Judging: &debate.Judging{When: debate.AtEnd, Judges: []debate.JudgeConfig{{Model: "acme/judge"}}},
	}
	for _, err := range here.Run(ctx, config) { // to its end
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	var file bytes.Buffer
	if err := here.Export(ctx, "cars", &file); err != nil {
		fmt.Println(err)
		return
	}

	there := &debate.Engine{} // to read a debate takes no provider
	id, err := there.Import(ctx, &file)
	if err != nil {
		fmt.Println(err)
		return
	}
	record, err := there.Record(ctx, id)
	if err != nil {
		fmt.Println(err)
		return
	}
	if d, ok := debate.Of(record); ok {
		fmt.Println(d.State, "after", len(d.Turns), "turns; the winner is", d.Verdict.Winner.Participant)
	}
	// Output: completed after 4 turns; the winner is Ada
}

// A web server only stores debates: its providers need no keys, and it asks no vendor about models. A worker runs them.
func ExampleEngine_Submit() {
	ctx := context.Background()
	store := &store.Memory{} // in earnest one of store/file or store/sql
	vendor := &openaicompat.Provider{Endpoint: wire.Endpoint{BaseURL: "https://api.acme.example/v1"}}
	web := &debate.Engine{Store: store, Providers: map[string]debate.Provider{"acme": vendor}, SkipModelCheck: true}
	id, err := web.Submit(ctx, debate.Config{
		Topic: "Should cities ban private cars from their centres?", Rounds: 1,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"}, {Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	worker := &debate.Engine{Store: store, Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}}
	working, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- worker.Work(working, debate.Work{Slots: 50}) }()

	for event, err := range web.Events(ctx, id, 0) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if turn, ok := event.Body.(*debate.Turn); ok {
			fmt.Println(turn.Speaker, "has spoken")
		}
	}
	stop()
	fmt.Println("the worker ends:", <-ended)
	// Output:
	// Ada has spoken
	// Ben has spoken
	// the worker ends: <nil>
}

// A worker continues what another process has left.
func ExampleEngine_Work() {
	ctx := context.Background()
	store := &store.Memory{} // in earnest one of store/file or store/sql
	slow := &scripted.Provider{Replies: map[string][]scripted.Reply{"Ben": {{Delay: time.Hour}}}}
	gone := &debate.Engine{Store: store, Providers: map[string]debate.Provider{"acme": slow}}
	config := debate.Config{
		ID: "cars", Labels: map[string]string{"tenant": "town"},
		Topic: "Should cities ban private cars from their centres?", Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"}, {Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
	}
	if _, err := gone.Start(ctx, config); err != nil {
		fmt.Println(err)
		return
	}
	soon, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if err := gone.Shutdown(soon); err != nil && !errors.Is(err, context.DeadlineExceeded) { // it aborts what Ben says
		fmt.Println(err)
		return
	}

	worker := &debate.Engine{Store: store, Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}}
	filter := debate.Filter{Labels: map[string]string{"tenant": "town"}}
	working, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- worker.Work(working, debate.Work{Filter: filter}) }()
	for _, err := range worker.Events(ctx, "cars", 0) { // until the debate is over
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	stop()
	if err := <-ended; err != nil {
		fmt.Println(err)
		return
	}
	for info, err := range worker.List(ctx, filter) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(info.ID, "is", info.State)
	}
	// Output:
	// cars is completed
}

// A program that does not run a debate stops it all the same, and another one brings it to its verdict.
func ExampleEngine_Control() {
	ctx := context.Background()
	store := &store.Memory{}
	slow := &scripted.Provider{Replies: map[string][]scripted.Reply{"Ben": {{Delay: time.Hour}}}}
	runs := &debate.Engine{
		Store: store, Providers: map[string]debate.Provider{"acme": slow},
		Lease: 300 * time.Millisecond, // for the example; 15 s are good
	}
	config := debate.Config{
		ID:    "cars",
		Topic: "Should cities ban private cars from their centres?", Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"}, {Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
		Judging: &debate.Judging{When: debate.AtEnd, Judges: []debate.JudgeConfig{{Model: "acme/judge"}}},
	}
	session, err := runs.Start(ctx, config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()

	elsewhere := &debate.Engine{Store: store} // in another process
	for event, err := range session.Events(ctx, 0) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if _, ok := event.Body.(*debate.Turn); !ok {
			continue
		}
		if err := elsewhere.Control(ctx, "cars", flow.Stop{}); err != nil {
			fmt.Println(err)
			return
		}
		break
	}
	record, err := session.Wait(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	if d, ok := debate.Of(record); ok {
		fmt.Println(d.State, "with", len(d.Turns), "turn and a verdict:", d.Verdict != nil)
	}
	// Output: completed with 1 turn and a verdict: true
}

// A log is checked years later: the flow decides again what it has decided, and no model is asked.
func ExampleEngine_Verify() {
	ctx := context.Background()
	kept := &store.Memory{}
	engine := &debate.Engine{Store: kept, Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}}
	config := debate.Config{
		ID:    "cars",
		Topic: "Should cities ban private cars from their centres?", Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"}, {Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
	}
	for _, err := range engine.Run(ctx, config) { // to its end
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	auditor := &debate.Engine{Store: kept} // without providers and keys
	found, err := auditor.Verify(ctx, "cars")
	if errors.Is(err, store.ErrDamaged) {
		fmt.Println("somebody has changed the log:", err)
		return
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(found.Record.State, "with", len(found.Record.Turns), "turns, decided again:", found.Decisions > 0)
	// Output: completed with 4 turns, decided again: true
}

// What must not stay in a log is removed from it, and the log says that it was.
func ExampleEngine_Redact() {
	ctx := context.Background()
	engine := &debate.Engine{Store: &store.Memory{}, Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}}
	config := debate.Config{
		ID:    "cars",
		Topic: "Should Zora Quill ban cars?", Rounds: 1,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"}, {Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
	}
	for _, err := range engine.Run(ctx, config) { // to its end
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	fact, err := engine.Redact(ctx, "cars", flow.Redaction{
		Texts: []string{"Zora Quill"}, With: "[a person]", By: "privacy@example.com", Reason: "asked for",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	record, err := engine.Record(ctx, "cars")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(record.Settings().Topic, record.State)
	fmt.Println(fact.Texts[0].Size, "bytes were removed by", fact.By)
	// Output:
	// Should [a person] ban cars? completed
	// 10 bytes were removed by privacy@example.com
}
