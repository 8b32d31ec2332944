package river_test

import (
	"context"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	worker "github.com/agonist-dev/debate/worker/river"
)

// foreignArgs are the arguments of a job of another program.
type foreignArgs struct{}

func (foreignArgs) Kind() string { return "foreign" }

// Another program has its jobs in the same tables, leads River's clients, and knows nothing of debates. Its rescuer discards jobs of a
// kind that it does not know once they are older than its RescueStuckJobsAfter. It takes no debate that is worked, however long that lasts.
func TestARescuerOfAnotherProgram(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		const after = time.Hour
		host := p.opened(t, worker.Options{})
		count := func(from string) (n int) {
			require.NoError(t, host.db.QueryRowContext(t.Context(), "SELECT count(*) FROM "+from).Scan(&n))
			return n
		}
		execute := func(statement string) {
			_, err := host.db.ExecContext(t.Context(), statement)
			require.NoError(t, err)
		}
		gate, stuck := make(chan struct{}), make(chan struct{})
		own := p.opened(t, worker.Options{})
		drains := engineOn(own.store, func(ctx context.Context, _ *provider.Request) error {
			select {
			case stuck <- struct{}{}:
			case <-gate:
			}
			select {
			case <-gate:
			case <-ctx.Done():
			}
			return nil
		})
		drains.Lease = time.Second // and jobs are renewed as often
		w := working(t, own, drains, worker.Config{})
		engine := engineOn(host.store, nil)
		submit(t, engine, debating("long"))
		<-stuck
		// The debate is worked for longer than the other program bears. Beside it there is a job that nobody works.
		_, err := host.client(t).Insert(t.Context(), foreignArgs{}, &river.InsertOpts{Queue: "nobody", Tags: []string{"decoy"}})
		require.NoError(t, err)
		old, young := "now() - interval '2 hours'", "attempted_at > now() - interval '1 hour'"
		if p.SQLite != "" {
			old, young = "datetime('now', '-2 hours', 'subsec')", "attempted_at > datetime('now', '-1 hour', 'subsec')"
		}
		execute("UPDATE river_job SET attempted_at = " + old + " WHERE kind = 'debate'")
		execute("UPDATE river_job SET kind = 'decoy', state = 'running', attempted_at = " + old + " WHERE queue = 'nobody'")
		eventually(t, "the worker has made its job young again", func() bool { return count("river_job WHERE kind = 'debate' AND "+young) == 1 })

		workers := river.NewWorkers()
		river.AddWorker(workers, river.WorkFunc(func(context.Context, *river.Job[foreignArgs]) error { return nil }))
		other := p.opened(t, worker.Options{})
		foreign, err := river.NewClient(other.driver, &river.Config{
			ID: "foreign", Queues: map[string]river.QueueConfig{"foreign": {MaxWorkers: 1}}, Workers: workers, Logger: quiet, TestOnly: true,
			JobTimeout: after / 2, RescueStuckJobsAfter: after,
		})
		require.NoError(t, err)
		deposed := "DELETE FROM river_leader WHERE leader_id <> 'foreign'"
		execute(deposed)
		require.NoError(t, foreign.Start(t.Context()))
		t.Cleanup(func() { assert.NoError(t, foreign.Stop(context.WithoutCancel(t.Context()))) })
		eventually(t, "the other program leads", func() bool {
			execute(deposed)
			return count("river_leader WHERE leader_id = 'foreign'") == 1
		})
		eventually(t, "the rescuer discards what it does not know", func() bool {
			return count("river_job WHERE kind = 'decoy' AND state = 'discarded'") == 1
		})
		assert.Zero(t, host.rows(t)["discarded"])
		close(gate)
		assert.Equal(t, flow.StateCompleted, finished(t, engine, "long").State)
		// If the lease was not renewed in time, a sweep may have given it one more.
		eventually(t, "its job has ended", func() bool { return int64(host.rows(t)["completed"]) == 1+w.Stats().Supplied })
		assert.Equal(t, map[string]int{"completed": 1 + int(w.Stats().Supplied)}, host.rows(t), "no job was discarded")
	})
}
