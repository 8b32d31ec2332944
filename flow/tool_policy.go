package flow

import (
	"cmp"

	"github.com/agonist-dev/debate/internal/text"
)

// ToolPolicy says what is done about uses of tools where no person can be asked: in unattended conversations. Each decision
// is recorded as an inquiry with its answer, as a person's would be.
type ToolPolicy struct {
	// Unknown is for a use whose outcome nobody knows, because it was aborted, took too long, or its process is gone:
	//   - OptionTell, the default, tells the model.
	//   - OptionAgain makes the use again, as often as Terms.Retry allows after a time-out, and then tells the model. There may be
	//     a second effect.
	//   - OptionFail goes to the error state. An [Amendment] of the policy, or one that lets a person be asked, and then
	//     Session.Retry continue.
	Unknown Option `json:"unknown,omitempty"`
	// Approval is for a use that needs approval: OptionDeny, the default, or OptionApprove.
	Approval Option `json:"approval,omitempty"`
}

// withDefaults returns the policy with its defaults written out.
func (p ToolPolicy) withDefaults() ToolPolicy {
	return ToolPolicy{cmp.Or(p.Unknown, OptionTell), cmp.Or(p.Approval, OptionDeny)}
}

// toolPolicy refuses options that the policy cannot choose.
func (f *Findings) toolPolicy(p ToolPolicy) {
	switch p.Unknown {
	case "", OptionTell, OptionAgain, OptionFail:
	default:
		f.Addf("toolPolicy.unknown", "%q is not %s, %s or %s", text.OneLine(string(p.Unknown), 40), OptionTell, OptionAgain, OptionFail)
	}
	switch p.Approval {
	case "", OptionDeny, OptionApprove:
	default:
		f.Addf("toolPolicy.approval", "%q is not %s or %s", text.OneLine(string(p.Approval), 40), OptionDeny, OptionApprove)
	}
}
