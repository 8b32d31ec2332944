// Command customflow holds a conversation of a kind of its own: an interviewer asks, a candidate answers, and at the end a grader gives
// a mark. A flow is states, rules between them, and the calls that each state still lacks. The engine gives it what debates get: events,
// a store, budgets, retries, pauses, restarts.
//
//	go run ./examples/customflow
//
// It prints:
//
//	Iris: What would you do on a night with fog?
//	Carl: Go up. Two boats have old radios.
//	Iris: And why, if nobody looks?
//	Carl: A tower that nobody climbs is a ruin.
//	[Gwen is asked again: hire is true with a score of 55, and 60 is needed]
//	Gwen: {"score":82,"hire":true,"why":"Thinks of the boats."}
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider/scripted"
)

const interviewer, candidate, grader = "Iris", "Carl", "Gwen"

// Config is what an interview is started with, as data that can be stored.
type Config struct {
	ID        string       `json:"id,omitempty"`
	Position  string       `json:"position"`
	Model     string       `json:"model"`               // "provider/model", of all three
	Questions int          `json:"questions,omitempty"` // 2 if 0
	Budget    *flow.Budget `json:"budget,omitempty"`
}

// Flow implements [flow.Config].
func (Config) Flow() string { return "interview" }

// Settings implements [flow.Config]. The grader is no participant: nobody speaks to it.
func (c Config) Settings() flow.Settings {
	return flow.Settings{
		ID: c.ID, Topic: "Interview: " + c.Position, Rounds: c.Questions, Participants: []string{interviewer, candidate},
		Budget: c.Budget, Unattended: true,
	}
}

// Seats implements [flow.Config]: where the config has whose model.
func (c Config) Seats() flow.Seats {
	return func(yield func(flow.Seat) bool) { yield(flow.Seat{By: interviewer, Model: &c.Model}) }
}

// Mark is what the grader answers with, as JSON.
type Mark struct {
	Score int    `json:"score" jsonschema:"minimum=0,maximum=100"`
	Hire  bool   `json:"hire"`
	Why   string `json:"why"`
}

// interview returns the flow.
func interview() *flow.Flow {
	const asking, answering = flow.State("asking"), flow.State("answering")
	more := flow.Guard{Name: "moreQuestions", OK: func(r *flow.Record) bool { return r.Round < r.Config().(*Config).Questions }}
	// speak returns the one call of a state. Its ID is the same each time, so a call that has its turn is not made again.
	speak := func(kind flow.CallKind, by, schema, last string, slot int) func(r *flow.Record) []*flow.Call {
		return func(r *flow.Record) []*flow.Call {
			return []*flow.Call{{
				ID: fmt.Sprintf("r%d.%s", r.Round, kind), Kind: kind, Round: r.Round, Slot: slot, By: by, Schema: schema,
				Model: r.Config().(*Config).Model, System: r.Text(by), Last: func(*flow.Record) string { return last },
			}}
		}
	}
	question := speak("question", interviewer, "", "Ask one thing.", 0)
	answer := speak("answer", candidate, "", "Answer the question.", 1)
	grade := speak("grade", grader, "mark", "Mark the candidate, as JSON that matches the schema.", 2)
	return &flow.Flow{
		Name: "interview", Version: 1, Start: asking,
		Rules: []flow.Rule{
			{From: asking, On: "asked", To: answering},
			{From: answering, On: "answered", To: asking, When: more},
			{From: answering, On: "answered", To: flow.StateCompleting},
		},
		Steps: map[flow.State]flow.Step{
			flow.StateInitializing: {Next: func(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
				return flow.TriggerInitialized, flow.Exit{Round: r.NextRound(2), Calls: 1}, true
			}},
			asking: {Calls: flow.Missing(question), Next: flow.Then("asked")},
			answering: {Calls: flow.Missing(answer), Next: func(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
				if more.OK(r) {
					return "answered", flow.Exit{Round: r.NextRound(2), Calls: 1}, true
				}
				return "answered", flow.Exit{Reason: flow.EndRounds, Calls: 1}, true
			}},
			flow.StateCompleting: {Calls: flow.Missing(grade)},
		},
		Schemas: map[string]*flow.Schema{"mark": flow.AnswerSchema[Mark]("mark", flow.AnswerOf[Mark]{
			Check: func(_ *flow.Record, m *Mark) []string { // what is wrong is told to the grader, who is asked once more
				if m.Hire != (m.Score >= 60) {
					return []string{fmt.Sprintf("hire is %t with a score of %d, and 60 is needed", m.Hire, m.Score)}
				}
				return nil
			},
		})},
		Decode: flow.DecodeTo[Config], Normalize: flow.NormalizeTo(func(c *Config) { c.ID, c.Questions = "", cmp.Or(c.Questions, 2) }),
		Check: func(config flow.Config, _ any, known flow.Registry) []error { // the engine checks the settings by itself
			var f flow.Findings
			f.Text("position", config.(*Config).Position, flow.MaxText)
			for seat := range config.Seats() {
				seat.Check(&f, known)
			}
			return f
		},
		Texts: func(s flow.Setup) (map[string]string, error) { // the system prompts, rendered once
			c := s.Config.(*Config)
			rule := s.FenceRule() + "\n\nThe position: " + c.Position + "\n\n"
			return map[string]string{
				interviewer: rule + "You interview.", candidate: rule + "You apply.", grader: rule + "You mark the candidate.",
			}, nil
		},
		Estimate: flow.EstimateRounds(grade, question, answer),
	}
}

func main() {
	engine := &debate.Engine{
		Flows: map[string]*debate.Flow{"interview": interview()},
		Providers: map[string]debate.Provider{"script": &scripted.Provider{Replies: map[string][]scripted.Reply{
			interviewer: {{Text: "What would you do on a night with fog?"}, {Text: "And why, if nobody looks?"}},
			candidate:   {{Text: "Go up. Two boats have old radios."}, {Text: "A tower that nobody climbs is a ruin."}},
			grader:      {{Text: `{"score":55,"hire":true,"why":"Would do it."}`}, {Text: `{"score":82,"hire":true,"why":"Thinks of the boats."}`}},
		}}},
	}
	config := Config{Position: "keeper of a lighthouse", Model: "script/any", Budget: &flow.Budget{HardCalls: 20}}
	for event, err := range engine.Run(context.Background(), config) {
		if err != nil {
			log.Fatal(err)
		}
		switch body := event.Body.(type) {
		case *flow.Turn:
			fmt.Printf("%s: %s\n", body.Speaker, body.Text)
		case *flow.Rejection:
			fmt.Printf("[%s is asked again: %s]\n", body.By, body.Problems[0])
		}
	}
}
