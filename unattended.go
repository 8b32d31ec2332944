package debate

import (
	"cmp"
	"slices"
)

// Unattended says what is chosen where a person would be asked what becomes of a failure or a warning.
// The choice is recorded like a person's, with the question. What only a person can do is asked all the
// same: a judge or a listener with Person set awaits the answer.
type Unattended struct {
	// Judge, when a judge has failed for good, its fallbacks included: OptionWithout if empty; OptionEnd.
	Judge Option `json:"judge,omitempty"`
	// Context, when the conversation does not fit a model: OptionSummarize if empty and there is a
	// summarizer, else OptionTruncate; OptionEnd.
	Context Option `json:"context,omitempty"`
	// Authentication, when a provider has refused a participant's key: OptionDrop if empty; OptionEnd.
	Authentication Option `json:"authentication,omitempty"`
	// Budget, when Budget.Confirm waits for an acknowledgement: OptionEnd, which goes to the verdict, if
	// empty; OptionRetry goes on.
	Budget Option `json:"budget,omitempty"`
}

// Defaults writes out what is chosen where a field is empty, but for Context, which depends on the config.
func (u *Unattended) Defaults() {
	u.Judge = cmp.Or(u.Judge, OptionWithout)
	u.Authentication = cmp.Or(u.Authentication, OptionDrop)
	u.Budget = cmp.Or(u.Budget, OptionEnd)
}

// unattendedField is a field of Unattended and what it may hold.
type unattendedField struct {
	name    string
	value   Option
	allowed []Option
}

func (u *Unattended) fields() []unattendedField {
	return []unattendedField{
		{"judge", u.Judge, []Option{OptionWithout, OptionEnd}},
		{"context", u.Context, []Option{"", OptionSummarize, OptionTruncate, OptionEnd}},
		{"authentication", u.Authentication, []Option{OptionDrop, OptionEnd}},
		{"budget", u.Budget, []Option{OptionEnd, OptionRetry}},
	}
}

func (f *Findings) unattended(u *Unattended) {
	if u == nil {
		return
	}
	for _, field := range u.fields() {
		if !slices.Contains(field.allowed, field.value) {
			f.Addf("unattended."+field.name, "no option %q is offered here", oneLine(string(field.value), 40))
		}
	}
}
