package file_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
)

// An engine keeps its debates in a folder. Whoever opens the folder afterwards finds them there.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "debates")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()

	s, err := file.Open(filepath.Join(dir, "debates"))
	if err != nil {
		fmt.Println(err)
		return
	}
	engine := &debate.Engine{Store: s, Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}}
	for _, err := range engine.Run(ctx, debate.Config{
		ID: "cars", Topic: "Should cities ban cars?", Rounds: 1,
		Participants: []debate.Participant{{Name: "Ada", Model: "acme/talker"}, {Name: "Ben", Model: "acme/talker"}},
	}) {
		if err != nil {
			fmt.Println(err)
		}
	}
	if err := s.Close(); err != nil {
		fmt.Println(err)
	}

	s = &file.Store{Dir: filepath.Join(dir, "debates")} // as another program would
	defer func() { _ = s.Close() }()
	for info, err := range s.List(ctx, store.Filter{Text: "cars"}) {
		fmt.Println(info.ID, info.State, info.Topic, err)
	}
	// Output:
	// cars completed Should cities ban cars? <nil>
}

// A journal is text, one event a line.
func ExampleStore_Append() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "debates")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s := &file.Store{Dir: dir}
	defer func() { _ = s.Close() }()

	at := time.Date(2026, time.March, 4, 5, 6, 7, 0, time.UTC)
	if err := s.Append(ctx, "cars", 0, "some host", []flow.Event{
		{Seq: 1, At: at, Body: &flow.Round{N: 1, Of: 3}},
		{Seq: 2, At: at, Body: &flow.Transition{To: flow.StatePaused}},
	}); err != nil {
		fmt.Println(err)
	}
	journal, err := os.ReadFile(filepath.Join(dir, "cars.log"))
	fmt.Print(string(journal))
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// 49eb51a3 {"journal":1,"id":"cars"}
	// f14348ab {"seq":1,"at":"2026-03-04T05:06:07Z","kind":"round","body":{"n":1,"of":3}}
	// b4f24066 {"seq":2,"at":"2026-03-04T05:06:07Z","kind":"transition","body":{"from":"","to":"paused","on":""}}
	// c84d850e {"commit":{"first":1,"last":2,"bytes":192,"prev":"49eb51a3","writer":"some%20host","state":"paused","round":1,"at":"2026-03-04T05:06:07Z","since":"2026-03-04T05:06:07Z"}}
}

// What a crash has left at the end of a journal is cut off by the next append, and reported.
func ExampleStore_report() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "debates")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s := &file.Store{Dir: dir, Report: func(torn file.Torn) {
		kept, err := os.ReadFile(torn.Kept)
		_, text, _ := strings.Cut(string(kept), "\n")
		fmt.Printf("%d bytes of conversation %s are now in %s: %q, %v\n", torn.Bytes, torn.ID, filepath.Base(torn.Kept), text, err)
	}}
	defer func() { _ = s.Close() }()
	ack := []flow.Event{{Seq: 1, Body: &flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}}, {Seq: 2, Body: &flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}}}
	if err := s.Append(ctx, "cars", 0, "some host", ack[:1]); err != nil {
		fmt.Println(err)
	}

	journal, err := os.OpenFile(filepath.Join(dir, "cars.log"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := journal.WriteString(`1b94e1c6 {"seq":2,"at":"20`); err != nil {
		fmt.Println(err)
	}
	if err := journal.Close(); err != nil {
		fmt.Println(err)
	}
	if err := s.Append(ctx, "cars", 1, "some host", ack[1:]); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 26 bytes of conversation cars are now in cars.torn: "1b94e1c6 {\"seq\":2,\"at\":\"20", <nil>
}
