package live_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/cmd/debate/internal/live"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
)

var update = flag.Bool("update", false, "write the frames of this run to testdata")

// begun is when the conversations of these tests begin.
var begun = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// screen is a view with a person before it.
type screen struct {
	*live.Model
	given []flow.Signal
	quit  bool
	seq   int64
	at    time.Time
	deny  error
}

func newScreen(keys bool) *screen {
	s := &screen{at: begun}
	s.Model = live.New(func(signal flow.Signal) error {
		s.given = append(s.given, signal)
		return s.deny
	}, keys, begun)
	return s
}

// send takes a message, and carries out the command that follows from it, but for those of the clock.
func (s *screen) send(msg tea.Msg) {
	_, cmd := s.Update(msg)
	if _, isTick := msg.(live.TickMsg); cmd == nil || isTick {
		return
	}
	switch next := cmd().(type) {
	case tea.QuitMsg:
		s.quit = true
	default:
		s.send(next)
	}
}

func (s *screen) happen(bodies ...flow.Body) *screen {
	for _, body := range bodies {
		s.seq++
		s.at = s.at.Add(100 * time.Millisecond)
		s.send(live.EventMsg{Event: flow.Event{Seq: s.seq, At: s.at, Body: body}})
	}
	return s
}

func (s *screen) resize(width, height int) *screen {
	s.send(tea.WindowSizeMsg{Width: width, Height: height})
	return s
}

// press takes keys by their names, or by what they write.
func (s *screen) press(keys ...string) *screen {
	for _, key := range keys {
		named := map[string]tea.Key{
			"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "backspace": {Code: tea.KeyBackspace},
			"ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "home": {Code: tea.KeyHome},
			"end": {Code: tea.KeyEnd}, "pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown},
		}
		if k, ok := named[key]; ok {
			s.send(tea.KeyPressMsg(k))
			continue
		}
		for _, r := range key {
			s.send(tea.KeyPressMsg(tea.Key{Code: r, Text: string(r)}))
		}
	}
	return s
}

// frame is what a person reads.
func (s *screen) frame() string { return ansi.Strip(s.View().Content) }

func start(flowName, topic string, rounds int, budget *flow.Budget, people ...string) *flow.Start {
	return &flow.Start{Flow: flowName, Settings: flow.Settings{Topic: topic, Rounds: rounds, Participants: people, Budget: budget}}
}

func to(state flow.State, calls int) *flow.Transition {
	return &flow.Transition{To: state, Calls: calls}
}

func ask(kind flow.CallKind, by, target string) *flow.Intent {
	return &flow.Intent{Call: id(kind, by, target), Attempt: 1, Kind: kind, By: by, Target: target, Model: "openai/m", Round: 1}
}

func id(kind flow.CallKind, by, target string) string { return fmt.Sprint(kind, ".", by, ".", target) }

func say(kind flow.CallKind, by, target, text string) *flow.Turn {
	return &flow.Turn{
		Spend: flow.Spend{
			Call: id(kind, by, target), Attempt: 1, Model: "openai/m", Cost: flow.USD / 100, Usage: provider.Usage{Input: 900, Output: 100},
		},
		Round: 1, Kind: kind, Speaker: by, Target: target, Text: text,
	}
}

func stream(kind flow.CallKind, by, target string, offset int, text string) *flow.Chunk {
	return &flow.Chunk{Call: id(kind, by, target), Attempt: 1, By: by, Offset: offset, Text: text, Parts: 1}
}

