package sql

import (
	"context"
	stdsql "database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
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
// tables, whose names begin with "debate", to the present version, unless [Options].Migrate says otherwise. They are in the first schema
// of the search path, which the URL may set: "?search_path=debates".
//
// If several hosts are named, "?target_session_attrs=read-write" finds the one that accepts changes, after a failover too. If the server
// accepts none, the error is [ErrReadOnly].
func (o Options) OpenPostgres(ctx context.Context, url string) (*Store, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, failed("open", err)
	}
	s, err := o.openPostgres(ctx, url)
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
	listening := config
	pools, err := o.postgresConnect(ctx, config, false)
	if errors.Is(err, errPooler) {
		if pools, err = o.postgresConnect(ctx, config, true); err == nil {
			o.Logger.InfoContext(ctx, "the URL goes to a pooler: transactions are short, and nothing listens for notifications")
		}
		listening = nil
	}
	if err != nil {
		return nil, err
	}
	s := &Store{
		dialect: postgresDialect(pools.pooled), poll: o.Poll, timeout: o.Timeout, read: pools.read, lend: pools.read, write: pools.write,
		path: pools.path, wake: wake{call: o.OnWake},
	}
	if err := s.ready(ctx, o.Migrate); err != nil {
		return nil, errors.Join(err, pools.close())
	}
	s.work.Source, s.notices.publish = s.postgresListen(listening), s.postgresPublish
	s.start(postgresCommitters)
	return s, nil
}

// postgresPools are the connections of a store.
type postgresPools struct {
	read, write *stdsql.DB
	pooled      bool   // they go to a pooler
	path        string // the schemas that they find tables in
}

func (p *postgresPools) close() error { return errors.Join(p.read.Close(), p.write.Close()) }

// postgresConnect opens the connections, and tries one of each kind. The error is errPooler if they go to a pooler, and pooled is not set.
func (o Options) postgresConnect(ctx context.Context, config *pgx.ConnConfig, pooled bool) (*postgresPools, error) {
	reading, writing := map[string]string{}, map[string]string{}
	if !pooled {
		maps.Copy(reading, postgresSettings)
		maps.Copy(writing, postgresSettings)
		// The statements that append are planned once, when tables may be small, and run when they are large.
		writing["plan_cache_mode"], writing["enable_seqscan"] = "force_generic_plan", "off"
	}
	age := &era{}
	p := &postgresPools{
		pooled: pooled,
		read:   postgresPool(config, o.Connections, reading, pooled, age),
		write:  postgresPool(config, postgresCommitters+1, writing, pooled, age),
	}
	for _, db := range []*stdsql.DB{p.write, p.read} {
		if err := p.try(ctx, db); err != nil {
			return nil, errors.Join(err, p.close())
		}
	}
	return p, nil
}

