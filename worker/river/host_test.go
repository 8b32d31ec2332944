package river_test

import (
	"context"
	stdsql "database/sql"
	"testing"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store/sql"
	worker "github.com/agonist-dev/debate/worker/river"
)

// A host program has one client of River for its own jobs and for debates. What it does in a transaction of its own, and a debate that it
// submits there, are there together or not at all.
func TestAHostWithJobsOfItsOwn(t *testing.T) {
	p := newPlace(t)
	host := p.opened(t, worker.Options{})
	engine := engineOn(host.store, nil)
	mails := make(chan string, 10)
	settings := soon()
	settings.ID, settings.Workers = "the-host", river.NewWorkers()
	settings.Queues = map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 5}}
	river.AddWorker(settings.Workers, river.WorkFunc(func(_ context.Context, job *river.Job[mailArgs]) error {
		mails <- job.Args.To
		return nil
	}))
	own := p.opened(t, worker.Options{})
	client := working(t, own, engineOn(own.store, nil), worker.Config{River: settings}).Client()

	for _, name := range []string{"abandoned", "kept"} {
		tx, err := host.pool.Begin(t.Context())
		require.NoError(t, err)
		_, err = client.InsertTx(t.Context(), tx, mailArgs{To: name}, nil)
		require.NoError(t, err)
		id, err := sql.SubmitTx(t.Context(), sql.Tx{Pgx: tx}, engine, debating(name))
		require.NoError(t, err)
		assert.Equal(t, name, id)
		assert.Zero(t, host.count(t, "river_job WHERE kind = 'debate'"), "nobody sees it before the commit")
		if name == "kept" {
			require.NoError(t, tx.Commit(t.Context()))
		} else {
			require.NoError(t, tx.Rollback(t.Context()))
		}
	}
	assert.Equal(t, "kept", <-mails)
	assert.Equal(t, flow.StateCompleted, finished(t, engine, "kept").State)
	_, err := engine.Record(t.Context(), "abandoned")
	require.ErrorIs(t, err, flow.ErrNotFound)
	assert.Equal(t, []string{"the-host"}, host.seen(t, "kept", "completed").AttemptedBy)
	assert.Equal(t, 1, host.count(t, "river_job WHERE kind = 'debate'"))
	assert.Empty(t, mails)
}

// A transaction of database/sql has the job of its debate too.
func TestATransactionOfDatabaseSQL(t *testing.T) {
	p := newPlace(t)
	host := p.opened(t, worker.Options{})
	engine := engineOn(host.store, nil)
	db, err := stdsql.Open("pgx", p.URL)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	for _, commits := range []bool{false, true} {
		tx, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		_, err = sql.SubmitTx(t.Context(), sql.Tx{SQL: tx}, engine, debating("a"))
		require.NoError(t, err)
		end := tx.Rollback
		if commits {
			end = tx.Commit
		}
		require.NoError(t, end())
		assert.Equal(t, commits, host.of(t, "a") != nil)
	}
	own := p.opened(t, worker.Options{})
	working(t, own, engineOn(own.store, nil), worker.Config{})
	assert.Equal(t, flow.StateCompleted, finished(t, engine, "a").State)
}

// Another client has a schema of its own in the same database: each leads its own tables, and takes nothing of the other.
func TestAnotherClientInItsOwnSchema(t *testing.T) {
	p := newPlace(t)
	own, other := p.opened(t, worker.Options{}), p.opened(t, worker.Options{Schema: "others"})
	require.NoError(t, other.jobs.Migrate(t.Context()))
	settings := soon()
	settings.Schema, settings.Workers, settings.Logger = "others", river.NewWorkers(), quiet
	settings.Queues = map[string]river.QueueConfig{worker.DefaultQueue: {MaxWorkers: 5}}
	mails := make(chan string, 1)
	river.AddWorker(settings.Workers, river.WorkFunc(func(_ context.Context, job *river.Job[mailArgs]) error {
		mails <- job.Args.To
		return nil
	}))
	client, err := river.NewClient(riverpgxv5.New(other.pool), settings)
	require.NoError(t, err)
	require.NoError(t, client.Start(t.Context()))
	t.Cleanup(func() { assert.NoError(t, client.Stop(context.WithoutCancel(t.Context()))) })
	w, err := own.jobs.Worker(engineOn(own.store, nil), worker.Config{})
	require.NoError(t, err)
	require.NoError(t, w.Start(t.Context()), "it is alone in its schema")
	t.Cleanup(func() { assert.NoError(t, w.Stop(context.WithoutCancel(t.Context()))) })
	_, err = client.Insert(t.Context(), mailArgs{To: "Ada"}, &river.InsertOpts{Queue: worker.DefaultQueue})
	require.NoError(t, err)
	engine := engineOn(own.store, nil)
	submit(t, engine, debating("a"))
	assert.Equal(t, flow.StateCompleted, finished(t, engine, "a").State)
	assert.Equal(t, "Ada", <-mails)
	assert.Empty(t, own.rows(t)["discarded"])
}
