package deliberation

import (
	"slices"

	"github.com/agonist-dev/debate/flow"
)

// Node is a state that a host program adds to the flow.
type Node struct {
	// State is the name of the state. The flow must not have it yet.
	State flow.State
	// Step is the work of the state. Calls returns the calls that are missing, as in any flow. If Next is nil, the flow
	// continues when no call is missing. A call of Slot 0 is placed between the critiques and the refinements of its
	// round, or behind all of the last round. Several calls about the same agent need slots of their own.
	Step flow.Step
	// On is the trigger that leads on: "<state>Done" if empty. If Next is set, it fires this trigger.
	On flow.Trigger
	// Timed puts the calls of the node under the time limit of the round. Each round then keeps a part of its time for the node,
	// also one in which the node is not reached.
	Timed bool
}

// Insert puts a node behind a state of the flow. A rule that led from this state to another state of the flow now leads
// to the node, and the node leads there. Rules that end the rounds, or stay in the state, do not change. So the node is
// skipped when too few agents are left, or when the rounds are over, unless it follows AfterRounds.
//
// A node can follow
//
//   - StatePlanningRound: it begins the round
//   - StateSummarizing, StateProposing, StateCritiquing or StateRefining
//   - StateEvaluating: only if another round is due
//   - StateClarifying or StateAnswering, which count as one here: the node follows once no agent asks any more,
//     before the first round, also if the clarification is off
//   - AfterRounds, which stands for all states in which the rounds can end: the node comes between the last round and
//     the solution, once. Record.Reason already says why the rounds have ended. If a limit or the host program ends
//     them, the node is skipped.
//   - another node
//
// The results of the node's calls are turns of the kind that the calls name. If a turn has an agent as its target, and
// comes before refining in the same round, that agent reads it when it refines. It becomes part of the agent's history.
// A turn without a target is read by the synthesis. Votes and merges read the proposals alone. [Deliberation.Standing]
// returns the present proposals. Set Call.View to None if the instruction holds all that the call needs. Set OnFail.Skip
// if the deliberation can continue without the result.
//
// The node may make calls of any kind, so Insert clears Flow.Kinds: failure rules may then name any kind.
//
// Insert changes neither Flow.Name nor Flow.Version. A host program that stores deliberations must change one of them.
// Otherwise each of the two flows silently continues logs of the other.
//
//   - With a Version above that of the plain flow, and Accepts equal to it, each of the two flows refuses the other's logs. With the
//     Accepts of the plain flow, the flow continues logs of the plain flow.
//   - With a Name of its own, both flows can be registered, and [flow.Named] starts a config with this one.
//
// The error is of kind validation. It says that the flow has no state after, and which it has; that it has a state of the node's name
// already; or that it leads from after to more than one state.
func Insert(f *flow.Flow, after flow.State, n Node) error {
	bad := func(format string, args ...any) error { return invalidf("insert", string(n.State), format, args...) }
	if f == nil {
		return bad("the flow is nil")
	}
	if n.On == "" {
		n.On = flow.Trigger(string(n.State) + "Done")
	}
	if n.State == "" || n.State == AfterRounds || lifecycle(n.State) || has(f, n.State) {
		return bad("%q is empty, or the name of a state already", n.State)
	}
	group, phase := together(f, after), slotAdded
	leads := func(rule flow.Rule) bool { return inner(f, rule, group) }
	if after == AfterRounds || !slices.ContainsFunc(f.Rules, leads) {
		leads, phase = func(rule flow.Rule) bool { return ending(rule, group) }, slotDigest
	}
	target, other := whither(f, leads)
	switch {
	case target == "":
		return bad("%w", flow.Unknown("state to follow", after, followed(f)...))
	case other != "":
		return bad("%s leads to both %s and %s", after, target, other)
	}
	f.Rules = slices.Clone(f.Rules)
	for i, rule := range f.Rules {
		if leads(rule) {
			f.Rules[i].To = n.State
		}
	}
	f.Rules = append(f.Rules, flow.Rule{From: n.State, On: n.On, To: target})
	if n.Step.Next == nil {
		n.Step.Next = func(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
			return n.On, flow.Exit{Calls: expectedIn(f, target, r)}, true
		}
	}
	f.Kinds = nil // those of the node are not known
	n.Step.Calls = slotted(n.Step.Calls, phase)
	f.Steps[n.State] = n.Step
	for _, from := range group {
		f.Steps[from] = announced(f.Steps[from], n.Step, func(on flow.Trigger, r *flow.Record) bool {
			for _, rule := range f.Rules { // in the order that the chart keeps: this foretells it, for the number of calls
				if rule.From == from && rule.On == on && (rule.When.OK == nil || rule.When.OK(r)) {
					return rule.To == n.State
				}
			}
			return false
		})
	}
	if n.Timed {
		f.Timed = slices.Insert(slices.Clone(f.Timed), placeOf(f, group), n.State)
	}
	return nil
}