// try refuses a database that cannot store every text, and a server that accepts no changes. It finds out whether there is a pooler, by a
// statement without a name.
func (p *postgresPools) try(ctx context.Context, db *stdsql.DB) error {
	var encoding, wait, readOnly string
	err := db.QueryRowContext(ctx, `
		SELECT current_setting('server_encoding'), current_setting('lock_timeout'), current_setting('transaction_read_only'),
			coalesce(string_agg(quote_ident(s.name), ', ' ORDER BY s.place), '')
		FROM unnest(current_schemas(false)) WITH ORDINALITY AS s (name, place)`, pgx.QueryExecModeExec).Scan(&encoding, &wait, &readOnly, &p.path)
	switch {
	case err != nil:
		if !p.pooled && refusesSettings(err) {
			return errPooler
		}
		return err
	case !p.pooled && wait != postgresSettings["lock_timeout"]: // it was swallowed, or another client has set it
		return errPooler
	case encoding != "UTF8":
		return fmt.Errorf("the database's encoding is %s, and conversations need UTF8", encoding)
	case readOnly == "on":
		return ErrReadOnly
	default:
		return nil
	}
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
// stopped in its middle. Behind a pooler, each transaction sets them for itself: [postgresBeginShortly].
//
//nolint:gochecknoglobals // a constant in all but syntax: nothing assigns to it
var postgresSettings = map[string]string{
	"default_transaction_isolation":       "read committed",
	"lock_timeout":                        "200ms",
	"idle_in_transaction_session_timeout": "5s",
}

// postgresPool opens connections, each of which begins with the settings.
func postgresPool(config *pgx.ConnConfig, connections int, settings map[string]string, pooled bool, age *era) *stdsql.DB {
	config = config.Copy()
	maps.Copy(config.RuntimeParams, settings)
	options := age.watch(config)
	var connector driver.Connector
	if pooled {
		connector = postgresPooled(config, options)
	} else {
		connector = stdlib.GetConnector(*config, options...)
	}
	db := stdsql.OpenDB(connector)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	db.SetConnMaxIdleTime(5 * time.Minute)
	return db
}

func postgresDialect(pooled bool) *dialect {
	alone := func(ctx context.Context, db *stdsql.DB, statement string, args ...any) (int64, error) {
		return standard{db}.exec(ctx, statement, args...)
	}
	d := &dialect{
		name:  "postgres",
		now:   `CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)`,
		began: postgresBegan,
		due: "d.state NOT IN ('completed', 'canceled') AND CASE WHEN d.due > 0 THEN d.due WHEN " + working + " THEN 0 END <= " +
			postgresBegan,
		like: "ILIKE",
		json: func(column string, path ...string) string {
			return fmt.Sprintf("CAST(CAST(nullif(%s, '') AS jsonb) #>> '{%s}' AS numeric)", column, strings.Join(path, ","))
		},
		ends: `SELECT id, no, seq FROM debate WHERE id IN (SELECT json_array_elements_text(CAST($1 AS json)))`,
		// A release does not wait for the disk: if it is lost, the lease expires by itself.
		release:   `DELETE FROM debate_lease WHERE id = $1 AND owner = $2 AND set_config('synchronous_commit', 'off', true) = 'off'`,
		versioned: `SELECT count(*) > 0 FROM pg_tables WHERE tablename = 'debate_version' AND schemaname = ANY (current_schemas(false))`,
		lock:      postgresLock,
		write:     postgresWrite,
		add:       postgresAdd,
		begin:     func(ctx context.Context, db *stdsql.DB) (*stdsql.Tx, error) { return db.BeginTx(ctx, nil) },
		alone:     alone,
		lend:      alone,
		rewrite:   `UPDATE debate_commit SET body = $2 WHERE key = $1`,
		purge:     func(context.Context, *stdsql.DB) error { return nil },
		vacuum: []string{
			"VACUUM FULL debate", "VACUUM FULL debate_commit", "VACUUM FULL debate_label", "VACUUM FULL debate_blob",
		},
		turn:   func(context.Context) func() { return func() {} },
		again:  postgresAgain,
		single: postgresSingle,
	}
	if pooled {
		d.write, d.begin, d.alone, d.lend = postgresWriteShortly, postgresBeginShortly, postgresAloneShortly, postgresAloneShortly
	}
	return d
}

func postgresAgain(err error, tried int) bool {
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
}

func postgresSingle(err error) bool {
	switch code := postgresCode(err); code {
	case "":
		return errors.Is(err, context.DeadlineExceeded)
	case postgresLocked, "57014": // canceled: it took too long
		return true
	default:
		// Data, constraints, limits, damage.
		return slices.Contains([]string{"22", "23", "54", "XX"}, code[:min(2, len(code))])
	}
}

const (
	// postgresLock lets one process at a time migrate; its number is arbitrary. A script that then waits for a table, which somebody's long
	// transaction has, is given up before others who wait behind it have waited for too long, and is tried again.
	postgresLock = `
		SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(7161113098253541985); SET LOCAL lock_timeout = '100ms'`

	// postgresBegan is the clock of the server when it has received a statement. It is the same throughout the statement.
	postgresBegan = `CAST(extract(epoch FROM statement_timestamp()) * 1000000 AS bigint)`
	// postgresTries is how often a transaction is tried that fails on account of concurrent transactions.
	postgresTries = 10
	// postgresLocked is the code of the error that another transaction holds a lock for longer than
	// lock_timeout.
	postgresLocked = "55P03"
	// postgresDenied is that of a role that lacks a right.
	postgresDenied = "42501"
	// postgresReadOnly is that of a server that accepts no changes.
	postgresReadOnly = "25006"
	// postgresEnds is that of a server, or a connection, that an administrator ends.
	postgresEnds = "57P01"
)

// postgresCode returns the code of a server's error, "" for another error.
func postgresCode(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// postgresMeaning returns what an error of a server means to those who run it; nil: no more than it says.
func postgresMeaning(err error) error {
	e, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok:
		return nil
	case e.Code == postgresReadOnly:
		return ErrReadOnly
	case e.Code == "53300":
		return errors.New("no connection is left: a store takes up to Options.Connections + 4 (12 by default), a bus 2")
	case e.Code == postgresEnds, e.Code == "57P02", e.Code == "57P03":
		return errors.New("the server is stopping or starting")
	case e.Code == postgresDenied && !errors.Is(err, errOwner):
		return errRights
	case e.Code == "42703", e.Code == "42P01" && strings.Contains(e.Message, `"debate`):
		return errOlder
	default:
		return nil
	}
}

const (
	// postgresExtend appends one step to a log. Other transactions wait for the row of the conversation.
	postgresExtend = `
		WITH open AS (
			UPDATE debate SET seq = $3, at = $4, state = coalesce($5, state), round = coalesce($6::bigint, round),
				result = coalesce($9::text, result), since = coalesce($10::text, since), asked = coalesce($11::text, asked),
				wake = coalesce($12::bigint, wake),
				due = CASE WHEN coalesce($5, state) = 'awaitingInput' THEN coalesce($12::bigint, wake) ELSE 0 END
			WHERE id = $1 AND seq = $2 RETURNING no
		)
		INSERT INTO debate_commit (key, last, writer, body)
		SELECT no * 4294967296 + $2, $3::bigint, $7::text, $8::text FROM open`

	// postgresExtendAll appends one step each to several logs.
	postgresExtendAll = `
		WITH open AS (
			UPDATE debate d SET seq = s.last, at = s.at, state = coalesce(s.state, d.state), round = coalesce(s.round, d.round),
				result = coalesce(s.result, d.result), since = coalesce(s.since, d.since), asked = coalesce(s.asked, d.asked),
				wake = coalesce(s.wake, d.wake),
				due = CASE WHEN coalesce(s.state, d.state) = 'awaitingInput' THEN coalesce(s.wake, d.wake) ELSE 0 END
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
			SELECT s.id, s.last, s.at, s.state, s.round, s.writer, s.body, s.result, s.since, s.asked, coalesce(s.wake, 0) AS wake, s.place,
				b.started, b.about, b.hard
			FROM ` + postgresSteps + `
			JOIN unnest($13::text[], $14::text[], $17::bigint[]) WITH ORDINALITY AS b (started, about, hard, place) ON b.place = s.place
		), born AS (
			INSERT INTO debate (id, seq, at, started, state, round, result, since, asked, wake, due, about, hard)
			SELECT id, last, at, started, coalesce(state, ''), coalesce(round, 0), coalesce(result, ''), coalesce(since, ''),
				coalesce(asked, ''), wake, CASE WHEN state = 'awaitingInput' THEN wake ELSE 0 END, about, hard
			FROM step ORDER BY place
			ON CONFLICT (id) DO NOTHING
			RETURNING no, id
		), kept AS (
			INSERT INTO debate_commit (key, last, writer, body)
			SELECT b.no * 4294967296, s.last, s.writer, s.body FROM born b JOIN step s ON s.id = b.id
		), labelled AS (
			INSERT INTO debate_label (pair, debate)
			SELECT l.pair, b.no FROM unnest($15::bigint[], $16::text[]) AS l (place, pair)
			JOIN step s ON s.place = l.place JOIN born b ON b.id = s.id
		)
		SELECT s.place FROM born b JOIN step s ON s.id = b.id`

	postgresSteps = `unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::text[],
		$9::text[], $10::text[], $11::text[], $12::bigint[])
		WITH ORDINALITY AS s (id, after, last, at, state, round, writer, body, result, since, asked, wake, place)`
)

// postgresWrite writes steps: all that begin a log in one statement, and all that extend one in another.
// Each statement is a transaction of its own, and takes one round trip.
func postgresWrite(ctx context.Context, db *stdsql.DB, steps []*step) error {
	for _, s := range steps {
		if s.tells() {
			if err := postgresTell(ctx, db, s); err != nil {
				return err
			}
		}
	}
	return postgresShare(ctx, standard{db}, steps)
}

// tells reports whether a step changes what its conversation is about, or its limit.
func (s *step) tells() bool { return s.after > 0 && (s.begun != nil || s.limit != nil) }

// postgresShare writes the steps that need no statement for themselves.
func postgresShare(ctx context.Context, on statements, steps []*step) error {
	var begin, extend []*step
	for _, s := range steps {
		switch {
		case s.after == 0:
			begin = append(begin, s)
		case !s.tells():
			extend = append(extend, s)
		}
	}
	if err := postgresKeep(begin, func() ([]int, error) { return postgresBeginAll(ctx, on, begin) }); err != nil {
		return err
	}
	if len(extend) == 1 {
		kept, err := postgresAppend(ctx, on, extend[0])
		extend[0].kept = kept && err == nil
		return err
	}
	return postgresKeep(extend, func() ([]int, error) {
		return postgresPlaces(ctx, on, postgresExtendAll, postgresRows(extend)...)
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

func postgresAppend(ctx context.Context, on statements, s *step) (kept bool, err error) {
	n, err := on.exec(ctx, postgresExtend, s.id, s.after, s.last, s.at, s.state, s.round, s.writer, s.body, s.result, s.since,
		s.asked, s.wake)
	return n > 0, err
}

// postgresAdd writes a step in a transaction.
func postgresAdd(ctx context.Context, on statements, s *step) (kept bool, err error) {
	if s.after == 0 {
		places, err := postgresBeginAll(ctx, on, []*step{s})
		return len(places) > 0, err
	}
	kept, err = postgresAppend(ctx, on, s)
	if err == nil && kept && s.limit != nil {
		_, err = on.exec(ctx, limit, s.id, *s.limit)
	}
	if err != nil || !kept || s.begun == nil {
		return kept, err
	}
	return true, s.describe(ctx, on, false)
}

// postgresTell appends a step that changes what its conversation is about, or its limit.
func postgresTell(ctx context.Context, db *stdsql.DB, s *step) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	kept, err := postgresAdd(ctx, standard{tx}, s)
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
func postgresBeginAll(ctx context.Context, on statements, steps []*step) ([]int, error) {
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
	return postgresPlaces(ctx, on, postgresBegin, append(postgresRows(steps), starteds, abouts, places, pairs, limits)...)
}

// postgresRows returns the columns of steps.
func postgresRows(steps []*step) []any {
	n := len(steps)
	ids, ats, writers, bodies := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	afters, lasts := make([]int64, n), make([]int64, n)
	states, rounds, results := make([]*string, n), make([]*int64, n), make([]*string, n)
	sinces, askeds, wakes := make([]*string, n), make([]*string, n), make([]*int64, n)
	for i, s := range steps {
		ids[i], afters[i], lasts[i], ats[i] = s.id, s.after, s.last, s.at
		states[i], rounds[i], writers[i], bodies[i] = s.state, s.round, s.writer, s.body
		results[i], sinces[i], askeds[i], wakes[i] = s.result, s.since, s.asked, s.wake
	}
	return []any{ids, afters, lasts, ats, states, rounds, writers, bodies, results, sinces, askeds, wakes}
}

// postgresPlaces runs a statement that returns the places, from 1, of the steps that it has written.
func postgresPlaces(ctx context.Context, on statements, statement string, args ...any) (places []int, err error) {
	err = on.each(ctx, func(scan scanner) error {
		var place int
		err := scan(&place)
		places = append(places, place)
		return err
	}, statement, args...)
	return places, err
}
