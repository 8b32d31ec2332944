package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/export"
	"github.com/agonist-dev/debate/flow"
)

// reader writes what was said: for a terminal as it is read, and into a pipe as Markdown.
type reader struct {
	out  io.Writer
	term *export.Terminal // nil: a pipe
	name func(id string) string
	last string // the text of the last speech
	err  error  // the first failure
}

// reader returns a reader that writes to a stream. name returns how people know an actor.
func (p *program) reader(out io.Writer, name func(id string) string) *reader {
	return &reader{out: out, term: p.rendering(out), name: name}
}

// rendering returns how texts are written to a stream; nil: as they are, for it is no terminal.
func (p *program) rendering(out io.Writer) *export.Terminal {
	width := columns(out)
	if out == p.Out && p.viewing.columns > 0 {
		width = p.viewing.columns
	}
	if width == 0 {
		return nil
	}
	return &export.Terminal{Width: width, Plain: p.get("NO_COLOR") != "" || p.get("TERM") == "dumb"}
}

// event writes what an event lets people read, if it does.
func (r *reader) event(e *flow.Event) {
	if s, ok := progress.SpeechOf(e.Body, r.name); ok {
		r.speech(&s)
	}
}

// speech writes a heading and a text.
func (r *reader) speech(s *progress.Speech) {
	if r.last = s.Text; r.err != nil {
		return
	}
	if r.term == nil {
		_, r.err = fmt.Fprintf(r.out, "### %s\n\n%s\n\n", heading(s), strings.Trim(progress.Text(s.Text), "\n"))
		return
	}
	what := s.What
	if s.Round > 0 {
		what += fmt.Sprintf(" of round %d", s.Round)
	}
	head := s.Who + " · " + what
	if s.Model != "" {
		head += " · " + s.Model
	}
	if !r.term.Plain {
		head = "\x1b[1m" + head + "\x1b[0m"
	}
	if _, r.err = fmt.Fprintf(r.out, "%s\n\n", head); r.err != nil {
		return
	}
	if r.err = r.term.Markdown(r.out, s.Text); r.err == nil {
		_, r.err = fmt.Fprintln(r.out)
	}
}

// heading returns the heading of a speech in Markdown: "Ada, round 2: rebuttal".
func heading(s *progress.Speech) string {
	if s.Round == 0 {
		return s.Who + ": " + s.What
	}
	return fmt.Sprintf("%s, round %d: %s", s.Who, s.Round, s.What)
}

// print writes a text that models have written to the standard output: rendered on a terminal, and as it is into a pipe.
func (p *program) print(text string) error {
	if term := p.rendering(p.Out); term != nil {
		return term.Markdown(p.Out, text)
	}
	text = progress.Text(text)
	if text == "" || text[len(text)-1] != '\n' {
		text += "\n"
	}
	_, err := fmt.Fprint(p.Out, text)
	return err
}

// saidIn returns the speeches of a conversation for which wanted holds, as Markdown.
func saidIn(record *flow.Record, wanted func(*flow.Turn) bool) string {
	var out strings.Builder
	r := &reader{out: &out, name: func(id string) string { return progress.Clean(called(record, id)) }}
	for _, t := range record.Readable() {
		if wanted(t) {
			r.event(&flow.Event{Body: t})
		}
	}
	return out.String()
}

// called returns how people know an actor of a conversation.
func called(r *flow.Record, id string) string {
	if d, ok := deliberation.Of(r); ok {
		return d.Config().NameOf(id)
	}
	return id
}
