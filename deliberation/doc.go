// Package deliberation is a flow in which agents solve a problem together: they ask a person what is unclear, propose,
// critique each other's proposals, refine their own, and after some rounds a solution is made of what they have worked
// out. It is written on the public API of package debate alone.
//
// A [Config] describes a deliberation. An engine that has this package's [Flow] starts it:
//
//	engine := &debate.Engine{
//		Providers: …,
//		Flows:     map[string]*flow.Flow{deliberation.FlowName: deliberation.Flow()},
//	}
//	session, err := engine.Start(ctx, deliberation.Config{Problem: …, Agents: …, Judge: …})
//	record, err := session.Wait(ctx)
//	d, ok := deliberation.Of(record)
//	solution, by, ok := d.Solution()
//
// Engine.Validate checks a config before that, and names the fields that are wrong. Engine.Estimate says the most that a
// deliberation can use. A [Deliberation] has what a report needs: the config, the prompts, clarifications,
// contributions, summaries, evaluations, votes and the solution.
//
// # Clarification
//
// Before the first round the agents may ask a person ([Clarification]). To ask is optional: an agent that fails to
// say what it asks is warned of and has asked nothing, and however many have failed so, the rounds begin. The rule
// for too few agents, below, is one of the rounds: there somebody is missing whose proposal would be.
//
// # Rounds
//
// In a round every agent has a proposal: in the first it writes one, later it is what it refined in the round
// before, without a call (ProposalsCarry), or a new one (ProposalsFresh). All critiques of a round are made at once,
// by [Topology], then all refinements. An agent that fails is retried and then left out of that phase, with a
// warning; below two agents the rounds end. The rounds end after Config.Rounds, or before by the judge's confidence
// that the agents agree or its mark of the quality ([Termination]).
//
// # What agents read
//
// Every prompt holds the problem, the context, the clarifications and what the call acts on. Refinements and fresh
// proposals hold the agent's own history beside that: what it proposed, what was said of it, what it refined. A
// history is summarised where that is sure to save input ([Summaries]). What models and people have written stands
// between markers that they cannot know, as material. docs/flows.md lists what each kind of prompt contains.
//
// # Solution
//
// The [Solution] is made by the judge, by a vote of the agents, by merging the proposals in pairs, or by a
// [SynthesizerFunc]. It is checked against its schema, and by what no schema can say: it lists a requirement at least,
// and while a major one is unmet, a confidence above 40 is refused and asked for again.
//
// # More states
//
// [Insert] adds a state to the flow, such as one in which facts are checked between critiques and refinements. What
// is said there about an agent is read by that agent when it refines. A flow with such a state is another flow: it has
// a Version or a Name of its own.
package deliberation
