package river_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
	worker "github.com/agonist-dev/debate/worker/river"
)

// shown is what an operator sees of a job.
func shown(job *rivertype.JobRow) string {
	if job == nil {
		return "no job"
	}
	text := fmt.Sprintf("%s, attempt %d of %d", job.State, job.Attempt, job.MaxAttempts)
	if n := len(job.Errors); n > 0 {
		text += ": " + job.Errors[n-1].Error
	}
	return text
}

// seen waits until the newest job of a debate is shown in a way that begins so, and returns the job.
func (b *base) seen(t testing.TB, id, begins string) (job *rivertype.JobRow) {
	t.Helper()
	var last string
	eventually(t, id+": "+begins, func() bool {
		job = b.of(t, id)
		if now := shown(job); now != last {
			t.Logf("%s: %s", id, now)
			last = now
		}
		return strings.HasPrefix(last, begins)
	})
	return job
}

// failing is how the provider of a test fails, by debate.
type failing struct {
	mu  sync.Mutex
	how map[string]error
}

func (f *failing) set(id string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.how[id] = err
}

func (f *failing) ask(ctx context.Context, req *provider.Request) error {
	id, _, _ := strings.Cut(req.ID, "/")
	f.mu.Lock()
	err := f.how[id]
	f.mu.Unlock()
	if err != nil {
		return err
	}
	return slowly(10*time.Millisecond)(ctx, req)
}

// asking is a debate whose judge is a person.
func asking(id string) debate.Config {
	config := debating(id)
	config.Judging = &debate.Judging{When: debate.AtEnd, Judges: []debate.JudgeConfig{{Name: "Zoe", Person: true}}}
	return config
}

// Each way in which a debate comes to need no process is one in which a job of River ends. Who retries the job of a debate in the error
// state retries the debate.
func TestHowJobsEnd(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	host := p.opened(t, worker.Options{})
	engine := engineOn(host.store, nil)
	engine.Providers["other"] = cast(nil)
	how := &failing{how: map[string]error{
		"failed": &provider.Error{Kind: provider.KindAuthentication, Message: "the key is refused"},
		"far":    &provider.Error{Kind: provider.KindRateLimit, RetryAfter: 30 * time.Minute, NotSent: true},
	}}
	configs := map[string]debate.Config{
		"over": debating("over"), "paused": debating("paused"), "person": asking("person"), "limited": asking("limited"),
		"far": debating("far"), "leased": debating("leased"), "poor": debating("poor"), "failed": debating("failed"),
	}
	for id, config := range configs {
		switch id {
		case "limited":
			config.Budget = &debate.Budget{HardTime: time.Hour}
		case "far":
			config.Patience = 10 * time.Hour
		case "poor":
			config.Participants[0].Model = "other/debater"
		}
		submit(t, engine, config)
	}
	require.NoError(t, engine.Control(t.Context(), "paused", flow.Pause{}))
	require.NoError(t, host.store.Lease(t.Context(), "leased", "somebody else", time.Hour))
	for _, id := range []string{"nobody", "../no id"} {
		_, err := host.client(t).Insert(t.Context(), worker.Args{ID: id}, nil)
		require.NoError(t, err)
	}
	own := p.opened(t, worker.Options{})
	working(t, own, engineOn(own.store, how.ask), worker.Config{})

	host.seen(t, "over", "completed, attempt 1 of 25")
	host.seen(t, "paused", "completed, attempt 1 of 25")
	host.seen(t, "person", "completed, attempt 1 of 25")
	for id, wait := range map[string]time.Duration{"limited": time.Hour, "far": 30 * time.Minute, "leased": 15 * time.Second} {
		job := host.seen(t, id, "scheduled, attempt 0 of 25")
		assert.InDelta(t, wait.Seconds(), job.ScheduledAt.Sub(*job.AttemptedAt).Seconds(), wait.Seconds()/2, id)
	}
	assert.Contains(t, shown(host.seen(t, "nobody", "cancelled, attempt 1 of 25: JobCancelError: debate: ")), "no such conversation")
	assert.Contains(t, shown(host.seen(t, "../no id", "cancelled, attempt 1 of 25: JobCancelError: debate: ")), "id: is not")
	var poor *rivertype.JobRow
	eventually(t, "a provider is missing", func() bool { poor = host.of(t, "poor"); return len(poor.Errors) > 0 })
	assert.Contains(t, poor.Errors[0].Error, `"other"`)
	assert.Empty(t, flows.Results(logOf(t, host, "poor")), "nothing is asked")
	failed := host.seen(t, "failed", "cancelled, attempt 1 of 25: JobCancelError: debate: ")
	assert.Contains(t, shown(failed), "the key is refused")
	assert.Equal(t, flow.StateError, state(t, engine, "failed"))
	page, err := os.ReadFile("../../docs/internal/scaling.md")
	require.NoError(t, err)
	_, query, _ := strings.Cut(string(page), "```sql\n")
	query, _, _ = strings.Cut(query, "```")
	var id, by, why string
	var attempt int
	require.NoError(t, host.pool.QueryRow(t.Context(), query).Scan(&id, &attempt, &by, &why))
	assert.Equal(t, "failed", id)
	assert.Equal(t, []string{by}, failed.AttemptedBy)
	assert.True(t, strings.HasPrefix(why, "JobCancelError: debate: authentication: "), why)

	how.set("failed", nil)
	retried, err := host.client(t).JobRetry(t.Context(), failed.ID)
	require.NoError(t, err)
	assert.Equal(t, retried.ID, host.seen(t, "failed", "completed, attempt 2 of 25").ID)
	assert.Equal(t, flow.StateCompleted, state(t, engine, "failed"))

	how.set("far", nil)
	require.NoError(t, engine.Control(t.Context(), "far", flow.Retry{}))
	assert.Equal(t, flow.StateCompleted, finished(t, engine, "far").State)
	require.NoError(t, engine.Control(t.Context(), "paused", flow.Resume{}))
	assert.Equal(t, flow.StateCompleted, finished(t, engine, "paused").State)
	require.NoError(t, host.store.Release(t.Context(), "leased", "somebody else"))
	assert.Equal(t, flow.StateCompleted, finished(t, engine, "leased").State)
}

