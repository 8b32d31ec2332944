package river_test

import (
	"bytes"
	"context"
	stdsql "database/sql"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // database/sql's driver
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/sql"
	worker "github.com/agonist-dev/debate/worker/river"
)

// Each driver of River makes the tables in a schema of its own, gives debates their jobs, counts them, tells workers of them, and rescues
// them.
func TestTables(t *testing.T) {
	newPlace(t) // the server
	database := func(t *testing.T) (string, *pgxpool.Pool) {
		u, err := shared.server.Database(t.Context())
		require.NoError(t, err)
		pool, err := pgxpool.New(t.Context(), u+"&pool_max_conns=3")
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		return u, pool
	}
	t.Run("pgx", func(t *testing.T) {
		u, pool := database(t)
		tables(t, riverpgxv5.New(pool), u, pool)
	})
	t.Run("database/sql", func(t *testing.T) {
		u, pool := database(t)
		db, err := stdsql.Open("pgx", u)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		tables(t, riverdatabasesql.NewWithPgxListener(db, pool), u, pool)
	})
}

func tables[T any](t *testing.T, driver riverdriver.Driver[T], u string, pool *pgxpool.Pool) {
	t.Helper()
	jobs, err := worker.New(driver, worker.Options{Schema: "own", Logger: quiet})
	require.NoError(t, err)
	s, err := sql.Options{Connections: 1, OnWake: jobs.OnWake}.OpenPostgres(t.Context(), u)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	engine := engineOn(s, nil)
	engine.Lease = 2 * time.Second // for so long a submit is tried again
	_, err = engine.Submit(t.Context(), debating("a"))
	require.ErrorContains(t, err, `"own.river_job" does not exist`)
	err = jobs.Check(t.Context())
	require.ErrorContains(t, err, "Migrate brings them up")
	assert.Equal(t, provider.KindStore, kindOf(err))
	for range 2 { // the second time there is nothing to do
		require.NoError(t, jobs.Migrate(t.Context()))
		require.NoError(t, jobs.Check(t.Context()))
	}
	for _, id := range []string{"a", "b", "c"} {
		submit(t, engine, debating(id))
	}
	unserved, err := jobs.Unserved(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[string]int{worker.DefaultQueue: 3}, unserved)
	_, err = pool.Exec(t.Context(), "UPDATE own.river_job SET "+lacked+" WHERE args->>'id' = 'c'")
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `UPDATE own.river_job SET state = 'running', attempt = 1, attempted_at = now() - interval '1 hour',
		attempted_by = '{gone}' WHERE args->>'id' = 'b'`)
	require.NoError(t, err)
	w, err := jobs.Worker(engine, worker.Config{River: &river.Config{FetchPollInterval: time.Hour, TestOnly: true}})
	require.NoError(t, err)
	require.NoError(t, w.Start(t.Context()))
	for _, id := range []string{"a", "b", "c"} { // no poll brings the other two
		assert.Equal(t, flow.StateCompleted, finished(t, engine, id).State)
	}
	list, err := w.Client().JobList(t.Context(), river.NewJobListParams().Where("args->>'id' = 'b'"))
	require.NoError(t, err)
	require.Len(t, list.Jobs, 1)
	require.Len(t, list.Jobs[0].Errors, 1)
	assert.Equal(t, "worker gone has disappeared", list.Jobs[0].Errors[0].Error)
	require.NoError(t, w.Stop(context.WithoutCancel(t.Context())))
}

// Tables of an older River are named before anything is worked.
func TestTablesOfAnotherVersion(t *testing.T) {
	own := newPlace(t).opened(t, worker.Options{})
	w, err := own.jobs.Worker(engineOn(own.store, nil), worker.Config{})
	require.NoError(t, err)
	own.execute(t, "DELETE FROM debate_river.river_migration WHERE version > 4")
	err = w.Start(t.Context())
	require.ErrorContains(t, err, "Migrate")
	assert.Equal(t, provider.KindStore, kindOf(err))
}

