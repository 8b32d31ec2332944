package live_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/cmd/debate/internal/live"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// TestSizes: the view in windows of three sizes, as it is read, and with its styles.
func TestSizes(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 20}, {200, 50}} {
		name := fmt.Sprintf("size-%dx%d", size[0], size[1])
		t.Run(name, func(t *testing.T) {
			s := critiquing(newScreen(true).resize(size[0], size[1]))
			s.send(live.TickMsg(begun.Add(5 * time.Second)))
			fits(t, s)
			golden(t, name, s.frame())
			golden(t, name+"-styled", s.View().Content)
		})
	}
}

// TestReadingBack: the speech that is written is followed, all that was said is a key away, and the end follows again.
func TestReadingBack(t *testing.T) {
	s := critiquing(newScreen(true)).resize(60, 14)
	assert.Contains(t, s.frame(), "others need")
	assert.Contains(t, s.frame(), "── System Architect · critique of ben ")
	assert.NotContains(t, s.frame(), "A token bucket.")
	s.press("home")
	assert.Contains(t, s.frame(), "A token bucket.")
	assert.Contains(t, s.frame(), "End follow")
	before := s.frame()
	s.happen(stream(deliberation.KindCritique, "System Architect", "ben", 100, strings.Repeat("\nmore", 40)))
	assert.Equal(t, textOf(before), textOf(s.frame()), "what is written meanwhile moves nothing")
	s.press("pgdown", "pgup", "end")
	assert.NotContains(t, s.frame(), "End follow")
	s.press("up")
	assert.Contains(t, s.frame(), "End follow")
	s.press("down")
	assert.NotContains(t, s.frame(), "End follow")
}

// textOf returns the first line of the text in a frame.
func textOf(frame string) string {
	lines := strings.Split(frame, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "── ") && i+1 < len(lines) {
			return lines[i+1]
		}
	}
	return ""
}

// TestPinning: tab follows the next speaker.
func TestPinning(t *testing.T) {
	s := critiquing(newScreen(true)).resize(80, 20)
	title := func() string {
		_, rest, _ := strings.Cut(s.frame(), "── ")
		name, _, _ := strings.Cut(rest, " · ")
		return name
	}
	var seen []string
	for range 4 {
		seen = append(seen, title())
		s.press("tab")
	}
	assert.Equal(t, []string{"System Architect", "System Architect", "ben", "cyd"}, seen)
	assert.Equal(t, "System Architect", title(), "behind the last of them the newest is followed again")
}

// TestKeysThatDoNothing: one note says why.
func TestKeysThatDoNothing(t *testing.T) {
	failed := &flow.Transition{To: flow.StateError, On: flow.TriggerFail, Failure: &flow.Error{Kind: provider.KindAuthentication}}
	for name, tc := range map[string]struct {
		play func(s *screen)
		says string
	}{
		"p after a failure": {func(s *screen) { s.happen(failed).press("p") }, "p does nothing now: a failure"},
		"p at a question":   {func(s *screen) { s.happen(&flow.Transition{To: flow.StateAwaitingInput}).press("p") }, "p does nothing now: the conversation waits"},
		"a":                 {func(s *screen) { s.press("a") }, "a does nothing now: nothing is asked"},
		"r": {
			func(s *screen) { s.happen(ask(deliberation.KindCritique, "ben", "cyd")).press("r") }, "r does nothing now: no call",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := critiquing(newScreen(true))
			tc.play(s)
			assert.Empty(t, s.given)
			assert.Contains(t, s.frame(), tc.says)
		})
	}
}

// TestSuspending: Ctrl-Z gives the terminal back.
func TestSuspending(t *testing.T) {
	s := critiquing(newScreen(true))
	_, cmd := s.Update(tea.KeyPressMsg(tea.Key{Code: 'z', Mod: tea.ModCtrl}))
	require.NotNil(t, cmd)
	assert.Equal(t, tea.SuspendMsg{}, cmd())
}

// TestPausingCounts: while a pause waits for calls, their number is shown.
func TestPausingCounts(t *testing.T) {
	s := critiquing(newScreen(true)).resize(120, 24).press("p")
	s.happen(&flow.Transition{To: flow.StatePaused, On: flow.TriggerPause, Drain: true})
	assert.Contains(t, s.frame(), " · pausing: 3 calls finish")
	s.happen(say(deliberation.KindCritique, "cyd", "ben", "x"), say(deliberation.KindCritique, "System Architect", "cyd", "x"))
	assert.Contains(t, s.frame(), " · pausing: 1 call finishes")
	s.happen(say(deliberation.KindCritique, "System Architect", "ben", "x"))
	assert.Contains(t, s.frame(), " · paused")
}

// TestSilentCall: a call of which nothing comes is told.
func TestSilentCall(t *testing.T) {
	s := critiquing(newScreen(true)).resize(120, 24)
	assert.NotContains(t, s.frame(), "silent")
	s.send(live.TickMsg(begun.Add(20 * time.Second)))
	assert.Contains(t, s.frame(), "cyd: critique of ben, silent for 18s")
}

