package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// OpenPostgres opens a PostgreSQL database with default options; see [Options.OpenPostgres].
func OpenPostgres(ctx context.Context, url string) (*Store, error) {
	return Options{}.OpenPostgres(ctx, url)
}

// OpenPostgres opens a database of PostgreSQL 12 or later. url is a URL,
// "postgres://user:password@host:port/database", or keywords and values, as for all of PostgreSQL's
// programs; what is missing comes from the PG* variables of the environment. OpenPostgres migrates the
// tables, whose names begin with "debate", to the present version. They are in the first schema of the
// search path, which the URL may set: "?search_path=debates".
func (o Options) OpenPostgres(ctx context.Context, url string) (*Store, error) {
	s, err := o.withDefaults().openPostgres(ctx, url)
	if err != nil {
		return nil, failed("open", err)
	}
	return s, nil
}

// postgresCommitters is the number of transactions that append at the same time. With more than one, the
// server has work while another transaction waits for its disk.
const postgresCommitters = 2

func (o Options) openPostgres(ctx context.Context, url string) (*Store, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, postgresBlind(err)
	}
	read := postgresPool(config, o.Connections, postgresSettings)
	// The statements that append are planned once, when tables may be small, and run when they are large.
	write := postgresPool(config, postgresCommitters+1, postgresSettings+`;
		SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off`)
	s := &Store{
		dialect: postgresDialect(), poll: o.Poll, timeout: o.Timeout, read: read, lend: read, write: write, wake: wake{call: o.OnWake},
	}
	if err = postgresEncoding(ctx, write); err == nil {
		err = s.migrate(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, read.Close(), write.Close())
	}
	s.work.Source, s.notices.publish = s.postgresListen(config), s.postgresPublish
	s.start(postgresCommitters)
	return s, nil
}

// postgresEncoding refuses a database that cannot store every text.
func postgresEncoding(ctx context.Context, db *stdsql.DB) error {
	var encoding string
	err := db.QueryRowContext(ctx, `SELECT current_setting('server_encoding')`).Scan(&encoding)
	if err == nil && encoding != "UTF8" {
		err = fmt.Errorf("the database's encoding is %s, and conversations need UTF8", encoding)
	}
	return err
}

// postgresBlind reports why a URL, or keywords and values, cannot be read, without showing any of them:
// if they are malformed, any part of them may belong to the password.
func postgresBlind(err error) error {
	unread, ok := errors.AsType[*pgconn.ParseConfigError](err)
	if !ok {
		return errors.New("the URL cannot be read")
	}
	reason := pgconn.NewParseConfigError("", "", nil).Error()
	blind := *unread
	blind.ConnString = ""
	reason = strings.TrimPrefix(blind.Error(), reason)
	if strings.HasPrefix(reason, "failed to parse as") {
		reason, _, _ = strings.Cut(reason, " (") // the rest may quote it
	}
	return fmt.Errorf("the URL cannot be read: %s", reason)
}

// postgresSettings are those of every connection, whatever the defaults of a database or a URL are. All statements are
// written for this isolation level: each sees what was committed before it began. A statement that meets a locked row
// releases its own locks and its connection. The server ends the transaction, and the locks, of a process that was
// stopped in its middle.
const postgresSettings = `
	SET default_transaction_isolation = 'read committed';
	SET lock_timeout = '200ms';
	SET idle_in_transaction_session_timeout = '5s'`

// postgresPool opens connections, each of which begins with the settings.
func postgresPool(config *pgx.ConnConfig, connections int, settings string) *stdsql.DB {
	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, settings)
		if err != nil {
			return errors.Join(err, conn.Close(ctx))
		}
		return nil
	}))
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	db.SetConnMaxIdleTime(5 * time.Minute)
	return db
}

