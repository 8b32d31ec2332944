package river

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
	debatesql "github.com/agonist-dev/debate/store/sql"
)

// DefaultQueue is the queue of debates that are not routed elsewhere.
const DefaultQueue = "debate"

// op names this package in errors.
const op = "river"

// sweepQueue is the queue of sweeps.
const sweepQueue = "debate_sweep"

// Driver is River's way to a database: riverdatabasesql or riversqlite.
type Driver = riverdriver.Driver[*sql.Tx]

// Options configure jobs. The zero value puts all debates into one queue.
type Options struct {
	// Route returns the queue of a debate, for example by a label that names the tenant. It must return the same for the same
	// labels. The zero Route is that of DefaultQueue. A name that River does not allow is replaced by DefaultQueue. Route is
	// called concurrently, within transactions, so it must not wait. nil: all debates are in DefaultQueue.
	Route func(info store.Info) Route
	// Schema is the schema of River's tables in PostgreSQL. It must exist: Migrate makes tables, and no schema. "": the one that the
	// connection finds first.
	Schema string
	// Logger gets River's lines and those of this package. nil: slog.Default.
	Logger *slog.Logger
}

// Route is where the job of a debate waits.
type Route struct {
	Queue    string // 1 to 64 letters, digits, '_' and '-'; "": DefaultQueue
	Priority int    // within the queue, from 1, which is first, to 4; 0: 1
}

// Jobs gives debates their jobs. It is safe for concurrent use, and has no goroutine.
type Jobs struct {
	db      *sql.DB
	driver  Driver
	options Options
	client  *river.Client[*sql.Tx] // that inserts
}

// New returns the jobs of the database that db and driver have open. It is the database of the debates' store, so that an
// event and its job are one transaction. New does not use it yet. The caller closes db after use.
func New(db *sql.DB, driver Driver, options Options) (*Jobs, error) {
	if db == nil || driver == nil {
		return nil, &flow.Error{Kind: provider.KindValidation, Op: op, Err: errors.New("the database or its driver is missing")}
	}
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	client, err := river.NewClient(driver, &river.Config{Schema: options.Schema, Logger: options.Logger})
	if err != nil {
		return nil, &flow.Error{Kind: provider.KindValidation, Op: op, Err: err}
	}
	return &Jobs{db: db, driver: driver, options: options, client: client}, nil
}

// Migrate brings River's tables to the version that this package's River needs, if they are missing or older. In SQLite, open the
// store before: it refuses a file that has only tables of other programs.
func (j *Jobs) Migrate(ctx context.Context) error {
	migrator, err := j.migrator()
	if err == nil {
		_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	}
	if err != nil {
		return &flow.Error{Kind: provider.KindStore, Op: op, Err: fmt.Errorf("migrate: %w", err)}
	}
	return nil
}

// Check reports whether River's tables have the version that this package's River needs. The error is of kind store.
func (j *Jobs) Check(ctx context.Context) error {
	migrator, err := j.migrator()
	if err != nil {
		return &flow.Error{Kind: provider.KindStore, Op: op, Err: err}
	}
	valid, err := migrator.Validate(ctx, nil)
	if err == nil && !valid.OK {
		err = fmt.Errorf("the tables of River are missing or of an older version (%s): Migrate brings them up",
			strings.Join(valid.Messages, "; "))
	}
	if err != nil {
		return &flow.Error{Kind: provider.KindStore, Op: op, Err: err}
	}
	return nil
}

func (j *Jobs) migrator() (*rivermigrate.Migrator[*sql.Tx], error) {
	return rivermigrate.New(j.driver, &rivermigrate.Config{Schema: j.options.Schema, Logger: j.options.Logger})
}

// OnWake gives a debate its job, within the transaction tx that has given the debate work. It is for sql.Options.OnWake:
// the job is there if and only if the event is. If the debate has an unfinished job, that one becomes due at once. OnWake
// leaves a running job alone, because it checks the end of the log before it ends.
//
// A transaction of pgx is refused: the error is of kind validation.
func (j *Jobs) OnWake(ctx context.Context, tx debatesql.Tx, woken store.Info) error {
	if tx.SQL == nil {
		err := errors.New("is no transaction of database/sql: open the database of River through database/sql, or submit without one of pgx")
		return &flow.Error{Kind: provider.KindValidation, Op: op, Field: "tx", Err: err}
	}
	route := j.route(woken)
	made, err := j.insertTx(ctx, tx.SQL, Args{woken.ID}, &river.InsertOpts{Queue: route.Queue, Priority: route.Priority})
	if err == nil && made.UniqueSkippedAsDuplicate && made.Job.State != rivertype.JobStateRunning {
		_, err = j.client.JobRetryTx(ctx, tx.SQL, made.Job.ID)
	}
	if err != nil && isMissing(err) {
		err = fmt.Errorf("the tables of River are missing or of an older version: Migrate brings them up: %w", err)
	}
	if err != nil {
		return fmt.Errorf("river: a job for debate %s: %w", woken.ID, err)
	}
	return nil
}

// insertTx inserts a job within a transaction. One that is due at once gets the time of the database: River's driver for PostgreSQL
// gives it that of this process, and from a clock that is ahead nobody would take it until then.
func (j *Jobs) insertTx(ctx context.Context, tx *sql.Tx, args river.JobArgs, opts *river.InsertOpts) (*rivertype.JobInsertResult, error) {
	made, err := j.client.InsertTx(ctx, tx, args, opts)
	if err != nil || made.UniqueSkippedAsDuplicate || j.driver.DatabaseName() == riverdriver.DatabaseNameSQLite {
		return made, err
	}
	_, err = tx.ExecContext(ctx, "UPDATE "+j.table()+ //nolint:gosec // no input
		" SET scheduled_at = now() WHERE id = $1 AND state = 'available'", made.Job.ID)
	return made, err
}

// insert inserts a job in a transaction of its own.
func (j *Jobs) insert(ctx context.Context, args river.JobArgs, opts *river.InsertOpts) (*rivertype.JobInsertResult, error) {
	tx, err := j.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	made, err := j.insertTx(ctx, tx, args, opts)
	if err != nil {
		return nil, err
	}
	return made, tx.Commit()
}

// isMissing reports whether a database has refused a statement because a table, or a part of one, is not there.
func isMissing(err error) bool {
	var refused interface{ SQLState() string }
	if errors.As(err, &refused) { // PostgreSQL: undefined table, object, function, column; invalid schema
		return slices.Contains([]string{"42P01", "42704", "42883", "42703", "3F000"}, refused.SQLState())
	}
	return strings.Contains(err.Error(), "no such ") // SQLite
}

// queueName is what River allows.
var queueName = regexp.MustCompile(`\A[a-z0-9]+([_-]?[a-z0-9]+)*\z`)

// route returns where the job of a debate waits.
func (j *Jobs) route(info store.Info) Route {
	var r Route
	if j.options.Route != nil {
		r = j.options.Route(info)
	}
	if r.Queue == sweepQueue || len(r.Queue) > 64 || !queueName.MatchString(r.Queue) {
		r.Queue = DefaultQueue
	}
	r.Priority = min(max(r.Priority, 1), 4)
	return r
}