// placeOf returns the place of a node in Timed: behind every timed state that leads to it within a round. after are the states
// that the node follows.
func placeOf(f *flow.Flow, after []flow.State) int {
	place, from := 0, slices.Clone(after)
	for i := 0; i < len(from); i++ {
		if at := slices.Index(f.Timed, from[i]); at >= 0 {
			place = max(place, at+1)
			continue
		}
		if from[i] == StatePlanningRound { // a round begins here
			continue
		}
		for _, rule := range f.Rules {
			if rule.To == from[i] && !slices.Contains(from, rule.From) {
				from = append(from, rule.From)
			}
		}
	}
	return place
}

// whither returns where some rules lead, and another state if they lead to more than one.
func whither(f *flow.Flow, leads func(flow.Rule) bool) (target, other flow.State) {
	for _, rule := range f.Rules {
		switch {
		case !leads(rule):
		case target == "":
			target = rule.To
		case target != rule.To:
			other = rule.To
		}
	}
	return target, other
}

// followed returns the states that a node can follow.
func followed(f *flow.Flow) []flow.State {
	all := []flow.State{AfterRounds}
	for state := range f.Steps {
		if !lifecycle(state) {
			all = append(all, state)
		}
	}
	return all
}

// has reports whether a rule of the flow names a state.
func has(f *flow.Flow, s flow.State) bool {
	return slices.ContainsFunc(f.Rules, func(rule flow.Rule) bool { return rule.From == s || rule.To == s })
}

// lifecycle reports whether a state is one of those that all flows share.
func lifecycle(s flow.State) bool {
	switch s {
	case flow.StateConfiguring, flow.StateValidating, flow.StateReady, flow.StateInitializing, flow.StateRunning,
		flow.StatePaused, flow.StateAwaitingInput, flow.StateCompleting, flow.StateCompleted, flow.StateCanceled,
		flow.StateError, flow.StatePrevious:
		return true
	default:
		return false
	}
}

// AfterRounds stands in [Insert] for all states in which the rounds can end.
const AfterRounds flow.State = "afterRounds"

// together returns the states that a node follows as if they were one: asking and answering take turns, and the rounds end
// in several.
func together(f *flow.Flow, after flow.State) []flow.State {
	switch after {
	case StateClarifying, StateAnswering:
		return []flow.State{StateClarifying, StateAnswering}
	case AfterRounds:
		var all []flow.State
		for _, rule := range f.Rules {
			if rule.To == flow.StateCompleting && !slices.Contains(all, rule.From) {
				all = append(all, rule.From)
			}
		}
		return all
	default:
		return []flow.State{after}
	}
}

// inner reports whether a rule leads from some states to another of the flow's, before the deliberation is over.
func inner(f *flow.Flow, rule flow.Rule, from []flow.State) bool {
	_, own := f.Steps[rule.To]
	return slices.Contains(from, rule.From) && !slices.Contains(from, rule.To) && own && rule.To != flow.StateCompleting &&
		rule.On != flow.TriggerReopen
}

// ending reports whether a rule leads from some states to the solution.
func ending(rule flow.Rule, from []flow.State) bool {
	return slices.Contains(from, rule.From) && rule.To == flow.StateCompleting
}

// slotted gives the calls of a node that name no slot the one of their target, in the place of a phase.
func slotted(calls func(*flow.Record) []*flow.Call, phase int) func(*flow.Record) []*flow.Call {
	if calls == nil {
		return nil
	}
	return func(r *flow.Record) []*flow.Call {
		made := calls(r)
		b, place := read(r), 0
		if phase == slotDigest {
			place = 1 // summaries have 0
		}
		for i := range made {
			if made[i].Slot == 0 {
				made[i].Slot = b.slot(phase, max(0, b.seat(made[i].Target)), place)
			}
		}
		return made
	}
}

// announced tells, where a step leads to another one than it did, how many calls that makes.
func announced(step, next flow.Step, there func(flow.Trigger, *flow.Record) bool) flow.Step {
	former := step.Next
	step.Next = func(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
		on, exit, ok := former(r)
		if ok && there(on, r) {
			exit.Calls = expected(next, r)
		}
		return on, exit, ok
	}
	return step
}

// expectedIn is how many calls a state is expected to make.
func expectedIn(f *flow.Flow, state flow.State, r *flow.Record) int {
	if state == flow.StateCompleting {
		return solutionSize(r)
	}
	return expected(f.Steps[state], r)
}

func expected(step flow.Step, r *flow.Record) int {
	if step.Calls == nil {
		return 0
	}
	return len(step.Calls(r))
}
