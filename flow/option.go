package flow

// Option is what can be done about a call that has failed for good, or about the use of a tool. An [Inquiry] offers some of
// them to a person. A [FailureRule] or the [ToolPolicy] chooses one as data.
type Option string

// The options.
const (
	// OptionRetry tries again at once: the host program has fixed the cause. The call begins anew, with its first model.
	OptionRetry Option = "retry"
	// OptionWait waits once for as long as the vendor has asked, also beyond Terms.Patience, and tries again. If the vendor has
	// named no time, it tries again at once, and waits for up to Terms.Patience if that fails too, whatever the kind of failure.
	OptionWait Option = "wait"
	// OptionModel lets another model take over, in this and all later calls of the actors that are asked about.
	// Answer.Model names it. The calls begin anew.
	OptionModel Option = "model"
	// OptionSummarize summarises what no longer fits the model, with Terms.Summarizer or View.Summarizer. The call begins
	// anew.
	OptionSummarize Option = "summarize"
	// OptionTruncate leaves out what no longer fits the model. The call begins anew.
	OptionTruncate Option = "truncate"
	// OptionSkip continues without the result of the call. Its actor is asked again next time.
	OptionSkip Option = "skip"
	// OptionDrop continues without the actor. The call stays failed, so Calls leaves out whatever Record.IsDropped
	// reports.
	OptionDrop Option = "drop"
	// OptionEnd ends the conversation with what there is: it moves to StateCompleting, or, without any turn, to
	// StateCompleted. In StateCompleting, where the conclusion is being made, it moves to StateError: from there
	// Session.Retry makes the conclusion after all, and Session.Stop ends without one. If Flow.Owes returns nothing, it
	// moves to StateCompleted.
	OptionEnd Option = "end"
	// OptionContinue goes on after the cost warning; see Budget.Confirm.
	OptionContinue Option = "continue"

	// OptionAsk asks a person. OptionFail goes to the error state, from which Session.Retry continues. Only a
	// FailureRule chooses them. The [ToolPolicy] may choose OptionFail too.
	OptionAsk  Option = "ask"
	OptionFail Option = "fail"
)

// The options for a use of a tool that needs approval; see ToolInfo.Approval.
const (
	// OptionApprove lets this one use be made.
	OptionApprove Option = "approve"
	// OptionDeny makes the use's result that it was denied. The model reads Answer.Text as the reason.
	OptionDeny Option = "deny"
	// OptionAlways lets this use be made, and all later uses of the same tool in this conversation and in its forks. Other uses
	// of it that wait for approval are made too: their inquiries are closed without an answer.
	OptionAlways Option = "always"
)

// The options for a use of a tool whose outcome nobody knows; see ToolResult.Unknown.
const (
	// OptionAgain makes the use again. If it took effect before, there may be a second effect.
	OptionAgain Option = "again"
	// OptionDone takes the use as done. The model reads Answer.Text as what the tool has answered.
	OptionDone Option = "done"
	// OptionTell tells the model that nobody knows the outcome.
	OptionTell Option = "tell"
)

// Allowance says who may decide that a conversation continues without something.
type Allowance uint8

// The allowances.
const (
	Nobody     Allowance = iota
	PersonOnly           // a person, but no FailureRule: what is left is less than the config needs
	RuleToo              // a person or a FailureRule
)
