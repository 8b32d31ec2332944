package export

import (
	"strconv"
	"strings"
	"unicode"
)

// drawing is a picture of figures that stand in a table beside it. Markdown has the table only.
//
// A drawing with a Box is as wide as its box, at most as wide as the page. Any other one is as wide as the page: its horizontal
// coordinates are percentages, so that a letter has the same size on every screen. The coordinates depend on figures and on
// numbers of things, never on the length of a text.
type drawing struct {
	ID     string
	Title  string
	About  string // what is to be seen, for readers who do not see it
	Box    string // "width height"
	Height string
	Shapes []shape
	Keys   []key
	Tall   bool // it scrolls on a screen
}

// shape is a part of a drawing. What it is follows from the fields that are set: see the template.
type shape struct {
	Kind   string // rect, line, circle, text, path, or plot
	Class  string
	X, Y   string // of a circle: its centre
	W, H   string // of a line: its other end
	Path   string
	Text   string
	Anchor string  // of a text: start if empty
	Title  string  // of a rect: what a pointer on it shows
	Box    string  // of a plot: its own coordinates
	Inner  []shape // of a plot: they are stretched to its size
}

// key explains what a drawing marks by a number or by a class.
type key struct{ Class, Mark, Text string }

// share writes a part of the width, from 0 to 1.
func share(x float64) string { return strconv.FormatFloat(100*x, 'f', 2, 64) + "%" }

// place writes a coordinate.
func place[T int | float64](x T) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(float64(x), 'f', 2, 64), "0"), ".")
}

// label shortens a text to what has room beside a drawing: a wide character counts twice, and of marks above or below a
// character only the first three are kept.
func label(text string, most int) string {
	var b strings.Builder
	width, marks := 0, 0
	for _, r := range line(unified(text)) {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me):
			if marks++; marks > 3 {
				continue
			}
		case r >= 0x1100:
			width, marks = width+2, 0
		default:
			width, marks = width+1, 0
		}
		if width > most {
			return b.String() + "…"
		}
		b.WriteRune(r)
	}
	return b.String()
}

// add adds shapes.
func (d *drawing) add(shapes ...shape) { d.Shapes = append(d.Shapes, shapes...) }

// lettering returns a line of text.
func lettering(class, x, y, words, anchor string) shape {
	return shape{Kind: "text", Class: class, X: x, Y: y, Text: words, Anchor: anchor}
}

// rect returns a rectangle.
func rect(class, x, y, w, h string) shape {
	return shape{Kind: "rect", Class: class, X: x, Y: y, W: w, H: h}
}

// curve returns a path.
func curve(class, path string) shape { return shape{Kind: "path", Class: class, Path: path} }

// ruled returns a straight line.
func ruled(class, x, y, x2, y2 string) shape {
	return shape{Kind: "line", Class: class, X: x, Y: y, W: x2, H: y2}
}
