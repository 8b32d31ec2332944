package flow

// EndReason says why the rounds of a debate, or the debate itself, ended.
type EndReason string

// The reasons to end. Record.Evidence and the transition's Evidence give the figures.
const (
	EndJudge       EndReason = "judge"               // the judges wish to end
	EndRounds      EndReason = "rounds"              // all rounds are spoken
	EndConverged   EndReason = "convergence"         // the judges see convergence
	EndDiminishing EndReason = "diminishing-returns" // the judges or the detector see diminishing returns
	EndRepetition  EndReason = "repetition"          // the detector finds repetition
	EndDrift       EndReason = "drift"               // the detector finds topic drift
	EndTooFew      EndReason = "too-few"             // too few participants can continue
	EndSoftLimit   EndReason = "soft-limit"          // of the budget
	EndHardLimit   EndReason = "hard-limit"          // of the budget
	EndHost        EndReason = "host"                // stopped, canceled, or ended by an answer
	EndFailed      EndReason = "failure"             // a failure that was not resolved
)
