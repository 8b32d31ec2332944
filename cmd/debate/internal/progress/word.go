package progress

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/deliberation/evaluation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// person is the name under which people are asked, in every flow.
const person = "person"

// PhaseWord says what happens in a working state.
func (c *Course) PhaseWord() string {
	switch c.jobs.Phase.State {
	case "", flow.StateConfiguring, flow.StateValidating, flow.StateReady, flow.StateInitializing:
		return "Starting"
	case deliberation.StateClarifying:
		return "Questions"
	case deliberation.StateAnswering:
		return "Answers"
	case deliberation.StatePlanningRound, "roundComplete":
		return "Planning"
	case deliberation.StateSummarizing:
		return "Summaries"
	case deliberation.StateProposing:
		return "Proposals"
	case deliberation.StateCritiquing:
		return "Critiques"
	case deliberation.StateRefining:
		return "Refinements"
	case deliberation.StateEvaluating:
		return "Evaluation"
	case evaluation.StateScoring:
		return "Scores"
	case arbiter.StateSelecting:
		return "Selection"
	case arbiter.StateExecuting:
		return "Executions"
	case arbiter.StateRecovering:
		return "Recovery"
	case "awaitingResponses":
		if stage := Clean(c.jobs.Round.Phase); stage != "" { // what the format calls the round
			return strings.ToUpper(stage[:1]) + stage[1:]
		}
		return "Speeches"
	case "judging":
		return "Assessments"
	case flow.StateCompleting:
		if c.Flow == deliberation.FlowName {
			return "Synthesis"
		}
		return "Conclusion"
	case flow.StateCompleted:
		return "Completed"
	case flow.StateCanceled:
		return "Canceled"
	default:
		return Clean(string(c.jobs.Phase.State))
	}
}

// Count says how much of a phase is done: "(2/6)", "(2)", or "" before its first call.
func (c *Course) Count() string {
	switch {
	case c.Expected > 0:
		return fmt.Sprintf("(%d/%d)", c.Done, max(c.Expected, c.Done))
	case c.Done > 0:
		return fmt.Sprintf("(%d)", c.Done)
	default:
		return ""
	}
}

// Round returns the number of the round; 0 before the first.
func (c *Course) Round() int { return c.jobs.Round.N }

// RoundWord says which round runs: "Round 1/3", or "" before the first.
func (c *Course) RoundWord() string {
	switch n := c.jobs.Round.N; {
	case n == 0:
		return ""
	case c.Of > 0:
		return fmt.Sprintf("Round %d/%d", n, c.Of)
	default:
		return fmt.Sprintf("Round %d", n)
	}
}

// Cause says why something has failed, without the place.
func Cause(err *flow.Error) string {
	if err == nil {
		return "unknown failure"
	}
	what := map[flow.Kind]string{
		provider.KindNetwork: "network failure", provider.KindRateLimit: "rate limited", provider.KindQuota: "quota used up",
		provider.KindAPI: "failure of the vendor", provider.KindTimeout: "no reply in time",
		provider.KindContextOverflow: "too long for the model", provider.KindAuthentication: "key refused",
		provider.KindContentFilter: "content filter", provider.KindRefusal: "refused by the model",
		provider.KindInvalidResponse: "unusable reply", provider.KindCostLimit: "limit of the budget",
		provider.KindUnknown: "failure of an unknown kind",
	}[err.Kind]
	switch {
	case what == "" && err.Err != nil: // the cause says it all
		return Shorten(strings.TrimPrefix(Clean((&flow.Error{Err: err.Err}).Error()), "debate: "), 300)
	case what == "":
		what = strings.ReplaceAll(string(err.Kind), "_", " ")
	}
	if err.Err != nil {
		what += ": " + Shorten((&flow.Error{Err: err.Err}).Error(), 300)
	}
	return strings.Replace(what, ": debate: ", ": ", 1)
}

// Shorten cleans a text, and cuts it to a number of characters.
func Shorten(text string, most int) string {
	line := Clean(text)
	runes := []rune(line)
	if len(runes) <= most {
		return line
	}
	return string(runes[:most-1]) + "…"
}

// Plural counts things.
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Number(n) + " " + thing + "s"
}

// Number writes a number with commas between thousands.
func Number(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Span writes a duration for people.
func Span(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", max(0, d.Milliseconds()))
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	default:
		return d.Round(time.Second).String()
	}
}
