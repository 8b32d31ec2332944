package river

import (
	"cmp"
	"context"
	stdsql "database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/sql"
)

// DefaultQueue is the queue of debates that are not routed elsewhere.
const DefaultQueue = "debate"

// maxAttempts is how often a job is attempted before it is discarded, and another one takes its place.
const maxAttempts = 25

// backOff returns how long a job waits after an attempt.
func backOff(attempt int) time.Duration { return min(time.Second<<min(attempt, 12), time.Hour) } // as serve has it

// Args are the arguments of a debate's job: its id, and nothing else. All else is in the debate's log.
type Args struct {
	ID string `json:"id" river:"unique"`
}

// Kind implements [river.JobArgs].
func (Args) Kind() string { return "debate" }

// InsertOpts implements [river.JobArgsWithInsertOpts]: a debate has one job that is not finished.
func (Args) InsertOpts() river.InsertOpts {
	over := func(s rivertype.JobState) bool { return s == rivertype.JobStateCompleted }
	unfinished := slices.DeleteFunc(rivertype.UniqueOptsByStateDefault(), over)
	return river.InsertOpts{Queue: DefaultQueue, MaxAttempts: maxAttempts, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: unfinished}}
}

// Options configure jobs. The zero value puts all debates into one queue.
type Options struct {
	// Route returns where the job of a debate waits, such as the queue of its tenant. If River refuses that, the submit or control fails
	// with kind validation. Route is called concurrently and in transactions: it must not wait. nil: all debates are in DefaultQueue.
	Route func(info store.Info) Route
	// Schema is the schema of River's tables. "": debate_river.
	Schema string
	// Tags are the labels that jobs carry as tags, such as "tenant-acme", unless River refuses the tag. nil: all labels.
	Tags []string
	// Logger gets River's lines and those of this package. nil: slog.Default.
	Logger *slog.Logger
}

// Route is where the job of a debate waits.
type Route struct {
	Queue    string // 1 to 64 small letters and digits, with single '_' and '-' between them; "": DefaultQueue
	Priority int    // within the queue, from 1, which is first, to 4; 0: 1
}

// Jobs gives debates their jobs. T is the transaction of River's driver. Jobs is safe for concurrent use, and has no goroutine.
type Jobs[T any] struct {
	driver   riverdriver.Driver[T] // River may change executors in any release: this file has all calls of them, and TestTables makes each
	options  Options
	table    string // of jobs
	queues   string // the table of queues
	migrator *rivermigrate.Migrator[T]
	sql      *river.Client[*stdsql.Tx] // both only insert
	pgx      *river.Client[pgx.Tx]
}

// New returns the jobs of a database of PostgreSQL, which driver has open: riverpgxv5 or riverdatabasesql. It must be the database of
// the debates' store, so that an event and its job are one transaction. New does not use it yet.
func New[T any](driver riverdriver.Driver[T], options Options) (*Jobs[T], error) {
	if driver == nil || !driver.PoolIsSet() || driver.DatabaseName() != riverdriver.DatabaseNamePostgres {
		return nil, invalid("driver", errors.New("has no database of PostgreSQL: Engine.Work works on others without jobs"))
	}
	options.Schema, options.Logger = cmp.Or(options.Schema, "debate_river"), cmp.Or(options.Logger, slog.Default())
	j := &Jobs[T]{driver: driver, options: options}
	j.table, j.queues = pgx.Identifier{options.Schema, "river_job"}.Sanitize(), pgx.Identifier{options.Schema, "river_queue"}.Sanitize()
	config := &river.Config{Schema: options.Schema, Logger: options.Logger}
	var failed [3]error
	silent := slog.New(slog.DiscardHandler) // errors say what it would
	j.migrator, failed[0] = rivermigrate.New(driver, &rivermigrate.Config{Schema: options.Schema, Logger: silent})
	j.sql, failed[1] = river.NewClient(riverdatabasesql.New(nil), config)
	j.pgx, failed[2] = river.NewClient(riverpgxv5.New(nil), config)
	if err := cmp.Or(failed[:]...); err != nil {
		return nil, invalid("Options", err)
	}
	return j, nil
}

// invalid returns an error of kind validation.
func invalid(field string, err error) error {
	return &flow.Error{Kind: provider.KindValidation, Op: "river", Field: field, Err: err}
}

// broken returns an error of kind store; nil: err is nil.
func broken(doing string, err error) error {
	if err == nil {
		return nil
	}
	return &flow.Error{Kind: provider.KindStore, Op: "river", Err: fmt.Errorf("%s: %w", doing, granted(err))}
}

// granted adds what helps to an error of a role that lacks a right.
func granted(err error) error {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == "42501" {
		return fmt.Errorf("let the owner grant this role the rights that docs/guides/machines.md lists: %w", err)
	}
	return err
}