// logOf returns the events of a debate.
func logOf(t testing.TB, b *base, id string) (events []flow.Event) {
	t.Helper()
	f := debate.DebateFlow()
	for event, err := range b.store.Read(t.Context(), id, 0) {
		require.NoError(t, err)
		event, err = f.DecodeEvent(event)
		require.NoError(t, err)
		events = append(events, event)
	}
	return events
}

// Who cancels a job that is worked pauses its debate: the calls in flight finish, and no other begins. Who cancels a job that waits pauses
// its debate as well. No new job takes their place. Who retries the job resumes the debate.
func TestACancelledJobPausesItsDebate(t *testing.T) {
	p := newPlace(t)
	host := p.opened(t, worker.Options{})
	engine, calls := engineOn(host.store, nil), newGate(t)
	submit(t, engine, debating("waits"))
	waits, err := host.client(t).JobCancel(t.Context(), host.of(t, "waits").ID)
	require.NoError(t, err)
	assert.Equal(t, rivertype.JobStateCancelled, waits.State)
	own := p.opened(t, worker.Options{})
	w := working(t, own, engineOn(own.store, calls.pass), worker.Config{})
	eventually(t, "the debate of the job that waited is paused", func() bool { return state(t, engine, "waits") == flow.StatePaused })

	submit(t, engine, debating("worked"))
	eventually(t, "a call is in flight", func() bool { return calls.asked() > 0 })
	_, err = w.Client().JobCancel(t.Context(), host.of(t, "worked").ID)
	require.NoError(t, err)
	eventually(t, "the debate of the job that was worked is paused", func() bool { return state(t, engine, "worked") == flow.StatePaused })
	asked := calls.asked()
	calls.open()
	worked := host.seen(t, "worked", "cancelled, attempt 1 of 25: JobCancelError: job cancelled remotely")
	assert.Len(t, flows.Results(logOf(t, host, "worked")), asked, "the calls in flight have finished")
	for _, job := range []*rivertype.JobRow{waits, worked} {
		var args worker.Args
		require.NoError(t, json.Unmarshal(job.EncodedArgs, &args))
		var reasons []string
		for _, event := range logOf(t, host, args.ID) {
			if to, ok := event.Body.(*flow.Transition); ok {
				reasons = append(reasons, to.Evidence)
			}
		}
		assert.Contains(t, strings.Join(reasons, "\n"), fmt.Sprintf("job %d was cancelled in River", job.ID))
		_, err := host.client(t).JobRetry(t.Context(), job.ID)
		require.NoError(t, err)
		assert.Equal(t, flow.StateCompleted, finished(t, engine, args.ID).State)
		host.seen(t, args.ID, "completed")
		assert.Equal(t, 1, host.count(t, "river_job WHERE args->>'id' = '"+args.ID+"'"))
	}
	for id, times := range calls.asks {
		assert.Equal(t, 1, times, id)
	}
}

