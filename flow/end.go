package flow

// Who has ended a conversation early; see [Record].EndedBy. A flow may name others, such as a judge.
const (
	EndedByHost   = "host"   // Stop or Cancel
	EndedByPerson = "person" // an answer to an inquiry
	EndedByRule   = "rule"   // a FailureRule
	EndedByBudget = "budget" // a limit of the budget
)

// EndReason says why the rounds of a conversation, or the conversation itself, ended. A flow adds its own.
type EndReason string

// The reasons that flows share. The Evidence beside a reason, in an [Exit], a [Transition] and a [Record], gives the
// figures.
const (
	EndRounds    EndReason = "rounds"      // all rounds are over
	EndConverged EndReason = "convergence" // the participants agree as far as they will
	EndTooFew    EndReason = "too-few"     // too few participants can continue
	EndSoftLimit EndReason = "soft-limit"  // of the budget
	EndHardLimit EndReason = "hard-limit"  // of the budget
	EndHost      EndReason = "host"        // stopped, canceled, or ended by an answer
	EndFailed    EndReason = "failure"     // a failure that was not resolved
)
