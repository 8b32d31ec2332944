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
	ID          string           `json:"id,omitempty"`
	Position    string           `json:"position"`
	Interviewer Person           `json:"interviewer"`
	Candidate   Person           `json:"candidate"`
	Grader      Person           `json:"grader"`
	Questions   int              `json:"questions,omitempty"` // 3 if 0
	PassMark    int              `json:"passMark,omitempty"`  // of 100; 60 if 0
	Budget      *flow.Budget     `json:"budget,omitempty"`
	Unattended  *flow.Unattended `json:"unattended,omitempty"`
}

// Flow implements [flow.Config].
func (Config) Flow() string { return flowName }

// Terms implements [flow.Config]. The grader is no participant: nobody speaks to it.
func (c Config) Terms() flow.Terms {
	return flow.Terms{
		ID: c.ID, Topic: "Interview: " + c.Position, Rounds: c.Questions,
		Participants: []string{c.Interviewer.Name, c.Candidate.Name}, Budget: c.Budget, Unattended: c.Unattended,
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

// configOf returns a config as a *Config, whether the host program gave a Config or a *Config.
func configOf(c flow.Config) *Config {
	config, _ := flow.ConfigAs[Config](c) // settle has refused any other type
	return config
}

// settle writes the defaults out, into a copy.
func settle(given flow.Config) (flow.Config, error) {
	c, err := flow.ConfigAs[Config](given)
	if err != nil {
		return nil, err
	}
	settled := *c
	if c.Budget != nil { // the copy is deep: the host program may change its own afterwards
		settled.Budget = new(*c.Budget)
	}
	if c.Unattended != nil {
		settled.Unattended = new(*c.Unattended)
	}
	settled.ID = "" // a fork gets another one
	settled.Questions, settled.PassMark = cmp.Or(c.Questions, 3), cmp.Or(c.PassMark, 60)
	return &settled, nil
}

// check finds what is wrong with a settled config. The engine itself checks the terms and the models.
func check(config flow.Config, _ any, _ flow.Registry) []error {
	c := configOf(config)
	var f flow.Findings
	var names []flow.NameField
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
	if c.Questions < 1 || c.Questions > 20 {
		f.Addf("questions", "%d is not between 1 and 20", c.Questions)
	}
	if c.PassMark < 0 || c.PassMark > 100 {
		f.Addf("passMark", "%d is not between 0 and 100", c.PassMark)
	}
	return f
}

// fixed returns what a log refers to: the names. A fork may change all else.
func fixed(config flow.Config) any {
	c := configOf(config)
	return Config{
		Interviewer: Person{Name: c.Interviewer.Name}, Candidate: Person{Name: c.Candidate.Name}, Grader: Person{Name: c.Grader.Name},
	}
}
