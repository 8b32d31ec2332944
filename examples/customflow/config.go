package main

import (
	"cmp"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// flowName is the name of the flow, in Engine.Flows and under the key "flow" of a config's JSON.
const flowName = "interview"

// Person is one of the three who take part.
type Person struct {
	Name      string            `json:"name" redact:"-"`
	Model     string            `json:"model" redact:"-"` // "provider/model"
	Fallbacks []string          `json:"fallbacks,omitempty" redact:"-"`
	Options   *provider.Options `json:"options,omitempty"`
}

// seat says where the config has a person's model, and how that is asked.
func (p *Person) seat(field string) flow.Seat {
	return flow.Seat{Field: field, By: p.Name, Model: &p.Model, Fallbacks: &p.Fallbacks, Options: &p.Options}
}

// Config is what an interview is started with.
type Config struct {
	ID          string             `json:"id,omitempty" redact:"-"`
	Position    string             `json:"position"`
	Interviewer Person             `json:"interviewer"`
	Candidate   Person             `json:"candidate"`
	Grader      Person             `json:"grader"`
	Questions   int                `json:"questions,omitempty"` // 3 if 0
	PassMark    int                `json:"passMark,omitempty"`  // of 100; 60 if 0
	Budget      *flow.Budget       `json:"budget,omitempty"`
	Unattended  bool               `json:"unattended,omitempty"`
	OnFailure   []flow.FailureRule `json:"onFailure,omitempty"`
}

// Flow implements [flow.Config].
func (Config) Flow() string { return flowName }

// Settings implements [flow.Config]. The grader is no participant: nobody speaks to it.
func (c Config) Settings() flow.Settings {
	return flow.Settings{
		ID: c.ID, Topic: "Interview: " + c.Position, Rounds: c.Questions,
		Participants: []string{c.Interviewer.Name, c.Candidate.Name}, Budget: c.Budget, Unattended: c.Unattended,
		OnFailure: c.OnFailure,
	}
}

// Seats implements [flow.Config]: those of the three.
func (c Config) Seats() flow.Seats {
	return func(yield func(flow.Seat) bool) {
		_ = yield(c.Interviewer.seat("interviewer")) && yield(c.Candidate.seat("candidate")) && yield(c.Grader.seat("grader"))
	}
}

// defaults completes the copy of a config that the log holds. A fork gets another ID.
func defaults(c *Config) {
	c.ID, c.Questions, c.PassMark = "", cmp.Or(c.Questions, 3), cmp.Or(c.PassMark, 60)
}

// check finds what is wrong with a normalized config. The engine itself checks the settings.
func check(config flow.Config, _ any, known flow.Registry) []error {
	c := config.(*Config)
	var f flow.Findings
	var names []flow.NameField
	for seat := range c.Seats() {
		f.Name(seat.Field+".name", seat.By)
		seat.Check(&f, known)
		names = append(names, flow.NameField{Field: seat.Field + ".name", Name: seat.By})
	}
	f.People(names, false, nil, nil)
	f.Text("position", c.Position, flow.MaxText)
	f.Between("questions", c.Questions, 1, 20)
	f.Between("passMark", c.PassMark, 0, 100)
	return f
}

// fixed returns what a log refers to: the names. A fork may change all else.
func fixed(config flow.Config) any {
	c := config.(*Config)
	return Config{
		Interviewer: Person{Name: c.Interviewer.Name}, Candidate: Person{Name: c.Candidate.Name}, Grader: Person{Name: c.Grader.Name},
	}
}
