package live

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/agonist-dev/debate/cmd/debate/internal/inquiry"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/export"
)

// A window that is smaller has no pane, but a line.
const (
	paneHeight = 12
	paneWidth  = 20
	paneRows   = 3 // at least, with the rule above
)

// pane is where a person reads what is said. It follows the speech that is written, unless the person reads back.
type pane struct {
	call   string // the one that is followed
	pinned string // the actor whose speeches are followed; "": the newest
	back   bool   // the person reads back
	top    int    // the first line that is shown then, of all lines since the first speech that is kept
	rows   int    // of text, in the last frame
	lines  int    // there were in the last frame in which the person read back

	pages     [][]string // the speeches that are kept, in lines
	forgotten int        // speeches before those
	width     int        // of the pages
}

// pane returns the rows of those who take part and of what is said. If there is no room for more, that is one line.
func (m *Model) pane(room int) []row {
	m.read.rows = 0
	if !m.readable() {
		return m.line(m.crew(max(least, room-1)))
	}
	rows := m.crew(max(1, room/3))
	if room -= len(rows); room < paneRows {
		return m.line(rows)
	}
	m.read.rows = room - 1
	show := m.following
	if m.read.back {
		show = m.readingBack
	}
	title, right, text := show()
	rows = append(rows, row{m.rule(title, right), 75})
	for _, line := range text {
		rows = append(rows, row{line, 65})
	}
	return append(rows, make([]row, max(0, m.read.rows-len(text)))...) // so that the foot stands at the foot
}

// line adds the last words of the speech that is written.
func (m *Model) line(rows []row) []row {
	job, by := m.spoken()
	if job == nil {
		return rows
	}
	m.read.call = job.Call
	who := ansi.Truncate(by.Name, max(1, m.width/3), "…") + "  "
	return append(rows, row{styles().quiet.Render(who + lastColumns(job.Tail(), m.width-ansi.StringWidth(who))), 60})
}

// readable reports whether there is room for a pane, and anything was said, or is being said.
func (m *Model) readable() bool {
	if m.height < paneHeight || m.width < paneWidth {
		return false
	}
	job, _ := m.spoken()
	return job != nil || len(m.course.Said) > 0
}

// rule is the line above the text.
func (m *Model) rule(title, right string) string {
	if right != "" {
		right = " " + right + " ──"
	}
	title = "── " + ansi.Truncate(title, max(1, m.width-ansi.StringWidth(right)-6), "…") + " "
	return styles().quiet.Render(title + strings.Repeat("─", max(0, m.width-ansi.StringWidth(title)-ansi.StringWidth(right))) + right)
}

// spoken returns the call whose text is followed, and whose it is. It stays the same until it is over.
func (m *Model) spoken() (*progress.Job, *progress.Actor) {
	var job *progress.Job
	var by *progress.Actor
	for _, a := range m.course.Actors {
		for _, j := range a.Jobs {
			if j.Text() == "" || m.read.pinned != "" && a.Name != m.read.pinned {
				continue
			}
			if j.Call == m.read.call {
				return j, a
			}
			job, by = j, a
		}
	}
	return job, by
}

// following returns the end of what is being said, or else of what was said last.
func (m *Model) following() (title, right string, text []string) {
	if job, by := m.spoken(); job != nil {
		m.read.call = job.Call
		return by.Name + " · " + m.course.Thing(job), words(job.Words()), m.lastRows(m.tail(job.Text()))
	}
	said := m.course.Said
	for i := len(said) - 1; i >= 0; i-- {
		if m.read.pinned == "" || said[i].Who == m.read.pinned {
			s := &said[i]
			return s.Who + " · " + s.What, words(len(strings.Fields(s.Text))), m.lastRows(m.paged()[i])
		}
	}
	return m.read.pinned, "", nil
}

func words(n int) string { return progress.Plural(n, "word") }

// tail wraps the end of a text that grows. So that its lines do not change all the time, what is left out is a multiple of some size.
func (m *Model) tail(text string) []string {
	const step = 4 << 10
	start := max(0, len(text)-4*m.read.rows*m.width)
	start -= start % step
	for start > 0 && start < len(text) && !utf8.RuneStart(text[start]) {
		start++
	}
	return m.broken(text[start:])
}

// broken wraps a text that may not be whole yet.
func (m *Model) broken(text string) []string {
	text = strings.ReplaceAll(progress.Text(text), "\t", "    ")
	return strings.Split(ansi.Wrap(text, m.width-1, ""), "\n")
}

// lastRows returns the last lines that fit, each a column to the right.
func (m *Model) lastRows(lines []string) []string {
	out := make([]string, 0, m.read.rows)
	for _, line := range lines[max(0, len(lines)-m.read.rows):] {
		out = append(out, " "+line)
	}
	return out
}