// OnWake gives a debate its job, within the transaction tx that has given the debate work. It is for sql.Options.OnWake: the job is
// there if and only if the event is. If the debate has a job that waits, that one becomes due. A job that is being worked is left alone.
func (j *Jobs[T]) OnWake(ctx context.Context, tx sql.Tx, woken store.Info) error {
	opts, err := j.insertion(woken)
	switch {
	case err == nil && tx.Pgx != nil:
		err = wake(ctx, j.pgx, tx.Pgx, j.table, woken.ID, opts)
	case err == nil && tx.SQL != nil:
		err = wake(ctx, j.sql, tx.SQL, j.table, woken.ID, opts)
	case err == nil:
		err = invalid("tx", errors.New("is missing"))
	}
	if err != nil {
		return fmt.Errorf("river: a job for debate %s: %w", woken.ID, granted(err))
	}
	return nil
}

var (
	queueName = regexp.MustCompile(`\A[a-z0-9]+([_-]?[a-z0-9]+)*\z`)
	tagName   = regexp.MustCompile(`\A\w[\w-]+\w\z`)
)

// insertion returns how the job of a debate is inserted.
func (j *Jobs[T]) insertion(info store.Info) (*river.InsertOpts, error) {
	var r Route
	if j.options.Route != nil {
		r = j.options.Route(info)
	}
	opts := &river.InsertOpts{Queue: cmp.Or(r.Queue, DefaultQueue), Priority: cmp.Or(r.Priority, 1)}
	if len(opts.Queue) > 64 || !queueName.MatchString(opts.Queue) || opts.Priority < 1 || opts.Priority > 4 {
		return nil, invalid("Options.Route", fmt.Errorf("queue %q with priority %d is refused by River: a name has up to 64 small letters "+
			"and digits with single - and _ between them, and a priority is 1 to 4", opts.Queue, opts.Priority))
	}
	keys := j.options.Tags
	if keys == nil {
		keys = slices.Sorted(maps.Keys(info.Labels))
	}
	for _, key := range keys {
		value, ok := info.Labels[key]
		if tag := key + "-" + value; ok && len(tag) <= 255 && tagName.MatchString(tag) {
			opts.Tags = append(opts.Tags, tag)
		}
	}
	return opts, nil
}

// wake inserts a job within a transaction, or makes the one that there is due. River takes the time of a new job from this process, whose
// clock may be ahead: nobody would take the job until then.
func wake[X any](ctx context.Context, client *river.Client[X], tx X, table, id string, opts *river.InsertOpts) error {
	made, err := client.InsertTx(ctx, tx, Args{id}, opts)
	switch {
	case err != nil:
	case !made.UniqueSkippedAsDuplicate:
		err = client.Driver().UnwrapExecutor(tx).Exec(ctx, "UPDATE "+table+" SET scheduled_at = now() WHERE id = $1", made.Job.ID)
	case made.Job.State != rivertype.JobStateRunning:
		_, err = client.JobRetryTx(ctx, tx, made.Job.ID)
	}
	return err
}

// notify tells the workers of queues that jobs are waiting.
func (j *Jobs[T]) notify(ctx context.Context, queues map[string]bool) error {
	params := &riverdriver.NotifyManyParams{Schema: j.options.Schema, Topic: "river_insert"}
	for queue := range queues {
		params.Payload = append(params.Payload, fmt.Sprintf(`{"queue": %q}`, queue))
	}
	return j.driver.GetExecutor().NotifyMany(ctx, params)
}

// rescue makes a running job available whose worker has disappeared, or cancels it if that was asked for, unless it was taken anew. What
// has outlived 25 workers may be what ends them, and waits longer after each one more.
func (j *Jobs[T]) rescue(ctx context.Context, job *rivertype.JobRow) error {
	by, now, due := append([]string{"?"}, job.AttemptedBy...), time.Now(), *job.AttemptedAt
	if job.Attempt > maxAttempts {
		due = due.Add(backOff(job.Attempt - maxAttempts))
	}
	data, err := json.Marshal(rivertype.AttemptError{At: now, Attempt: job.Attempt, Error: "worker " + by[len(by)-1] + " has disappeared"})
	if err != nil {
		return err
	}
	params := &riverdriver.JobRescueManyParams{
		ID: []int64{job.ID}, Error: [][]byte{data}, FinalizedAt: []*time.Time{nil}, ScheduledAt: []time.Time{due},
		State: []string{string(rivertype.JobStateAvailable)}, Schema: j.options.Schema, StuckHorizon: job.AttemptedAt.Add(time.Millisecond),
	}
	if metadataOf(job).Cancelled != nil {
		params.State, params.FinalizedAt = []string{string(rivertype.JobStateCancelled)}, []*time.Time{&now}
	}
	_, err = j.driver.GetExecutor().JobRescueMany(ctx, params)
	return err
}

