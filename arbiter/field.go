package arbiter

import "github.com/agonist-dev/debate/prompt"

// What the arbiter and the agents answer: one list of fields is the instruction and the schema that is sent. Reasons come before the
// decisions that rest on them, and the work before the mark of it.

// Fields of a ruling.
const (
	fieldReason  = "reason"
	fieldMove    = "move"
	fieldAgents  = "agents"
	fieldSummary = "summary"
)

// rulingFields returns the fields of a ruling: a summary among them if it may complete the task. The words name the legal moves by a
// placeholder, because they are rendered once for the work.
func rulingFields(moves []Move, agents []string, completes bool) prompt.Fields {
	out := prompt.Fields{
		{
			Name: fieldReason,
			Ask: "first what the task still lacks; then, for those who act next, what to do, with what, and how it is known to be done: " +
				"at most " + prompt.Count(mostReason, "character") + ", and all that they learn of your intention",
		},
		{Name: fieldMove, Kind: prompt.Choice, Names: moveNames(moves), Ask: "one of " + prompt.Names},
		{Name: fieldAgents, Kind: prompt.Texts, Names: agents, Ask: "for select: who acts next, by name; else []"},
	}
	if completes {
		out = append(out, prompt.Field{
			Name: fieldSummary,
			Ask: "for complete: the result, as the people who set the task will read it, in at most " +
				prompt.Count(mostSummary, "character") + `; else ""`,
		})
	}
	return out
}

// moveNames returns moves as answers name them.
func moveNames(moves []Move) []string {
	out := make([]string, len(moves))
	for i, m := range moves {
		out[i] = string(m)
	}
	return out
}

// resultFields returns the fields of an agent's result. The output is the first one, so that readers see it as it is written.
func resultFields(agents []string) prompt.Fields {
	return prompt.Fields{
		{
			Name: fieldOutput,
			Ask: "the work itself, in full, if it is text: nobody sees anything else that you write. If you worked with tools: what you did, " +
				"where it is, what you checked. If you could not: why",
		},
		{Name: "success", Kind: prompt.Truth, Ask: "true only if the assignment is done and you have seen that it is"},
		{
			Name: "planUpdates", Kind: prompt.Object, Optional: true,
			Ask: "only if there is a plan to make or to change: it goes into the steps; what it leaves out stays as it is", Of: planFields(agents),
		},
	}
}

func planFields(agents []string) []prompt.Field {
	return []prompt.Field{
		{Name: "steps", Kind: prompt.List, Optional: true, Ask: "those that are new or change", Of: []prompt.Field{
			{Name: "index", Kind: prompt.Number, Ask: "from 0; that of a new step is the number of steps before it"},
			{Name: "description", Optional: true, Ask: "what is to be done"},
			{
				Name: "status", Kind: prompt.Choice, Optional: true, Ask: `"pending", "in_progress", "complete", "failed" or "skipped"`,
				Names: []string{string(Pending), string(InProgress), string(Complete), string(StepFailed), string(Skipped)},
			},
			{Name: "agent", Kind: prompt.Choice, Optional: true, Ask: "the name of the agent who is to do it", Names: agents},
		}},
		{Name: "currentStepIndex", Kind: prompt.Number, Optional: true, Ask: "the step to be done next"},
		{Name: "isComplete", Kind: prompt.Truth, Optional: true, Ask: "whether nothing of the plan is left"},
	}
}
