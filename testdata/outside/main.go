// Command outside runs a flow that knows only the public packages: each person gives a mark, and the marks are kept in
// events of the flow's own. It is built in a folder outside the repository.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Survey asks people for marks from 1 to 5.
type Survey struct {
	Topic  string   `json:"topic"`
	People []string `json:"people" redact:"-"`
	Model  string   `json:"model" redact:"-"`
}

// Flow implements [flow.Config].
func (Survey) Flow() string { return "survey" }

// Settings implements [flow.Config].
func (s Survey) Settings() flow.Settings {
	return flow.Settings{Topic: s.Topic, Participants: s.People, Rounds: 1}
}

// Seats implements [flow.Config]: one model plays everybody.
func (s Survey) Seats() flow.Seats {
	return func(yield func(flow.Seat) bool) {
		for _, name := range s.People {
			if !yield(flow.Seat{By: name, Model: &s.Model}) {
				return
			}
		}
	}
}

type grade struct {
	Mark int `json:"mark" jsonschema:"minimum=1,maximum=5"`
}

type opinion struct {
	flow.Spend

	By   string `json:"by" redact:"-"`
	Mark int    `json:"mark"`
}

func (*opinion) EventKind() flow.EventKind { return "opinion" }

type marks struct{ sum, count int }

// Fold implements [flow.Projection].
func (m *marks) Fold(e *flow.Event) error {
	if o, ok := e.Body.(*opinion); ok {
		m.sum, m.count = m.sum+o.Mark, m.count+1
	}
	return nil
}

const asking flow.State = "asking"

func survey() *flow.Flow {
	return &flow.Flow{
		Name: "survey", Version: 1, Start: asking,
		Rules:  []flow.Rule{{From: asking, On: "asked", To: flow.StateCompleting}},
		Steps:  map[flow.State]flow.Step{asking: {Calls: calls, Next: next}},
		Bodies: []flow.Body{&opinion{}},
		Schemas: map[string]*flow.Schema{"mark": flow.AnswerSchema[grade]("mark", flow.AnswerOf[grade]{
			Body: func(_ *flow.Record, in *flow.Intent, spend flow.Spend, g *grade) flow.Body {
				return &opinion{Spend: spend, By: in.By, Mark: g.Mark}
			},
		})},
		Decode: func(data []byte) (flow.Config, error) {
			var s Survey
			return s, flow.DecodeStrict("read config", data, &s)
		},
		Normalize: func(c flow.Config) (flow.Config, error) {
			s, ok := c.(Survey)
			if !ok {
				return nil, &flow.Error{Kind: provider.KindValidation, Field: "config", Err: fmt.Errorf("a %T is no survey", c)}
			}
			s.People = slices.Clone(s.People)
			return s, nil
		},
		Open: func(*flow.Record, *flow.Start) (flow.Projection, error) { return new(marks), nil },
	}
}

func calls(r *flow.Record) []*flow.Call {
	s, _ := r.Config().(Survey)
	for i, name := range s.People {
		if id := "mark." + name; !r.Done(id) {
			return []*flow.Call{{ID: id, Kind: "mark", By: name, Model: s.Model, Slot: i, Schema: "mark"}}
		}
	}
	return nil
}

func next(*flow.Record) (flow.Trigger, flow.Exit, bool) { return "asked", flow.Exit{}, true }

func main() {
	model := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		return scripted.Reply{Text: fmt.Sprintf(`{"mark":%d}`, len(req.Self))}
	}}
	engine := &debate.Engine{
		Providers: map[string]provider.Provider{"test": model},
		Flows:     map[string]*flow.Flow{"survey": survey()},
	}
	config, err := engine.DecodeConfig([]byte(`{"flow":"survey","topic":"How was it?","people":["Ada","Benno"],"model":"test/any"}`))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	session, err := engine.Start(context.Background(), config)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	record, err := session.Wait(context.Background())
	_ = session.Close()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	m, _ := record.Projection().(*marks)
	fmt.Printf("%s: %d people, %d in all, %d requests\n", record.State, m.count, m.sum, record.Spent().Requests)
}
