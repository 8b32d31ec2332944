package live

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agonist-dev/debate/cmd/debate/internal/inquiry"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
)

// entry is the prompt in which a person answers. Nobody but the person closes it, so that what is typed for it is never taken for keys.
type entry struct {
	dialogue *inquiry.Dialogue
	text     []rune
	trouble  string // why the last line was not taken, or where the text comes from
	closed   string // why nothing is sent any more; "": the question is open
	late     bool   // the person's time is over, and it is not known yet what follows
	about    string // the inquiry that decides what follows
}

// draft is what was written and not sent.
type draft struct {
	inquiry, to string
	several     bool     // the answer may have several lines
	lines       []string // the last one is not ended
}

// settling is how many ticks pass without a key until what comes is no part any more of what was pasted with an answer.
const settling = 2

// at returns the place of an inquiry among those that are open; -1: it is not.
func (m *Model) at(id string) int {
	return slices.IndexFunc(m.course.Inquiries, func(q flow.Inquiry) bool { return q.ID == id })
}

// first returns the question that is answered next: the one for which most recently a text was written, or else the oldest. nil: there is
// none.
func (m *Model) first() *flow.Inquiry {
	for _, d := range slices.Backward(m.drafts) {
		if at := m.at(d.inquiry); at >= 0 {
			return &m.course.Inquiries[at]
		}
	}
	if len(m.course.Inquiries) == 0 {
		return nil
	}
	return &m.course.Inquiries[0]
}

// next returns the question after the one that is answered. If that is closed, it is the newest one to the same person, or else the newest
// of all. nil: there is no other.
func (m *Model) next() *flow.Inquiry {
	all, q := m.course.Inquiries, &m.entry.dialogue.Inquiry
	switch at := m.at(q.ID); {
	case at >= 0 && len(all) > 1:
		return &all[(at+1)%len(all)]
	case at >= 0, m.ended, len(all) == 0:
		return nil
	}
	for i := range slices.Backward(all) {
		if all[i].To == q.To {
			return &all[i]
		}
	}
	return &all[len(all)-1]
}

// open opens the prompt for a question. It holds what was written for it before and not sent, or for an earlier one to the same person.
func (m *Model) open(q *flow.Inquiry) {
	e := &entry{dialogue: inquiry.Begin(*q)}
	m.entry = e
	at := slices.IndexFunc(m.drafts, func(d draft) bool { return d.inquiry == q.ID })
	if at < 0 {
		at = slices.IndexFunc(m.drafts, func(d draft) bool { return d.to == q.To && m.at(d.inquiry) < 0 })
	}
	if at < 0 || len(q.Options) > 0 || m.drafts[at].several != e.dialogue.Several() {
		return
	}
	d := m.drafts[at]
	m.drafts = slices.Delete(m.drafts, at, at+1)
	last := len(d.lines) - 1
	e.dialogue.Write(d.lines[:last]...)
	e.text = []rune(d.lines[last])
	if d.inquiry != q.ID {
		e.trouble = "This was written for an earlier question, and not sent."
	}
}

// draft returns what is written in the prompt. ok is false if that is nothing, or a choice.
func (e *entry) draft() (d draft, ok bool) {
	q := &e.dialogue.Inquiry
	d = draft{inquiry: q.ID, to: q.To, several: e.dialogue.Several(), lines: append(slices.Clone(e.dialogue.Written()), string(e.text))}
	return d, len(q.Options) == 0 && strings.TrimSpace(strings.Join(d.lines, "")) != ""
}

// shut closes the prompt, if one is open. It reports whether something is written there, which is kept.
func (m *Model) shut() (kept bool) {
	if m.entry == nil {
		return false
	}
	d, kept := m.entry.draft()
	if kept {
		m.drafts = append(m.drafts, d)
	}
	m.entry = nil
	return kept
}

// write takes a key while the person answers.
func (m *Model) write(key tea.KeyPressMsg) tea.Cmd {
	e := m.entry
	switch name := key.String(); name {
	case "esc":
		if m.shut() {
			m.note("Your text is kept: a shows it again.", false)
		}
		if m.ended {
			return m.end()
		}
	case "tab":
		if q := m.next(); q != nil {
			m.shut()
			m.open(q)
		}
	case "backspace":
		if len(e.text) > 0 {
			e.text = e.text[:len(e.text)-1]
		} else if line, ok := e.dialogue.Back(); ok {
			e.text = []rune(line)
		}
	case "ctrl+u":
		if len(e.text) == 0 {
			e.dialogue.Back()
		}
		e.text = nil
	case "enter", "ctrl+j": // the latter ends a line of some pastes
		return m.enter()
	case "up", "down", "pgup", "pgdown", "home", "end":
		m.move(name)
	default:
		e.text = append(e.text, []rune(key.Text)...)
	}
	return nil
}