// critiquing is a deliberation in the middle of its first round.
func critiquing(s *screen) *screen {
	return s.happen(
		start(deliberation.FlowName, "Design a rate limiter", 3, &flow.Budget{Hard: flow.USD / 10}, "System Architect", "ben", "cyd"),
		to(deliberation.StateProposing, 3), &flow.Round{N: 1, Of: 3, Calls: 12},
		ask(deliberation.KindProposal, "System Architect", ""), ask(deliberation.KindProposal, "ben", ""),
		ask(deliberation.KindProposal, "cyd", ""), say(deliberation.KindProposal, "ben", "", "A token bucket."),
		say(deliberation.KindProposal, "cyd", "", "A window."), say(deliberation.KindProposal, "System Architect", "", "A queue."),
		to(deliberation.StateCritiquing, 6),
		ask(deliberation.KindCritique, "System Architect", "ben"), ask(deliberation.KindCritique, "System Architect", "cyd"),
		ask(deliberation.KindCritique, "ben", "cyd"), ask(deliberation.KindCritique, "cyd", "ben"),
		stream(deliberation.KindCritique, "System Architect", "ben", 0, "The bucket has no bound,\nand so "),
		stream(deliberation.KindCritique, "System Architect", "ben", 33, "a burst after a quiet hour takes all the capacity that others need"),
		&flow.Failure{
			Spend: flow.Spend{Call: id(deliberation.KindCritique, "ben", "cyd"), Attempt: 1}, By: "ben", RetryAt: begun.Add(15 * time.Second),
			Error: &flow.Error{Kind: provider.KindRateLimit, Err: errors.New("429 by openai")},
		},
	)
}

func question(n int) *flow.Inquiry {
	return &flow.Inquiry{
		ID: fmt.Sprintf("question.1.ada.%d", n), Kind: deliberation.KindAnswer, To: "person",
		Question: fmt.Sprintf("ada asks: Which of the %d stores is used?", n),
	}
}

func failure() *flow.Inquiry {
	return &flow.Inquiry{
		ID: "failure.1", Question: "ben cannot be asked. What now?", Failure: &flow.Error{Kind: provider.KindQuota, Err: errors.New("no money")},
		About:   []flow.FailedCall{{Call: "c", By: "ben", Options: []flow.Option{flow.OptionModel, flow.OptionDrop}}},
		Options: []flow.Option{flow.OptionRetry, flow.OptionModel, flow.OptionDrop, flow.OptionEnd},
	}
}

// TestWhatWasBrokenOffStandsBesideTheCost: a person sees what a call may have cost whose end nobody knows.
func TestWhatWasBrokenOffStandsBesideTheCost(t *testing.T) {
	s := critiquing(newScreen(true)).resize(120, 30).happen(&flow.Failure{
		Spend: flow.Spend{Call: id(deliberation.KindCritique, "cyd", "ben"), Attempt: 1, Model: "openai/m", AtMost: flow.USD / 50, BrokenOff: true},
		By:    "cyd", Error: &flow.Error{Kind: provider.KindNetwork},
	})
	const want = "$0.03, and up to $0.02 for 1 call that was broken off, of $0.10"
	assert.Contains(t, s.frame(), want)
	assert.Contains(t, strings.Join(s.Last(), " "), want)
}

