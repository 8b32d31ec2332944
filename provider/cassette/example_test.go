package cassette_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cassette"
	"github.com/agonist-dev/debate/provider/scripted"
)

func Example() {
	folder, err := os.MkdirTemp("", "cassette")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file := filepath.Join(folder, "tape.json")

	// once records, if it is given somebody to ask, or replays.
	once := func(mode cassette.Mode, vendor provider.Provider, question string) {
		tape, err := cassette.Open(file, cassette.Options{Mode: mode, Secrets: []string{"hunter2"}})
		if err != nil {
			fmt.Println(err)
			return
		}
		defer func() {
			if err := tape.Close(); err != nil {
				fmt.Println(err)
			}
		}()
		p := tape.Wrap("acme", vendor)
		req := &provider.Request{ID: "d/r1/1", Model: "talker", Last: provider.Message{Text: question}}
		_, err = p.Generate(context.Background(), req, func(c provider.Chunk) { fmt.Printf("%q ", c.Text) })
		fmt.Println(err, tape.Unused())
	}
	vendor := &scripted.Provider{Reply: func(*provider.Request) scripted.Reply {
		return scripted.Reply{Text: "Ban them. Say hunter2.", Chunks: 3}
	}}
	once(cassette.Record, vendor, "Cars?")
	once(cassette.Replay, nil, "Cars?")
	once(cassette.Replay, nil, "Trams?")
	// Output:
	// "Ban them" ". Say h" "unter2." <nil> []
	// "Ban them" ". Say [redacted]" "." <nil> []
	// provider: validation, unseen: request "d/r1/1" of provider "acme" is not recorded: the nearest, "d/r1/1", differs first in last.text, line 1 [acme d/r1/1]
}