// paged returns the speeches that are kept in lines. What was wrapped before stays.
func (m *Model) paged() [][]string {
	r := &m.read
	if gone := m.course.Forgotten - r.forgotten; gone > 0 {
		for _, p := range r.pages[:min(gone, len(r.pages))] {
			r.top = max(0, r.top-len(p)-2)
		}
		r.pages, r.forgotten = r.pages[min(gone, len(r.pages)):], m.course.Forgotten
	}
	if r.width != m.width {
		r.pages, r.width = nil, m.width
	}
	for _, s := range m.course.Said[len(r.pages):] {
		var out strings.Builder
		_ = export.Terminal{Width: m.width - 1}.Markdown(&out, progress.Text(s.Text)) // a builder does not fail
		r.pages = append(r.pages, strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"))
	}
	return r.pages
}

// all returns all speeches that are kept, the one that is followed, and the question that is answered, each under a heading.
func (m *Model) all() []string {
	var out []string
	for i, p := range m.paged() {
		s := &m.course.Said[i]
		out = append(append(append(out, styles().title.Render(s.Who+" · "+s.What)), p...), "")
	}
	if job, by := m.spoken(); job != nil {
		out = append(out, styles().title.Render(by.Name+" · "+m.course.Thing(job)))
		out = append(out, m.broken(job.Text())...)
	}
	if m.entry != nil && m.entry.closed == "" {
		if last := len(out) - 1; last >= 0 && out[last] != "" {
			out = append(out, "")
		}
		q := &m.entry.dialogue.Inquiry
		out = append(out, styles().title.Render("the question"))
		out = append(append(out, m.broken(strings.Join(inquiry.Lines(q, m.course.Asks(q, m.At)), "\n"))...), "")
	}
	return out
}

// readingBack returns the lines that the person has scrolled to.
func (m *Model) readingBack() (title, right string, text []string) {
	lines := m.all()
	r := &m.read
	r.lines, r.top = len(lines), max(0, min(r.top, len(lines)-r.rows))
	last := min(len(lines), r.top+r.rows)
	for _, line := range lines[r.top:last] {
		text = append(text, " "+line)
	}
	return "what was said", fmt.Sprintf("lines %d to %d of %d", min(r.top+1, last), last, len(lines)), text
}

// scroll moves by so many lines. Beyond the end the pane follows again.
func (m *Model) scroll(by int) {
	_ = m.lines() // says how many rows there are
	r := &m.read
	if r.rows == 0 {
		m.note("There is nothing to read yet.", false)
		return
	}
	if !r.back {
		if by > 0 {
			return
		}
		r.lines = len(m.all())
		r.back, r.top = true, max(0, r.lines-r.rows)
	}
	r.top = max(0, r.top+by)
	r.back = by < 0 || r.top < r.lines-r.rows
}

// pin follows the next of those who have spoken or speak, and behind the last of them the newest speech again.
func (m *Model) pin() {
	names := []string{""}
	for _, a := range m.course.Actors {
		speaks := slices.ContainsFunc(a.Jobs, func(j *progress.Job) bool { return j.Text() != "" })
		if speaks || slices.ContainsFunc(m.course.Said, func(s progress.Speech) bool { return s.Who == a.Name }) {
			names = append(names, a.Name)
		}
	}
	at := slices.Index(names, m.read.pinned) // -1 leads to the first
	m.read.pinned, m.read.call, m.read.back = names[(at+1)%len(names)], "", false
}

// crew returns who takes part and what each does, in at most so many rows. If there is no room for all, those come first of whom there is
// more to see, and the others are counted.
func (m *Model) crew(most int) []row {
	actors := m.course.Actors
	lines, fit := m.packed(actors, most)
	if fit < len(actors) {
		actors = slices.Clone(actors)
		slices.SortStableFunc(actors, func(a, b *progress.Actor) int { return urgency(b) - urgency(a) })
		if lines, fit = m.packed(actors, most); fit < len(actors) && len(lines) > 0 {
			more := fmt.Sprintf(" … and %d more", len(actors)-fit)
			last := len(lines) - 1
			lines[last] = ansi.Truncate(lines[last], max(1, m.width-len(more)), "…") + styles().quiet.Render(more)
		}
	}
	rows := make([]row, len(lines))
	for i, line := range lines {
		rows[i] = row{line, 70}
	}
	return rows
}

// packed puts as many actors as possible into lines, and returns how many they are.
func (m *Model) packed(actors []*progress.Actor, most int) (lines []string, fit int) {
	const between = " · "
	for _, a := range actors {
		piece := ansi.Truncate(m.piece(a), m.width, "…")
		last := len(lines) - 1
		switch {
		case last >= 0 && ansi.StringWidth(lines[last])+ansi.StringWidth(between)+ansi.StringWidth(piece) <= m.width:
			lines[last] += between + piece
		case len(lines) == most:
			return lines, fit
		default:
			lines = append(lines, piece)
		}
		fit++
	}
	return lines, fit
}

// piece is an actor and what it does, in few words.
func (m *Model) piece(a *progress.Actor) string {
	mark, doing := m.doing(a)
	if doing == "" {
		return mark + " " + a.Name
	}
	return mark + " " + a.Name + ": " + doing
}
