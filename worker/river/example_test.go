package river_test //nolint:testableexamples // it needs a server

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/store/sql"
	"github.com/agonist-dev/debate/worker/river"
)

// A worker takes jobs until it is told to end. A program that only submits opens the store in the same way, and has no worker.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := work(ctx, os.Getenv("DATABASE_URL"), os.Getenv("OPENAI_API_KEY")); err != nil {
		log.Print(err)
	}
}

func work(ctx context.Context, url, key string) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	jobs, err := river.New(riverpgxv5.New(pool), river.Options{})
	if err != nil {
		return err
	}
	store, err := sql.Options{OnWake: jobs.OnWake}.OpenPostgres(ctx, url) // a program that submits opens it so too
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	if err := jobs.Migrate(ctx); err != nil { // one process does that
		return err
	}
	engine := &debate.Engine{Store: store, Providers: map[string]debate.Provider{"openai": openaicompat.OpenAI(key)}}
	worker, err := jobs.Worker(engine, river.Config{})
	if err != nil {
		return err
	}
	if err := worker.Start(ctx); err != nil {
		return err
	}
	<-ctx.Done()
	return worker.Stop(context.WithoutCancel(ctx)) // the calls in flight finish
}
