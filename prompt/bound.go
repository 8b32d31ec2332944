package prompt

import (
	"bytes"
	"fmt"
	"text/template"
)

// Bounds of what a template does, far above what a prompt needs. They hold for one execution, and for all samples together with which one
// text is tried. So a replacement is refused or accepted soon, whoever has written it.
const (
	mostOutput = 32 << 20 // bytes that it writes
	mostWork   = 1 << 18  // nodes of replacements that are executed
	mostKept   = 1 << 20  // bytes of the memory that is used again
)

var (
	errLong = fmt.Errorf("yields more than %d MiB: repeat less", mostOutput>>20)
	errWork = fmt.Errorf("takes more than %d steps: repeat less", mostWork)
)

// step stands in a replacement before each list of nodes, as a text that is as long as the list has nodes: see [reading]. It is never
// written. A page knows it by its place in memory, which no other text has.
//
//nolint:gochecknoglobals // read only
var step = make([]byte, mostText)

// page takes what templates write, within the bounds.
type page struct {
	text          bytes.Buffer // of the execution
	written, work int          // of all executions since the page was fresh
}

func (p *page) Write(text []byte) (int, error) {
	if len(text) > 0 && &text[0] == &step[0] {
		if p.work += len(text); p.work > mostWork {
			return 0, errWork
		}
		return len(text), nil
	}
	if p.written += len(text); p.written > mostOutput {
		return 0, errLong
	}
	return p.text.Write(text)
}

// fresh makes a page that was used before as good as new.
func (p *page) fresh() { p.written, p.work = 0, 0 }

// functions are those that every template may call beside those of text/template. {{count .Words "word"}} writes a number with its noun.
func functions() template.FuncMap { return template.FuncMap{"count": counted} }