// TestFrames: what a person sees, in windows of several sizes and in each flow.
func TestFrames(t *testing.T) {
	crowd := func(s *screen) *screen {
		names := make([]string, 100)
		for i := range names {
			names[i] = fmt.Sprintf("agent %d", i+1)
		}
		s.happen(start(deliberation.FlowName, "A crowd", 2, nil, names...), to(deliberation.StateProposing, 100), &flow.Round{N: 1, Of: 2})
		for _, name := range names[90:] {
			s.happen(ask(deliberation.KindProposal, name, ""))
		}
		return s.happen(stream(deliberation.KindProposal, "agent 97", "", 0, "first of all"))
	}
	work := func(s *screen) *screen {
		plan := say(arbiter.KindExecution, "planner", "", "{}")
		plan.Data = []byte(`{"success":true,"output":"done","planUpdates":{"steps":[` +
			`{"index":0,"description":"Write the parser","status":"complete"},{"index":1,"description":"Test it"}]}}`)
		use := &flow.Intent{Call: "x.tool.1", Attempt: 1, Kind: flow.KindTool, By: "coder", Tool: "run_tests", For: id(arbiter.KindExecution, "coder", "")}
		return s.happen(start(arbiter.FlowName, "Write a parser", 50, nil, "planner", "coder"), to(arbiter.StateSelecting, 1),
			ask(arbiter.KindDecision, "arbiter", ""), &arbiter.Decision{Spend: flow.Spend{Call: id(arbiter.KindDecision, "arbiter", "")}}, to(arbiter.StateExecuting, 1), &flow.Round{N: 1, Of: 50},
			ask(arbiter.KindExecution, "planner", ""), plan,
			to(arbiter.StateSelecting, 1), to(arbiter.StateExecuting, 1), ask(arbiter.KindExecution, "coder", ""),
			&flow.ToolCalls{Spend: flow.Spend{Call: id(arbiter.KindExecution, "coder", "")}, By: "coder"}, use)
	}
	speech := func(s *screen) *screen {
		return s.happen(start("debate", "Cats or dogs", 4, nil, "Ada", "Ben"), to("awaitingResponses", 0),
			&flow.Round{N: 2, Of: 4, Phase: "rebuttal", Calls: 2}, ask("rebuttal", "Ada", ""),
			&flow.Chunk{Call: "rebuttal.Ada.", By: "Ada", Text: "hm", Reasoning: true, Parts: 1})
	}
	debating := func(s *screen) *screen {
		return s.happen(start("debate", "Should cities ban private cars from their centres?", 3, &flow.Budget{Hard: flow.USD / 10}, "Ada", "Ben"),
			to("awaitingResponses", 0), &flow.Round{N: 1, Of: 3, Phase: "opening", Calls: 2},
			ask("opening", "Ada", ""), ask("opening", "Ben", ""),
			say("opening", "Ben", "", "A price."), say("opening", "Ada", "", "Room."),
			to("judging", 0), to("awaitingResponses", 0), &flow.Round{N: 2, Of: 3, Phase: "argument", Calls: 2},
			ask("argument", "Ada", ""), ask("argument", "Ben", ""),
			stream("argument", "Ada", "", 0, "To a consultant a price is small change; to a cleaner it is an hour's wage, and so"),
			&flow.Failure{
				Spend: flow.Spend{Call: id("argument", "Ben", ""), Attempt: 1}, By: "Ben", RetryAt: begun.Add(15 * time.Second),
				Error: &flow.Error{Kind: provider.KindRateLimit, Err: errors.New("429 by openai")},
			})
	}
	hostile := func(s *screen) *screen {
		return s.happen(start(deliberation.FlowName, "\x1b[2J\x07Topic\u202e", 1, nil, "e\x1b]0;vil\x07", "猫猫猫猫猫猫猫猫猫猫猫猫"), to(deliberation.StateProposing, 2),
			ask(deliberation.KindProposal, "e\x1b]0;vil\x07", ""), ask(deliberation.KindProposal, "猫猫猫猫猫猫猫猫猫猫猫猫", ""),
			stream(deliberation.KindProposal, "e\x1b]0;vil\x07", "", 0, "red \x1b[31m and \u009b31m \r\n\x1b[H and more"),
			stream(deliberation.KindProposal, "猫猫猫猫猫猫猫猫猫猫猫猫", "", 0, strings.Repeat("犬が好きです。", 20)))
	}
	tests := map[string]func(s *screen) *screen{
		"deliberation":        critiquing,
		"deliberation-narrow": func(s *screen) *screen { return critiquing(s.resize(24, 12)) },
		"deliberation-short":  func(s *screen) *screen { return critiquing(s.resize(60, 4)) },
		"nothing-yet":         func(s *screen) *screen { return s },
		"paused": func(s *screen) *screen {
			return critiquing(s).happen(&flow.Transition{To: flow.StatePaused, On: flow.TriggerPause})
		},
		"failed": func(s *screen) *screen {
			return critiquing(s).happen(&flow.Transition{
				To: flow.StateError, On: flow.TriggerFail, Failure: &flow.Error{Kind: provider.KindAuthentication, Err: errors.New("401")},
			})
		},
		"asks":      func(s *screen) *screen { return critiquing(s).happen(question(1), question(2)) },
		"answering": func(s *screen) *screen { return critiquing(s).happen(question(1)).press("a", "SQLite, of c") },
		"choosing": func(s *screen) *screen {
			return critiquing(s.resize(40, 14)).happen(failure()).press("a", "7", "enter")
		},
		"stop-armed":    func(s *screen) *screen { return critiquing(s).press("s") },
		"pausing":       func(s *screen) *screen { return critiquing(s).press("q") },
		"crowd":         func(s *screen) *screen { return crowd(s.resize(70, 10)) },
		"work":          work,
		"speech":        speech,
		"debate":        func(s *screen) *screen { return debating(s.resize(80, 12)) }, // the README shows it
		"hostile":       hostile,
		"hostile-small": func(s *screen) *screen { return hostile(s.resize(30, 8)) },
	}
	for name, play := range tests {
		t.Run(name, func(t *testing.T) {
			s := play(newScreen(true))
			s.send(live.TickMsg(begun.Add(5 * time.Second)))
			golden(t, name, s.frame())
		})
	}
}

