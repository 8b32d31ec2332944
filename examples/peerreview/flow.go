package main

import (
	"fmt"

	"github.com/agonist-dev/debate/flow"
)

const (
	drafting  flow.State = "drafting"
	reviewing flow.State = "reviewing"
	deciding  flow.State = "deciding"

	drafted  flow.Trigger = "drafted"
	reviewed flow.Trigger = "reviewed"
	decided  flow.Trigger = "decided"
)

// reviewFlow returns the flow of peer reviews.
func reviewFlow() *flow.Flow {
	revise := flow.Guard{Name: "revise", OK: func(r *flow.Record) bool { return decisionOf(r).Decision == "revise" }}
	return &flow.Flow{
		Name: flowName, Version: 1, Start: drafting,
		Rules: []flow.Rule{
			{From: drafting, On: drafted, To: reviewing},
			{From: reviewing, On: reviewed, To: deciding},
			{From: deciding, On: decided, To: drafting, When: revise},
			{From: deciding, On: decided, To: flow.StateCompleting},
		},
		Steps: map[flow.State]flow.Step{
			flow.StateInitializing: {Next: func(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
				return flow.TriggerInitialized, flow.Exit{Round: r.NextRound(len(r.Settings().Participants))}, true
			}},
			drafting:  {Calls: flow.Missing(draft), Next: flow.Then(drafted)},
			reviewing: {Calls: flow.Missing(reviews), Next: flow.Then(reviewed)},
			deciding: {Calls: flow.Missing(decide), Next: func(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
				if revise.OK(r) {
					return decided, flow.Exit{Round: r.NextRound(len(r.Settings().Participants))}, true
				}
				d := decisionOf(r)
				return decided, flow.Exit{Reason: flow.EndReason(d.Decision), Evidence: r.Line(d.Reasons, 200)}, true
			}},
			flow.StateCompleting: {Calls: flow.Missing(letter)},
		},
		Schemas: map[string]*flow.Schema{"decision": decisionSchema()},

		Decode: flow.DecodeTo[Config], Normalize: flow.NormalizeTo(defaults), Check: check, Texts: texts,
		Estimate: flow.EstimateRounds(letter, draft, reviews, decide), Owes: owes,
	}
}

func draft(r *flow.Record) []*flow.Call {
	task := "Write the paper: at most 300 words."
	if r.Round > 1 {
		task = "Write the paper again, as the editor and the reviewers ask."
	}
	return []*flow.Call{ask(r, "draft", "author", r.Config().(*Config).Author, task)}
}

// reviews returns the calls of all reviewers. They are made at once. A review is hidden until all are there.
func reviews(r *flow.Record) (calls []*flow.Call) {
	for i, p := range r.Config().(*Config).Reviewers {
		call := ask(r, "review", "reviewer", p, "Review the latest draft: what is wrong with it, and what must change?")
		call.Slot, call.Hidden = i+1, true
		call.OnFail = flow.OnFail{Skip: flow.PersonOnly} // only a person may decide to do without it
		calls = append(calls, call)
	}
	return calls
}

func decide(r *flow.Record) []*flow.Call {
	call := ask(r, "decision", "editor", r.Config().(*Config).Editor, "Decide about the latest draft, as JSON that matches the schema.")
	call.Slot, call.Schema = 6, "decision"
	return []*flow.Call{call}
}

func letter(r *flow.Record) []*flow.Call {
	task := "Nobody has decided yet: the review was ended early. Write to the author where it stands."
	if d := decisionOf(r).Decision; d == "accept" || d == "reject" {
		task = "Write the author a letter with your decision: " + d + "."
	}
	call := ask(r, "letter", "editor", r.Config().(*Config).Editor, task)
	call.ID, call.Slot = "letter", 7
	return []*flow.Call{call}
}

// ask returns a call of this round.
func ask(r *flow.Record, kind flow.CallKind, role string, p Person, task string) *flow.Call {
	return &flow.Call{
		ID: fmt.Sprintf("r%d.%s.%s", r.Round, kind, p.Name), Kind: kind, By: p.Name, Model: p.Model, Round: r.Round,
		System: r.Text(role), Last: func(*flow.Record) string { return task },
	}
}

// owes returns what the review lacks when it is about to be completed.
func owes(r *flow.Record) []string {
	if len(r.Turns) > 0 && len(flow.Missing(letter)(r)) > 0 {
		return []string{"the letter to the author"}
	}
	return nil
}

// texts renders the system prompts. They do not change during a review.
func texts(s flow.Setup) (map[string]string, error) {
	prompt := func(role string) string {
		return s.FenceRule() + "\n\n" + role + "\nThe subject of the paper: " + s.Config.(*Config).Subject
	}
	return map[string]string{
		"author":   prompt("You are the author of a paper."),
		"reviewer": prompt("You review papers for a journal. Be exact and fair."),
		"editor":   prompt("You are the editor of a journal. You decide about papers by their reviews."),
	}, nil
}
