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
//
// Each option either gives the call a new start or leaves it as it is: failed. In the second case Step.Calls must no
// longer return the call, because the participant or judge was dropped or the state was left. If Calls still returns
// it, the conversation goes to the error state; the question is not put twice.
type Question struct {
	Text    string
	Options []Option
	// Default is the answer if Terms.Unattended is set. It is one of Options, and not [OptionModel]. With
	// [OptionRetry] the call is made again each time that it has failed for good, and only the budget ends that.
	Default Option
	// EndDrops makes [OptionEnd] also drop the actor whose call has failed. A question about a call of
	// StateCompleting that offers OptionEnd needs it, because no state is left to go to.
	EndDrops bool
}

// Option is one of the answers that an [Inquiry] offers.
type Option string

// The options.
const (
	// OptionRetry tries again: the host program has fixed the cause. The call begins anew, with its first model.
	OptionRetry Option = "retry"
	// OptionModel lets another model take over, in this and all later calls of the participant or judge. Answer.Model
	// names it. The call begins anew.
	OptionModel Option = "model"
	// OptionWithout continues without this judge. The judge is dropped and the call stays failed, so Calls leaves out
	// whatever Record.IsDropped reports.
	OptionWithout Option = "without"
	// OptionDrop continues without this participant, as OptionWithout does. A person may choose it only while
	// [Flow].Spare allows it.
	OptionDrop Option = "drop"
	// OptionSummarize summarises what no longer fits the model, with Terms.Summarizer. The call begins anew.
	OptionSummarize Option = "summarize"
	// OptionTruncate leaves out what no longer fits the model. The call begins anew.
	OptionTruncate Option = "truncate"
	// OptionEnd ends the conversation with what there is: it moves to StateCompleting, or, without any turn, to
	// StateCompleted. The call stays failed. In StateCompleting that needs Question.EndDrops.
	OptionEnd Option = "end"
)
