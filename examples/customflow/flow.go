package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/agonist-dev/debate/flow"
)

// The names of the flow. Those of triggers share one space with the triggers of the lifecycle.
const (
	asking    flow.State = "asking"
	answering flow.State = "answering"

	asked    flow.Trigger = "asked"
	answered flow.Trigger = "answered"
	walkout  flow.Trigger = "walkout" // the candidate no longer answers
	wrapUp   flow.Trigger = "wrapUp"  // an input: the host program has heard enough
)

// interviewFlow returns the flow of interviews. In each round the interviewer asks and the candidate answers. At the
// end a grader gives a mark.
func interviewFlow() *flow.Flow {
	more := flow.Guard{Name: "moreQuestions", OK: func(r *flow.Record) bool {
		_, enough := ended(r)
		return r.Round < r.Config().(*Config).Questions && !enough
	}}
	heard := flow.Guard{Name: "hasAnswer", OK: func(r *flow.Record) bool { return len(r.Turns) > 1 }}
	return &flow.Flow{
		Name: flowName, Version: 1, Start: asking,
		Rules: []flow.Rule{
			{From: asking, On: asked, To: answering},
			{From: answering, On: answered, To: asking, When: more},
			{From: answering, On: answered, To: flow.StateCompleting},
			{From: answering, On: walkout, To: flow.StateCompleting},
			{From: flow.StateRunning, On: wrapUp, To: flow.StateCompleting, When: heard},
			{From: flow.StatePaused, On: wrapUp, To: flow.StateUnchanged}, // it is only recorded
		},
		Steps: map[flow.State]flow.Step{
			flow.StateInitializing: {Next: func(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
				return flow.TriggerInitialized, flow.Exit{Round: r.NextRound(2), Calls: 1}, true
			}},
			asking: {Calls: flow.Missing(question), Next: flow.Then(asked)},
			answering: {Calls: flow.Missing(answer), Next: func(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
				if more.OK(r) {
					return answered, flow.Exit{Round: r.NextRound(2), Calls: 1}, true
				}
				return answered, flow.Exit{Reason: flow.EndRounds, Evidence: fmt.Sprintf("%d questions are answered", r.Round), Calls: 1}, true
			}},
			flow.StateCompleting: {Calls: flow.Missing(grade)}, // without a Next it fires TriggerCompleted
		},
		Inputs: []flow.Trigger{wrapUp}, Admit: admit,

		Schemas: map[string]*flow.Schema{"mark": markSchema()},
		Bodies:  []flow.Body{&Graded{}},
		Open:    func(r *flow.Record, _ *flow.Start) (flow.Projection, error) { return &Interview{Record: r}, nil },

		Decode: flow.DecodeTo[Config], Normalize: flow.NormalizeTo(defaults), Check: check, Fixed: fixed, Texts: texts, Owes: owes,
		Estimate: flow.EstimateRounds(grade, question, answer),
	}
}

// call returns the one call of a step, with who is asked, which model, and how.
func call(p *Person, c *flow.Call) []*flow.Call {
	p.seat("").Ask(c)
	return []*flow.Call{c}
}

func question(r *flow.Record) []*flow.Call {
	return call(&r.Config().(*Config).Interviewer, &flow.Call{
		ID: fmt.Sprintf("r%d.question", r.Round), Kind: "question", Round: r.Round, Slot: 0, System: r.Text("interviewer"),
		Last: func(r *flow.Record) string { return fmt.Sprintf("Ask question %d. Ask one thing only.", r.Round) },
	}) // without an OnFail, nothing can be left out: a person is asked, or the interview goes to the error state
}

func answer(r *flow.Record) []*flow.Call {
	c := r.Config().(*Config)
	return call(&c.Candidate, &flow.Call{
		ID: fmt.Sprintf("r%d.answer", r.Round), Kind: "answer", Target: c.Interviewer.Name, Round: r.Round, Slot: 1,
		System: r.Text("candidate"),
		Last:   func(*flow.Record) string { return "Answer the last question." },
		OnFail: flow.OnFail{Fire: walkout},
	})
}

func grade(r *flow.Record) []*flow.Call {
	return call(&r.Config().(*Config).Grader, &flow.Call{
		ID: "grade", Kind: "grade", Schema: "mark", System: r.Text("grader"),
		Last: func(r *flow.Record) string {
			early := ""
			if why, ok := ended(r); ok { // somebody's words: they are quoted, as the messages are
				early = "The interview was ended early:\n" + r.Quote("host", why) + "\n"
			}
			return early + "Mark the candidate, as JSON that matches the schema."
		},
		OnFail: flow.OnFail{Drop: flow.PersonOnly}, // only a person may decide to do without a mark
	})
}

// owes returns what the interview lacks of what its config asks for. Whoever ends it early, the grade is still owed.
func owes(r *flow.Record) []string {
	if len(r.Turns) > 0 && len(flow.Missing(grade)(r)) > 0 {
		return []string{"the grade"}
	}
	return nil
}

// admit refuses what the grader could not read.
func admit(_ *flow.Record, s *flow.Sent) error {
	var why string
	if err := json.Unmarshal(s.Payload, &why); err != nil || len(why) > 1000 {
		return &flow.Error{Field: "payload", Err: errors.New("is no JSON text of at most 1000 bytes")}
	}
	return nil
}

// ended reports whether the host program has heard enough, and why. What is sent while the interview is paused fires
// nothing, so the guard of the next round asks too.
func ended(r *flow.Record) (why string, ok bool) {
	for _, input := range r.Inputs {
		if input.Trigger == wrapUp {
			_ = json.Unmarshal(input.Payload, &why) // a log from elsewhere may hold anything
			return why, true
		}
	}
	return "", false
}

// texts renders the system prompts. They do not change during an interview.
func texts(s flow.Setup) (map[string]string, error) {
	c := s.Config.(*Config)
	rule := s.FenceRule() + "\n\n"
	return map[string]string{
		"interviewer": rule + "You are " + c.Interviewer.Name + ". You interview somebody for this position: " + c.Position,
		"candidate":   rule + "You are " + c.Candidate.Name + ". You apply for this position: " + c.Position,
		"grader":      rule + fmt.Sprintf("You mark how well %s fits this position, from 0 to 100: %s", c.Candidate.Name, c.Position),
	}, nil
}
