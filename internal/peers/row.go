package main

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver of the floor's table
)

// rows is the durable floor: a table of SQLite in which each step is one row, committed and synced before
// the next step begins.
type rows struct {
	db      *sql.DB
	insert  *sql.Stmt
	debates int
}

func openRows(ctx context.Context, dir string) (*rows, error) {
	settings := url.Values{"_pragma": {"journal_mode(wal)", "synchronous(full)"}}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "floor.db")+"?"+settings.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	_, err = db.ExecContext(ctx, `CREATE TABLE step (debate INTEGER, step INTEGER, speaker TEXT, text TEXT,
		PRIMARY KEY (debate, step)) WITHOUT ROWID`)
	if err != nil {
		return nil, err
	}
	insert, err := db.PrepareContext(ctx, `INSERT INTO step VALUES (?, ?, ?, ?)`)
	if err != nil {
		return nil, err
	}
	return &rows{db: db, insert: insert}, nil
}

// play plays one debate on the floor and stores its steps.
func (r *rows) play(ctx context.Context, f *floor) (*played, error) {
	r.debates++
	f.keep = func(step int, speaker, text string) error {
		_, err := r.insert.ExecContext(ctx, r.debates, step, speaker, text)
		return err
	}
	return f.play(ctx)
}

func (r *rows) close() error { return r.db.Close() }
