package command

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
)

// printValue writes a value to the standard output as indented JSON.
func (p *program) printValue(value any) error {
	data, err := encoded(value, "  ")
	if err == nil {
		_, err = p.Out.Write(data)
	}
	return err
}

// encoded returns a value as JSON, which cannot control a terminal: on one line, unless it is indented.
func encoded(value any, indent string) ([]byte, error) {
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return escaped(data.Bytes()), nil
}

// table writes rows of cells in columns. What is in a cell cannot control a terminal. A terminal that is too narrow for a row has the last
// cell on several lines, or the cells below each other: no word breaks.
type table struct {
	out   io.Writer
	width int  // of the terminal; 0: it is none
	short bool // each row takes one line: the last column is cut
	rows  [][]string
}

func newTable(out io.Writer) *table { return &table{out: out, width: columns(out)} }

// table returns a table on the standard output, which a pager may show.
func (p *program) table() *table {
	return &table{out: p.Out, width: cmp.Or(p.viewing.columns, columns(p.Out))}
}

func (t *table) row(cells ...any) {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		texts[i] = fmt.Sprint(cell)
	}
	t.texts(texts)
}

// texts adds a row.
func (t *table) texts(cells []string) {
	last := 0
	for i := range cells {
		if cells[i] = progress.Clean(cells[i]); cells[i] != "" {
			last = i
		}
	}
	t.rows = append(t.rows, cells[:min(len(cells), last+1)])
}

// narrowest is how many columns the last cell of a row has at least.
const narrowest = 12

func (t *table) end() error {
	var widths []int // of all columns but the last
	least := 0       // columns that a row takes
	for _, row := range t.rows {
		for i, cell := range row {
			switch {
			case i == len(row)-1:
				least = max(least, min(narrowest, ansi.StringWidth(cell)))
				continue
			case i == len(widths):
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(cell)+2)
		}
	}
	begin := 0
	for _, width := range widths {
		begin += width
	}
	least += begin
	room := 60 // of a last cell that is cut
	if t.width > 0 {
		room = max(10, t.width-begin)
	}
	var out strings.Builder
	for i, row := range t.rows {
		switch {
		case len(row) == 0:
		case t.width == 0 || t.short || least <= t.width || len(widths) == 1:
			var line strings.Builder
			last := len(row) - 1
			for at, cell := range row[:last] {
				line.WriteString(cell + strings.Repeat(" ", widths[at]-ansi.StringWidth(cell)))
			}
			if t.short && last == len(widths) {
				row[last] = ansi.Truncate(row[last], room, "…")
			}
			writeHanging(&out, line.String(), row[last], t.width)
		case i > 0: // below the heads
			var cells []string
			for at, head := range t.rows[0][:min(len(t.rows[0]), len(row))] {
				cells = append(cells, strings.ToLower(head)+" "+row[at])
			}
			writeHanging(&out, "", row[0], t.width)
			if len(cells) > 1 {
				writeHanging(&out, "  ", strings.Join(cells[1:], "; "), t.width)
			}
		}
	}
	_, err := io.WriteString(t.out, out.String())
	return err
}

// writeHanging writes a line that begins so, and then has a text. What does not fit so many columns stands below the beginning of the
// text. With 0 columns all fits.
func writeHanging(out *strings.Builder, begin, text string, columns int) {
	indent := strings.Repeat(" ", ansi.StringWidth(begin))
	if columns > 0 {
		columns = max(narrowest, columns-len(indent))
	}
	for _, part := range progress.Wrap(text, columns) {
		out.WriteString(begin + part + "\n")
		begin = indent
	}
}

// dashed returns a dash in place of an empty text.
func dashed(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// idOn returns an id as a stream shows it: short on a terminal, and whole elsewhere, where a program may read it.
func idOn(stream any, id string) string {
	if columns(stream) > 0 {
		return shortID(id)
	}
	return id
}

// columns returns how many columns a stream has that is a terminal; 0: it is none.
func columns(stream any) int {
	width, _ := size(stream)
	return width
}

// size returns the columns and rows of a stream that is a terminal; 0: it is none.
func size(stream any) (columns, rows int) {
	if out, ok := stream.(*output); ok {
		stream = out.to
	}
	file, ok := stream.(*os.File)
	if !ok || !terminal(file) {
		return 0, 0
	}
	columns, rows, err := term.GetSize(file.Fd())
	if err != nil || columns <= 0 || rows <= 0 {
		return 80, 24
	}
	return columns, rows
}
