package flow

import (
	"cmp"
	"slices"

	"github.com/agonist-dev/debate/internal/text"
)

// Unattended decides where a person would be asked about a failure or a warning. Each decision is recorded as an
// inquiry with its answer, as a person's would be. A person who performs calls is still asked.
type Unattended struct {
	// Judge decides when a judge and all its fallbacks have failed. OptionWithout, the default, continues without
	// that judge. OptionEnd ends the conversation.
	Judge Option `json:"judge,omitempty"`
	// Context decides when the conversation does not fit a model. The default is OptionSummarize if there is a
	// summarizer, and otherwise OptionTruncate. OptionEnd ends the conversation.
	Context Option `json:"context,omitempty"`
	// Authentication decides when a provider has refused a participant's key. OptionDrop, the default, drops the
	// participant. OptionEnd ends the conversation.
	Authentication Option `json:"authentication,omitempty"`
	// Budget decides when Budget.Confirm waits for an acknowledgement. OptionEnd, the default, concludes.
	// OptionRetry continues.
	Budget Option `json:"budget,omitempty"`
}

// Defaults writes the default into each field that is empty. It leaves out Context, whose default depends on the
// config.
func (u *Unattended) Defaults() {
	u.Judge = cmp.Or(u.Judge, OptionWithout)
	u.Authentication = cmp.Or(u.Authentication, OptionDrop)
	u.Budget = cmp.Or(u.Budget, OptionEnd)
}

// unattendedField is a field of Unattended with the options that it allows.
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
			f.Addf("unattended."+field.name, "no option %q is offered here", text.OneLine(string(field.value), 40))
		}
	}
}
