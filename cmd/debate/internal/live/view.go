package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/agonist-dev/debate/cmd/debate/internal/inquiry"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
)

const (
	spinnerInterval = 100 * time.Millisecond
	noteTime        = 10 * time.Second // how long a note is shown
	mostNotes       = 3
	mostKept        = 20
	mostWritten     = 3 // lines of an answer that is being written
	least           = 3 // rows of agents, unless the window has fewer
)

// row is a line of the frame. If the window is too short for all, those of the lowest rank are left out first.
type row struct {
	text string
	rank int
}

// View draws the frame. No line is wider than the window, and there are no more lines than it has. It is drawn on the other screen
// of the terminal, so that a change of the window's size leaves nothing behind, and the end of the view neither.
func (m *Model) View() tea.View {
	view := tea.NewView(strings.Join(m.lines(), "\n"))
	view.AltScreen = true
	return view
}

func (m *Model) lines() []string {
	if m.over {
		return nil
	}
	head, foot := m.head(), m.foot()
	return m.fit(slices.Concat(head, m.pane(m.height-len(head)-len(foot)), foot))
}

// fit cuts rows to the window.
func (m *Model) fit(rows []row) []string {
	for len(rows) > max(1, m.height) {
		lowest := 0
		for i := range rows {
			if rows[i].rank <= rows[lowest].rank {
				lowest = i
			}
		}
		rows = slices.Delete(rows, lowest, lowest+1)
	}
	out := make([]string, len(rows))
	for i := range rows {
		out[i] = ansi.Truncate(rows[i].text, max(1, m.width), "…")
	}
	return out
}

// head is the topic, the round and the phase.
func (m *Model) head() []row {
	c := m.course
	rows := make([]row, 0, 3)
	if c.Topic != "" {
		rows = append(rows, row{styles().title.Render(ansi.Truncate(c.Topic, max(1, m.width), "…")), 30})
	}
	rows = append(rows, row{m.spread(m.rounds(), m.lasted()), 100})
	if step := m.plan(); step != "" {
		rows = append(rows, row{step, 60})
	}
	return rows
}

// rounds says where the conversation is among its rounds, if there is room for them, or else as [Model.where] does.
func (m *Model) rounds() string {
	c := m.course
	n := c.Round()
	if c.Of < 2 || c.Of > 6 || n < 1 || n > c.Of || c.Over() {
		return m.where()
	}
	parts := make([]string, c.Of)
	for i := range parts {
		switch parts[i] = fmt.Sprintf("Round %d", i+1); {
		case i+1 < n:
			parts[i] += " ✓"
		case i+1 == n:
			parts[i] = strings.Join(append([]string{parts[i] + " ▸ " + m.phase()}, m.standing()...), " · ")
		}
	}
	line := strings.Join(parts, "  ")
	if ansi.StringWidth(line)+ansi.StringWidth(m.lasted())+1 > m.width {
		return m.where()
	}
	return line
}

// phase says what happens, and how much of it is done.
func (m *Model) phase() string {
	phase := m.course.PhaseWord()
	if m.course.Begun && m.course.Count() != "" {
		phase += " " + strings.Trim(m.course.Count(), "()")
	}
	return phase
}

// standing says why nothing new is asked, in at most one item.
func (m *Model) standing() []string {
	c := m.course
	switch {
	case c.State == flow.StatePaused && c.InFlight() > 0 && m.Left == "":
		calls := "1 call finishes"
		if n := c.InFlight(); n > 1 {
			calls = fmt.Sprintf("%d calls finish", n)
		}
		return []string{styles().wait.Render("pausing: " + calls)}
	case c.State == flow.StatePaused:
		return []string{styles().wait.Render("paused")}
	case c.State == flow.StateAwaitingInput:
		return []string{styles().wait.Render("waits for an answer")}
	case c.State == flow.StateError:
		return []string{styles().bad.Render("failed")}
	case m.Left != "":
		return []string{styles().wait.Render("pausing")}
	}
	return nil
}

// where says where the conversation is.
func (m *Model) where() string {
	c := m.course
	parts := make([]string, 0, 3)
	if round := c.RoundWord(); round != "" {
		parts = append(parts, round)
	}
	parts = append(append(parts, m.phase()), m.standing()...)
	return strings.Join(parts, " · ")
}

