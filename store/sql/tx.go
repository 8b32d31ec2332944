package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Tx is a transaction of the host program, or one in which the store calls it. Exactly one field is set.
type Tx struct {
	SQL *stdsql.Tx // of SQLite, or of PostgreSQL by pgx's driver
	Pgx pgx.Tx     // of the host program alone: the store's own transactions are of database/sql
}

func (t Tx) statements() statements {
	if t.Pgx != nil {
		return native{t.Pgx}
	}
	return standard{t.SQL}
}

// SubmitTx submits a conversation within tx, a transaction of the host program on the database of the engine's store: the conversation
// exists if and only if tx is committed. It returns what engine.Submit returns. [Options].OnWake is called with tx, so that a job is in it
// too. Workers and watchers learn of the conversation after the commit.
//
// If SubmitTx fails, it leaves nothing in tx, which can go on: it uses a savepoint. While it runs, nothing else may use tx.
//
// Submit asks the providers about the models, for up to 10 s. Call engine.Validate before the transaction begins: their answers are
// cached. PostgreSQL ends a transaction that is idle for longer than the host program allows, and in SQLite nobody else can write
// meanwhile.
//
// If the engine's store is not a [Store] of this package, or is in SQLite while tx is of pgx, the error is of kind validation. In the
// first case the conversation may have been stored there, outside of tx. Whether a [*database/sql.Tx] is on the store's database, only its
// statements find out.
func SubmitTx(
	ctx context.Context, tx Tx, engine interface {
		Submit(ctx context.Context, config flow.Config) (string, error)
	}, config flow.Config,
) (string, error) {
	if (tx.SQL == nil) == (tx.Pgx == nil) {
		return "", invalidTx("needs exactly one field that is set")
	}
	submitting, abort := context.WithCancel(ctx)
	defer abort()
	h := &hosted{tx: tx, abort: abort}
	id, err := engine.Submit(context.WithValue(submitting, hostedKey{}, h), config)
	return id, h.end(ctx, err)
}

func invalidTx(why string) error {
	return &flow.Error{Kind: provider.KindValidation, Op: "submit", Field: "tx", Err: errors.New(why)}
}

// hosted is a transaction of the host program in which a conversation is submitted. The store finds it in its context.
type hosted struct {
	tx    Tx
	abort context.CancelFunc // ends the submit: what has failed in a transaction does not pass

	mu    sync.Mutex
	store *Store // that takes part; nil: none does yet
	path  string // PostgreSQL: the host program's search path
}

type hostedKey struct{}

// hostedBy returns the host program's transaction; nil: there is none.
func hostedBy(ctx context.Context) *hosted {
	h, _ := ctx.Value(hostedKey{}).(*hosted)
	return h
}

// join makes a store take part. Its statements name their tables without a schema, so it has its own search path until the end.
func (h *hosted) join(ctx context.Context, s *Store) error {
	switch {
	case h.store == s:
		return nil
	case h.store != nil:
		return invalidTx("has one store already")
	case h.tx.Pgx != nil && s.dialect.name != "postgres":
		return invalidTx("is of PostgreSQL, and the engine's store is in SQLite")
	}
	on := h.tx.statements()
	if _, err := on.exec(ctx, `SAVEPOINT debate_submit`); err != nil {
		return err
	}
	h.store = s
	if s.dialect.name != "postgres" {
		return nil
	}
	_, err := first(ctx, on, []any{&h.path}, `
		WITH before AS MATERIALIZED (SELECT current_setting('search_path') AS path)
		SELECT path FROM before WHERE set_config('search_path', $1, true) IS NOT NULL`, s.path)
	return err
}

// end ends the savepoint. What was done since stays in the transaction if the conversation was submitted.
func (h *hosted) end(ctx context.Context, submitted error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.store == nil {
		if submitted == nil {
			submitted = invalidTx("was not used: the engine's store is not of package store/sql, and has the conversation by itself")
		}
		return submitted
	}
	ctx = context.WithoutCancel(ctx)
	on := h.tx.statements()
	var err error
	switch {
	case submitted != nil:
		_, err = on.exec(ctx, `ROLLBACK TO SAVEPOINT debate_submit`)
	case h.store.dialect.name == "postgres":
		var path string
		_, err = first(ctx, on, []any{&path}, `SELECT set_config('search_path', $1, true)`, h.path)
	}
	if err == nil {
		_, err = on.exec(ctx, `RELEASE SAVEPOINT debate_submit`)
	}
	return errors.Join(submitted, failed("submit", err))
}

// guest runs the statements of a store in the host program's transaction.
type guest struct {
	host  *hosted
	store *Store
}

func (g guest) exec(ctx context.Context, statement string, args ...any) (changed int64, err error) {
	err = g.run(ctx, func(on statements) (err error) {
		changed, err = on.exec(ctx, statement, args...)
		return err
	})
	return changed, err
}

func (g guest) each(ctx context.Context, row func(scan scanner) error, query string, args ...any) error {
	return g.run(ctx, func(on statements) error { return on.each(ctx, row, query, args...) })
}

func (g guest) run(ctx context.Context, statement func(on statements) error) error {
	g.host.mu.Lock()
	defer g.host.mu.Unlock()
	err := g.host.join(ctx, g.store)
	if err == nil {
		err = statement(g.host.tx.statements())
	}
	if err != nil && !errors.Is(err, errLeft) {
		g.host.abort()
	}
	return err
}

// appendHosted appends a step in the host program's transaction.
func (s *Store) appendHosted(ctx context.Context, host *hosted, one *step) error {
	kept, err := s.addAndCall(ctx, guest{host, s}, host.tx, one)
	switch {
	case err != nil:
		host.abort() // else it would be tried again, and recognised
		return failed("append", err)
	case !kept:
		return s.recall(ctx, one)
	default:
		return nil
	}
}
