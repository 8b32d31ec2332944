// Package live shows a conversation on a terminal while it runs, and takes keys: to pause, to stop, to try again, to answer.
package live

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
)

// Model is what the terminal shows. It is a fold of messages: the events of the conversation, the keys, the ticks of a clock and
// the sizes of the window. It reads no clock and makes no call: controls are made by the commands that Update returns.
type Model struct {
	// Left says how the person has left the view while the conversation was not over: "" if that did not happen.
	Left Leaving
	// At says where a vendor is, if a variable of the environment has moved it: " at URL (VARIABLE)". nil: nowhere else.
	At func(vendor string) string
	// Person is who asks for the controls: the log keeps the name. "": it is not known.
	Person string

	control func(flow.Signal) error
	keys    bool // a keyboard is there
	course  *progress.Course

	width, height int
	now           time.Time
	frame         int // of the spinner
	notes         []note
	kept          []string          // lines about what has gone wrong
	outages       map[string]string // the warning of each vendor that is waited for
	read          pane
	failures      progress.Failures
	why           string // why the conversation is in the error state
	stopping      bool   // s was pressed: the person is asked whether the rounds end
	word          []rune // which the person has typed then
	entry         *entry
	drafts        []draft
	settling      int  // ticks until keys are taken
	ended         bool // nothing follows, but the person is typing
	over          bool // nothing follows: the last frame is shown
}

// Leaving is how a person leaves the view.
type Leaving string

// The ways to leave.
const (
	Quit      Leaving = "quit"      // q: the conversation is paused
	Interrupt Leaving = "interrupt" // Ctrl-C: the same
	AtOnce    Leaving = "at once"   // Ctrl-C for the second time: nothing is waited for
)

// note is a line about something that has happened.
type note struct {
	text string
	at   time.Time
	bad  bool
	// asked means that it says what was asked of the conversation: it ends when the state changes.
	asked bool
}

// The messages beside those of the terminal.
type (
	// EventMsg is an event of the conversation.
	EventMsg struct{ Event flow.Event }
	// TickMsg moves the spinner, and is the clock of the view.
	TickMsg time.Time
	// InterruptMsg is a signal of the system. It is taken like Ctrl-C.
	InterruptMsg struct{}
	// ClosedMsg says that no event follows.
	ClosedMsg struct{}
	// controlMsg is what has become of a control; nil: it was taken.
	controlMsg struct{ err error }
	// sentMsg is what has become of an answer, and what the person has written.
	sentMsg struct {
		err  error
		text draft
	}
)

// New returns the view of a conversation of which no event was seen. control gives a signal to the conversation. If keys is
// false there is no keyboard, and the view ends when the conversation waits for somebody.
func New(control func(flow.Signal) error, keys bool, now time.Time) *Model {
	return &Model{control: control, keys: keys, course: &progress.Course{}, width: 80, height: 24, now: now}
}

// Init starts the clock.
func (m *Model) Init() tea.Cmd { return tick() }

// tick asks for the next tick.
func tick() tea.Cmd {
	return tea.Tick(spinnerInterval, func(t time.Time) tea.Msg { return TickMsg(t) })
}

// Update takes a message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) { return m, m.update(msg) }

func (m *Model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case TickMsg:
		m.now, m.frame, m.settling = time.Time(msg), m.frame+1, max(0, m.settling-1)
		switch {
		case m.over:
		case m.ended && !m.typing():
			return m.end()
		default:
			return tick()
		}
	case EventMsg:
		m.take(&msg.Event)
		switch {
		case m.course.Over():
			return m.finish()
		case m.course.Halted() && (!m.keys || m.Left != ""):
			return m.end()
		}
	case ClosedMsg:
		return m.finish()
	case InterruptMsg:
		return m.interrupt()
	case controlMsg:
		if msg.err != nil && m.Left != "" {
			return m.end() // it cannot be paused
		}
		if msg.err != nil {
			m.note(progress.Clean(progress.Told(msg.err)), true)
		}
	case sentMsg:
		if msg.err != nil {
			m.drafts = append(m.drafts, msg.text)
			m.note(progress.Clean(progress.Told(msg.err))+"; your text is kept.", true)
		}
	case tea.PasteMsg:
		m.paste(msg.Content)
	case tea.KeyPressMsg:
		return m.press(msg)
	}
	return nil
}