// enter takes the line that is written. An answer that is complete is sent.
func (m *Model) enter() tea.Cmd {
	e := m.entry
	line, several := string(e.text), e.dialogue.Several()
	ends := several && strings.TrimSpace(line) == inquiry.End
	switch {
	case ends:
		e.text = nil
	case e.closed != "" && several:
		e.dialogue.Write(line)
		e.text = nil
	}
	if e.closed != "" {
		return nil
	}
	unsent, written := e.draft()
	answer, err := e.dialogue.Take(line)
	e.text, e.trouble = nil, ""
	switch {
	case err != nil:
		e.trouble = err.Error()
	case answer != nil:
		next := m.next()
		if m.entry = nil; next != nil {
			m.open(next)
		}
		m.settling = settling
		if !written {
			return m.give(*answer)
		}
		control := m.control
		return func() tea.Msg { return sentMsg{control(*answer), unsent} }
	}
	return nil
}

// paste takes a text that is pasted. None of its lines ends an answer.
func (m *Model) paste(text string) {
	e := m.entry
	if e == nil {
		return
	}
	if !e.dialogue.Several() {
		e.text = append(e.text, []rune(progress.Clean(text))...)
		return
	}
	lines := strings.Split(progress.Text(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)), "\n")
	for i, line := range lines {
		if e.text = append(e.text, []rune(progress.Line(line))...); i < len(lines)-1 {
			e.dialogue.Write(string(e.text))
			e.text = nil
		}
	}
}

// drop leaves out a key that comes right behind an answer: it belongs to what was pasted, and answers nothing that is asked later.
func (m *Model) drop() {
	const text = "What came right behind the answer was dropped."
	m.settling = settling
	m.notes = slices.DeleteFunc(m.notes, func(n note) bool { return n.text == text })
	m.note(text, false)
}

// follow lets the prompt follow its question. Once that is closed from elsewhere, the prompt says why.
func (m *Model) follow(body flow.Body) {
	e := m.entry
	if e == nil {
		return
	}
	q := &e.dialogue.Inquiry
	switch at := m.at(q.ID); {
	case at >= 0:
		*q, e.closed, e.late = m.course.Inquiries[at], "", false // there may be more time
	case e.closed == "":
		failure, failed := body.(*flow.Failure)
		e.closed, e.late = ending(q.ID, body), failed && failure.Error.Overdue()
	case e.late:
		e.after(body)
	}
}

// over begins what is said to a person who has not answered in time.
const over = "Your time is over"

// ending says what has closed a question.
func ending(id string, body flow.Body) string {
	said := "Question " + progress.Clean(id) + " is not asked any more"
	switch body := body.(type) {
	case *flow.Answer:
		who := "elsewhere"
		if body.Person != "" {
			who = "by " + progress.Clean(body.Person)
		}
		said = "Question " + progress.Clean(id) + " was answered " + who
	case *flow.Failure:
		if body.Error.Overdue() {
			said = over
		}
	}
	return said + "; your text was not sent."
}

// after says what follows because the person's time is over.
func (e *entry) after(body flow.Body) {
	call, said := e.dialogue.Inquiry.ID, ""
	switch body := body.(type) {
	case *flow.Inquiry:
		if slices.ContainsFunc(body.About, func(each flow.FailedCall) bool { return each.Call == call }) {
			e.about = body.ID
		}
	case *flow.Answer:
		if body.Inquiry == e.about && body.Option == flow.OptionStandIn {
			said = "; a model stands in for you. You are asked again next time."
		}
	case *flow.Skipped:
		if body.Call == call {
			said = ". The conversation goes on without your answer."
		}
	case *flow.Transition:
		if body.To == flow.StateError {
			said = ", and that has stopped the conversation."
		}
	}
	if said != "" {
		e.closed, e.late = over+said, false
	}
}

// unsent returns the lines that were written and not sent.
func (m *Model) unsent() []string {
	var out []string
	for _, d := range m.drafts {
		out = append(out, "Not sent, to "+progress.Clean(d.inquiry)+":")
		for i, line := range d.lines {
			if i < len(d.lines)-1 || line != "" {
				out = append(out, progress.Line(line))
			}
		}
	}
	return out
}
