// Package temporal runs debates, and conversations of other flows, on Temporal: each is a workflow.
//
//	engine := &debate.Engine{Store: store, Providers: …}
//	w := worker.New(connection, "debates", worker.Options{WorkerStopTimeout: time.Minute})
//	err := temporal.Register(w, engine)
//
//	debates := &temporal.Client{Engine: engine, Temporal: connection, TaskQueue: "debates"}
//	id, err := debates.Start(ctx, config)
//	err = debates.Control(ctx, id, debate.Pause{})
//
// The engine's store keeps the log of a debate, the only source of truth. Temporal keeps the id of the debate, the ids of calls in
// flight, and the number of the last event. No text of a debate is in a history. So histories stay small, and a reader of them
// does not learn what is debated. Every worker needs an engine on the same store.
//
// A payload codec ([go.temporal.io/sdk/converter.PayloadCodec]) on the connections of workers and clients encrypts these too. Search
// attributes, task queues and the id of a workflow stay readable, and so do messages of errors without a failure converter that encodes
// them.
//
// # Who does what
//
// A workflow repeats what activities have decided, and decides nothing. An activity makes one call and advances the debate with its
// outcome (Engine.Call); another one advances it after a timer, a signal or the loss of a worker (Engine.Advance). So a release of
// this library that decides differently can continue the debates of older ones: no workflow replays a decision.
//
//   - A call is an activity with one attempt. The debate's retry policy decides whether the call is made again, and the log
//     records that.
//   - A worker that is silent for Engine.Lease has lost its calls. They count as broken off and are made again. Temporal's SDK sends
//     heartbeats no more often than after 0.8 of that time, so a call of a worker that was killed is found lost after 3 to 15 s with
//     the default lease.
//   - A worker that lacks a provider, a flow or a tool leaves the call to another worker. Nothing is charged.
//   - A debate that is paused, or waits for a person, waits in its workflow. No worker keeps anything of it, and there is no lease.
//   - A debate in the error state waits for a retry, as long as [Client].FailAfter says. Then its workflow fails, so that it is seen
//     where failed workflows are looked for. No workflow is left for signals and updates; a [Client.Control] starts one again.
//   - A history that grows long is continued as new, between two calls.
//   - Each activity has a summary for Temporal's UI: the id of its call, or why the debate is advanced.
//
// # Versions
//
// Under Worker Versioning the workflow is of the kind AutoUpgrade: a debate moves to the workers of the current version. The tests of a
// release replay histories of each one before it. [Client.Options] can pin a debate with a VersioningOverride.
//
// # Controls
//
// [Client.Control] takes every control. Programs without an engine, in any language, send the update or the signal "control" with a
// [Control] to the workflow of the debate's id. An update is validated, waits until the control is in the log, and returns a
// [Status]. Temporal keeps what an update or a signal says, an answer's text included. A cancellation of the workflow cancels the
// debate. The query "status" returns a [Status].
//
// A program that has given a control by Engine.Control must send the signal "look" afterwards. Otherwise the workflow acts on the
// control only after the next outcome of a call. A control that breaks calls off is seen within a third of a lease in any case.
//
// # Tenants
//
// Debates of one task queue share the places of its workers: a tenant that starts a thousand debates at once delays all others. If the
// server has fairness, a key keeps the tenants apart in one queue; their activities have the key of their workflow:
//
//	debates.Options = func(info debate.Info, o *client.StartWorkflowOptions) {
//		o.Priority.FairnessKey = info.Labels["tenant"]
//	}
//
// With any server, [Client.Options] may give each tenant a task queue of its own (o.TaskQueue). A process serves all of them, with a
// Temporal worker for each queue on one engine:
//
//	for _, tenant := range tenants {
//		w := worker.New(connection, "debates-"+tenant, worker.Options{MaxConcurrentActivityExecutionSize: 10})
//		err := temporal.Register(w, engine)
//		…
//	}
//
// MaxConcurrentActivityExecutionSize is then how many calls of a tenant a process makes at a time. An activity is more than its call, so
// where Engine.MaxCalls bounds the calls, twice as many activities keep them all in flight.
//
// # Other processes
//
// The workflow has the lease of its debate while there is work. If a session of another process has it, the workflow waits until that
// session is closed; Temporal shows the reason beside the pending activity.
//
// A workflow that was terminated is started again by [Client.Resume], and the debate continues where its log ends. A workflow may be
// reset, but its log is not. The new run waits until the lease of the run before has expired, and the debate then continues where its
// log ends. Calls that were in flight are made again, and nothing that is recorded is. Temporal gives signals and updates after the
// point of the reset to the new run once more, and a control that still fits the state takes effect again: exclude them from the reset.
package temporal
