package main

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
)

const (
	width = 80
	mark  = "  ~" // before each line of thoughts
)

// thinker prints thoughts word by word while they stream, in marked lines.
type thinker struct {
	p      stage.Printer
	call   string // whose thoughts are being printed
	heard  int    // bytes of them
	word   string // that may not be complete yet
	column int    // 0: no line is open
}

// hear prints a piece of thoughts. A piece with a smaller offset than expected replaces what followed that offset. Words
// on a terminal cannot be taken back, so a line says it.
func (t *thinker) hear(c *flow.Chunk) {
	if c.Call != t.call || c.Offset < t.heard {
		again := c.Call == t.call
		t.end()
		if again {
			t.p.Linef("%s (anew)", mark)
		}
	}
	t.call, t.heard = c.Call, c.Offset+len(c.Text)
	for _, r := range c.Text {
		switch {
		case unicode.IsSpace(r):
			t.flush()
		case unicode.IsPrint(r): // nothing that a model writes controls the terminal
			t.word += string(r)
		}
	}
}

// flush prints the word.
func (t *thinker) flush() {
	n := utf8.RuneCountInString(t.word)
	switch {
	case n == 0:
		return
	case t.column == 0:
		t.print(mark)
	case t.column+1+n > width:
		t.print("\n" + mark)
		t.column = 0
	}
	if t.column == 0 {
		t.column = len(mark)
	}
	t.print(" " + t.word)
	t.column += 1 + n
	t.word = ""
}

func (t *thinker) print(text string) { _, _ = t.p.Out.Write([]byte(text)) }

// end ends the thoughts of a reply.
func (t *thinker) end() {
	t.flush()
	if t.column > 0 {
		t.p.Linef("")
	}
	*t = thinker{p: t.p}
}

// show prints a turn, with the numbers of its sources behind the passages that rest on them.
func show(p stage.Printer, t *debate.Turn) {
	p.Speak("  ", numbered(t))
	for i := range t.Citations {
		c := &t.Citations[i]
		p.Speak("    ", "["+strconv.Itoa(i+1)+"] "+cmp.Or(c.Title, "(no title)"))
		p.Speak("        ", c.URL) // a runtime records http and https only
		if c.Quote != "" {
			p.Speak("        ", "“"+c.Quote+"”")
		}
	}
}

// numbered returns the text of a turn with the numbers of its sources. Their places are in bytes of the text.
func numbered(t *debate.Turn) string {
	type place struct{ at, number int }
	var places []place
	for i := range t.Citations {
		if end := t.Citations[i].End; end > 0 && end <= len(t.Text) { // 0: the vendor names no passage
			places = append(places, place{end, i + 1})
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	var out strings.Builder
	from := 0
	for _, one := range places {
		out.WriteString(t.Text[from:one.at] + " [" + strconv.Itoa(one.number) + "]")
		from = one.at
	}
	return out.String() + t.Text[from:]
}
