package live_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/cmd/debate/internal/live"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

const speaks = flow.CallKind("opening")

// turnOf is what Ada, a person, is asked in a round.
func turnOf(round int) *flow.Inquiry {
	return &flow.Inquiry{
		ID: called(round), Kind: speaks, To: "Ada", Max: 1000,
		Question: fmt.Sprintf("It is your turn, Ada: round %d.\nAnswer what Ben has said.", round),
	}
}

func called(round int) string { return fmt.Sprintf("r%d.opening.Ada", round) }

// askingAda is a debate in which Ada is asked.
func askingAda(s *screen) *screen {
	return s.resize(120, 24).happen(
		start("debate", "Tabs or spaces?", 3, nil, "Ada", "Ben"), to("awaitingResponses", 0),
		&flow.Round{N: 1, Of: 3, Phase: "opening", Calls: 2},
		&flow.Intent{Call: called(1), Attempt: 1, Kind: speaks, By: "Ada", Round: 1}, turnOf(1),
		&flow.Transition{From: "awaitingResponses", To: flow.StateAwaitingInput, On: flow.TriggerAsk},
	)
}

// late are the events of Ada's time, which is over.
func late(then ...flow.Body) []flow.Body {
	return append([]flow.Body{
		&flow.Failure{Spend: flow.Spend{Call: called(1), Attempt: 1}, By: "Ada", Final: true, Error: &flow.Error{
			Kind: provider.KindTimeout, Field: "within", Err: errors.New("Ada has not answered within 8s"),
		}},
		&flow.Transition{From: flow.StateAwaitingInput, To: "awaitingResponses", On: flow.TriggerOverdue},
	}, then...)
}

// standsIn are the events by which a model takes the place of Ada.
func standsIn() []flow.Body {
	return late(
		&flow.Inquiry{
			ID: "ask.1", Kind: speaks, To: "Ada", About: []flow.FailedCall{{Call: called(1), By: "Ada"}}, Options: []flow.Option{flow.OptionStandIn},
			Failure: &flow.Error{Kind: provider.KindTimeout},
		},
		&flow.Answer{Inquiry: "ask.1", Option: flow.OptionStandIn, Model: "demo/script", Rule: true},
	)
}

// words are the words of a frame, however it is wrapped.
func (s *screen) words() string { return strings.Join(strings.Fields(s.frame()), " ") }

// settle lets the time pass in which a pasted text may still come.
func (s *screen) settle() *screen {
	for range 2 {
		s.send(live.TickMsg(s.at))
	}
	return s
}

// TestWordsAreNoKeys: whatever happens while a person writes, nothing that is written ends or pauses anything, or is lost.
func TestWordsAreNoKeys(t *testing.T) {
	for name, tc := range map[string]struct {
		happens []flow.Body
		says    string
	}{
		"somebody else answers": {
			[]flow.Body{&flow.Answer{Inquiry: called(1), Text: "quick", Person: "other"}, say(speaks, "Ada", "", "quick")},
			"Question r1.opening.Ada was answered by other; your text was not sent.",
		},
		"nobody wants it any more": {
			[]flow.Body{&flow.Withdrawn{Call: called(1), By: "Ada"}}, "Question r1.opening.Ada is not asked any more; your text was not sent.",
		},
		"the rounds end":   {[]flow.Body{&flow.Transition{To: flow.StateCompleting, On: flow.TriggerStop}}, "is not asked any more"},
		"the time is over": {standsIn(), "Your time is over; a model stands in for you. You are asked again next time."},
		"the turn is left out": {
			late(&flow.Skipped{Call: called(1), By: "Ada", Kind: speaks}), "Your time is over. The conversation goes on without your answer.",
		},
		"it is an error": {
			late(&flow.Transition{To: flow.StateError, On: flow.TriggerFail}), "Your time is over, and that has stopped the conversation.",
		},
		"it has ended":  {[]flow.Body{to(flow.StateCompleted, 0)}, "Nothing is asked any more; your text was not sent."},
		"it is paused":  {[]flow.Body{to(flow.StatePaused, 0)}, "It is your turn, Ada: round 1."},
		"more is asked": {[]flow.Body{question(1)}, "It is your turn, Ada: round 1."},
	} {
		t.Run(name, func(t *testing.T) {
			s := askingAda(newScreen(true)).press("a", "We com").happen(tc.happens...).press("press them", "enter", "qps", "enter", "yes")
			assert.Empty(t, s.given)
			assert.Empty(t, s.Left)
			assert.False(t, s.quit)
			assert.Contains(t, s.words(), tc.says)
			assert.Contains(t, s.frame(), "We compress them\nqps\n> yes▏", "each line is kept as it was written")
			fits(t, s)
			s.press("ctrl+c")
			assert.Contains(t, strings.Join(s.Last(), "\n"), "Not sent, to r1.opening.Ada:\nWe compress them\nqps\nyes")
		})
	}
}

