package sql_test

import (
	"context"
	stdsql "database/sql"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/limit"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/sql"
)

// A debate is in the file when it is over, and any process can read it there.
func ExampleOpenSQLite() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()

	s, err := sql.OpenSQLite(ctx, filepath.Join(dir, "debates.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = s.Close() }()

	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}, Store: s}
	config := debate.Config{
		ID:     "cars-1",
		Topic:  "Should cities ban private cars from their centres?",
		Format: format.StructuredRounds,
		Rounds: 2,
		Labels: map[string]string{"tenant": "blue"},
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"},
			{Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
	}
	for _, err := range engine.Run(ctx, config) {
		if err != nil {
			fmt.Println(err)
		}
	}

	for info, err := range s.List(ctx, store.Filter{Labels: map[string]string{"tenant": "blue"}, Text: "private CARS"}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(info.ID, info.State, "after round", info.Round)
	}
	// Output: cars-1 completed after round 2
}

// A worker looks for debates with which nobody goes on. PostgreSQL lets workers be on many machines.
//
//nolint:testableexamples // it takes a server
func ExampleOpenPostgres() {
	ctx := context.Background()
	s, err := sql.OpenPostgres(ctx, "postgres://debates:password@db.example.org/debates?sslmode=verify-full")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = s.Close() }()

	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}, Store: s}
	for info, err := range s.List(ctx, store.Filter{Working: true, Idle: true, Limit: 10}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		session, err := engine.Open(ctx, info.ID)
		if err != nil {
			continue // another worker was faster
		}
		_, _ = session.Wait(ctx)
	}
}

// Two machines share the limit of an account: one call a minute. What the first has used, the second does not get.
func ExampleStore_UpdateLimit() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()

	for _, patience := range []time.Duration{time.Minute, 200 * time.Millisecond} { // each machine opens the database
		s, err := sql.OpenSQLite(ctx, filepath.Join(dir, "debates.db"))
		if err != nil {
			fmt.Println(err)
			return
		}
		defer func() { _ = s.Close() }()
		limits := &limit.Rate{Requests: 1, Ledger: s}
		defer limits.Close()
		p := limits.Wrap("acme", &scripted.Provider{})
		patient, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		_, err = p.Generate(patient, &provider.Request{Model: "m1"}, func(provider.Chunk) {})
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// provider: timeout: context deadline exceeded
}

// Many readers, and little patience with a file that another process holds locked.
func ExampleOptions() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()

	options := sql.Options{Connections: 32, Timeout: 5 * time.Second, Poll: 100 * time.Millisecond}
	s, err := options.OpenSQLite(ctx, filepath.Join(dir, "debates.db"))
	fmt.Println(err)
	fmt.Println(s.Close())
	// Output:
	// <nil>
	// <nil>
}

// A host program stores an order and its debate together: both exist once the transaction is committed, or neither does.
func ExampleSubmitTx() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "debates.db")
	s, err := sql.OpenSQLite(ctx, path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = s.Close() }()
	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}, Store: s}

	db, err := stdsql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=busy_timeout(5000)")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = db.Close() }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = tx.Rollback() }()
	// … the host program's own rows
	id, err := sql.SubmitTx(ctx, sql.Tx{SQL: tx}, engine, debate.Config{
		ID:     "cars-1",
		Topic:  "Should cities ban private cars from their centres?",
		Format: format.StructuredRounds,
		Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"},
			{Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
	})
	if err == nil {
		err = tx.Commit()
	}
	fmt.Println(id, err)

	for info, err := range s.List(ctx, store.Filter{Due: true}) { // a worker finds it
		fmt.Println(info.ID, info.State, err)
	}
	// Output:
	// cars-1 <nil>
	// cars-1 initializing <nil>
}
