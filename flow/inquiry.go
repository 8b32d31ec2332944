package flow

import (
	"encoding/json"
)

// Inquiry is a question to a person: to perform a call, to decide about calls that have failed, to decide about the use of a
// tool, or to confirm a cost warning. An inquiry with the ID of an open one replaces it.
type Inquiry struct {
	ID       string          `json:"id"`
	Kind     CallKind        `json:"kind"`
	To       string          `json:"to,omitempty"` // the actor that is asked, whose call has failed first, or whose model asks for a tool
	Question string          `json:"question"`
	Schema   json.RawMessage `json:"schema,omitempty"` // schema of the answer, if it must match one
	// About are the calls that have failed, if the person is to decide about them. Calls that fail with the same kind of
	// failure at the same provider share one inquiry. Options are then the possible answers, and Failure is the first
	// cause.
	About   []FailedCall `json:"about,omitempty"`
	Options []Option     `json:"options,omitempty"`
	Failure *Error       `json:"failure,omitempty"`
	// Use is the use of a tool, if the person is to decide about one: to approve it, or what follows from its unknown outcome.
	Use *PendingUse `json:"use,omitempty"`
}

// PendingUse is the use of a tool that an [Inquiry] asks about.
type PendingUse struct {
	Use  string `json:"use"` // the ID of the call that uses the tool
	For  string `json:"for"` // the call whose model asks for it
	Tool string `json:"tool"`
	// Arguments show the arguments, at most 4 KiB of them. A model wrote them: they are not trusted. What looks like a secret
	// is left out, and characters that nobody sees are escaped. Cut reports that there is more; Record.Outlay has all of it.
	Arguments string `json:"arguments"`
	Cut       bool   `json:"cut,omitempty"`
	// Attempt is the attempt whose outcome nobody knows. 0: the use waits for approval.
	Attempt int `json:"attempt,omitempty"`
}

// FailedCall is a call that an [Inquiry] asks about.
type FailedCall struct {
	Call string `json:"call"`
	By   string `json:"by"`
	// Options are what can be chosen for this call. The inquiry offers all of them, but skip and drop only affect the
	// calls that have them.
	Options []Option `json:"options"`
}

// Answer is the answer to an inquiry: Text if a person performs a call, otherwise one of the options.
type Answer struct {
	Inquiry string `json:"inquiry"`
	// Text is the answer where a person performs a call. With OptionDeny it is the reason, and with OptionDone what the tool
	// has answered, at most 32 KiB; it may be empty there.
	Text string `json:"text,omitempty"`
	// Parts are files that belong to the text, stored as blobs. The engine stores them, and takes Data out.
	Parts  []File `json:"parts,omitempty"`
	Option Option `json:"option,omitempty"`
	// Model is the "provider/model" for OptionModel. Row holds its prices and sizes, frozen like those of the other
	// models. The engine sets it.
	Model string `json:"model,omitempty"`
	Row   *Model `json:"row,omitempty"`
	// Accounts holds what Start.Accounts holds, for the model's registered provider if the conversation did not have it. The
	// engine sets it.
	Accounts map[string]string `json:"accounts,omitempty"`
	// By names the actor whose calls OptionSkip or OptionDrop is for. "": the only one that the inquiry is about.
	By string `json:"by,omitempty"`
	// Rule means that a [FailureRule] or the [ToolPolicy] has answered, and no person was asked.
	Rule bool `json:"rule,omitempty"`
}

// about reports whether the inquiry asks about a call.
func (q *Inquiry) about(call string) bool {
	for i := range q.About {
		if q.About[i].Call == call {
			return true
		}
	}
	return false
}
