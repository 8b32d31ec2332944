// Command server serves debates as a page: to start them, to watch and steer them, and to judge them. A script speaks in place of models.
// The debates are kept in the file debates.db, or in the PostgreSQL database of DATABASE_URL. What a crash has cut off goes on at the next
// start; Ctrl-C and SIGTERM let calls in flight finish. Only this machine is served: web.Options.Authorize lets others in.
//
//	go run ./examples/server
//
// It prints:
//
//	http://127.0.0.1:8080/ shows the debates
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store/sql"
	"github.com/agonist-dev/debate/web"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	open, place := sql.OpenSQLite, "debates.db"
	if url := os.Getenv("DATABASE_URL"); url != "" {
		open, place = sql.OpenPostgres, url
	}
	kept := must(open(ctx, place))
	engine := &debate.Engine{Store: kept, Providers: map[string]debate.Provider{"script": &scripted.Provider{Reply: speak}}}
	config := debate.Config{Topic: "Should cities ban private cars from their centres?", Rounds: 2, Participants: []debate.Participant{
		{Name: "Ada", Side: debate.For, Model: "script/slow"}, {Name: "Ben", Side: debate.Against, Model: "script/slow"},
	}, Judging: &debate.Judging{When: debate.AtEnd, Judges: []debate.JudgeConfig{{Name: "You", Person: true}}}}
	preset := web.Preset{Name: "Two sides", About: "Two argue, and you judge.", Config: must(flow.EncodeConfig(config))}
	config.ID = "first" // so that this debate begins once
	must(engine.Submit(ctx, config))
	handler := must(web.New(engine, web.Options{Start: engine.Submit, Presets: []web.Preset{preset}}))
	listener := must(net.Listen("tcp", append(os.Args[1:], "127.0.0.1:8080")[0]))
	fmt.Printf("http://%s/ shows the debates\n", listener.Addr())
	worked := make(chan error, 1)
	go func() { worked <- engine.Work(ctx, debate.Work{}) }() // what was submitted, and what a crash has left
	failed := web.Serve(ctx, listener, handler, time.Minute)
	stop()
	must(0, errors.Join(failed, <-worked, engine.Shutdown(context.Background()), kept.Close()))
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func speak(req *provider.Request) scripted.Reply {
	return scripted.Reply{Delay: time.Second / 4, ChunkSize: 3, Interval: time.Second / 20, Text: []string{
		"A street is a room, and we gave it to machines that stand still.", "The night nurse drives. Ask her before you ban.",
		"Then let her in, and let the four thousand others walk.", "A price does that already, and asks nobody.",
	}[min(len(req.Messages), 3)]}
}