func postgresDialect() *dialect {
	return &dialect{
		name: "postgres",
		now:  `CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)`,
		like: "ILIKE",
		json: func(column string, path ...string) string {
			return fmt.Sprintf("CAST(CAST(nullif(%s, '') AS jsonb) #>> '{%s}' AS numeric)", column, strings.Join(path, ","))
		},
		ends: `SELECT id, no, seq FROM debate WHERE id IN (SELECT json_array_elements_text(CAST($1 AS json)))`,
		// A release does not wait for the disk: if it is lost, the lease expires by itself.
		release:   `DELETE FROM debate_lease WHERE id = $1 AND owner = $2 AND set_config('synchronous_commit', 'off', true) = 'off'`,
		versioned: `SELECT count(*) > 0 FROM pg_tables WHERE tablename = 'debate_version' AND schemaname = ANY (current_schemas(false))`,
		lock:      `SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(7161113098253541985)`, // an arbitrary number
		write:     postgresWrite,
		add:       postgresAdd,
		rewrite:   `UPDATE debate_commit SET body = $2 WHERE key = $1`,
		purge:     func(context.Context, *stdsql.DB) error { return nil },
		vacuum: []string{
			"VACUUM FULL debate", "VACUUM FULL debate_commit", "VACUUM FULL debate_label", "VACUUM FULL debate_blob",
		},
		turn: func(context.Context) func() { return func() {} },
		lend: func(ctx context.Context, db *stdsql.DB, statement string, args ...any) (stdsql.Result, error) {
			return db.ExecContext(ctx, statement, args...)
		},
		again: func(err error, tried int) bool {
			switch postgresCode(err) {
			case postgresLocked:
				return true
			// A serialization failure, a deadlock, and a cancellation. If ctx has not ended, the server has canceled the statement by
			// itself: a wait for a lock was over at the very moment at which it was too long.
			case "40001", "40P01", "57014":
				return tried < postgresTries
			default:
				return false
			}
		},
		single: func(err error) bool {
			switch code := postgresCode(err); code {
			case "":
				return errors.Is(err, context.DeadlineExceeded)
			case postgresLocked, "57014": // canceled: it took too long
				return true
			default:
				// Data, constraints, limits, damage.
				return slices.Contains([]string{"22", "23", "54", "XX"}, code[:min(2, len(code))])
			}
		},
	}
}

const (
	// postgresTries is how often a transaction is tried that fails on account of concurrent transactions.
	postgresTries = 10
	// postgresLocked is the code of the error that another transaction holds a lock for longer than
	// lock_timeout.
	postgresLocked = "55P03"
)

