package flow

import (
	"encoding/json"
)

// Inquiry is a question to a person: to perform a call, or to decide about a call that has failed.
type Inquiry struct {
	ID       string          `json:"id"`
	Kind     CallKind        `json:"kind"`
	To       string          `json:"to"` // the actor that is asked, or whose call has failed
	Question string          `json:"question"`
	Schema   json.RawMessage `json:"schema,omitempty"` // schema of the answer, if it must match one
	// About is the call that has failed, or "" if the person is to perform a call. With About set, Options are the
	// possible answers, and Failure is the cause.
	About   string   `json:"about,omitempty"`
	Options []Option `json:"options,omitempty"`
	Failure *Error   `json:"failure,omitempty"`
	// EndDrops means that [OptionEnd] also drops the actor in To.
	EndDrops bool `json:"endDrops,omitempty"`
}

// Answer is the answer to an inquiry: Text if a person performs a call, otherwise one of the options.
type Answer struct {
	Inquiry string `json:"inquiry"`
	Text    string `json:"text,omitempty"`
	Option  Option `json:"option,omitempty"`
	// Model is the "provider/model" for OptionModel. Row holds its prices and sizes, frozen like those of the other
	// models. The engine sets it.
	Model string `json:"model,omitempty"`
	Row   *Model `json:"row,omitempty"`
	// Unattended means that Terms.Unattended has answered, and no person was asked.
	Unattended bool `json:"unattended,omitempty"`
}

// Question is what a person is asked about a call that has failed. Without options, nobody is asked.
type Question struct {
	Text    string
	Options []Option
	// Default is the answer if Terms.Unattended is set.
	Default Option
	// EndDrops makes [OptionEnd] also drop the actor whose call has failed.
	EndDrops bool
}

// Option is one of the answers that an [Inquiry] offers.
type Option string

// The options.
const (
	OptionRetry     Option = "retry"     // try again: the host program has fixed the cause
	OptionModel     Option = "model"     // another model takes over; Answer.Model names it
	OptionWithout   Option = "without"   // continue without this judge, who is dropped
	OptionDrop      Option = "drop"      // continue without this participant, who is dropped
	OptionSummarize Option = "summarize" // summarise what no longer fits
	OptionTruncate  Option = "truncate"  // leave out what no longer fits
	OptionEnd       Option = "end"       // end the conversation with what there is
)
