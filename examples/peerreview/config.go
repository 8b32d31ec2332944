package main

import (
	"cmp"
	"fmt"

	"github.com/agonist-dev/debate/flow"
)

const flowName = "review"

// Person is somebody who takes part.
type Person struct {
	Name  string `json:"name" redact:"-"`
	Model string `json:"model" redact:"-"` // "provider/model"
}

// seat says where the config has a person's model.
func (p *Person) seat(field string) flow.Seat {
	return flow.Seat{Field: field, By: p.Name, Model: &p.Model}
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
	for seat := range c.Seats() {
		s.Participants = append(s.Participants, seat.By)
	}
	return s
}

// Seats yields everybody's.
func (c Config) Seats() flow.Seats {
	return func(yield func(flow.Seat) bool) {
		ok := yield(c.Author.seat("author")) && yield(c.Editor.seat("editor"))
		for i := 0; ok && i < len(c.Reviewers); i++ {
			ok = yield(c.Reviewers[i].seat(fmt.Sprintf("reviewers[%d]", i)))
		}
	}
}

// defaults completes the copy of a config that the log holds.
func defaults(c *Config) {
	c.ID, c.Revisions = "", cmp.Or(c.Revisions, new(3))
}

// check finds what is wrong with a normalized config. The engine itself checks the settings.
func check(config flow.Config, _ any, known flow.Registry) []error {
	c, f := config.(*Config), flow.Findings{}
	var names []flow.NameField
	for seat := range c.Seats() {
		f.Name(seat.Field+".name", seat.By)
		seat.Check(&f, known)
		names = append(names, flow.NameField{Field: seat.Field + ".name", Name: seat.By})
	}
	f.People(names, false, nil, nil)
	f.Between("reviewers", len(c.Reviewers), 1, 5)
	f.Between("revisions", *c.Revisions, 0, 10)
	return f
}
