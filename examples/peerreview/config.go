package main

import (
	"cmp"
	"fmt"
	"iter"

	"github.com/agonist-dev/debate/flow"
)

const flowName = "review"

// Person is somebody who takes part.
type Person struct {
	Name  string `json:"name" redact:"-"`
	Model string `json:"model" redact:"-"` // "provider/model"
}

// Config is what a peer review is started with.
type Config struct {
	ID         string             `json:"id,omitempty" redact:"-"`
	Subject    string             `json:"subject"` // of the paper
	Author     Person             `json:"author"`
	Reviewers  []Person           `json:"reviewers"`
	Editor     Person             `json:"editor"`
	Revisions  *int               `json:"revisions,omitempty"` // at most; 3 if nil
	Budget     *flow.Budget       `json:"budget,omitempty"`
	Unattended bool               `json:"unattended,omitempty"`
	OnFailure  []flow.FailureRule `json:"onFailure,omitempty"`
}

func (Config) Flow() string { return flowName }

// Settings has one round more than there are revisions: the first draft is none.
func (c Config) Settings() flow.Settings {
	s := flow.Settings{ID: c.ID, Topic: c.Subject, Budget: c.Budget, Unattended: c.Unattended, OnFailure: c.OnFailure}
	if c.Revisions != nil {
		s.Rounds = *c.Revisions + 1
	}
	for _, p := range c.people() {
		s.Participants = append(s.Participants, p.Name)
	}
	return s
}

func (c Config) Models() iter.Seq2[string, string] {
	return func(yield func(field, model string) bool) {
		for field, p := range c.people() {
			if !yield(field+".model", p.Model) {
				return
			}
		}
	}
}

// people yields everybody, with the field of the config.
func (c Config) people() iter.Seq2[string, Person] {
	return func(yield func(field string, p Person) bool) {
		ok := yield("author", c.Author) && yield("editor", c.Editor)
		for i := 0; ok && i < len(c.Reviewers); i++ {
			ok = yield(fmt.Sprintf("reviewers[%d]", i), c.Reviewers[i])
		}
	}
}

// defaults completes the copy of a config that the log holds.
func defaults(c *Config) {
	c.ID, c.Revisions = "", cmp.Or(c.Revisions, new(3))
}

// check finds what is wrong with a normalized config. The engine itself checks the settings, and the models that are named.
func check(config flow.Config, _ any, _ flow.Registry) []error {
	c, f := config.(*Config), flow.Findings{}
	var names []flow.NameField
	for field, p := range c.people() {
		f.Name(field+".name", p.Name)
		f.Model(field+".model", p.Model)
		names = append(names, flow.NameField{Field: field + ".name", Name: p.Name})
	}
	f.People(names, false, nil, nil)
	f.Between("reviewers", len(c.Reviewers), 1, 5)
	f.Between("revisions", *c.Revisions, 0, 10)
	return f
}
