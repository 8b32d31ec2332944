// Package arbiter is the flow of arbitrated work: an arbiter decides which agent acts next, agents work with tools, and the
// arbiter evaluates what they report, until the task is complete.
//
//	engine := &debate.Engine{
//		Providers: …,
//		Tools:     …, // those that the agents name
//		Flows:     map[string]*debate.Flow{arbiter.FlowName: arbiter.Flow()},
//	}
//	session, err := engine.Start(ctx, arbiter.Config{
//		Task:    "Write and test a function that …",
//		Arbiter: arbiter.Arbiter{Model: "anthropic/claude-sonnet-4-5"},
//		Agents:  agents, // in Go, or from files with package agentfile
//	})
//
// # Course
//
// The states are [StateSelecting], [StateExecuting], [StateEvaluating] and [StateRecovering]; [Flow] has the table of rules.
// A decision is one of the four moves of [Move]. Which of them are legal depends on what has happened: retry needs a failure,
// continue and complete need an execution. If an answer is not legal, the arbiter is asked once more. After an evaluation the
// order is: complete, the limit of iterations, retry. A select starts the agents without another question.
//
// An execution is a call of an agent that may use its tools in several replies and ends with a [Result]: whether it was a
// success, its output, and what changes in the [Plan]. The next execution of the same agent is shown again how it has used its tools
// before, up to 64 KiB of the newest uses. Outputs are turns: all agents read those of the others, and
// Config.Context keeps them within the models' windows. Agents that are selected together do not read each other's output until
// all have ended, and what they report of the plan is applied in the order of their selection.
//
// # Ends
//
// The work is complete when the arbiter has said so; [Work.Summary] then returns its summary. Config.MaxIterations, the host
// program or a person may end it earlier, and Record.EndedEarlyBy names who did. Failures of the arbiter, failed executions and
// results without success count as failures. After Config.MaxFailures of them in a row the work is in the error state;
// Session.Retry leaves it and resets the count. Failures of kinds rate_limit and network that outlast Config.Patience lead
// back to the arbiter; about others, Config.OnFailure or a person decides.
//
// # Inputs
//
// [ForceAgent], [SkipStep] and [RerunStep] steer the work from outside, also while it is paused, waits for a person or has
// failed. None of them disturbs an agent that is executing.
//
// # Reading
//
// [Of] returns the [Work] of a record: the plan, the decisions, and the executions with their times, tokens, costs and uses of
// tools. The hooks of package flow/progress call back while events are read: the result of a job is a [Decision], or a turn whose
// result [ResultOf] returns. [Func] lets a Go function decide, such as [RoundRobin]; with Arbiter.Person a person does.
package arbiter
