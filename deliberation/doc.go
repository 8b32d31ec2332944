// Package deliberation is a flow in which agents solve a problem together. They ask a person what is unclear, propose,
// critique each other's proposals, and refine their own. After some rounds a solution is made of their proposals. The
// package uses only exported names of package flow.
//
// A [Config] describes a deliberation. An engine that has this package's [Flow] starts it:
//
//	engine := &debate.Engine{
//		Providers: …,
//		Flows:     map[string]*debate.Flow{deliberation.FlowName: deliberation.Flow()},
//	}
//	session, err := engine.Start(ctx, deliberation.Config{Problem: …, Agents: …, Judge: …})
//	record, err := session.Wait(ctx)
//	d, ok := deliberation.Of(record)
//	solution, by, ok := d.Solution()
//
// Engine.Validate checks a config without starting it, and reports each invalid field. Engine.Estimate computes the
// most that a deliberation can use. A [Deliberation] has what a report needs: the config, the prompts, clarifications,
// contributions, summaries, evaluations, votes and the solution. While it runs, the hooks of package flow/progress show its
// progress: [Activity] says what an agent does, and [Sizes] how long its summaries are. The turn of kind [KindSynthesis] has the
// solution as JSON.
//
// # Clarification
//
// An agent is a model, or a person (Agent.Person). Before the first round the agents may ask a person ([Clarification]). Equal questions of
// several agents are one. The config may hold answers that are known beforehand. Asking is optional. If an agent's call for questions
// fails, it can be skipped: a warning is recorded, and the agent counts as having no questions. The rounds begin even if the calls of all
// agents have failed. The rule for too few agents, below, applies to the rounds only.
//
// # Rounds
//
// In each round every agent has a proposal. In the first round it writes one. In later rounds its proposal is its
// refinement of the round before, without a call (ProposalsCarry), or a new one (ProposalsFresh). All critiques of a
// round are made at once, as [Topology] says. Then all refinements are made at once.
//
// If a call has failed for good, Config.OnFailure or a person decides what follows; without a decision the deliberation goes
// to the error state. A rule may skip an agent in a phase, or drop it, with a warning, as long as two agents are left. If a
// person's decisions leave fewer, the rounds end. Otherwise they end after Config.Rounds, or earlier: by the judge's
// confidence that the agents agree, or by its mark of the quality ([Termination]).
//
// # What agents read
//
// Every prompt holds the problem, the context, the clarifications and what the call acts on. Refinements and fresh
// proposals also hold the agent's own history: its proposals, the critiques of them, its refinements; or that of all
// agents, or none (Config.FullHistory). A history is summarised if that is expected to save input ([Summaries]). Texts of
// models and people are quoted between markers that their authors cannot know. docs/internal/flows.md lists what each kind of
// prompt contains.
//
// # Solution
//
// The [Solution] is made by the judge, by a vote, by merging the proposals in pairs, or by a [SynthesizerFunc]. It is
// checked against its schema, and against two rules that no schema can express. It lists at least one requirement.
// While a major requirement is not fulfilled, a confidence above 40 is refused, and the author is asked again.
//
// A rule may skip failed votes as long as half of the voters have voted, and failed merges as long as one succeeds. If the
// winner of the vote is skipped or dropped, the next author in the ranking writes the solution, and a warning says so.
//
// # More states
//
// [Insert] adds a state to the flow, such as one in which facts are checked between critiques and refinements. When an
// agent refines, it reads what was said about it in that state. A flow with such a state is another flow, and needs a
// Version or a Name of its own.
package deliberation
