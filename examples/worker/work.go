package main

import (
	"context"
	stdsql "database/sql"
	"errors"
	"io"
	"log/slog"
	"net/url"
	"os"
	"time"

	queue "github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	_ "modernc.org/sqlite" // database/sql's driver

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store/sql"
	"github.com/agonist-dev/debate/worker/river"
)

// base is the database: the debates, and their jobs.
type base struct {
	store *sql.Store
	jobs  *river.Jobs
	close func()
}

// open opens the database. Whatever gives a debate work gives it its job in the same transaction.
func open(ctx context.Context, file string) (*base, error) {
	name := url.URL{Scheme: "file", Path: file, RawQuery: "_pragma=busy_timeout(10000)&_txlock=immediate"}
	db, err := stdsql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // SQLite has one writer
	quiet := slog.New(slog.DiscardHandler)
	jobs, err := river.New(db, riversqlite.New(db), river.Options{Logger: quiet})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	store, err := sql.Options{OnWake: jobs.OnWake}.OpenSQLite(ctx, file)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	b := &base{store: store, jobs: jobs, close: func() { _ = errors.Join(store.Close(), db.Close()) }}
	if err := jobs.Migrate(ctx); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

// work works on debates until ctx ends, or the process that has started this one has.
func work(ctx context.Context, file string, silent bool) error {
	b, err := open(ctx, file)
	if err != nil {
		return err
	}
	defer b.close()
	engine := engineOn(b.store, silent)
	engine.Lease = time.Second // a debate of a worker that has disappeared is free after that time
	worker, err := b.jobs.Worker(engine, river.Config{
		Queues: map[string]int{river.DefaultQueue: 10}, Sweep: time.Second, River: &queue.Config{FetchPollInterval: 200 * time.Millisecond},
	})
	if err != nil {
		return err
	}
	if err := worker.Start(ctx); err != nil {
		return err
	}
	ctx, alone := context.WithCancel(ctx)
	go func() {
		defer alone()
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	<-ctx.Done()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return worker.Stop(drain)
}

// engineOn returns an engine of a script that speaks slowly. If it is silent, Ada never ends her second turn.
func engineOn(store debate.Store, silent bool) *debate.Engine {
	lines := map[string][2]string{
		"Ada": {
			"It belongs to its log. Whoever holds the lease may speak for it, and nobody else.",
			"My sentence was cut off with the process, and another process has asked me for it again.",
		},
		"Ben": {
			"A log does nothing by itself. It is the process that asks us, and pays us.",
			"Then it is the job that belongs to nobody, and finds somebody each time.",
		},
	}
	script := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		round := 0
		if len(req.Messages) >= 2 {
			round = 1
		}
		delay := 500 * time.Millisecond
		if silent && req.Self == "Ada" && round == 1 {
			delay = time.Hour
		}
		return scripted.Reply{Text: lines[req.Self][round], Delay: delay}
	}}
	return &debate.Engine{Store: store, Providers: map[string]debate.Provider{"script": script}}
}
