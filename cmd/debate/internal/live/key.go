package live

import (
	"runtime"

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
	case m.entry != nil:
		return m.write(key)
	}
	armed := m.armed
	m.armed = false
	switch name := key.String(); name {
	case "p", "space":
		return m.pause()
	case "s":
		if armed {
			m.asking("Stopping: the conclusion is made of what there is.")
			return m.give(flow.Stop{})
		}
		m.armed = true
	case "r":
		return m.retry()
	case "a":
		if len(m.course.Inquiries) == 0 {
			m.note("a does nothing now: nothing is asked.", false)
			return nil
		}
		m.entry = &entry{dialogue: inquiry.Begin(m.course.Inquiries[0])}
	case "q":
		return m.leave(Quit)
	case "tab":
		m.pin()
	default:
		m.move(name)
	}
	return nil
}

// pause pauses the conversation, or continues one that is paused.
func (m *Model) pause() tea.Cmd {
	switch {
	case m.course.State == flow.StatePaused:
		return m.give(flow.Resume{})
	case m.course.Failed():
		m.note("p does nothing now: a failure has stopped the conversation, and r tries again.", false)
		return nil
	case m.course.Halted():
		m.note("p does nothing now: the conversation waits for an answer, and a gives it.", false)
		return nil
	}
	m.asking("Pausing: the calls in flight may finish.")
	return m.give(flow.Pause{Drain: true})
}

// retry makes the calls again that have failed, or that wait.
func (m *Model) retry() tea.Cmd {
	var again []flow.Signal
	for _, answer := range inquiry.Retries(m.course.Inquiries) {
		again = append(again, answer)
	}
	switch {
	case m.course.State == flow.StatePaused:
		return m.give(flow.Resume{})
	case len(again) > 0 && !m.course.Failed():
		return m.give(again...)
	case m.course.Failed() || m.course.Waits():
		return m.give(flow.Retry{})
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
	if m.Left != "" {
		m.Left = AtOnce
		return m.end()
	}
	return m.leave(Interrupt)
}

// leave pauses the conversation. The view ends once it is paused, or at once if it waits already.
func (m *Model) leave(how Leaving) tea.Cmd {
	m.Left, m.entry = how, nil
	if m.course.Halted() || m.course.Over() {
		return m.end()
	}
	return m.give(flow.Pause{})
}

// write takes a key while the person answers.
func (m *Model) write(key tea.KeyPressMsg) tea.Cmd {
	e := m.entry
	switch key.String() {
	case "esc":
		m.entry = nil
	case "tab":
		if next := m.next(); next != nil {
			m.entry = next
		}
	case "backspace":
		if len(e.text) > 0 {
			e.text = e.text[:len(e.text)-1]
		}
	case "ctrl+u":
		e.text = nil
	case "enter":
		answer, err := e.dialogue.Take(string(e.text))
		e.text, e.trouble = nil, ""
		switch {
		case err != nil:
			e.trouble = err.Error()
		case answer != nil:
			m.entry = m.next()
			return m.give(*answer)
		}
	default:
		e.text = append(e.text, []rune(key.Text)...)
	}
	return nil
}

// next begins the answer to the inquiry after the one that is being answered; nil: there is no other.
func (m *Model) next() *entry {
	all := m.course.Inquiries
	for i := range all {
		if all[i].ID == m.entry.dialogue.Inquiry.ID && len(all) > 1 {
			return &entry{dialogue: inquiry.Begin(all[(i+1)%len(all)])}
		}
	}
	return nil
}
