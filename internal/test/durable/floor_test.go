package durable_test

import (
	"bytes"
	"context"
	stdsql "database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/schema"
	"github.com/agonist-dev/debate/internal/strictjson"
	"github.com/agonist-dev/debate/provider"
)

// floor is workload W1 as a bare loop, with one synced row for each step: what a program would write that
// needs one debate which can be continued, and nothing else. It asks the same provider with the same
// transcript, and decodes and validates what the judge says with the same code. There are no events, no
// budget, no retries, no leases and no controls.
type floor struct {
	provider  provider.Provider
	judgement *schema.Schema
	verdict   *schema.Schema
}

func newFloor(t testing.TB, p provider.Provider) *floor {
	t.Helper()
	return &floor{p, compiled[debate.Judgement](t, "assessment"), compiled[debate.FinalVerdict](t, "verdict")}
}

func compiled[T any](t testing.TB, name string) *schema.Schema {
	t.Helper()
	text, err := schema.For[T]()
	require.NoError(t, err)
	text = bytes.ReplaceAll(text, []byte(`,"enum":["participant's name"]`), nil)
	compiled, err := schema.Compile(name, text)
	require.NoError(t, err)
	return compiled
}

// row is what the floor keeps of a step.
type row struct {
	Step int    `json:"step"`
	Who  string `json:"who"`
	Text string `json:"text"`
}

// play is the loop. keep has a row on the disk when it returns.
func (f *floor) play(ctx context.Context, rounds int, keep func(step int, row string) error) error {
	var transcript []provider.Message
	step := 0
	ask := func(who, last string, s *schema.Schema) (string, error) {
		req := &provider.Request{Model: "debater", System: "You debate.", Self: who, Messages: transcript, Last: provider.Message{Text: last}}
		if s != nil {
			req.Schema = &provider.Schema{Name: s.Name()}
		}
		response, err := f.provider.Generate(ctx, req, func(provider.Chunk) {})
		if err != nil {
			return "", err
		}
		if s != nil {
			tree, err := strictjson.Decode(response.Text, strictjson.Limits{})
			if err != nil {
				return "", err
			}
			if problems := s.Validate(tree); len(problems) > 0 {
				return "", errors.New(problems[0])
			}
		}
		step++
		data, err := json.Marshal(row{step, who, response.Text})
		if err != nil {
			return "", err
		}
		return response.Text, keep(step, string(data))
	}
	for round := 1; round <= rounds; round++ {
		for _, name := range debaters() {
			text, err := ask(name, fmt.Sprintf("Speak in round %d.", round), nil)
			if err != nil {
				return err
			}
			transcript = append(transcript, provider.Message{Speaker: name, Text: text})
		}
		if _, err := ask("judge", fmt.Sprintf("Assess round %d.", round), f.judgement); err != nil {
			return err
		}
	}
	_, err := ask("judge", "Give the verdict.", f.verdict)
	return err
}

// keeper keeps the rows of the floor.
type keeper interface {
	// keep returns what keeps the rows of one debate, and ends doing so.
	keep(id string) (keep func(step int, row string) error, end func() error, err error)
}

// lines is a keeper with a file for each debate, which gets a line for each step and is synced.
type lines struct{ dir string }

func (l lines) keep(id string) (keep func(int, string) error, end func() error, err error) {
	file, err := os.Create(filepath.Join(l.dir, id))
	if err != nil {
		return nil, nil, err
	}
	return func(_ int, row string) error {
		if _, err := file.WriteString(row + "\n"); err != nil {
			return err
		}
		return file.Sync()
	}, file.Close, nil
}

// rows is a keeper with a database that is set up as the store's: each step is a transaction of one row.
type rows struct{ insert *stdsql.Stmt }

func (r rows) keep(id string) (keep func(int, string) error, end func() error, err error) {
	return func(step int, row string) error {
		_, err := r.insert.Exec(id, step, row)
		return err
	}, func() error { return nil }, nil
}

// newKeeper makes a keeper that stores what a store of that kind does.
func newKeeper(b *testing.B, kind string, batched bool) keeper {
	b.Helper()
	at := newPlace(b, kind).At
	if kind == inFile {
		return lines{at}
	}
	driver, insert := "pgx", `INSERT INTO step VALUES ($1, $2, $3)`
	if kind == inSQLite {
		driver = "sqlite"
		at = "file:" + at + "?_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=busy_timeout(10000)&_txlock=immediate"
	}
	db, err := stdsql.Open(driver, at)
	require.NoError(b, err)
	db.SetMaxOpenConns(1)
	_, err = db.ExecContext(b.Context(), `CREATE TABLE step (debate text, step integer, row text, PRIMARY KEY (debate, step))`)
	require.NoError(b, err)
	statement, err := db.PrepareContext(b.Context(), insert)
	require.NoError(b, err)
	if !batched {
		b.Cleanup(func() { assert.NoError(b, db.Close()) })
		return rows{statement}
	}
	q := &queue{db: db, insert: statement, many: kind == inPostgres}
	q.filled.L = &q.mu
	var writing sync.WaitGroup
	writing.Go(q.write)
	b.Cleanup(func() {
		q.close()
		writing.Wait()
		assert.NoError(b, db.Close())
	})
	return q
}

// queue is a keeper whose one writer puts all rows that wait into one transaction.
type queue struct {
	db     *stdsql.DB
	insert *stdsql.Stmt
	many   bool // one statement takes many rows: each journey to the server takes its time

	mu      sync.Mutex
	filled  sync.Cond
	waiting []waiting
	closed  bool
}

type waiting struct {
	id   string
	step int
	row  string
	done chan error
}

func (q *queue) keep(id string) (keep func(int, string) error, end func() error, err error) {
	done := make(chan error, 1)
	return func(step int, row string) error {
		q.mu.Lock()
		q.waiting = append(q.waiting, waiting{id, step, row, done})
		q.mu.Unlock()
		q.filled.Signal()
		return <-done
	}, func() error { return nil }, nil
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.filled.Signal()
}

// write writes until the queue is closed.
func (q *queue) write() {
	for {
		q.mu.Lock()
		for len(q.waiting) == 0 && !q.closed {
			q.filled.Wait()
		}
		batch := q.waiting
		q.waiting = nil
		q.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		err := q.commit(batch)
		for _, w := range batch {
			w.done <- err
		}
	}
}

func (q *queue) commit(batch []waiting) error {
	if q.many {
		return q.commitMany(batch)
	}
	tx, err := q.db.Begin()
	if err != nil {
		return err
	}
	insert := tx.Stmt(q.insert) //nolint:sqlclosecheck // it ends with its transaction
	for _, w := range batch {
		if _, err := insert.Exec(w.id, w.step, w.row); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

func (q *queue) commitMany(batch []waiting) error {
	ids, steps, rows := make([]string, len(batch)), make([]int, len(batch)), make([]string, len(batch))
	for i, w := range batch {
		ids[i], steps[i], rows[i] = w.id, w.step, w.row
	}
	_, err := q.db.Exec(`INSERT INTO step SELECT unnest($1::text[]), unnest($2::integer[]), unnest($3::text[])`, ids, steps, rows)
	return err
}