// The debates of a worker's engine are in the database of its jobs, and where the jobs' search path leads to: a worker that would look for
// them elsewhere does not start.
func TestAWorkerOnTheStoreOfAnotherDatabase(t *testing.T) {
	p := newPlace(t)
	own, other := p.opened(t, worker.Options{}), newPlace(t).opened(t, worker.Options{})
	own.execute(t, "CREATE SCHEMA aside")
	aside, err := sql.OpenPostgres(t.Context(), p.URL+"&search_path=aside")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, aside.Close()) })
	for name, elsewhere := range map[string]store.Store{
		"another database": other.store, "another schema": aside, "memory": &store.Memory{},
	} {
		w, err := own.jobs.Worker(engineOn(elsewhere, nil), worker.Config{})
		require.NoError(t, err)
		err = w.Start(t.Context())
		require.ErrorContains(t, err, "engine: its tables are not on the jobs' search path", name)
		assert.Equal(t, provider.KindValidation, kindOf(err), name)
	}
	assert.Zero(t, own.count(t, "river_queue"), "nothing has begun")
}

// mailArgs are the arguments of a job of the host program.
type mailArgs struct {
	To string `json:"to"`
}

func (mailArgs) Kind() string { return "mail" }

// A worker does not start on tables that another client has, whose leader would discard its jobs and have its own discarded.
func TestTablesOfAnotherClient(t *testing.T) {
	p := newPlace(t)
	own := p.opened(t, worker.Options{})
	refused := func(with string) {
		w, err := own.jobs.Worker(engineOn(own.store, nil), worker.Config{})
		require.NoError(t, err)
		err = w.Start(t.Context())
		require.ErrorContains(t, err, "the tables of River in schema debate_river are shared with "+with)
		assert.Equal(t, provider.KindValidation, kindOf(err))
	}
	own.execute(t, "INSERT INTO debate_river.river_queue (name) VALUES ('default')")
	refused("a client of queue default")
	own.execute(t, "UPDATE debate_river.river_queue SET updated_at = now() - interval '1 hour'")
	inserted, err := own.client(t).Insert(t.Context(), mailArgs{}, nil)
	require.NoError(t, err)
	refused("jobs of kind mail")
	_, err = own.client(t).JobDelete(t.Context(), inserted.Job.ID)
	require.NoError(t, err)
	w, err := own.jobs.Worker(engineOn(own.store, nil), worker.Config{})
	require.NoError(t, err)
	require.NoError(t, w.Start(t.Context()))
	require.NoError(t, w.Stop(context.WithoutCancel(t.Context())))
}

// arriving is a store that calls back when a worker begins to look for work.
type arriving struct {
	*sql.Store

	arrive func()
}

// Announce implements [store.Announcer].
func (a *arriving) Announce(ctx context.Context) <-chan struct{} {
	a.arrive()
	return a.Store.Announce(ctx)
}