// postgresCode returns the code of a server's error, "" for another error.
func postgresCode(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

const (
	// postgresExtend appends one step to a log. Other transactions wait for the row of the conversation.
	postgresExtend = `
		WITH open AS (
			UPDATE debate SET seq = $3, at = $4, state = coalesce($5, state), round = coalesce($6::bigint, round),
				result = coalesce($9::text, result)
			WHERE id = $1 AND seq = $2 RETURNING no
		)
		INSERT INTO debate_commit (key, last, writer, body)
		SELECT no * 4294967296 + $2, $3::bigint, $7::text, $8::text FROM open`

	// postgresExtendAll appends one step each to several logs.
	postgresExtendAll = `
		WITH open AS (
			UPDATE debate d SET seq = s.last, at = s.at, state = coalesce(s.state, d.state), round = coalesce(s.round, d.round),
				result = coalesce(s.result, d.result)
			FROM ` + postgresSteps + ` WHERE d.id = s.id AND d.seq = s.after
			RETURNING d.no, s.place, s.after, s.last, s.writer, s.body
		), kept AS (
			INSERT INTO debate_commit (key, last, writer, body)
			SELECT no * 4294967296 + after, last, writer, body FROM open
		)
		SELECT place FROM open`

	// postgresBegin begins logs.
	postgresBegin = `
		WITH step AS (
			SELECT s.place, s.id, s.last, s.at, s.state, s.round, s.writer, s.body, s.result, b.started, b.about, b.hard FROM ` + postgresSteps + `
			JOIN unnest($10::text[], $11::text[], $14::bigint[]) WITH ORDINALITY AS b (started, about, hard, place) ON b.place = s.place
		), born AS (
			INSERT INTO debate (id, seq, at, started, state, round, result, about, hard)
			SELECT id, last, at, started, coalesce(state, ''), coalesce(round, 0), coalesce(result, ''), about, hard FROM step ORDER BY place
			ON CONFLICT (id) DO NOTHING
			RETURNING no, id
		), kept AS (
			INSERT INTO debate_commit (key, last, writer, body)
			SELECT b.no * 4294967296, s.last, s.writer, s.body FROM born b JOIN step s ON s.id = b.id
		), labelled AS (
			INSERT INTO debate_label (pair, debate)
			SELECT l.pair, b.no FROM unnest($12::bigint[], $13::text[]) AS l (place, pair)
			JOIN step s ON s.place = l.place JOIN born b ON b.id = s.id
		)
		SELECT s.place FROM born b JOIN step s ON s.id = b.id`

	postgresSteps = `unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::text[],
		$9::text[]) WITH ORDINALITY AS s (id, after, last, at, state, round, writer, body, result, place)`
)

// postgresWrite writes steps: all that begin a log in one statement, and all that extend one in another.
// Each statement is a transaction of its own, and takes one round trip.
func postgresWrite(ctx context.Context, db *stdsql.DB, steps []*step) error {
	var begin, extend []*step
	for _, s := range steps {
		switch {
		case s.after == 0:
			begin = append(begin, s)
		case s.begun == nil && s.limit == nil:
			extend = append(extend, s)
		default:
			if err := postgresTell(ctx, db, s); err != nil {
				return err
			}
		}
	}
	if err := postgresKeep(begin, func() ([]int, error) { return postgresBeginAll(ctx, db, begin) }); err != nil {
		return err
	}
	if len(extend) == 1 {
		kept, err := postgresAppend(ctx, db, extend[0])
		extend[0].kept = kept && err == nil
		return err
	}
	return postgresKeep(extend, func() ([]int, error) {
		return postgresPlaces(ctx, db, postgresExtendAll, postgresRows(extend)...)
	})
}

// postgresKeep sets kept of the steps, if there are any, at the places that a statement has committed.
func postgresKeep(steps []*step, write func() ([]int, error)) error {
	if len(steps) == 0 {
		return nil
	}
	places, err := write()
	if err != nil {
		return err // nothing is committed, or it is unknown
	}
	for _, place := range places {
		steps[place-1].kept = true
	}
	return nil
}

// executor is a database or a transaction.
type executor interface {
	reader
	ExecContext(ctx context.Context, query string, args ...any) (stdsql.Result, error)
}

func postgresAppend(ctx context.Context, db executor, s *step) (kept bool, err error) {
	result, err := db.ExecContext(ctx, postgresExtend, s.id, s.after, s.last, s.at, s.state, s.round, s.writer, s.body, s.result)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// postgresAdd writes a step in a transaction.
func postgresAdd(ctx context.Context, tx *stdsql.Tx, s *step) (kept bool, err error) {
	if s.after == 0 {
		places, err := postgresBeginAll(ctx, tx, []*step{s})
		return len(places) > 0, err
	}
	kept, err = postgresAppend(ctx, tx, s)
	if err == nil && kept && s.limit != nil {
		_, err = tx.ExecContext(ctx, limit, s.id, *s.limit)
	}
	if err != nil || !kept || s.begun == nil {
		return kept, err
	}
	if _, err := tx.ExecContext(ctx, tell, s.id, s.begun.started, s.begun.about); err != nil {
		return false, err
	}
	for _, pair := range s.begun.pairs {
		if _, err := tx.ExecContext(ctx, label, s.id, pair); err != nil {
			return false, err
		}
	}
	return true, nil
}

// postgresTell appends a step that changes what its conversation is about, or its limit.
func postgresTell(ctx context.Context, db *stdsql.DB, s *step) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	kept, err := postgresAdd(ctx, tx, s)
	if err != nil || !kept {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	s.kept = true
	return nil
}

// postgresBeginAll writes steps that begin logs, and returns the places of those that have.
func postgresBeginAll(ctx context.Context, db reader, steps []*step) ([]int, error) {
	starteds, abouts := make([]string, len(steps)), make([]string, len(steps))
	places, pairs, limits := []int64{}, []string{}, make([]int64, len(steps))
	for i, s := range steps {
		starteds[i], abouts[i] = s.columns()
		if s.limit != nil {
			limits[i] = *s.limit
		}
		if s.begun == nil {
			continue
		}
		for _, pair := range s.begun.pairs {
			places, pairs = append(places, int64(i+1)), append(pairs, pair)
		}
	}
	return postgresPlaces(ctx, db, postgresBegin, append(postgresRows(steps), starteds, abouts, places, pairs, limits)...)
}

// postgresRows returns the columns of steps.
func postgresRows(steps []*step) []any {
	n := len(steps)
	ids, ats, writers, bodies := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	afters, lasts := make([]int64, n), make([]int64, n)
	states, rounds, results := make([]*string, n), make([]*int64, n), make([]*string, n)
	for i, s := range steps {
		ids[i], afters[i], lasts[i], ats[i] = s.id, s.after, s.last, s.at
		states[i], rounds[i], writers[i], bodies[i], results[i] = s.state, s.round, s.writer, s.body, s.result
	}
	return []any{ids, afters, lasts, ats, states, rounds, writers, bodies, results}
}

// postgresPlaces runs a statement that returns the places, from 1, of the steps that it has written.
func postgresPlaces(ctx context.Context, db reader, statement string, args ...any) (places []int, err error) {
	rows, err := db.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var place int
		if err := rows.Scan(&place); err != nil {
			return nil, err
		}
		places = append(places, place)
	}
	return places, rows.Err()
}
