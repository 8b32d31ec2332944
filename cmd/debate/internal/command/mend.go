package command

import (
	"strings"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// showMend says what helps a conversation in the error state: the hint of its failure, and the commands that carry it out. retry is
// the one that tries again.
func (p *program) showMend(record *flow.Record, retry string) {
	failure := record.Failure
	if failure == nil {
		p.warnf("%s tries again.", retry)
		return
	}
	what := "raises the limit"
	if record.Reason != flow.EndHardLimit {
		what = "changes that"
		p.warnf("%s", failure.Hint())
	}
	if vendor, _, ok := flow.SplitModel(record.Participant(failure.Participant).Model); ok && failure.Kind == provider.KindAuthentication {
		if names := variables(vendor); names != "" {
			p.warnf("The key of %s is in %s.", vendor, names)
		}
	}
	if flag := amending(failure); flag != "" {
		p.warnf("%s %s, and %s tries again.", progress.Command("amend "+flag, record.ID), what, retry)
	} else {
		p.warnf("%s tries again.", retry)
	}
}

// amending returns the flag of the command amend, with a word in capitals or provider/model for its value, that changes what a failure
// says is to be amended first. It is empty if no amendment helps.
func amending(failure *flow.Error) string {
	fields := failure.Amends()
	if len(fields) == 0 {
		return ""
	}
	if who, ok := strings.CutPrefix(fields[0], "models."); ok {
		return "--model " + progress.Quote(who+"=provider/model")
	}
	if kind, ok := strings.CutPrefix(fields[0], "timeouts."); ok {
		return "--timeout " + progress.Quote(kind+"=DURATION")
	}
	switch fields[0] { // of a policy for tools no flag is, and the hint says it
	case "budget", "budget.hard":
		return "--budget USD"
	case "budget.hardTokens":
		return "--budget-tokens N"
	case "budget.hardCalls":
		return "--budget-calls N"
	case "budget.hardTime":
		return "--budget-time DURATION"
	case "turnTimeout":
		return "--turn-timeout DURATION"
	case "roundTimeout":
		return "--round-timeout DURATION"
	case "context":
		return "--context-manager NAME"
	case "summarizer":
		return "--summarizer provider/model"
	case "unattended":
		return "--unattended=false"
	default:
		return ""
	}
}