// finish ends the view of a conversation that is over. If the person is typing, the person ends it: the shell would take for commands what
// is typed.
func (m *Model) finish() tea.Cmd {
	if m.Left != "" || !m.typing() {
		return m.end()
	}
	if m.ended = true; m.entry != nil {
		m.entry.closed = "Nothing is asked any more; your text was not sent."
	}
	return nil
}

// typing reports whether the person writes an answer or a word, or whether what is pasted with one may still come.
func (m *Model) typing() bool { return m.entry != nil || m.stopping || m.settling > 0 }

// end shows the last frame.
func (m *Model) end() tea.Cmd {
	if m.course.Failed() {
		m.tell(m.failures.Rest())
	}
	m.over = true
	m.shut()
	return tea.Quit
}

// take takes an event.
func (m *Model) take(e *flow.Event) {
	if e.At.After(m.now) {
		m.now = e.At
	}
	m.course.Fold(e)
	if answer, ok := e.Body.(*flow.Answer); ok && !answer.Rule {
		m.failures.Forget() // a person has read the question
	}
	m.tell(m.failures.Take(m.course, e.Body, m.At))
	switch body := e.Body.(type) {
	case *flow.Transition:
		m.notes = slices.DeleteFunc(m.notes, func(n note) bool { return n.asked })
	case *flow.Warning:
		text := "warning: " + progress.Warning(body)
		if m.keep(text, false); body.Kind == flow.WarnOutage {
			if m.outages == nil {
				m.outages = make(map[string]string)
			}
			m.outages[m.course.Vendor(body.Call)] = text
		}
	case *flow.Intent:
		m.why = ""
	case *flow.Skipped:
		m.keep(m.course.Name(body.By)+": "+progress.Clean(string(body.Kind))+" is left out", false)
	}
	m.passed(e.Body)
	m.follow(e.Body)
}

// passed forgets the warning of an outage if the vendor answers again.
func (m *Model) passed(body flow.Body) {
	spend := flow.SpendOf(body)
	if _, failed := body.(*flow.Failure); spend == nil || failed {
		return
	}
	vendor, _, _ := flow.SplitModel(spend.Model)
	text, ok := m.outages[vendor]
	if !ok || vendor == "" { // a call that is not shown
		return
	}
	delete(m.outages, vendor)
	m.notes = slices.DeleteFunc(m.notes, func(n note) bool { return n.text == text })
	m.kept = slices.DeleteFunc(m.kept, func(line string) bool { return line == text })
}

// tell tells who has failed for good. If that has stopped the conversation, it stays in the frame.
func (m *Model) tell(failed []string) {
	for _, line := range failed {
		if m.why = line; !m.course.Failed() {
			m.note(line, true)
		}
		m.stay(line)
	}
}

// keep is note for a line that also stays on the terminal.
func (m *Model) keep(text string, bad bool) {
	m.note(text, bad)
	m.stay(text)
}

// stay keeps a line that stays on the terminal.
func (m *Model) stay(text string) {
	if m.kept = append(m.kept, text); len(m.kept) > mostKept {
		m.kept = m.kept[1:]
	}
}

// note shows a line for a while.
func (m *Model) note(text string, bad bool) { m.add(note{text: text, at: m.now, bad: bad}) }

// asking shows what was asked of the conversation, until its state changes.
func (m *Model) asking(text string) { m.add(note{text: text, at: m.now, asked: true}) }

func (m *Model) add(n note) {
	m.notes = append(m.notes, n)
	if len(m.notes) > mostNotes {
		m.notes = m.notes[1:]
	}
}
