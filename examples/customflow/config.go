package main

import (
	"cmp"
	"iter"

	"github.com/agonist-dev/debate/flow"
)

// flowName is the name of the flow, in Engine.Flows and under the key "flow" of a config's JSON.
const flowName = "interview"

// Person is one of the three who take part.
type Person struct {
	Name  string `json:"name"`
	Model string `json:"model"` // "provider/model"
}

// Config is what an interview is started with.
type Config struct {
	ID          string             `json:"id,omitempty"`
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

// Models implements [flow.Config].
func (c Config) Models() iter.Seq2[string, string] {
	return func(yield func(field, name string) bool) {
		_ = yield("interviewer.model", c.Interviewer.Model) &&
			yield("candidate.model", c.Candidate.Model) &&
			yield("grader.model", c.Grader.Model)
	}
}

// defaults completes the copy of a config that the log holds. A fork gets another ID.
func defaults(c *Config) {
	c.ID, c.Questions, c.PassMark = "", cmp.Or(c.Questions, 3), cmp.Or(c.PassMark, 60)
}

// check finds what is wrong with a normalized config. The engine itself checks the settings, and the models that are named.
func check(config flow.Config, _ any, _ flow.Registry) []error {
	c := config.(*Config)
	var f flow.Findings
	var names []flow.NameField
	for field, model := range c.Models() {
		f.Model(field, model)
	}
	for _, one := range []flow.NameField{
		{Field: "interviewer.name", Name: c.Interviewer.Name},
		{Field: "candidate.name", Name: c.Candidate.Name},
		{Field: "grader.name", Name: c.Grader.Name},
	} {
		f.Name(one.Field, one.Name)
		names = append(names, one)
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