// lasted says for how long the conversation has lasted.
func (m *Model) lasted() string {
	if m.course.Started.IsZero() {
		return ""
	}
	d := max(0, m.now.Sub(m.course.Started))
	if d >= 100*time.Hour {
		return progress.Number(int(d.Hours())) + " h"
	}
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

// spread puts two texts at the ends of a line. The second is left out if there is no room.
func (m *Model) spread(left, right string) string {
	room := m.width - ansi.StringWidth(left) - ansi.StringWidth(right)
	if right == "" || room < 1 {
		return left
	}
	return left + strings.Repeat(" ", room) + styles().quiet.Render(right)
}

// plan is the step of the plan that is worked on.
func (m *Model) plan() string {
	plan, next := &m.course.Plan, ""
	if len(plan.Steps) == 0 {
		return ""
	}
	if at := plan.CurrentStepIndex; at < len(plan.Steps) {
		next = ": " + plan.Steps[at].Description
	}
	return fmt.Sprintf("Plan %d/%d%s", len(plan.Steps)-plan.Left(), len(plan.Steps), next)
}

// foot is what the conversation has used, what has happened, what is asked, and the keys.
func (m *Model) foot() []row {
	rows := []row{{m.used(), 80}}
	for _, n := range m.notes {
		if m.now.Sub(n.at) < noteTime {
			rows = append(rows, m.wrapped("! "+n.text, 40, 2, styles().of(n.bad))...)
		}
	}
	if m.course.State == flow.StateError {
		rows = append(rows, m.wrapped(cmp.Or(m.why, m.course.Evidence), 85, 2, styles().bad)...)
	}
	rows = append(rows, m.asked()...)
	switch {
	case m.stopping && m.ended:
		rows = append(rows, m.typed("It is over, press enter", m.word))
	case m.stopping:
		rows = append(rows, m.typed("End the rounds? Type yes", m.word))
	}
	if m.keys {
		rows = append(rows, row{styles().quiet.Render(m.help()), 20})
	}
	return rows
}

// used is what the conversation has cost, with a bar of the budget if it has one.
func (m *Model) used() string {
	c := m.course
	text, tokens := c.Paid(), progress.Number(c.Tokens)+" tokens"
	if limit := c.Limit(); limit > 0 {
		share := min(1, max(0, (float64(c.Spent.Cost)+float64(c.Unsettled().AtMost))/float64(limit)))
		cells := min(20, m.width-ansi.StringWidth(text)-2)
		if cells >= 5 {
			full := int(share*float64(cells) + 0.5)
			bar := strings.Repeat("█", full) + strings.Repeat("░", cells-full)
			text += " " + styles().of(share > 0.8).Render(bar)
		}
	}
	return m.spread(text, tokens)
}

// asked is the inquiry that is answered, or else how many there are.
func (m *Model) asked() []row {
	c := m.course
	if m.entry == nil {
		q := m.first()
		if q == nil {
			return nil
		}
		text := "? " + c.Asks(q, m.At)
		if more := len(c.Inquiries) - 1; more > 0 {
			text = fmt.Sprintf("? (and %d more) ", more) + c.Asks(q, m.At)
		}
		return m.wrapped(text, 90, 3, styles().wait)
	}
	return m.prompt()
}

// prompt is the question that is answered, and what the person writes.
func (m *Model) prompt() []row {
	e := m.entry
	d := e.dialogue
	var rows []row
	if e.closed == "" {
		for i, line := range inquiry.Lines(&d.Inquiry, m.course.Asks(&d.Inquiry, m.At)) {
			most := max(2, 6-i)
			if !m.readable() { // the question has the room of the pane
				most = max(most, m.height)
			}
			rows = append(rows, m.wrapped(line, 92, most, styles().wait)...)
		}
	} else {
		rows = m.wrapped("! "+e.closed, 93, 3, styles().bad)
		if q := m.next(); q != nil {
			rows = append(rows, m.wrapped("? "+m.course.Asks(q, m.At), 92, 3, styles().wait)...)
		}
	}
	written := d.Written()
	for _, line := range written[max(0, len(written)-mostWritten):] {
		rows = append(rows, m.wrapped(progress.Clean(line), 94, 1, lipgloss.NewStyle())...)
	}
	if e.trouble != "" {
		rows = append(rows, row{styles().bad.Render(progress.Clean(e.trouble)), 93})
	}
	return append(rows, m.typed(d.Prompt(), e.text))
}

// typed is the row in which a person types.
func (m *Model) typed(prompt string, text []rune) row {
	prompt += "> "
	room := m.width - 1
	if ansi.StringWidth(prompt) > room/2 {
		prompt = "> "
	}
	return row{styles().wait.Render(prompt) + lastColumns(string(text), room-ansi.StringWidth(prompt)) + "▏", 95}
}

// wrapped breaks a text into at most so many rows.
func (m *Model) wrapped(text string, rank, most int, as lipgloss.Style) []row {
	lines := strings.Split(ansi.Wrap(text, max(1, m.width), ""), "\n")
	if len(lines) > most {
		lines = lines[:most]
		lines[most-1] = ansi.Truncate(lines[most-1], max(1, m.width-1), "") + "…"
	}
	rows := make([]row, len(lines))
	for i, line := range lines {
		rows[i] = row{as.Render(line), rank}
	}
	return rows
}

// help names the keys that do something now.
func (m *Model) help() string {
	switch {
	case m.Left != "":
		return "Ctrl-C quits at once"
	case m.entry != nil:
		return m.helpWriting()
	case m.stopping && m.ended:
		return m.fitting("enter or esc: close", "enter: close")
	case m.stopping:
		return m.fitting("yes and enter: end the rounds and conclude · esc: go on", "yes and enter: end · esc: go on")
	}
	keys := make([]string, 0, 5)
	c := m.course
	if len(c.Inquiries) > 0 {
		keys = append(keys, "a answer")
	}
	switch c.State {
	case flow.StatePaused:
		keys = append(keys, "p resume")
	case flow.StateError, flow.StateAwaitingInput:
	default:
		keys = append(keys, "p pause")
	}
	switch {
	case c.State == flow.StateError, len(inquiry.Retries(c.Inquiries)) > 0:
		keys = append(keys, "r retry")
	case c.Waits() && c.State != flow.StatePaused:
		keys = append(keys, "r retry now")
	}
	switch {
	case m.read.back:
		keys = append(keys, "↓ on", "End follow")
	case m.readable():
		keys = append(keys, "↑ read back", "tab next")
	}
	keys = append(keys, "s stop", "q quit")
	if all := strings.Join(keys, " · "); ansi.StringWidth(all) <= m.width {
		return all
	}
	for len(keys) > 1 && ansi.StringWidth(strings.Join(keys, "  ")) > m.width {
		last := max(0, len(keys)-3) // before those that end it
		keys = slices.Delete(keys, last, last+1)
	}
	return strings.Join(keys, "  ")
}

// helpWriting names the keys that do something while the person writes.
func (m *Model) helpWriting() string {
	const kept = "esc closes, text kept"
	e := m.entry
	switch {
	case m.ended:
		return m.fitting("esc closes, and prints the text", "esc closes")
	case e.closed != "" && m.next() != nil:
		return m.fitting("tab: take the text to this question · "+kept, "tab: this question · "+kept)
	case e.closed != "":
		return kept
	case e.dialogue.Several():
		const lines = "enter: next line · a dot alone sends · "
		const reads = lines + "PgUp reads · " + kept
		return m.fitting(reads+" · tab: next question", reads, lines+kept, "a dot alone sends · esc closes")
	default:
		return m.fitting("enter sends · esc closes · tab: next question", "enter sends · esc closes · tab: next")
	}
}

// fitting returns the first of some texts that fits into the window, or else the last.
func (m *Model) fitting(texts ...string) string {
	for _, text := range texts {
		if ansi.StringWidth(text) <= m.width {
			return text
		}
	}
	return texts[len(texts)-1]
}

// Last returns the lines that stay on the terminal: what has gone wrong, how far the conversation has come, and what was written and not
// sent.
func (m *Model) Last() []string {
	c := m.course
	end := c.Ending()
	if !c.Over() {
		end = ansi.Strip(m.where()) + ": " + c.Used()
	}
	var out []string
	for _, line := range append(m.kept, end) {
		out = append(out, progress.Wrap(line, m.width)...)
	}
	return append(out, m.unsent()...)
}

// lastColumns returns the end of a text that fits so many columns.
func lastColumns(text string, columns int) string {
	over := ansi.StringWidth(text) - columns
	switch {
	case columns <= 0:
		return ""
	case over <= 0:
		return text
	}
	return ansi.TruncateLeft(text, over+1, "…")
}

// palette holds the styles of the view. The renderer leaves out colors that the terminal does not have.
type palette struct{ title, quiet, wait, bad, busy lipgloss.Style }

func styles() palette {
	plain := lipgloss.NewStyle()
	return palette{
		title: plain.Bold(true), quiet: plain.Faint(true), wait: plain.Foreground(lipgloss.Yellow),
		bad: plain.Foreground(lipgloss.Red), busy: plain.Foreground(lipgloss.Cyan),
	}
}

// of returns the style of good or bad news.
func (p palette) of(bad bool) lipgloss.Style {
	if bad {
		return p.bad
	}
	return p.wait
}
