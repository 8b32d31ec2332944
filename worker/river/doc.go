// Package river works on debates by jobs of River (github.com/riverqueue/river), in the PostgreSQL that has the debates already. Any
// number of workers on any number of machines share the debates.
//
//	jobs, err := river.New(riverpgxv5.New(pool), river.Options{})
//	err = jobs.Migrate(ctx) // River's tables, in a schema of their own
//	store, err := sql.Options{OnWake: jobs.OnWake}.OpenPostgres(ctx, url)
//	worker, err := jobs.Worker(&debate.Engine{Store: store, Providers: providers}, river.Config{})
//	err = worker.Start(ctx)
//
// A program that only submits and gives controls has OnWake, and no worker. SubmitTx of package store/sql submits in a host's transaction.
//
// A debate has one unfinished job at most, which is worked as long as the debate needs a process. It ends as River means it:
//   - completed: the debate is over, paused, or waits for a person.
//   - scheduled: the next call, or the end of a person's time, is due later; or another process has the debate.
//   - retryable (available, if its time comes within seconds): the debate could not be opened or continued. After each attempt the job
//     waits twice as long, an hour at most, and at least until a quarantine is over. After the 25th it is discarded, and a new job takes
//     its place.
//   - cancelled: the debate is in the error state, and has this failure. Who retries the job retries the debate. Who retries the debate by
//     a control makes a new job, and this one stays as it is.
//
// Who cancels a job pauses its debate, and calls in flight finish. If the job waits, that happens when its debate needs a process, unless
// River has deleted the job by then: a day later, by default. Who retries the job resumes the debate.
//
// Workers of one queue may differ in what they have, such as providers. If a worker lacks what a debate needs, the attempt fails, and
// debate_lacking in the job's metadata names the worker. Another worker of the queue that has a free slot and has not tried yet claims the
// job within seconds, however long the job would wait. Until debate_wanted, a minute later, the workers that are named give the job back
// at once. The failed attempt does not count then, so that each of many workers may try. When all have tried, or after 100 failures, the
// job waits as after any failure. If workers differ for long, [Options].Route can give each sort a queue.
//
// Each worker looks after the jobs of all: it inserts missing ones, rescues those whose workers have disappeared, and hurries those that a
// wrong clock has put off. A job that has outlived 25 workers waits longer after each one more, since it may be what ends them.
//
// Whatever becomes of jobs, only the holder of a debate's lease makes its calls. With a listener, as riverpgxv5 has, all queues of a worker
// together are polled once a second. Without one, each queue is. [debate.Engine.Redact] does not reach queues and tags: route and tag by
// numbers.
package river
