package progress

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/deliberation/evaluation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// person is the name under which people are asked, in every flow.
const person = "person"

// PhaseWord says what happens in a working state.
func (c *Course) PhaseWord() string {
	state := c.jobs.Phase.State
	switch stage := Clean(c.jobs.Round.Phase); {
	case state == "awaitingResponses" && stage != "": // what the format calls the round
		return strings.ToUpper(stage[:1]) + stage[1:]
	case state == flow.StateCompleting && c.Flow == deliberation.FlowName:
		return "Synthesis"
	}
	return cmp.Or(phaseWords()[state], Clean(string(state)))
}

func phaseWords() map[flow.State]string {
	const starting = "Starting"
	return map[flow.State]string{
		"": starting, flow.StateConfiguring: starting, flow.StateValidating: starting, flow.StateReady: starting,
		flow.StateInitializing: starting, flow.StateCompleting: "Conclusion", flow.StateCompleted: "Completed", flow.StateCanceled: "Canceled",

		deliberation.StateClarifying: "Questions", deliberation.StateAnswering: "Answers", deliberation.StatePlanningRound: "Planning",
		deliberation.StateSummarizing: "Summaries", deliberation.StateProposing: "Proposals", deliberation.StateCritiquing: "Critiques",
		deliberation.StateRefining: "Refinements", deliberation.StateEvaluating: "Evaluation",

		"awaitingResponses": "Speeches", "judging": "Assessments", "roundComplete": "Planning", evaluation.StateScoring: "Scores",
		arbiter.StateSelecting: "Selection", arbiter.StateExecuting: "Executions", arbiter.StateRecovering: "Recovery",
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
func Plural(n int, thing string) string { return text.Plural(n, thing) }

// Number writes a number with commas between thousands.
func Number(n int) string { return text.Number(n) }

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
