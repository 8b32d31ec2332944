package debate

import (
	"encoding/json"
)

// Inquiry is a question to a person: to perform a call, or to say what becomes of one that has failed.
type Inquiry struct {
	ID       string          `json:"id"`
	Kind     CallKind        `json:"kind"`
	To       string          `json:"to"` // who is asked, or whose call has failed: a participant, a judge
	Question string          `json:"question"`
	Schema   json.RawMessage `json:"schema,omitempty"` // of the answer, if it must match one
	// About is the call that has failed. Then Options are the answers, and Failure says why.
	About   string   `json:"about,omitempty"`
	Options []Option `json:"options,omitempty"`
	Failure *Error   `json:"failure,omitempty"`
	// EndDrops: [OptionEnd] drops whom the inquiry is about, beside ending the conversation.
	EndDrops bool `json:"endDrops,omitempty"`
}

// Answer is the answer to an inquiry: Text, or one of its options.
type Answer struct {
	Inquiry string `json:"inquiry"`
	Text    string `json:"text,omitempty"`
	Option  Option `json:"option,omitempty"`
	// Model is "provider/model", for OptionModel, and Row what is known of it, frozen like the others.
	Model string `json:"model,omitempty"`
	Row   *Model `json:"row,omitempty"`
	// Unattended: nobody was asked; Config.Unattended has answered.
	Unattended bool `json:"unattended,omitempty"`
}

// Question is what a person is asked about a call that has failed.
type Question struct {
	Text    string
	Options []Option
	// Default is chosen where Terms.Unattended is set.
	Default Option
	// EndDrops lets [OptionEnd] drop who was asked, beside ending the conversation.
	EndDrops bool
}

// Option is one of the answers that an [Inquiry] offers.
type Option string

// The options.
const (
	OptionRetry     Option = "retry"     // try the same again: the host has mended what was wrong
	OptionModel     Option = "model"     // another model takes over; Answer.Model names it
	OptionWithout   Option = "without"   // go on without this judge
	OptionDrop      Option = "drop"      // go on without this participant
	OptionSummarize Option = "summarize" // summarise what no longer fits
	OptionTruncate  Option = "truncate"  // leave out what no longer fits
	OptionEnd       Option = "end"       // end the debate with what there is
)