// TestFailuresOfTheView: those of one cause are told once, in the frame and on the terminal behind it.
func TestFailuresOfTheView(t *testing.T) {
	s := newScreen(true)
	s.At = func(string) string { return " at http://h (OPENAI_BASE_URL)" }
	s.happen(start(deliberation.FlowName, "T", 3, nil, "ada", "ben"), to(deliberation.StateProposing, 2),
		ask(deliberation.KindProposal, "ada", ""), ask(deliberation.KindProposal, "ben", ""))
	down := &flow.Error{Kind: provider.KindNetwork, Op: "r1.propose.ada", Err: errors.New("dial tcp h: connect: connection refused")}
	for _, by := range []string{"ada", "ben"} {
		s.happen(&flow.Failure{
			Spend: flow.Spend{Call: id(deliberation.KindProposal, by, ""), Model: "openai/m"}, By: by, Error: down, Final: true,
		})
	}
	s.happen(&flow.Transition{To: flow.StateError, On: flow.TriggerFail, Failure: down})
	const want = "Failed: ada, ben: openai at http://h (OPENAI_BASE_URL) cannot be reached: connection refused."
	assert.Equal(t, 1, strings.Count(strings.Join(strings.Fields(s.frame()), " "), want), s.frame())
	assert.Equal(t, 1, strings.Count(strings.Join(s.Last(), " "), want))
	assert.NotContains(t, s.frame()+strings.Join(s.Last(), ""), "r1.propose")
	for _, line := range s.Last() {
		assert.LessOrEqual(t, len(line), 80)
	}
}

// TestAFailureThatIsAskedAbout: the question alone tells it, on the terminal behind the view the program does. r tries again.
func TestAFailureThatIsAskedAbout(t *testing.T) {
	s := newScreen(true)
	s.happen(start(deliberation.FlowName, "T", 3, nil, "ada", "ben"), to(deliberation.StateProposing, 2),
		ask(deliberation.KindProposal, "ada", ""), ask(deliberation.KindProposal, "ben", ""))
	unknown := &flow.Error{Kind: provider.KindValidation, Attempt: 1, Err: errors.New("status 404, model_not_found: no such model")}
	var want []flow.Signal
	for _, by := range []string{"ada", "ben"} {
		call := id(deliberation.KindProposal, by, "")
		s.happen(&flow.Failure{Spend: flow.Spend{Call: call, Attempt: 1, Model: "openai/m"}, By: by, Error: unknown, Final: true}, &flow.Inquiry{
			ID: "ask." + by, To: by, Question: by + ": validation. Amend models." + by, Failure: unknown,
			Options: []flow.Option{flow.OptionRetry, flow.OptionModel}, About: []flow.FailedCall{{Call: call, By: by}},
		})
		want = append(want, flow.Answer{Inquiry: "ask." + by, Option: flow.OptionRetry})
	}
	s.happen(&flow.Transition{To: flow.StateAwaitingInput})
	assert.Equal(t, 1, strings.Count(s.frame(), "does not know the model m"), s.frame())
	assert.Contains(t, s.frame(), "? (and 1 more) ada: openai does not know the model m (404 model_not_found)")
	assert.Contains(t, s.frame(), "r retry")
	assert.NotContains(t, s.frame()+strings.Join(s.Last(), ""), "Amend")
	assert.NotContains(t, strings.Join(s.Last(), ""), "does not know")
	s.press("r")
	assert.Equal(t, want, s.given)
}

// TestAnySpeech: whatever was said, and wherever the person reads, each frame fits.
func TestAnySpeech(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 2))
	pieces := []string{"word ", "# ", "- ", "> ", "`", "**", "\n", "\n\n", "| a | b |\n|---|---|\n| c | d |\n", "猫", "\x1b[2J", strings.Repeat("x", 70), "\t"}
	text := func() string {
		var out strings.Builder
		for range random.IntN(60) {
			out.WriteString(pieces[random.IntN(len(pieces))])
		}
		return out.String()
	}
	for range 50 {
		s := newScreen(true).happen(start(deliberation.FlowName, "T", 3, nil, "ada", "ben"), to(deliberation.StateProposing, 2))
		for range 30 {
			switch random.IntN(5) {
			case 0:
				s.resize(1+random.IntN(120), 1+random.IntN(40))
			case 1:
				s.happen(ask(deliberation.KindProposal, "ada", ""), stream(deliberation.KindProposal, "ada", "", 0, text()))
			case 2:
				s.happen(say(deliberation.KindProposal, "ben", "", text()))
			default:
				s.press([]string{"up", "down", "pgup", "pgdown", "home", "end", "tab"}[random.IntN(7)])
			}
			fits(t, s)
		}
	}
}
