package live_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
)

// TestPausingEnds: what was asked for is shown until it has happened.
func TestPausingEnds(t *testing.T) {
	s := critiquing(newScreen(true)).press("p")
	assert.Contains(t, s.frame(), "Pausing")
	s.happen(&flow.Transition{To: flow.StatePaused, On: flow.TriggerPause})
	assert.NotContains(t, s.frame(), "Pausing")
}

// TestAnOutageThatHasPassed: once the vendor answers again, nothing says that it is waited for, and no line stays.
func TestAnOutageThatHasPassed(t *testing.T) {
	const critique = deliberation.KindCritique
	warning := &flow.Warning{
		Kind: flow.WarnOutage, Call: id(critique, "ben", "cyd"), By: "ben", Evidence: "api_error: openai is waited for, for up to 10m0s",
	}
	s := critiquing(newScreen(true)).happen(warning)
	assert.Contains(t, s.frame(), "openai is waited for")
	assert.Contains(t, strings.Join(s.Last(), "\n"), "openai is waited for")
	s.happen(say(critique, "cyd", "ben", "It has none."))
	assert.NotContains(t, s.frame(), "is waited for")
	assert.NotContains(t, strings.Join(s.Last(), "\n"), "is waited for")
}

// TestNoOptionIsCut: a small window has all of what an option means.
func TestNoOptionIsCut(t *testing.T) {
	q := failure()
	q.Options = []flow.Option{flow.OptionRetry, flow.OptionWait, flow.OptionModel, flow.OptionSkip, flow.OptionEnd, flow.OptionDrop}
	s := critiquing(newScreen(true).resize(40, 24)).happen(q).press("a")
	assert.Regexp(t, `6  drop: continue without whom it was\s+asked of`, s.frame())
}
