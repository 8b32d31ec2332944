package export

import (
	"bufio"
	"io"
	"slices"
	"strings"
)

// writeMarkdown writes a report as Markdown. It makes every text of the report harmless.
func writeMarkdown(w io.Writer, r *report) error {
	m := &markdown{out: bufio.NewWriter(w), speeches: newSpeeches()}
	m.line("# ", r.Title)
	m.line("", r.Kicker)
	m.paragraph("**" + literal(sentence(r.State)) + "** " + literal(r.Standing))
	for _, s := range slices.Concat(r.Answer, r.Sections) {
		m.section(s, "##")
	}
	if len(r.Engine) > 0 {
		m.line("## ", "How it ran")
	}
	for _, s := range r.Engine {
		m.section(s, "###")
	}
	return m.out.Flush()
}

// markdown writes blocks, each followed by a blank line.
type markdown struct {
	out      *bufio.Writer
	speeches *speeches
}

// paragraph writes finished Markdown. The writer keeps its first error until it is flushed.
func (m *markdown) paragraph(text string) {
	_, _ = m.out.WriteString(strings.TrimRight(text, " ") + "\n\n")
}

// line writes a text after a marker.
func (m *markdown) line(marker, text string) { m.paragraph(marker + literal(text)) }

// section writes a section with a heading of a level.
func (m *markdown) section(s *section, level string) {
	title := s.Title
	if s.Note != "" {
		title += ": " + s.Note
	}
	m.line(level+" ", title)
	for i := range s.Blocks {
		m.block(s.Blocks[i])
	}
	for _, a := range s.Articles {
		m.article(a, level+"# ")
	}
}

func (m *markdown) article(a *article, heading string) {
	title := a.Title
	if a.Side != "" {
		title += " (" + a.Side + ")"
	}
	m.line(heading, title)
	if len(a.Marks) > 0 {
		m.line("", strings.Join(a.Marks, " · "))
	}
	for i := range a.Blocks {
		m.block(a.Blocks[i])
	}
}

func (m *markdown) block(b block) {
	if b.Label != "" {
		m.paragraph("**" + literal(b.Label) + "**")
	}
	switch {
	case b.Headline != "":
		m.paragraph("**" + literal(b.Headline) + "**")
	case b.Text != "":
		m.line("", b.Text)
	case len(b.Items) > 0:
		m.list(b.Items, literal)
	case len(b.Phrases) > 0:
		m.list(b.Phrases, m.speeches.phraseMarkdown)
	case len(b.Fields) > 0:
		lines := make([]string, len(b.Fields))
		for i, f := range b.Fields {
			lines[i] = "**" + literal(f.Name) + ":** " + literal(f.Value)
		}
		m.list(lines, func(s string) string { return s })
	case b.Table != nil:
		m.table(b.Table)
	case len(b.Sources) > 0:
		m.sources(b.Sources)
	case b.Speech != nil:
		m.paragraph(strings.TrimSuffix(m.speeches.quote(*b.Speech), "\n"))
	case b.Code != nil:
		m.paragraph(strings.TrimSuffix(quotedCode(*b.Code), "\n"))
	}
}

func (m *markdown) list(items []string, as func(string) string) {
	lines := make([]string, len(items))
	for i, item := range items {
		lines[i] = "- " + as(item)
	}
	m.paragraph(strings.Join(lines, "\n"))
}

func (m *markdown) table(t *table) {
	if t.Caption != "" {
		m.paragraph("**" + literal(t.Caption) + "**")
	}
	var b strings.Builder
	row := func(texts func(i int) string) {
		b.WriteByte('|')
		for i := range t.Head {
			b.WriteString(" " + texts(i) + " |")
		}
		b.WriteByte('\n')
	}
	row(func(i int) string { return literal(t.Head[i]) })
	row(func(i int) string {
		if i >= t.Figures {
			return "---:"
		}
		return "---"
	})
	for n, cells := range t.Rows {
		row(func(i int) string {
			text := literal(cells[i].Text)
			if t.Total && n == len(t.Rows)-1 && text != "" {
				return "**" + text + "**"
			}
			return text
		})
	}
	m.paragraph(strings.TrimSuffix(b.String(), "\n"))
}