// claim makes jobs due that wait because workers lack what the debates need. For a minute, those workers leave the jobs to the one that
// claims. The attempts that have failed do not count: each worker has one, however many there are.
func (j *Jobs[T]) claim(ctx context.Context, ids []string) error {
	return j.driver.GetExecutor().Exec(ctx, "UPDATE "+j.table+` SET state = 'available', scheduled_at = now(),
		attempt = CASE WHEN state = 'retryable' THEN greatest(attempt - 1, 0) ELSE attempt END,
		metadata = jsonb_set(metadata, '{debate_wanted}', to_jsonb(now() + interval '1 minute'))
		WHERE id = ANY(string_to_array($1, ',')::bigint[]) AND (state = 'retryable' OR state = 'available' AND scheduled_at > now())`,
		strings.Join(ids, ","))
}

// query returns the one text that a query finds.
func (j *Jobs[T]) query(ctx context.Context, statement string, args ...any) (found string, err error) {
	err = j.driver.GetExecutor().QueryRow(ctx, statement, args...).Scan(&found)
	return found, err
}

// Migrate makes the schema if it is missing, brings River's tables in it to the version that this package's River needs, and indexes
// jobs by debate. One process runs it, before others use the tables.
func (j *Jobs[T]) Migrate(ctx context.Context) error {
	executor, schema := j.driver.GetExecutor(), pgx.Identifier{j.options.Schema}.Sanitize()
	err := executor.Exec(ctx, "DO $$ BEGIN IF to_regnamespace('"+schema+"') IS NULL THEN CREATE SCHEMA "+schema+"; END IF; END $$")
	if err == nil {
		_, err = j.migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	}
	if err == nil {
		err = executor.Exec(ctx, "CREATE INDEX IF NOT EXISTS river_job_debate ON "+j.table+" ((args->>'id'), id) WHERE kind = 'debate'")
	}
	return broken("migrate", err)
}

// Check reports whether River's tables have the version that this package's River needs, and whether the role may do with them what a
// worker does. The error is of kind store.
func (j *Jobs[T]) Check(ctx context.Context) error {
	valid, err := j.migrator.Validate(ctx, nil)
	if err == nil && !valid.OK {
		err = fmt.Errorf("the tables of River are missing or older (%s): Jobs.Migrate brings them up", strings.Join(valid.Messages, "; "))
	}
	var denied string
	if err == nil {
		denied, err = j.query(ctx, `SELECT coalesce(string_agg(relname::text, ', ' ORDER BY relname), '') FROM pg_class
			WHERE relnamespace = to_regnamespace($1) AND CASE
				WHEN relname = 'river_job_id_seq' THEN NOT has_sequence_privilege(oid, 'USAGE')
				WHEN relname IN ('river_job', 'river_leader', 'river_queue') THEN NOT (has_table_privilege(oid, 'SELECT')
					AND has_table_privilege(oid, 'INSERT') AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))
				ELSE false END`, pgx.Identifier{j.options.Schema}.Sanitize())
	}
	if denied != "" {
		err = granted(&pgconn.PgError{Severity: "ERROR", Code: "42501", Message: "permission denied for " + denied})
	}
	return broken("check", err)
}

// Unserved returns how many jobs of debates wait in queues that no client serves: none ever has, or none for 20 minutes. The error is of
// kind store.
func (j *Jobs[T]) Unserved(ctx context.Context) (jobs map[string]int, err error) {
	found, err := j.query(ctx, `
		SELECT coalesce(json_object_agg(queue, jobs), '{}')::text
		FROM (SELECT queue, count(*) AS jobs FROM `+j.table+` WHERE state = 'available' AND kind = 'debate' GROUP BY queue) AS waiting
		WHERE NOT EXISTS (SELECT 1 FROM `+j.queues+` WHERE name = waiting.queue AND updated_at > now() - interval '20 minutes')`)
	if err == nil {
		err = json.Unmarshal([]byte(found), &jobs)
	}
	return jobs, broken("queues that no client serves", err)
}

// checkAlone finds jobs of another kind, or a client of River's default queue.
func (j *Jobs[T]) checkAlone(ctx context.Context) error {
	found, err := j.query(ctx, `SELECT coalesce((SELECT 'jobs of kind ' || kind FROM `+j.table+` WHERE kind < 'debate' LIMIT 1),
		(SELECT 'jobs of kind ' || kind FROM `+j.table+` WHERE kind > 'debate' LIMIT 1), (SELECT 'a client of queue default'
		FROM `+j.queues+` WHERE name = 'default' AND updated_at > now() - interval '20 minutes'), '')`)
	if err == nil && found != "" {
		return invalid("Options.Schema", fmt.Errorf("the tables of River in schema %s are shared with %s, and whoever leads "+
			"discards the other's: leave Options.Schema empty, or hand the whole config in Config.River", j.options.Schema, found))
	}
	return broken("start", err)
}