// TestATimeThatIsOver: whether or not a person writes, it is said at once who stands in, and that is no failure. What was written is for
// the next question.
func TestATimeThatIsOver(t *testing.T) {
	const told = "Ada: no answer in time; a model stands in, this once."
	s := askingAda(newScreen(true)).happen(standsIn()...)
	assert.Contains(t, s.words(), told)
	assert.NotContains(t, s.frame(), "Failed")
	assert.NotContains(t, s.frame(), "It is your turn", "nobody can answer any more")

	s = askingAda(newScreen(true)).press("a", "One", "enter", "Two").happen(standsIn()...).happen(
		&flow.Intent{Call: called(1), Attempt: 2, Kind: speaks, By: "Ada", Model: "demo/script", Round: 1},
		say(speaks, "Ada", "", "Word."), turnOf(2),
	)
	assert.Contains(t, s.words(), told)
	assert.Contains(t, s.words(), "? It is your turn, Ada: round 2.", "the question that is open is shown")
	s.press("enter", ".", "enter")
	assert.Empty(t, s.given, "a closed question takes no answer")
	s.press("tab")
	assert.Contains(t, s.words(), "This was written for an earlier question, and not sent.")
	s.press("backspace", "ee", "enter", ".", "enter")
	assert.Equal(t, []flow.Signal{flow.Answer{Inquiry: called(2), Text: "One\nTwoee"}}, s.given)
	assert.NotContains(t, strings.Join(s.Last(), "\n"), "Not sent")
}

// TestMoreTime: a question that is asked again with more time takes what was written.
func TestMoreTime(t *testing.T) {
	again := turnOf(1)
	again.Until = time.Date(2026, time.March, 4, 15, 6, 7, 0, time.Local) //nolint:gosmopolitan // as people read it
	s := askingAda(newScreen(true)).press("a", "One").happen(again)
	assert.Contains(t, s.frame(), "until Mar 04 15:06:07")
	s.happen(late()...).happen(turnOf(1)).press("enter", ".", "enter")
	assert.Equal(t, []flow.Signal{flow.Answer{Inquiry: called(1), Text: "One"}}, s.given)
}

// TestADraft: what was written and not sent is there when the person comes back.
func TestADraft(t *testing.T) {
	for name, leave := range map[string]func(s *screen){
		"esc": func(s *screen) { s.press("esc") },
		"another question before it": func(s *screen) {
			s.happen(question(1)).press("tab", "tab", "esc")
		},
		"an answer that is refused": func(s *screen) {
			s.deny = errors.New("the answer has 9 bytes: at most 8 are accepted")
			s.press("enter", ".", "enter").settle()
			assert.Contains(t, s.words(), "at most 8 are accepted; your text is kept.")
			s.deny, s.given = nil, nil
			s.press("a", "backspace", "esc") // from the line behind the last one
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := askingAda(newScreen(true)).press("a", "One", "enter", "Two")
			leave(s)
			s.press("a")
			assert.Contains(t, s.frame(), "One\n> Two▏")
			s.press("backspace", "backspace", "backspace", "backspace", "backspace", "enter", ".", "enter")
			assert.Equal(t, []flow.Signal{flow.Answer{Inquiry: called(1), Text: "On"}}, s.given)
		})
	}
}

// TestAPastedText: the lines of a text that is pasted stay lines, and none of them sends it. What comes right behind an answer is for
// nobody.
func TestAPastedText(t *testing.T) {
	s := askingAda(newScreen(true))
	s.send(tea.PasteMsg{Content: "no prompt is open"})
	s.press("a")
	s.send(tea.PasteMsg{Content: "First.\r\r  Second.\n.\nThird"})
	assert.Empty(t, s.given)
	s.press(".", "enter", ".", "enter", "q", "s", "p", "enter")
	assert.Equal(t, []flow.Signal{flow.Answer{Inquiry: called(1), Text: "First.\n\n  Second.\n.\nThird."}}, s.given)
	assert.Contains(t, s.frame(), "What came right behind the answer was dropped.")
	assert.Empty(t, s.Left)
	s.settle().press("q")
	assert.Equal(t, live.Quit, s.Left, "later keys are keys")

	s = critiquing(newScreen(true)).happen(question(1)).press("a")
	s.send(tea.PasteMsg{Content: "a short answer\nhas one line"})
	assert.Contains(t, s.frame(), "a short answer has one line▏")
}

