package flow

import (
	"fmt"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Who has ended a conversation early; see [Record].EndedEarlyBy. A flow may name others.
const (
	EndedByHost   = "host"   // Stop or Cancel
	EndedByPerson = "person" // an answer to an inquiry
	EndedByRule   = "rule"   // a FailureRule
	EndedByBudget = "budget" // a limit of the budget
	// EndedByDetector: what watches the rounds has found that they lead nowhere. The EndReason is its name.
	EndedByDetector = "detector"
	// EndedByIterations: what the flow repeats until it has what it was asked for was repeated as often as its config allows.
	EndedByIterations = "maxIterations"
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

// MaxReason bounds the reason that a host program gives for a control or an input, in bytes.
const MaxReason = 1 << 10

// checkReason returns why a reason of the host program is refused: op names the control. Displays show a reason beside texts of
// the library, so it is one line.
func checkReason(op, reason string) error {
	if why := notReason(reason); why != "" {
		return &Error{Kind: provider.KindValidation, Op: op, Field: "reason", Err: fmt.Errorf("the reason %s", why)}
	}
	return nil
}

// checkPerson returns why the name of the person who has asked for a control is refused.
func checkPerson(op, person string) error {
	if why := notReason(person); why != "" {
		return &Error{Kind: provider.KindValidation, Op: op, Field: "person", Err: fmt.Errorf("the name of the person %s", why)}
	}
	return nil
}

// notReason returns what no log accepts of a reason; "": all is accepted.
func notReason(reason string) string { return text.NotALine(reason, MaxReason) }

// hostEvidence returns the evidence of a transition that the host program has asked for. "": it has given no reason, and the
// trigger says enough.
func hostEvidence(on Trigger, reason string) string {
	done := map[Trigger]string{
		TriggerPause: "paused", TriggerResume: "resumed", TriggerRetry: "retried", TriggerStop: "stopped", TriggerCancel: "canceled",
	}[on] + " by the host"
	switch {
	case reason != "":
		return done + ": " + reason
	case on == TriggerStop || on == TriggerCancel:
		return done
	default:
		return ""
	}
}
