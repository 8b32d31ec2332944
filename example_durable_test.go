package debate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
)

// A debate is told again from its second turn on, with one round more. The old one stays as it is.
func ExampleEngine_Fork() {
	ctx := context.Background()
	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": models()}}
	config := cars()
	config.ID = "cars"
	old, err := finished(ctx, engine, config)
	if err != nil {
		fmt.Println(err)
		return
	}
	var second int64 // the number of the second turn
	for event, err := range engine.Events(ctx, "cars", 0) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if body.As[debate.Turn](event) != nil && body.As[debate.Turn](event).Speaker == "Ben" {
			second = event.Seq
			break
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
	fmt.Println(record.ID, "goes on from", record.Parent().ID)
	fmt.Println(len(old.Turns), "turns became", len(record.Turns))
	// Output:
	// cars-long goes on from cars
	// 4 turns became 6
}

// An export can be given away: the secret seed is not in it. Whoever imports it has the whole debate.
func ExampleEngine_Export() {
	ctx := context.Background()
	here := &debate.Engine{Providers: map[string]debate.Provider{"acme": models()}}
	config := cars()
	config.ID = "cars"
	if _, err := finished(ctx, here, config); err != nil {
		fmt.Println(err)
		return
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
	fmt.Println(record.State, "after", len(record.Turns), "turns; the winner is", stage.View(record).Verdict.Winner.Participant)
	// Output:
	// completed after 4 turns; the winner is Ada
}

// A worker looks for what others have left, and goes on with it.
func ExampleEngine_List() {
	ctx := context.Background()
	store := &store.Memory{} // in earnest one of store/file or store/sql
	gone := &debate.Engine{Store: store, Providers: map[string]debate.Provider{"acme": stalled()}}
	config := cars()
	config.ID, config.Labels = "cars", map[string]string{"tenant": "town"}
	if _, err := gone.Start(ctx, config); err != nil {
		fmt.Println(err)
		return
	}
	if err := gone.Shutdown(ctx); err != nil { // Ada has spoken, Ben has not
		fmt.Println(err)
		return
	}

	worker := &debate.Engine{Store: store, Providers: map[string]debate.Provider{"acme": models()}}
	filter := debate.Filter{Working: true, Idle: true, Labels: map[string]string{"tenant": "town"}}
	for info, err := range worker.List(ctx, filter) {
		if err != nil {
			fmt.Println(err)
			return
		}
		session, err := worker.Open(ctx, info.ID)
		if errors.Is(err, debate.ErrLeased) {
			continue // another worker was faster
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		record, err := session.Wait(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(info.ID, "is", record.State)
	}
	// Output:
	// cars is completed
}

// A program that does not run a debate stops it all the same, and another one brings it to its verdict.
func ExampleEngine_Control() {
	ctx := context.Background()
	store := &store.Memory{}
	runs := &debate.Engine{
		Store: store, Providers: map[string]debate.Provider{"acme": stalled()},
		Lease: 300 * time.Millisecond, // for the example; 15 s are good
	}
	config := cars()
	config.ID = "cars"
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
		if body.As[debate.Turn](event) == nil {
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
	fmt.Println(record.State, "with", len(record.Turns), "turn and a verdict:", stage.View(record).Verdict != nil)
	// Output:
	// completed with 1 turn and a verdict: true
}

// What must not stay in a log is removed from it, and the log says that it was.
func ExampleEngine_Redact() {
	ctx := context.Background()
	engine := &debate.Engine{Store: &store.Memory{}, Providers: map[string]debate.Provider{"acme": models()}}
	config := cars()
	config.ID, config.Topic = "cars", "Should Zora Quill ban cars?"
	if _, err := finished(ctx, engine, config); err != nil {
		fmt.Println(err)
		return
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
	fmt.Println(record.Terms().Topic, record.State)
	fmt.Println(fact.Texts[0].Size, "bytes were removed by", fact.By)
	// Output:
	// Should [a person] ban cars? completed
	// 10 bytes were removed by privacy@example.com
}

// finished runs a debate to its end.
func finished(ctx context.Context, engine *debate.Engine, config debate.Config) (*debate.Record, error) {
	session, err := engine.Start(ctx, config)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	return session.Wait(ctx)
}
