package deliberation

import (
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
)

// What agents and the judge answer in JSON: one list of fields is the instruction and the schema that is sent. What a mark or a ranking
// rests on comes before it. The words are rendered once for a deliberation, so who is ranked stands there as a placeholder.

// questionFields returns the fields of an agent's questions.
func questionFields(most int) prompt.Fields {
	return prompt.Fields{{
		Name: "questions", Kind: prompt.Texts, Ask: "at most " + prompt.Count(most, "question") + "; empty if nothing is unclear",
	}}
}

// confidenceFields returns the fields of the judge's opinion on whether the agents agree.
func confidenceFields() prompt.Fields {
	return prompt.Fields{
		{Name: "disagreements", Kind: prompt.Texts, Ask: "every point on which two of them would lead to different work"},
		{Name: "reasoning", Ask: "what a further round could still change"},
		{
			Name: "confidence", Kind: prompt.Number,
			Ask: "0 to 100, how sure you are that it would change nothing important: from 90 only if nothing important is on your list, " +
				"below 50 if something on it decides whether the problem is solved",
		},
	}
}

// unmetBound says in words what [unmet] checks.
const unmetBound = "; at most 40 while a major requirement is not fulfilled"

// requirementFields returns the field that lists the requirements. by is what fulfils them.
func requirementFields(by string) prompt.Field {
	return prompt.Field{
		Name: "requirements", Kind: prompt.List, Ask: "each requirement of the problem", Of: []prompt.Field{
			{Name: "text", Ask: "the requirement"},
			{Name: "note", Ask: "how " + by + " it, or what is missing"},
			{Name: "major", Kind: prompt.Truth, Ask: "whether the problem is unsolved without it"},
			{Name: "fulfilled", Kind: prompt.Truth, Ask: "whether " + by + " it"},
		},
	}
}

// qualityFields returns the fields of the judge's mark of the proposals.
func qualityFields() prompt.Fields {
	return prompt.Fields{
		requirementFields("the proposals, taken together, fulfil"),
		{Name: "reasoning", Ask: "what they solve well, what is missing, and how much that matters"},
		{Name: "quality", Kind: prompt.Number, Ask: "0 to 100, how far they solve the problem" + unmetBound},
	}
}

// voteFields returns the fields of a ranking of these proposals.
func voteFields(ids []string) prompt.Fields {
	return prompt.Fields{
		{Name: "reasoning", Ask: "what decides between them"},
		{Name: "ranking", Kind: prompt.Texts, Names: ids, Ask: "the ids of their authors, " + prompt.Names + ": the best first, each once"},
	}
}

// solutionFields returns the fields of a solution. What it fulfils is asked for once it is written.
func solutionFields() prompt.Fields {
	const notes = "short notes beside it; [] where there is nothing to add"
	return prompt.Fields{
		{Name: "solution", Ask: "in Markdown, so that it can be acted on alone"},
		requirementFields("the solution above fulfils"),
		{Name: "implementation", Kind: prompt.Texts, Ask: notes},
		{Name: "tradeoffs", Kind: prompt.Texts, Ask: notes},
		{Name: "recommendations", Kind: prompt.Texts, Ask: notes},
		{Name: "openQuestions", Kind: prompt.Texts, Ask: notes},
		{Name: "confidence", Kind: prompt.Number, Ask: "0 to 100, how sure you are that it would work as written" + unmetBound},
	}
}

// votedFields returns the fields of the vote that a call asks for. Before the votes have begun they name all whom it could rank. The
// instruction of an old log names nobody, and then its schema does not either.
func votedFields(r *flow.Record, c *flow.Call) prompt.Fields {
	if !strings.Contains(r.Text("ask."+schemaVote), prompt.Names) {
		return voteFields(nil)
	}
	b := read(r)
	if b.Working() != flow.StateCompleting {
		b = b.ended()
	}
	return voteFields(idsOf(b.ranked(c.By, slices.Index(b.voters(), c.By))))
}

// always makes AnswerOf.Fields of fields that are the same in each call.
func always(fields prompt.Fields) func(*flow.Record, *flow.Call) prompt.Fields {
	return func(*flow.Record, *flow.Call) prompt.Fields { return fields }
}

func idsOf(all []*work) []string {
	out := make([]string, len(all))
	for i, w := range all {
		out[i] = w.ID
	}
	return out
}