func golden(t *testing.T, name, frame string) {
	t.Helper()
	var trimmed strings.Builder
	for line := range strings.Lines(frame) {
		trimmed.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	path := filepath.Join("testdata", name+".txt")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(trimmed.String()), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "go test ./internal/live -update writes it")
	assert.Equal(t, string(want), trimmed.String())
}

// TestKeys: each key gives the control that its help names.
func TestKeys(t *testing.T) {
	paused := &flow.Transition{To: flow.StatePaused, On: flow.TriggerPause}
	tests := map[string]struct {
		play func(s *screen)
		want []flow.Signal
		left live.Leaving
		quit bool
	}{
		"p pauses, and lets calls finish": {func(s *screen) { s.press("p") }, []flow.Signal{flow.Pause{Drain: true}}, "", false},
		"p resumes":                       {func(s *screen) { s.happen(paused).press("p") }, []flow.Signal{flow.Resume{}}, "", false},
		"s alone does nothing":            {func(s *screen) { s.press("s") }, nil, "", false},
		"s and yes stop":                  {func(s *screen) { s.press("s", "yes", "enter") }, []flow.Signal{flow.Stop{}}, "", false},
		"s and another word do not":       {func(s *screen) { s.press("s", "s", "enter", "s", "ystems", "enter") }, nil, "", false},
		"esc takes s back":                {func(s *screen) { s.press("s", "esc", "p") }, []flow.Signal{flow.Pause{Drain: true}}, "", false},
		"r resumes":                       {func(s *screen) { s.happen(paused).press("r") }, []flow.Signal{flow.Resume{}}, "", false},
		"r retries":                       {func(s *screen) { s.press("r") }, []flow.Signal{flow.Retry{}}, "", false},
		"q pauses, and quits when paused": {func(s *screen) { s.press("q").happen(paused) }, []flow.Signal{flow.Pause{}}, live.Quit, true},
		"q waits for the pause":           {func(s *screen) { s.press("q") }, []flow.Signal{flow.Pause{}}, live.Quit, false},
		"q in a pause":                    {func(s *screen) { s.happen(paused).press("q") }, nil, live.Quit, true},
		"q where no pause is possible": {
			func(s *screen) { s.deny = errors.New("over"); s.press("q") },
			[]flow.Signal{flow.Pause{}},
			live.Quit, true,
		},
		"Ctrl-C pauses":         {func(s *screen) { s.press("ctrl+c") }, []flow.Signal{flow.Pause{}}, live.Interrupt, false},
		"two of them quit":      {func(s *screen) { s.press("ctrl+c", "ctrl+c") }, []flow.Signal{flow.Pause{}}, live.AtOnce, true},
		"a signal is like it":   {func(s *screen) { s.send(live.InterruptMsg{}) }, []flow.Signal{flow.Pause{}}, live.Interrupt, false},
		"keys after q are lost": {func(s *screen) { s.press("q", "p", "a") }, []flow.Signal{flow.Pause{}}, live.Quit, false},
		"a without a question":  {func(s *screen) { s.press("a", "p") }, []flow.Signal{flow.Pause{Drain: true}}, "", false},
		"an answer": {
			func(s *screen) { s.happen(question(1)).press("a", "SQLitx", "backspace", "e", "enter") },
			[]flow.Signal{flow.Answer{Inquiry: "question.1.ada.1", Text: "SQLite"}},
			"", false,
		},
		"an empty answer": {
			func(s *screen) { s.happen(question(1)).press("a", "enter") },
			[]flow.Signal{flow.Answer{Inquiry: "question.1.ada.1", Text: "NA"}},
			"", false,
		},
		"the second question": {
			func(s *screen) { s.happen(question(1), question(2)).press("a", "tab", "B", "enter") },
			[]flow.Signal{flow.Answer{Inquiry: "question.1.ada.2", Text: "B"}},
			"", false,
		},
		"one question after the other": {
			func(s *screen) {
				s.happen(question(1), question(2)).press("a", "A", "enter").settle().press("B", "enter")
			},
			[]flow.Signal{flow.Answer{Inquiry: "question.1.ada.1", Text: "A"}, flow.Answer{Inquiry: "question.1.ada.2", Text: "B"}},
			"", false,
		},
		"what comes right behind an answer": {
			func(s *screen) { s.happen(question(1), question(2)).press("a", "A", "enter", "B", "enter", "esc", "q") },
			[]flow.Signal{flow.Answer{Inquiry: "question.1.ada.1", Text: "A"}},
			"", false,
		},
		"esc": {func(s *screen) { s.happen(question(1)).press("a", "no", "esc", "p") }, []flow.Signal{flow.Pause{Drain: true}}, "", false},
		"a question that somebody else answers": {
			func(s *screen) {
				s.happen(question(1)).press("a", "no").happen(&flow.Answer{Inquiry: "question.1.ada.1"}).press("psq", "enter", "esc", "p")
			},
			[]flow.Signal{flow.Pause{Drain: true}},
			"", false,
		},
		"an option by number": {
			func(s *screen) { s.happen(failure()).press("a", "1", "enter") },
			[]flow.Signal{flow.Answer{Inquiry: "failure.1", Option: flow.OptionRetry}},
			"", false,
		},
		"an option with a model": {
			func(s *screen) {
				s.happen(failure()).press("a", "model", "enter", "gpt", "enter", "openai/gpt", "enter")
			},
			[]flow.Signal{flow.Answer{Inquiry: "failure.1", Option: flow.OptionModel, Model: "openai/gpt"}},
			"", false,
		},
		"the end":    {func(s *screen) { s.happen(to(flow.StateCompleted, 0)) }, nil, "", true},
		"a lost log": {func(s *screen) { s.send(live.ClosedMsg{}) }, nil, "", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := critiquing(newScreen(true))
			tt.play(s)
			assert.Equal(t, tt.want, s.given)
			assert.Equal(t, tt.left, s.Left)
			assert.Equal(t, tt.quit, s.quit)
			if s.quit {
				assert.Empty(t, s.frame(), "the last frame leaves the terminal as it was")
			}
		})
	}
}