// TestTheEndWaits: a conversation that ends meanwhile leaves nothing to the shell of what is written, or still comes.
func TestTheEndWaits(t *testing.T) {
	s := askingAda(newScreen(true)).press("a", "We").happen(to(flow.StateCompleted, 0))
	s.send(live.ClosedMsg{})
	assert.False(t, s.quit)
	s.press(" are quiet", "esc")
	assert.True(t, s.quit)
	assert.Empty(t, s.Left)
	assert.Contains(t, s.Last(), "We are quiet")

	s = askingAda(newScreen(true)).press("a", "We", "enter", ".", "enter", "rm").happen(to(flow.StateCompleted, 0))
	assert.False(t, s.quit)
	s.Update(live.TickMsg(s.at))
	_, cmd := s.Update(live.TickMsg(s.at))
	require.NotNil(t, cmd)
	assert.Equal(t, tea.QuitMsg{}, cmd())

	for _, key := range []string{"enter", "esc"} {
		s = critiquing(newScreen(true)).press("s", "y").happen(to(flow.StateCompleted, 0))
		s.send(live.ClosedMsg{})
		s.Update(live.TickMsg(s.at))
		assert.False(t, s.quit, "what is typed behind s")
		s.press("es")
		assert.Contains(t, s.frame(), "It is over, press enter> yes▏")
		s.press(key)
		assert.True(t, s.quit)
		assert.Empty(t, s.Left)
		assert.Empty(t, s.given, "nothing is stopped any more")
	}
}

// TestReadingWhileWriting: who writes can read what was said, and all of the question.
func TestReadingWhileWriting(t *testing.T) {
	s := askingAda(newScreen(true)).resize(60, 20).happen(say(speaks, "Ben", "", "A word of Ben."), say(speaks, "Cleo", "", "A word of Cleo."))
	long := turnOf(2)
	long.Question = "It is your turn, Ada.\nYour position: " + strings.Repeat("so and so, ", 60) + "and this at last."
	s.happen(&flow.Answer{Inquiry: called(1)}, long).press("a", "We")
	assert.NotContains(t, s.frame(), "A word of Ben.")
	assert.NotContains(t, s.words(), "and this at last.")
	s.press("home")
	assert.Contains(t, s.frame(), "A word of Ben.")
	var read strings.Builder
	for range 30 {
		read.WriteString(s.press("down").words())
	}
	assert.Contains(t, read.String(), "and this at last.", "it stands behind what was said")
	s.press("end", " say.", "enter", ".", "enter")
	assert.Equal(t, []flow.Signal{flow.Answer{Inquiry: called(2), Text: "We say."}}, s.given)
	fits(t, s)
}

// TestTheEarlierOfTwoNotes: what was said before can be read back even if all of it fits into the window.
func TestTheEarlierOfTwoNotes(t *testing.T) {
	s := askingAda(newScreen(true)).happen(&flow.Note{As: "A reader", Text: "First."}, &flow.Note{As: "A reader", Text: "Second."})
	assert.NotContains(t, s.frame(), "First.")
	s.press("up")
	assert.Contains(t, s.frame(), "First.")
	assert.Contains(t, s.frame(), "Second.")
	s.press("down")
	assert.NotContains(t, s.frame(), "First.")
}

// TestHelpOfASpeech: what is said of the keys is true of a speech.
func TestHelpOfASpeech(t *testing.T) {
	s := askingAda(newScreen(true)).press("a")
	assert.NotContains(t, s.frame(), "enter sends")
	assert.Contains(t, s.frame(), "enter: next line · a dot alone sends")
	for width := 1; width < 120; width++ {
		fits(t, s.resize(width, 24))
	}
}

// TestAPersonThinks: who is asked is not silent, and a pause waits for no person.
func TestAPersonThinks(t *testing.T) {
	s := askingAda(newScreen(true))
	s.send(live.TickMsg(begun.Add(4 * time.Minute)))
	assert.Contains(t, s.frame(), "? Ada: opening, asked")
	assert.NotContains(t, s.frame(), "silent")
	s.happen(&flow.Transition{From: flow.StateAwaitingInput, To: flow.StatePaused, On: flow.TriggerPause, Drain: true})
	assert.NotContains(t, s.frame(), "finishes")
}

// TestTheEndOfTheRounds: nobody is asked any more for what was asked before.
func TestTheEndOfTheRounds(t *testing.T) {
	s := askingAda(newScreen(true))
	assert.Contains(t, s.frame(), "It is your turn")
	s.happen(&flow.Transition{From: flow.StateAwaitingInput, To: flow.StateCompleting, On: flow.TriggerStop, Calls: 1})
	assert.NotContains(t, s.frame(), "It is your turn")
}
