package flow

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agonist-dev/debate/provider"
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

// notReason returns what no log accepts of a reason; "": all is accepted.
func notReason(reason string) string {
	switch {
	case len(reason) > MaxReason:
		return fmt.Sprintf("has %d bytes: at most %d are allowed", len(reason), MaxReason)
	case !utf8.ValidString(reason):
		return "is not valid UTF-8"
	case strings.ContainsFunc(reason, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) }):
		return "is not one line: it holds a control character or a line break"
	default:
		return ""
	}
}

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
