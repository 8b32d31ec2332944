// Package river works on debates by jobs of River (github.com/riverqueue/river), in the PostgreSQL or SQLite that has the debates
// already. Nothing else has to run. Any number of workers on any number of machines share the debates.
//
//	db, err := sql.Open("pgx", url)
//	jobs, err := river.New(db, riverdatabasesql.New(db), river.Options{})
//	store, err := debatesql.Options{OnWake: jobs.OnWake}.OpenPostgres(ctx, url)
//	err = jobs.Migrate(ctx) // River's tables
//
//	engine := &debate.Engine{Store: store, Providers: providers}
//	worker, err := jobs.Worker(engine, river.Config{})
//	err = worker.Start(ctx)
//	…
//	err = worker.Stop(ctx) // drains
//
// A host program that only submits debates and gives controls has no worker: it opens the store with OnWake, and calls
// [debate.Engine.Submit] and [debate.Engine.Control]. To submit, its engine needs the same providers, judges, tools, context
// managers and detectors as the workers', as far as the configs name them. For controls it needs none, except the provider of a
// model that an amendment or an answer names.
//
// # Jobs
//
//   - A debate has one unfinished job at most. Its arguments are the id of the debate; all else is in the debate's log.
//   - What gives a debate work inserts its job in the same transaction: its start, an answer, another control. If the debate
//     has a job that waits, that job becomes due. If its job is being worked, nothing happens: that job looks at the end of the log
//     before it ends, in the transaction in which it ends.
//   - A job lasts as long as the debate has work in this worker. It ends when the debate is over, paused, in the error state or waits
//     for a person: then the debate holds no place, and no lease. If a person is awaited and the budget limits the time, the next job
//     is due when that is over.
//   - If nothing is in flight and the next call is due after [Config].Far, the debate is released. Its next job is due at that
//     time. The wait for an outage (Patience) does not run while no process holds a debate.
//   - A debate that another process holds is tried again after a lease.
//   - A debate that cannot be opened goes into back-off, from a second to ten minutes. Its job has the tag [FailingTag], and
//     [Trouble] in its metadata. A worker that lacks a provider holds its own places back, so that the jobs go to others. No
//     job of a debate is ever discarded: each attempt is a job of its own.
//   - A job of a debate that does not exist is canceled, with an error that says so.
//
// # Workers that disappear
//
// Each worker has a lease in the debates' store, under its own name. Every [Config].Sweep one of the workers looks at all unfinished
// jobs and at the debates that have work and no lease. It replaces the jobs of workers without a lease, gives debates without a job
// one, and makes jobs available whose time has come. So a debate whose worker is killed continues after four thirds of
// Engine.Lease and one sweep, whichever of River's clients is the leader then.
//
// River's rescuers take no part: they go by the age of a job only. The rescuers of workers never touch the jobs of debates, which
// have no time limit, whatever RescueStuckJobsAfter says; the host program's jobs in the same client are rescued as usual. The
// rescuer of another program on River's tables discards jobs of a kind that it does not know, after an hour by default. So each
// worker renews the time at which its jobs were taken, at least every 20 s, so that they never look old to that rescuer
// (TestARescuerOfAnotherProgram). If no worker runs for longer than that program's RescueStuckJobsAfter, it may discard the jobs
// of workers that were killed. The next sweep gives their debates new ones.
//
// Whatever becomes of jobs, a debate is safe. Only the holder of its lease makes its calls, and each step is appended at the
// end of the log or not at all. A job that is worked twice, late or never changes when a debate continues, but not how.
//
// All times of jobs are those of the database, and so are those of events. A worker whose clock is off delays nothing, and limits of time
// end nothing by its clock (TestWorkersWhoseClocksAreOff).
//
// # Queues
//
// [Options].Route gives each debate a queue and a priority, for example by a label that names a tenant. [Config].Queues bounds how many
// debates of each queue a worker has at a time. [Config].Places bounds them over all queues, which then share the places: queues with
// waiting jobs get equal parts, and no place is kept for a queue without. River fetches all jobs of priority 1 in a queue before
// those of priority 2.
//
// [debate.Engine.Redact] may replace a label's value. A job that exists keeps its queue, and so do the jobs that follow it. Jobs
// that are inserted later go where Route sends the replacement. So route by values that need no redaction, such as a tenant's number.
//
// # PostgreSQL and SQLite
//
// On PostgreSQL, riverdatabasesql.NewWithPgxListener lets a job begin within some 0.1 s. Without a listener, workers poll (once a
// second unless [Config].River says otherwise). On SQLite, give River's *sql.DB one connection, immediate transactions and a
// busy time-out, as examples/worker does, and open the store before [Jobs.Migrate].
//
// # What to watch
//
// [Worker.Figures] has the figures of one worker and of the queue, and [Jobs.Queue] those of the queue alone. Package otel makes
// metrics of them: observer.Worker(worker). [Worker.Stats] has the counts of one worker in more detail, without the database;
// expvar.Func(func() any { return worker.Stats() }) publishes them. In the database, jobs of
// kind "debate" that are available and old show that places are missing; those with [FailingTag] name debates that cannot
// be opened. River deletes finished jobs after a day (River's CompletedJobRetentionPeriod).
//
// Jobs of kind "debate_sweep", in the queue "debate_sweep", are the sweeps: one for each [Config].Sweep, whichever worker works it,
// so some 8,600 finished rows a day with a Sweep of 10 s. They need no attention, and may be deleted once they are finished. While their
// queue is paused nothing is swept; the first sweep after that deletes those that wait.
package river
