package live

import (
	"runtime"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agonist-dev/debate/cmd/debate/internal/inquiry"
	"github.com/agonist-dev/debate/flow"
)

// press takes a key.
func (m *Model) press(key tea.KeyPressMsg) tea.Cmd {
	switch key.String() {
	case "ctrl+c":
		return m.interrupt()
	case "ctrl+z":
		if runtime.GOOS == "windows" {
			return nil
		}
		return tea.Suspend
	}
	switch {
	case m.Left != "" || m.over:
		return nil
	case m.settling > 0:
		m.drop()
		return nil
	case m.entry != nil:
		return m.write(key)
	case m.stopping:
		return m.confirm(key)
	}
	switch name := key.String(); name {
	case "p", "space":
		return m.pause()
	case "s":
		m.stopping, m.word = true, nil
	case "r":
		return m.retry()
	case "a":
		q := m.first()
		if q == nil {
			m.note("a does nothing now: nothing is asked.", false)
			return nil
		}
		m.open(q)
	case "q":
		return m.leave(Quit)
	case "tab":
		m.pin()
	default:
		m.move(name)
	}
	return nil
}

// confirm takes a key while the person is asked whether the rounds end. The answer is a word that no other word holds behind an s: the keys
// may be meant for a prompt that the person has not opened.
func (m *Model) confirm(key tea.KeyPressMsg) tea.Cmd {
	switch name := key.String(); {
	case m.ended && (name == "esc" || name == "enter"):
		m.stopping = false
		return m.end()
	case name == "esc":
		m.stopping = false
	case name == "backspace":
		m.word = m.word[:max(0, len(m.word)-1)]
	case name == "enter":
		m.stopping = false
		if !strings.EqualFold(strings.TrimSpace(string(m.word)), "yes") {
			m.note("The rounds go on.", false)
			return nil
		}
		m.asking("Stopping: the conclusion is made of what there is.")
		return m.give(flow.Stop{Person: m.Person})
	default:
		m.word = append(m.word, []rune(key.Text)...)
	}
	return nil
}

// pause pauses the conversation, or continues one that is paused.
func (m *Model) pause() tea.Cmd {
	switch {
	case m.course.State == flow.StatePaused:
		return m.give(flow.Resume{Person: m.Person})
	case m.course.Failed():
		m.note("p does nothing now: a failure has stopped the conversation, and r tries again.", false)
		return nil
	case m.course.Halted():
		m.note("p does nothing now: the conversation waits for an answer, and a gives it.", false)
		return nil
	}
	m.asking("Pausing: the calls in flight may finish.")
	return m.give(flow.Pause{Drain: true, Person: m.Person})
}

// retry makes the calls again that have failed, or that wait.
func (m *Model) retry() tea.Cmd {
	var again []flow.Signal
	for _, answer := range inquiry.Retries(m.course.Inquiries) {
		again = append(again, answer)
	}
	switch {
	case m.course.State == flow.StatePaused:
		return m.give(flow.Resume{Person: m.Person})
	case len(again) > 0 && !m.course.Failed():
		return m.give(again...)
	case m.course.Failed() || m.course.Waits():
		return m.give(flow.Retry{Person: m.Person})
	}
	m.note("r does nothing now: no call has failed that is made again.", false)
	return nil
}

// move scrolls.
func (m *Model) move(key string) {
	screen := max(1, m.read.rows-1)
	switch key {
	case "up":
		m.scroll(-1)
	case "pgup":
		m.scroll(-screen)
	case "home":
		m.scroll(-m.read.lines - m.read.top - 1<<20)
	case "down":
		m.scroll(1)
	case "pgdown":
		m.scroll(screen)
	case "end":
		m.read.back = false
	}
}

// give returns the command that gives controls to the conversation, up to the first that is refused.
func (m *Model) give(signals ...flow.Signal) tea.Cmd {
	control := m.control
	return func() tea.Msg {
		for _, signal := range signals {
			if err := control(signal); err != nil {
				return controlMsg{err}
			}
		}
		return controlMsg{}
	}
}

// interrupt takes Ctrl-C.
func (m *Model) interrupt() tea.Cmd {
	switch {
	case m.ended: // there is nothing to leave
		return m.end()
	case m.Left != "":
		m.Left = AtOnce
		return m.end()
	}
	return m.leave(Interrupt)
}

// leave pauses the conversation. The view ends once it is paused, or at once if it waits already.
func (m *Model) leave(how Leaving) tea.Cmd {
	m.shut()
	m.Left, m.stopping = how, false
	if m.course.Halted() || m.course.Over() {
		return m.end()
	}
	return m.give(flow.Pause{Person: m.Person})
}