// A client that comes to the tables once a worker has started is logged.
func TestAClientThatComesLater(t *testing.T) {
	p := newPlace(t)
	var logged lines
	own := p.opened(t, worker.Options{Logger: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	w, err := own.jobs.Worker(engineOn(&arriving{own.store, func() {
		_, err := own.client(t).Insert(t.Context(), mailArgs{}, nil)
		assert.NoError(t, err)
	}}, nil), worker.Config{})
	require.NoError(t, err)
	require.NoError(t, w.Start(t.Context()))
	eventually(t, "a line says so", func() bool { return strings.Contains(logged.String(), "are shared with jobs of kind mail") })
	require.NoError(t, w.Stop(context.WithoutCancel(t.Context())))
}

// A role that may change no table works with the rights that a page lists. If it lacks one, opening, check and start say what helps.
func TestTheRightsOfARole(t *testing.T) {
	p := newPlace(t)
	owner := p.opened(t, worker.Options{})
	u, err := url.Parse(p.URL)
	require.NoError(t, err)
	role := "clerk_" + strings.TrimPrefix(u.Path, "/")
	owner.execute(t, "CREATE ROLE "+role+" LOGIN")
	grants := strings.NewReplacer("TO worker", "TO "+role, "ROLE owner", "ROLE "+u.User.Username(), "SCHEMA debates,", "SCHEMA public,")
	page, err := os.ReadFile("../../docs/guides/machines.md")
	require.NoError(t, err)
	_, rights, listed := bytes.Cut(page, []byte("```sql\n"))
	require.True(t, listed)
	rights, _, _ = bytes.Cut(rights, []byte("```"))
	u.User = url.User(role)
	clerk := place{URL: u.String()}

	_, err = clerk.open(t.Context(), worker.Options{})
	require.ErrorContains(t, err, "let the owner of the tables grant this role the rights that docs/guides/machines.md lists")
	owner.execute(t, grants.Replace(string(rights)))
	own := clerk.opened(t, worker.Options{})
	engine := engineOn(own.store, nil)
	submit(t, engine, debating("a"))
	w, err := own.jobs.Worker(engineOn(own.store, nil), worker.Config{River: soon()})
	require.NoError(t, err)
	require.NoError(t, w.Start(t.Context()))
	assert.Equal(t, flow.StateCompleted, finished(t, engine, "a").State)
	require.NoError(t, w.Stop(context.WithoutCancel(t.Context())))

	second := clerk.opened(t, worker.Options{})
	w, err = second.jobs.Worker(engineOn(second.store, nil), worker.Config{})
	require.NoError(t, err)
	for _, lacks := range []struct{ change, says string }{
		{"REVOKE USAGE ON SEQUENCE debate_river.river_job_id_seq FROM " + role, "river_job_id_seq"},
		{"REVOKE DELETE ON debate_river.river_leader FROM " + role, "river_job_id_seq, river_leader"},
		{"REVOKE USAGE ON SCHEMA debate_river FROM " + role, "schema debate_river"},
	} {
		owner.execute(t, lacks.change)
		for _, err := range []error{second.jobs.Check(t.Context()), w.Start(t.Context())} {
			require.ErrorContains(t, err, "let the owner grant this role the rights that docs/guides/machines.md lists")
			require.ErrorContains(t, err, "permission denied for "+lacks.says)
			assert.Equal(t, provider.KindStore, kindOf(err))
		}
	}
}

// What a worker cannot work with is refused when it is made.
func TestConfigsThatAreRefused(t *testing.T) {
	own := newPlace(t).opened(t, worker.Options{})
	engine := engineOn(own.store, nil)
	with := func(config worker.Config) func() error {
		return func() error { _, err := own.jobs.Worker(engine, config); return err }
	}
	for name, wrong := range map[string]func() error{
		"no driver":   func() error { _, err := worker.New[pgx.Tx](nil, worker.Options{}); return err },
		"no database": func() error { _, err := worker.New(riverpgxv5.New(nil), worker.Options{}); return err },
		"a schema": func() error {
			_, err := worker.New(riverpgxv5.New(own.pool), worker.Options{Schema: "a b"})
			return err
		},
		"no store":       func() error { _, err := own.jobs.Worker(&debate.Engine{}, worker.Config{}); return err },
		"a wait":         with(worker.Config{Far: -1}),
		"another schema": with(worker.Config{River: &river.Config{Schema: "public"}}),
		"a queue's name": with(worker.Config{Queues: map[string]int{"no such name!": 1}}),
		"a queue in use": with(worker.Config{
			Queues: map[string]int{"a": 1}, River: &river.Config{Queues: map[string]river.QueueConfig{"a": {MaxWorkers: 1}}},
		}),
	} {
		err := wrong()
		require.Error(t, err, name)
		assert.Equal(t, provider.KindValidation, kindOf(err), name)
		assert.NotContains(t, err.Error(), "\n", name)
	}
	require.ErrorContains(t, own.jobs.OnWake(t.Context(), sql.Tx{}, store.Info{ID: "a"}), "tx: is missing")
}