// TestNoKeyboard: without a keyboard the view ends when the conversation waits for somebody.
func TestNoKeyboard(t *testing.T) {
	for _, state := range []flow.State{flow.StatePaused, flow.StateAwaitingInput, flow.StateError, flow.StateCompleted} {
		s := critiquing(newScreen(false))
		assert.NotContains(t, s.frame(), "p pause")
		s.happen(&flow.Transition{To: state})
		assert.True(t, s.quit, "%s", state)
		assert.NotEmpty(t, s.Last())
	}
}

// TestAnyEvents: whatever events come in whatever order, each frame fits its window and holds no control character, and the
// styles are the only escape sequences.
func TestAnyEvents(t *testing.T) {
	longform.Lone(t)
	random := rand.New(rand.NewPCG(3, 9))
	words := []string{
		"", "ada", "\x1b[2J", "a\nb", "\u009b1m", "e\u0301\u0301", "👩‍👩‍👧‍👦", "猫", strings.Repeat("long ", 90), "\u202e", "\xff", "\t", "\x7f", "\u2028x",
	}
	word := func() string { return words[random.IntN(len(words))] }
	kinds := []flow.CallKind{deliberation.KindProposal, deliberation.KindCritique, arbiter.KindDecision, "x\x1b"}
	kind := func() flow.CallKind { return kinds[random.IntN(len(kinds))] }
	states := []flow.State{
		flow.StatePaused, flow.StateAwaitingInput, flow.StateError, flow.StateCompleting, deliberation.StateCritiquing, "odd\x1b", "awaitingResponses",
	}
	body := func() flow.Body {
		by, target := word(), word()
		k := kind()
		trouble := &flow.Error{Kind: provider.KindAPI, Err: errors.New(word())}
		spend := flow.Spend{Call: id(k, by, target), Cost: flow.Money(random.Int64N(int64(flow.USD))), Usage: provider.Usage{Input: random.IntN(1e6)}}
		switch random.IntN(18) {
		case 0:
			return start(word(), word(), random.IntN(5), &flow.Budget{Hard: flow.Money(random.IntN(3)) * flow.USD}, word(), word(), word())
		case 1, 2:
			return &flow.Transition{To: states[random.IntN(len(states))], Calls: random.IntN(9), Evidence: word(), Failure: trouble}
		case 3:
			return &flow.Round{N: random.IntN(9), Of: random.IntN(9), Phase: word(), Calls: random.IntN(4)}
		case 4, 5, 6:
			return ask(k, by, target)
		case 7, 8:
			return stream(k, by, target, random.IntN(60), word())
		case 9:
			return say(k, by, target, word())
		case 10:
			return &flow.Failure{Spend: spend, By: by, Error: trouble, Final: random.IntN(2) == 0, RetryAt: begun.Add(time.Hour)}
		case 11:
			return &flow.Rejection{Spend: spend, By: by, Problems: []string{word()}, Final: random.IntN(2) == 0}
		case 12:
			return &flow.Intent{Call: "t" + word(), Tool: "t" + word(), By: by, For: spend.Call}
		case 13:
			q := failure()
			q.Question, q.ID = word(), word()
			q.Use = &flow.PendingUse{Tool: word(), Arguments: word(), Cut: true}
			return q
		case 14:
			return &flow.Answer{Inquiry: word()}
		case 15:
			return &flow.Warning{Kind: flow.WarnCost, Evidence: word()}
		case 16:
			return &flow.Dropped{Participant: by, Reason: word()}
		default:
			return &flow.Skipped{Call: spend.Call, By: by, Reason: word(), Kind: k}
		}
	}
	for range 100 {
		s := newScreen(random.IntN(4) > 0)
		for range 60 {
			switch random.IntN(8) {
			case 0:
				s.resize(1+random.IntN(90), 1+random.IntN(30))
			case 1:
				s.press([]string{"p", "a", "enter", "1", "esc", "tab", "s", "猫"}[random.IntN(8)])
			case 2:
				s.settle()
			default:
				s.happen(body())
			}
			fits(t, s)
		}
	}
}

func fits(t *testing.T, s *screen) {
	t.Helper()
	width, height := s.Size()
	style := regexp.MustCompile(`^\[[0-9;]*m`)
	lines := strings.Split(s.View().Content, "\n")
	require.LessOrEqual(t, len(lines), height)
	for _, line := range lines {
		plain := ansi.Strip(line)
		require.LessOrEqual(t, ansi.StringWidth(plain), width, "%q", plain)
		require.Equal(t, -1, strings.IndexFunc(plain, unicode.IsControl), "%q", plain)
		require.Equal(t, -1, strings.IndexFunc(plain, func(r rune) bool { return !unicode.IsPrint(r) }), "%q", plain)
		for rest := line; ; {
			_, after, found := strings.Cut(rest, "\x1b")
			if !found {
				break
			}
			require.True(t, style.MatchString(after), "nothing but styles: %q", line)
			rest = after
		}
	}
}