// A damaged debate is tried again and again, where it is seen, each time after its quarantine, and keeps no other from its end.
func TestADamagedDebate(t *testing.T) {
	p := newPlace(t)
	host := p.opened(t, worker.Options{})
	engine := engineOn(host.store, nil)
	submit(t, engine, debating("damaged"))
	host.execute(t, `UPDATE debate_commit SET body = replace(body, '"seq"', '"sea"')`)
	own := p.opened(t, worker.Options{})
	working(t, own, engineOn(own.store, nil), worker.Config{})
	eventually(t, "it was tried", func() bool { return len(host.of(t, "damaged").Errors) > 0 })
	submit(t, engine, debating("sound"))
	finished(t, engine, "sound")
	job := host.seen(t, "damaged", "retryable, attempt 1 of 25")
	assert.Greater(t, job.ScheduledAt.Sub(*job.AttemptedAt), 20*time.Second, "it was tried again before its quarantine of 30 s is over")
	host.execute(t, `UPDATE debate_commit SET body = replace(body, '"sea"', '"seq"')`)
	require.NoError(t, host.store.SetQuarantine(t.Context(), "damaged", store.Quarantine{}))
	finished(t, engine, "damaged")
	assert.Equal(t, 1, host.count(t, "river_job WHERE args->>'id' = 'damaged'"))
}

// Controls that are given while jobs end wake each debate.
func TestNoControlIsMissed(t *testing.T) {
	const debates, rounds = 8, 6
	p := newPlace(t)
	host := p.opened(t, worker.Options{})
	control := engineOn(host.store, nil)
	own := p.opened(t, worker.Options{})
	working(t, own, engineOn(own.store, slowly(25*time.Millisecond)), worker.Config{})
	var all sync.WaitGroup
	for i := range debates {
		config := debating(string(rune('a' + i)))
		config.Rounds = 300
		submit(t, control, config)
		all.Go(func() {
			for range rounds {
				if !assert.NoError(t, control.Control(t.Context(), config.ID, flow.Pause{})) {
					return
				}
				time.Sleep(time.Duration(i) * 20 * time.Millisecond) //nolint:forbidigo // the moment at which the job ends is hit by chance
				if !assert.NoError(t, control.Control(t.Context(), config.ID, flow.Resume{})) {
					return
				}
			}
			assert.NoError(t, control.Control(t.Context(), config.ID, flow.Stop{}))
		})
	}
	all.Wait()
	for i := range debates {
		finished(t, control, string(rune('a'+i)))
	}
}

// The time of a debate that waits for a person ends by a job, which holds no place before.
func TestAPersonIsAwaitedNoLongerThanTheBudget(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	host := p.opened(t, worker.Options{})
	control := engineOn(host.store, nil)
	own := p.opened(t, worker.Options{})
	working(t, own, engineOn(own.store, nil), worker.Config{})
	config := asking("asked")
	config.Budget = &debate.Budget{HardTime: 7 * time.Second}
	submit(t, control, config)
	host.seen(t, "asked", "scheduled, attempt 0 of 25")
	assert.Equal(t, flow.StateAwaitingInput, state(t, control, "asked"))
	for info, err := range control.List(t.Context(), debate.Filter{}) {
		require.NoError(t, err)
		assert.Empty(t, info.Owner, "the lease is released")
	}
	job := host.seen(t, "asked", "cancelled, attempt 1 of 25: JobCancelError: debate: ")
	record, err := control.Record(t.Context(), "asked")
	require.NoError(t, err)
	require.Equal(t, flow.StateError, record.State)
	assert.Equal(t, provider.KindCostLimit, record.Failure.Kind)
	assert.Contains(t, shown(job), string(provider.KindCostLimit))
	assert.GreaterOrEqual(t, record.LastAt.Sub(record.StartedAt), 7*time.Second)
}
