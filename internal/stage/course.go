package stage

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Everybody answers for all models of a debate. Speeches are marked with their speaker's name, so that a
// judge finds for the same one whatever label it bears.
func Everybody(all []debate.Participant) func(*provider.Request) scripted.Reply {
	return func(req *provider.Request) scripted.Reply {
		call := CallOf(req)
		usage := provider.Usage{Input: 100 + 10*len(req.Messages), Output: 50}
		if req.Schema == nil {
			return scripted.Reply{Text: mark(req.Self) + " speaks: " + news(call), Usage: usage}
		}
		names := recognised(all, LabelsIn(req.Schema.JSON), func(yield func(speaker, text string) bool) {
			for i := range req.Messages {
				if !yield(req.Messages[i].Speaker, req.Messages[i].Text) {
					return
				}
			}
		})
		return scripted.Reply{Text: Placed(req, found(req.Schema.JSON, KindOf(req), names, req.Self, call)), Usage: usage}
	}
}

// Outsider is a judge that is no model, and finds as they do.
func Outsider(all []debate.Participant) debate.Judge {
	return debate.JudgeFunc(func(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
		names := recognised(all, LabelsIn(task.Schema), func(yield func(speaker, text string) bool) {
			for _, turn := range task.Turns {
				if !yield(turn.Speaker, turn.Text) {
					return
				}
			}
		})
		return json.RawMessage(found(task.Schema, task.Kind, names, "cato", task.Call)), nil
	})
}

// found is a well-formed answer to a call with a schema.
func found(schema []byte, kind flow.CallKind, names []string, by, call string) string {
	switch kind {
	case debate.KindVerdict:
		return InShape(schema, strings.Replace(Verdict(names), "A close debate.", "So finds "+by+" in "+call+".", 1))
	case debate.KindBallot:
		return JSON(debate.BallotAnswer{Vote: []debate.Vote{debate.VoteFor, debate.VoteAgainst}[len(by)%2], Reasoning: "So feels " + by + "."})
	case debate.KindAssign:
		return JSON(PlanOf(NoonPosition, QuarterPosition))
	}
	answer := strings.Replace(Judgement(names, true), "Both made their case.", "So sees "+by+" in "+call+".", 1)
	if !strings.Contains(string(schema), `"criteria"`) {
		return answer
	}
	var tree map[string]any
	_ = json.Unmarshal([]byte(Judgement(names, true)), &tree)
	for i, m := range tree["assessments"].([]any) {
		each := m.(map[string]any)
		delete(each, "score")
		each["criteria"] = map[string]int{"wit": 9 - i, "sense": 4 + i}
	}
	return JSON(tree)
}

// mark is what a participant's speeches hold, and no label replaces.
func mark(name string) string { return "[" + strings.ToLower(name) + "]" }

// recognised yields the names under which a judge knows the participants, in the participants' order.
func recognised(all []debate.Participant, allowed []string, said func(yield func(speaker, text string) bool)) []string {
	var names []string
	for _, p := range all {
		known := p.Name
		for speaker, text := range said {
			if strings.Contains(text, mark(p.Name)) {
				known = speaker
				break
			}
		}
		if slices.Contains(allowed, known) {
			names = append(names, known)
		}
	}
	for _, name := range allowed { // who has said nothing
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
