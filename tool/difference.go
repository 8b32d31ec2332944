package tool

import (
	"fmt"
	"strings"
)

// Bounds of what an answer shows of an edit.
const (
	shownHunks = 3
	shownLines = 20  // before, and as many after
	shownLine  = 160 // bytes
	beside     = 2   // lines before and after a change
)

// difference returns the changed lines of a text in the manner of a diff.
func (e *edit) difference(before string) string {
	var out strings.Builder
	line, at := 1, 0 // at begins this line
	for n := 0; ; n++ {
		first := strings.Index(before[at:], e.from)
		if first < 0 {
			return out.String()
		}
		first += at
		if n == shownHunks {
			out.WriteString("… and more\n")
			return out.String()
		}
		begin := strings.LastIndexByte(before[:first], '\n') + 1
		end := e.end(before, first)
		line += strings.Count(before[at:begin], "\n")
		fmt.Fprintf(&out, "@@ line %d @@\n", line)
		show(&out, " ", lastLines(before[at:begin]), beside)
		show(&out, "-", before[begin:end], shownLines)
		show(&out, "+", strings.ReplaceAll(before[begin:end], e.from, e.to), shownLines)
		line += strings.Count(before[begin:end], "\n")
		at = end
		show(&out, " ", firstLines(before[at:], e.from), beside)
	}
}

// end returns where the lines end that change together with the place at first.
func (e *edit) end(text string, first int) int {
	for {
		after := first + len(e.from)
		end := after
		if !e.breaks(text, first) {
			if length := strings.IndexByte(text[end:], '\n'); length >= 0 {
				end += length + 1
			} else {
				end = len(text)
			}
		}
		next := strings.Index(text[after:], e.from)
		if next < 0 || after+next >= end {
			return end
		}
		first = after + next
	}
}

// breaks reports whether the place at first ends with a line, both before and after the edit.
func (e *edit) breaks(text string, first int) bool {
	if !strings.HasSuffix(e.from, "\n") {
		return false
	}
	return strings.HasSuffix(e.to, "\n") || e.to == "" && (first == 0 || text[first-1] == '\n')
}

// lastLines returns the last lines of a text.
func lastLines(text string) string {
	at := len(text)
	for range beside {
		if at > 0 {
			at = strings.LastIndexByte(text[:at-1], '\n') + 1
		}
	}
	return text[at:]
}

// firstLines returns the first lines of a text, up to the line of the next change.
func firstLines(text, next string) string {
	if at := strings.Index(text, next); at >= 0 {
		text = text[:strings.LastIndexByte(text[:at], '\n')+1]
	}
	return text
}

// show writes up to so many lines with a mark before each.
func show(out *strings.Builder, mark, text string, most int) {
	n := 0
	for line := range strings.Lines(text) {
		if n++; n > most {
			break
		}
		line = strings.TrimSuffix(line, "\n")
		out.WriteString(mark + cut(line, shownLine) + "\n")
	}
	if n > most && mark != " " {
		fmt.Fprintf(out, "%s… %d more lines\n", mark, strings.Count(text, "\n")-most)
	}
}
